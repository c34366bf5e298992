#include "benchmarks/tuning/numbers.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <stdexcept>

namespace heddle::bench::tuning {
namespace {

using kernels::matmul::costs, kernels::matmul::kernel_cost;

/// Calls visit(name, member) for each, in their order.
constexpr void for_each_member(auto& t, auto visit) {
    visit("kernels", t.kernels);
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
    visit("mma_sync_slower_by_element", t.mma_sync_slower_by_element);
    visit("mma_sync_by_element_of_memory_rate", t.mma_sync_by_element_of_memory_rate);
    visit("bf16x6_saved_by_low", t.bf16x6_saved_by_low);
    visit("split_bytes_per_us", t.split_bytes_per_us);
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
        const costs t{};
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
void add(std::vector<number>& all, const std::string&, kernel_cost& cost) {
    const std::string name(cost.kernel);
    add(all, name + ".step_us", cost.step_us);
    add(all, name + ".alone_us", cost.alone_us);
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
/// Without the last members, where they are as they begin.
std::string text(const kernel_cost& c) {
    const kernel_cost plain{};
    std::string result = fmt::format("{{\"{}\"", c.kernel), skipped;
    const auto append = [&](auto value, auto unless) {
        skipped += ", " + text(value);
        if (value == unless) return;
        result += skipped;
        skipped.clear();
    };
    constexpr double always = -1;
    append(c.step_us, always);
    append(c.around_us, always);
    append(c.start_us, plain.start_us);
    append(c.alone_us, plain.alone_us);
    append(c.min_steps, plain.min_steps);
    return result + '}';
}
std::string text(const std::array<double, 2>& of) {
    return fmt::format("{{{}, {}}}", text(of[0]), text(of[1]));
}
template <std::size_t count>
std::string text(const std::array<kernel_cost, count>& of) {
    std::string result = "{{\n";
    for (const kernel_cost& each : of) result += fmt::format("        {},\n", text(each));
    return result + "    }}";
}

}  // namespace

std::vector<number> numbers_of(costs& of) {
    std::vector<number> all;
    for_each_member(of, [&](const char* name, auto& member) { add(all, name, member); });
    return all;
}

std::string header_with(std::string text, std::string_view card, const costs& of, std::string_view comment) {
    const std::string head = fmt::format("inline constexpr costs {} = ", card);
    const std::size_t at = text.find('\n' + head), end = text.find("\n}", at);
    if (end == text.npos) throw std::runtime_error(fmt::format("the header has no costs of {}", card));
    // From its comment, which follows an empty line, to the line that the closing brace begins.
    const std::size_t first = text.rfind("\n\n", at) + 2, last = text.find('\n', end + 1);
    std::string members = "    // step_us, around_us, start_us, alone_us, min_steps\n";
    for_each_member(of, [&](const char* name, const auto& member) {
        members += fmt::format("    .{} = {},\n", name, tuning::text(member));
    });
    return text.replace(first, last - first, fmt::format("{}{}{{\n{}}};", comment, head, members));
}

}  // namespace heddle::bench::tuning
