#include "src/matmul/rungs.hpp"

#include "src/validate.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

namespace heddle {
namespace {

using namespace kernels::matmul;
using detail::always, detail::any_problem, detail::needs, detail::never;
using enum matmul_algorithm;

// What rungs need.

using need = detail::need<matmul_problem>;

constexpr need ampere{[](auto&, auto& device) { return device.has_compute_capability(8, 0); },
                      "needs compute capability 8.0"};
constexpr auto& hopper = detail::hopper<matmul_problem>;
constexpr need unit_strides{[](auto& p, auto&) { return has_unit_stride(p); },
                            "needs the rows or the columns of a and of b side by side (a stride of 1)"};
constexpr need room_for_the_tile{[](auto& p, auto& device) {
                                     const auto tile = static_cast<std::size_t>(p.tile);
                                     return p.tile < 0 || tile >= pipelined_tiles.size() ||
                                            fits(pipelined_tiles[tile], device);
                                 },
                                 "needs more shared memory for this tile than the device has"};
constexpr need packets_for_the_tile{
    [](auto& p, auto&) {
        const auto tile = static_cast<std::size_t>(p.tile);
        return p.tile < 0 || tile >= mma_sync_tiles.size() || takes_elements(mma_sync_tiles[tile]) ||
               lies_in_boxes(p);
    },
    "needs rows or columns of a and of b that begin at multiples of 16 bytes for this tile"};
constexpr need boxes{
    [](auto& p, auto&) { return lies_in_boxes(p) || can_be_copied(p); },
    "needs rows or columns of a and of b that are contiguous and begin at multiples of 16 "
    "bytes, in each matrix of a batch, or scratch memory for copies that do, unless matrices "
    "of a batch overlap; and extents below 2^31"};
constexpr need boxes_along_k{[](auto& p, auto&) { return lies_along_k(p) || can_be_copied(p, true); },
                             "needs rows of a or columns of b that are contiguous, or scratch memory for a "
                             "copy that has them"};
constexpr need countable{[](auto& p, auto&) { return is_countable_by_int(p); }, "needs extents below 2^31"};
constexpr need tiles{[](auto& p, auto&) { return has_countable_tiles(p); },
                     "needs at most 2^30 tiles of C, of 64 x 64, in all of a batch"};
/// Where nothing is multiplied, any C will do.
constexpr need short_side{[](auto& p, auto&) { return is_skinny(p) || p.a.cols == 0; },
                          "needs m or n of at most 64"};
static_assert(max_skinny_side == 64 && max_skinny_float_side == 64);
constexpr need one_line{[](auto& p, auto&) { return is_vector(p); }, "needs m or n of 1"};
constexpr need rows_in_shared_memory{
    [](auto&, auto& device) { return device.shared_memory_per_block_optin >= skinny_float_shared_bytes; },
    "of float needs 204800 bytes of shared memory"};
static_assert(skinny_float_shared_bytes == 204800);
constexpr need no_tile{[](auto& p, auto&) { return p.tile < 0; }, "has no tiles to choose from"};
constexpr need no_batch{[](auto& p, auto&) { return p.batches == 1; },
                        "takes no batch: those that batched_matmul() names do"};
constexpr need no_epilogue{[](auto& p, auto&) { return !p.has_epilogue; }, "has no epilogue"};
constexpr need one_type{[](auto& p, auto&) { return p.result == p.operands; },
                        "stores the type of its operands"};

// What `automatic` may take.

bool shares_tiles(const matmul_problem& p, const device_traits&) {
    return p.has_scratch;
}
bool is_normwise(const matmul_problem& p, const device_traits&) {
    return p.precision == precision::fp32_normwise || p.precision == precision::tf32;
}
bool is_normwise_alone(const matmul_problem& p, const device_traits&) {
    return p.precision == precision::fp32_normwise;
}
bool is_tf32(const matmul_problem& p, const device_traits&) {
    return p.precision == precision::tf32;
}
/// From this k on the sums of bf16x6 are at least as exact as sums of FMAs one after another, also where few terms outweigh
/// all others (docs/accuracy.md).
bool is_exact_as_bf16x6(const matmul_problem& p, const device_traits&) {
    constexpr std::int64_t min_k = 512;
    return p.precision == precision::tf32 || (p.precision != precision::ieee && p.a.cols >= min_k);
}

template <auto launch>
constexpr auto on_hopper = detail::launch_if<launch, HEDDLE_COMPILED_FOR_90 != 0>;

constexpr auto float_rungs = std::to_array<detail::matmul_rung<float, float>>({
    {naive, "naive", any_problem, never, plan_one_way, launch_naive<float, float>},
    {coalesced, "coalesced", needs<no_batch, no_epilogue>, never, plan_one_way, launch_coalesced},
    {tiled, "tiled", needs<no_batch, no_epilogue>, never, plan_one_way, launch_tiled},
    {shared_memory, "shared_memory", needs<no_batch, no_epilogue>, never, plan_one_way, launch_shared_memory},
    {register_tiled, "register_tiled", needs<no_batch, no_epilogue>, never, plan_one_way,
     launch_register_tiled},
    {warp_tiled, "warp_tiled", any_problem, always, plan_warp_tiled, launch_warp_tiled},
    {pipelined, "pipelined", needs<ampere, room_for_the_tile, unit_strides>, always, plan_pipelined,
     launch_pipelined},
    {tma_pipelined, "tma_pipelined", needs<hopper, no_batch, no_epilogue, boxes>, always, plan_tma_pipelined,
     on_hopper<launch_tma_pipelined>},
    {split_k, "split_k", needs<ampere, room_for_the_tile, unit_strides>, shares_tiles, plan_split_k,
     launch_split_k},
    {thin, "thin", needs<ampere, unit_strides>, always, plan_thin, launch_thin},
    {tf32x3, "tf32x3", needs<ampere, no_batch, no_epilogue, unit_strides>, is_normwise, plan_tf32x3,
     launch_tf32x3},
    {skinny, "skinny", needs<rows_in_shared_memory, short_side>, always, plan_skinny_float,
     launch_skinny_float},
    {bf16x6, "bf16x6", needs<hopper, countable, tiles>, is_exact_as_bf16x6, plan_bf16x6_elements,
     on_hopper<launch_bf16x6>, "elements"},
    {bf16x6, "bf16x6", needs<hopper, boxes, tiles>, is_exact_as_bf16x6, plan_bf16x6_boxes,
     on_hopper<launch_bf16x6>, "boxes"},
    {bf16x6, "bf16x6", needs<hopper, boxes, tiles>, is_exact_as_bf16x6, plan_bf16x6_pairs,
     on_hopper<launch_bf16x6>, "pairs"},
    {fp16x3, "fp16x3", needs<hopper, no_batch, countable>, is_normwise_alone, plan_fp16x3,
     on_hopper<launch_fp16x3>},
    {tf32, "tf32", needs<hopper, boxes, boxes_along_k, tiles>, is_tf32, plan_tf32, on_hopper<launch_tf32>,
     "tiles"},
    {tf32, "tf32", needs<hopper, no_batch, boxes, boxes_along_k, short_side, no_tile>, is_tf32,
     plan_skinny_tf32, on_hopper<launch_skinny_tf32>, "skinny"},
    {vector, "vector", needs<one_line>, always, plan_vector, launch_vector<float, float>},
});

template <class In, class Out>
constexpr auto half_rungs = std::to_array<detail::matmul_rung<In, Out>>({
    {naive, "naive", any_problem, never, plan_one_way, launch_naive<In, Out>},
    {wmma, "wmma", any_problem, always, plan_wmma, launch_wmma<In, Out>},
    {mma_sync, "mma_sync", needs<ampere, unit_strides, packets_for_the_tile>, always, plan_mma_sync,
     launch_mma_sync<In, Out>},
    {wgmma_tma, "wgmma_tma", needs<hopper, no_batch, no_epilogue, one_type, boxes>, never, plan_copied,
     on_hopper<launch_wgmma_tma<In>>},
    {warp_specialized, "warp_specialized", needs<hopper, no_batch, no_epilogue, one_type, boxes>, never,
     plan_copied, on_hopper<launch_warp_specialized<In>>},
    {persistent, "persistent", needs<hopper, no_epilogue, boxes, tiles>, always, plan_persistent,
     on_hopper<launch_persistent<In, Out>>},
    {cluster_multicast, "cluster_multicast", needs<hopper, no_epilogue, boxes, tiles>, always,
     plan_cluster_multicast, on_hopper<launch_cluster_multicast<In, Out>>},
    {stream_k, "stream_k", needs<hopper, no_epilogue, boxes, tiles>, shares_tiles, plan_stream_k,
     on_hopper<launch_persistent<In, Out>>},
    {skinny, "skinny", needs<hopper, no_batch, short_side, boxes>, always, plan_skinny,
     on_hopper<launch_skinny<In, Out>>},
    {fused, "fused", needs<hopper, no_batch, boxes, tiles>, always, plan_fused,
     on_hopper<launch_fused<In, Out>>},
    {vector, "vector", needs<one_line>, always, plan_vector, launch_vector<In, Out>},
});

constexpr const char* enumeration = "matmul_algorithm";
/// What does not depend on the type beside float or not.
constexpr detail::rung_table float_table(float_rungs, enumeration);
constexpr detail::rung_table half_table(half_rungs<half, half>, enumeration);

template <class Function>
auto with_table(element_type operands, Function function) {
    return operands == element_type::f32 ? function(float_table) : function(half_table);
}

bool has_kernel(matmul_algorithm algorithm, element_type operands) {
    return algorithm == automatic ||
           with_table(operands, [=](const auto& table) { return table.name_of(algorithm) != "unknown"; });
}

/// Where nothing is multiplied, no scratch memory is needed.
matmul_problem as_needed(matmul_problem problem) {
    problem.has_scratch |= is_empty(problem);
    return problem;
}

std::string why_no_kernel(matmul_algorithm algorithm, element_type operands) {
    return detail::format("matmul: {} has no kernel for operands of type {}", to_string(algorithm),
                          detail::name_of(operands));
}

void validate_algorithm(const char* operation, const detail::argument_name& name, matmul_algorithm algorithm,
                        const detail::argument_name& variant_name, std::string_view variant) {
    detail::require(to_string(algorithm) != "unknown", operation, name, static_cast<int>(algorithm),
                    "an enumerator of {}", enumeration);
    const auto variants = matmul_variants(algorithm);
    detail::require(variant.empty() || std::ranges::find(variants, variant) != variants.end(), operation,
                    variant_name, variant, "nothing, or one of matmul_variants({})", to_string(algorithm));
}

}  // namespace

std::span<const matmul_algorithm> matmul_algorithms(element_type operands) {
    if (operands == element_type::f32) return detail::ids_of<float_rungs>;
    return detail::ids_of<half_rungs<half, half>>;
}

std::string_view to_string(matmul_algorithm algorithm) {
    const std::string_view name = float_table.name_of(algorithm);
    return name != "unknown" ? name : half_table.name_of(algorithm);
}

std::string_view to_string(precision precision) {
    constexpr std::array names = {"ieee", "fp32", "fp32_normwise", "tf32"};
    const auto place = static_cast<std::size_t>(precision);
    return place < names.size() ? names[place] : "unknown";
}

std::span<const std::string_view> matmul_variants(matmul_algorithm algorithm) {
    return detail::variants_of<float_rungs>(algorithm);  // the others have one kernel each
}

std::span<const matmul_tile> matmul_tiles(matmul_algorithm algorithm) {
    constexpr auto shapes_of = []<std::size_t count>(const std::array<block_tile, count>& of) {
        std::array<matmul_tile, count> tiles;
        std::ranges::copy(of, tiles.begin());
        return tiles;
    };
    static constexpr auto of_pipelined = shapes_of(pipelined_tiles);
    static constexpr auto of_mma_sync = shapes_of(mma_sync_tiles);
    static constexpr auto of_thin = shapes_of(thin_tiles);
    if (algorithm == persistent || algorithm == stream_k) return persistent_tiles;
    if (algorithm == cluster_multicast) return multicast_tiles;
    if (algorithm == fused) return fused_tiles;
    if (algorithm == tf32) return tf32_tiles;
    if (algorithm == pipelined || algorithm == split_k) return of_pipelined;
    if (algorithm == mma_sync) return of_mma_sync;
    if (algorithm == thin) return of_thin;
    return {};
}

matmul_algorithm select(const matmul_problem& problem, const device_traits& device) {
    detail::validate_problem("select", problem, device);
    if (is_empty(problem)) return naive;
    return with_table(problem.operands, [&](const auto& table) {
        return table.choose("select", automatic, problem, device).rung->id;
    });
}

std::string why_not(matmul_algorithm algorithm, const matmul_problem& problem, const device_traits& device,
                    std::string_view variant) {
    validate_algorithm("why_not", "algorithm", algorithm, "variant", variant);
    detail::validate_problem("why_not", problem, device);
    if (!has_kernel(algorithm, problem.operands)) return why_no_kernel(algorithm, problem.operands);
    return with_table(problem.operands, [&](const auto& table) {
        return table.why_not("matmul", algorithm, as_needed(problem), device, variant);
    });
}

bool may_stand_for(matmul_algorithm algorithm, const matmul_problem& problem, const device_traits& device) {
    return with_table(problem.operands,
                      [&](const auto& table) { return table.may_take(algorithm, problem, device); });
}

std::int64_t matmul_workspace_bytes(const matmul_problem& problem, const device_traits& device,
                                    matmul_algorithm algorithm, std::string_view variant) {
    validate_algorithm("matmul_workspace_bytes", "algorithm", algorithm, "variant", variant);
    detail::validate_problem("matmul_workspace_bytes", problem, device);
    matmul_problem with = problem;
    with.has_scratch = true;
    if (is_empty(problem) || !detail::can_run(algorithm, with, device, variant)) return 0;
    return with_table(problem.operands, [&](const auto& table) {
        return table.choose("matmul", algorithm, with, device, variant).plan.workspace_bytes();
    });
}

namespace detail {

void add_facts(facts& to, const matrix_layout& m) {
    to.add({fact("rows", m.rows), fact("cols", m.cols), fact("row_stride", m.row_stride, m.cols),
            fact("col_stride", m.col_stride, 1), fact("alignment", m.alignment, 256)});
}

void add_facts(facts& to, const matmul_problem& p) {
    to.add({fact("a", p.a), fact("b", p.b), fact("c", p.c), fact("operands", name_of(p.operands)),
            fact("result", name_of(p.result), name_of(p.operands)), fact("batches", p.batches, 1),
            fact("a_stride", p.a_stride, 0), fact("b_stride", p.b_stride, 0), fact("c_stride", p.c_stride, 0),
            fact("has_epilogue", p.has_epilogue, false), fact("adds_c", p.adds_c, false),
            fact("has_scratch", p.has_scratch, true), fact("tile", p.tile, -1),
            fact("precision", to_string(p.precision), to_string(precision::fp32))});
}

bool can_run(matmul_algorithm algorithm, const matmul_problem& problem, const device_traits& device,
             std::string_view variant) {
    return has_kernel(algorithm, problem.operands) && with_table(problem.operands, [&](const auto& table) {
               return table.can_run(algorithm, as_needed(problem), device, variant);
           });
}

void require_kernel(matmul_algorithm algorithm, element_type operands) {
    if (!has_kernel(algorithm, operands)) throw unsupported(why_no_kernel(algorithm, operands));
}

void validate_choice(const char* operation, const matmul_options& options) {
    validate_algorithm(operation, {"options", "algorithm"}, options.algorithm, {"options", "variant"},
                       options.variant);
    require(to_string(options.precision) != "unknown", operation, {"options", "precision"},
            static_cast<int>(options.precision), "an enumerator of precision");
    const argument_name name{"options", "tile"};
    const auto tiles = static_cast<int>(matmul_tiles(options.algorithm).size());
    require(options.tile == -1 || tiles > 0, operation, name, options.tile,
            "-1: {} has no tiles to choose from", to_string(options.algorithm));
    require(options.tile >= -1 && (options.tile < tiles || options.tile == -1), operation, name, options.tile,
            "-1 to {}: a place in matmul_tiles({})", tiles - 1, to_string(options.algorithm));
}

void validate_problem(const char* operation, const matmul_problem& p, const device_traits& device) {
    validate_device(operation, device);
    const std::int64_t m = p.c.rows, n = p.c.cols, k = p.a.cols;
    validate_extents(operation, {{"m", m}, {"n", n}, {"batches", p.batches}});
    validate_extents(operation, {{"m", m}, {"k", k}});
    validate_extents(operation, {{"n", n}, {"k", k}});
    require(p.a.rows == m && p.b.rows == k && p.b.cols == n, operation, "problem",
            "one of shapes that disagree", "one of matmul_problem_of()");
    const auto is_operand = [](element_type type) {
        return type == element_type::f32 || type == element_type::f16 || type == element_type::bf16;
    };
    require(is_operand(p.operands), operation, {"problem", "operands"}, static_cast<int>(p.operands),
            "f32, f16 or bf16");
    require(p.result == p.operands || p.result == element_type::f32, operation, {"problem", "result"},
            static_cast<int>(p.result), "the type of the operands, or f32");
    const std::int64_t bytes = p.operands == element_type::f32 ? 4 : 2;
    require(p.a.element_bytes == bytes && p.b.element_bytes == bytes, operation,
            {"problem", "a.element_bytes"}, p.a.element_bytes, "{}, as that of b: the size of an operand",
            bytes);
    require(p.tile >= -1, operation, {"problem", "tile"}, p.tile, "-1, or a place in matmul_tiles()");
    require(to_string(p.precision) != "unknown", operation, {"problem", "precision"},
            static_cast<int>(p.precision), "an enumerator of precision");
}

template <class In, class Out>
planned_matmul<In, Out> plan_matmul(const matmul_problem& problem, const device_traits& device,
                                    const matmul_options& options) {
    validate_problem("matmul", problem, device);
    const rung_table table = [] {
        if constexpr (std::is_same_v<In, float>)
            return rung_table(float_rungs, enumeration);
        else
            return rung_table(half_rungs<In, Out>, enumeration);
    }();
    if (problem.a.cols == 0) {  // nothing is multiplied, whatever rung was asked for
        static constexpr matmul_rung<In, Out> scale{naive, "scale",    any_problem,
                                                    never, plan_scale, launch_scale<In, Out>};
        const std::string reason = why_not(options.algorithm, problem, device, options.variant);
        if (!reason.empty()) throw unsupported(reason);
        return {&scale, scale.plan(problem, device)};
    }
    return table.choose("matmul", options.algorithm, problem, device, options.variant);
}

template planned_matmul<float, float> plan_matmul(const matmul_problem&, const device_traits&,
                                                  const matmul_options&);
template planned_matmul<half, half> plan_matmul(const matmul_problem&, const device_traits&,
                                                const matmul_options&);
template planned_matmul<half, float> plan_matmul(const matmul_problem&, const device_traits&,
                                                 const matmul_options&);
template planned_matmul<bfloat16, bfloat16> plan_matmul(const matmul_problem&, const device_traits&,
                                                        const matmul_options&);
template planned_matmul<bfloat16, float> plan_matmul(const matmul_problem&, const device_traits&,
                                                     const matmul_options&);

}  // namespace detail
}  // namespace heddle
