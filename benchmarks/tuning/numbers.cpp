#include "benchmarks/tuning/numbers.hpp"

#include <fmt/format.h>

#include <array>
#include <concepts>

namespace heddle::bench::tuning {
namespace {

using kernels::matmul::block_cost;
using kernels::matmul::tile_cost;

/// Calls visit(name, member) for each, in their order.
constexpr void for_each_member(auto& t, auto visit) {
    visit("memory_bytes_per_us", t.memory_bytes_per_us);
    visit("l2_bytes_per_us", t.l2_bytes_per_us);
    visit("l2_boxes_bytes_per_us", t.l2_boxes_bytes_per_us);
    visit("busy_at_memory_rate", t.busy_at_memory_rate);
    visit("copied_bytes_per_us", t.copied_bytes_per_us);
    visit("copy_around_us", t.copy_around_us);
    visit("launch_us", t.launch_us);
    visit("elements_stored_per_us", t.elements_stored_per_us);
    visit("combined_bytes_per_us", t.combined_bytes_per_us);
    visit("combine_around_us", t.combine_around_us);
    visit("mma_sync", t.mma_sync);
    visit("mma_sync_slower_by_element", t.mma_sync_slower_by_element);
    visit("mma_sync_by_element_of_memory_rate", t.mma_sync_by_element_of_memory_rate);
    visit("persistent", t.persistent);
    visit("multicast", t.multicast);
    visit("fused", t.fused);
    visit("bf16x6", t.bf16x6);
    visit("bf16x6_saved_by_low", t.bf16x6_saved_by_low);
    visit("fp16x3", t.fp16x3);
    visit("split_bytes_per_us", t.split_bytes_per_us);
    visit("tf32", t.tf32);
    visit("tf32_streaming_us", t.tf32_streaming_us);
    visit("tf32_saved_by_low", t.tf32_saved_by_low);
    visit("tf32_saved_by_narrow", t.tf32_saved_by_narrow);
    visit("skinny_around_us", t.skinny_around_us);
    visit("skinny_round_us", t.skinny_round_us);
    visit("skinny_epilogue_us", t.skinny_epilogue_us);
    visit("skinny_cluster_us", t.skinny_cluster_us);
    visit("skinny_ticket_us", t.skinny_ticket_us);
    visit("min_skinny_k", t.min_skinny_k);
    visit("skinny_step_us", t.skinny_step_us);
    visit("skinny_step_along_k_us", t.skinny_step_along_k_us);
    visit("skinny_tf32_step_us", t.skinny_tf32_step_us);
    visit("ffma_around_us", t.ffma_around_us);
    visit("add_up_around_us", t.add_up_around_us);
    visit("added_up_bytes_per_us", t.added_up_bytes_per_us);
    visit("min_part_k", t.min_part_k);
    visit("pipelined", t.pipelined);
    visit("thin", t.thin);
    visit("tma_pipelined", t.tma_pipelined);
    visit("warp_tiled", t.warp_tiled);
    visit("blocks_of_memory_rate", t.blocks_of_memory_rate);
    visit("tf32x3_tile_us", t.tf32x3_tile_us);
    visit("tf32x3_step_us", t.tf32x3_step_us);
    visit("tf32x3_step_by_element_us", t.tf32x3_step_by_element_us);
    visit("tf32x3_alone_us", t.tf32x3_alone_us);
    visit("skinny_float_around_us", t.skinny_float_around_us);
    visit("skinny_float_line_us", t.skinny_float_line_us);
    visit("skinny_float_row_us", t.skinny_float_row_us);
    visit("vector_around_us", t.vector_around_us);
    visit("vector_of_memory_rate", t.vector_of_memory_rate);
    visit("vector_sharing_us", t.vector_sharing_us);
    visit("vector_block_bytes_per_us", t.vector_block_bytes_per_us);
}
static_assert(
    [] {
        std::size_t bytes = 0;
        const kernels::matmul::tuning t{};
        for_each_member(t, [&](const char*, const auto& member) {
            bytes += (sizeof(member) + alignof(double) - 1) / alignof(double) * alignof(double);
        });
        return bytes == sizeof t;
    }(),
    "a member is missing");

// What is no time or rate stays as it is.

void add(std::vector<number>& all, const std::string& name, double& value) {
    all.push_back({name, &value});
}
void add(std::vector<number>&, const std::string&, int&) {}
void add(std::vector<number>& all, const std::string& name, tile_cost& cost) {
    add(all, name + ".step_us", cost.step_us);
    add(all, name + ".around_us", cost.around_us);
    add(all, name + ".start_us", cost.start_us);
}
void add(std::vector<number>& all, const std::string& name, block_cost& cost) {
    add(all, name + ".k_us", cost.k_us);
    add(all, name + ".alone_k_us", cost.alone_k_us);
    add(all, name + ".around_us", cost.around_us);
    add(all, name + ".start_us", cost.start_us);
}
template <class T, std::size_t count>
void add(std::vector<number>& all, const std::string& name, std::array<T, count>& of) {
    for (std::size_t i = 0; i < count; ++i) add(all, fmt::format("{}[{}]", name, i), of[i]);
}

std::string text(int value) {
    return fmt::format("{}", value);
}
/// With three digits, and an exponent as one writes it.
std::string text(double value) {
    std::string result = fmt::format("{:.3g}", value);
    if (const auto at = result.find("e+0"); at != std::string::npos) result.erase(at + 1, 2);
    return result;
}
std::string text(const tile_cost& c) {
    const tile_cost plain{};
    std::string result = fmt::format("{{{}, {}", text(c.step_us), text(c.around_us));
    if (c.min_steps != plain.min_steps || c.start_us != 0) result += fmt::format(", {}", c.min_steps);
    if (c.start_us != 0) result += ", " + text(c.start_us);
    return result + '}';
}
std::string text(const block_cost& c) {
    const std::string start = c.start_us == 0 ? "" : ", " + text(c.start_us);
    return fmt::format("{{{}, {}, {}{}}}", text(c.k_us), text(c.alone_k_us), text(c.around_us), start);
}
template <class T, std::size_t count>
std::string text(const std::array<T, count>& of) {
    std::string result;
    for (const T& each : of) result += (result.empty() ? "" : ", ") + text(each);
    return std::is_arithmetic_v<T> ? '{' + result + '}' : "{{" + result + "}}";
}

}  // namespace

std::vector<number> numbers_of(kernels::matmul::tuning& of) {
    std::vector<number> all;
    for_each_member(of, [&](const char* name, auto& member) { add(all, name, member); });
    return all;
}

std::string header_of(std::string_view card, const kernels::matmul::tuning& of, std::string_view comment) {
    std::string members;
    for_each_member(of, [&](const char* name, const auto& member) {
        members += fmt::format("    .{} = {},\n", name, text(member));
    });
    return fmt::format(
        "#pragma once\n\n#include \"kernels/matmul/tuning/tuning.hpp\"\n\nnamespace heddle::kernels::matmul "
        "{{\n\n"
        "{}inline constexpr tuning {} = {{\n{}}};\n\n}}  // namespace heddle::kernels::matmul\n",
        comment, card, members);
}

}  // namespace heddle::bench::tuning
