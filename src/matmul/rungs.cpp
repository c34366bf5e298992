#include "src/matmul/rungs.hpp"

#include "src/validate.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>

namespace heddle {
namespace {

using namespace kernels::matmul;
using detail::always, detail::any_problem, detail::first_of, detail::never;
using enum matmul_algorithm;

// What rungs need.

std::string_view needs_cp_async(const matmul_problem& p, const device_traits& device) {
    if (!device.has_compute_capability(8, 0)) return "needs compute capability 8.0 (cp.async)";
    return has_unit_stride(p) ? ""
                              : "needs the rows or the columns of a and of b side by side (a stride of 1)";
}

std::string_view needs_room_for_a_tile(const matmul_problem& p, const device_traits& device) {
    const auto tile = static_cast<std::size_t>(p.tile);
    if (p.tile >= 0 && tile < pipelined_tiles.size() && !fits(pipelined_tiles[tile], device))
        return "needs more shared memory for this tile than the device has";
    return needs_cp_async(p, device);
}

std::string_view needs_warpgroups(const device_traits& device) {
    const bool is_hopper = device.compute_capability_major == 9 && device.compute_capability_minor == 0;
    return HEDDLE_COMPILED_FOR_90 != 0 && is_hopper
               ? ""
               : "needs a device of compute capability 9.0, and heddle built for it";
}

std::string_view needs_boxes(const matmul_problem& p, const device_traits& device) {
    if (const auto reason = needs_warpgroups(device); !reason.empty()) return reason;
    if (lies_in_boxes(p) || can_be_copied(p)) return {};
    if (p.batches != 1)
        return "needs rows or columns of a and of b that are contiguous and begin at multiples of 16 bytes, "
               "in "
               "each matrix of a batch; and extents below 2^31";
    return "needs rows or columns of a and of b that are contiguous and begin at multiples of 16 bytes, or a "
           "workspace for copies that do; and extents below 2^31";
}

std::string_view needs_boxes_along_k(const matmul_problem& p, const device_traits& device) {
    return first_of(
        {needs_warpgroups(device),
         (lies_in_boxes(p) && lies_along_k(p)) || can_be_copied(p)
             ? ""
             : "needs rows or columns of a and of b that are contiguous and begin at multiples of "
               "16 bytes, the rows of a or the columns of b, or a workspace for copies that do; "
               "and extents below 2^31"});
}

std::string_view needs_32_bits(const matmul_problem& p, const device_traits& device) {
    return first_of({needs_warpgroups(device), is_countable_by_int(p) ? "" : "needs extents below 2^31"});
}

std::string_view needs_workspace(const matmul_problem& p, const device_traits& device) {
    return first_of({needs_warpgroups(device), is_countable_by_int(p) && p.has_workspace
                                                   ? ""
                                                   : "needs a workspace, and extents below 2^31"});
}

static_assert(max_skinny_side == 64 && max_skinny_float_side == 64 && skinny_float_shared_bytes == 204800);

std::string_view needs_short_side_of_float(const matmul_problem& p, const device_traits& device) {
    if (device.shared_memory_per_block_optin < skinny_float_shared_bytes)
        return "of float needs 204800 bytes of shared memory";
    return is_skinny(p) ? "" : "needs m or n of at most 64, of float";
}

std::string_view needs_short_side_along_k(const matmul_problem& p, const device_traits& device) {
    return first_of({needs_boxes_along_k(p, device),
                     is_skinny(p) ? "" : "needs m or n of at most 64 for this",
                     p.tile < 0 ? "" : "has no tiles to choose from for this"});
}

std::string_view needs_aligned_rows(const matmul_problem& p, const device_traits& device) {
    if (!device.has_compute_capability(8, 0)) return "needs compute capability 8.0";
    return lies_in_boxes(p) && p.batches == 1 ? ""
                                              : "needs rows or columns of a and of b that are contiguous and "
                                                "begin at multiples of 16 bytes, "
                                                "and takes no batch";
}

std::string_view takes_no_epilogue(const matmul_problem& p, const device_traits& device) {
    return first_of({p.has_epilogue ? "has no epilogue: naive, wmma, mma_sync, fused and skinny have" : "",
                     needs_boxes(p, device)});
}

std::string_view takes_no_batch(const matmul_problem& p, const device_traits& device) {
    return first_of({p.batches != 1 ? "takes no batch: naive, wmma, persistent and cluster_multicast do" : "",
                     needs_boxes(p, device)});
}

std::string_view takes_no_batch_or_epilogue(const matmul_problem& p, const device_traits& device) {
    return first_of({takes_no_epilogue(p, device), takes_no_batch(p, device)});
}

std::string_view stores_operands_type(const matmul_problem& p) {
    return p.result == p.operands ? "" : "stores the type of its operands";
}

std::string_view takes_plain_products(const matmul_problem& p, const device_traits& device) {
    return first_of({takes_no_batch_or_epilogue(p, device), stores_operands_type(p)});
}

std::string_view takes_epilogues(const matmul_problem& p, const device_traits& device) {
    return first_of({takes_no_batch(p, device), stores_operands_type(p)});
}

std::string_view needs_short_side(const matmul_problem& p, const device_traits& device) {
    return first_of(
        {takes_no_batch(p, device), is_skinny(p) || p.a.cols == 0 ? "" : "needs m or n of at most 64"});
}

// What `automatic` may take.

bool shares_tiles(const matmul_problem& p, const device_traits&) {
    return p.has_workspace;
}
bool has_epilogue(const matmul_problem& p, const device_traits&) {
    return p.has_epilogue;
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

/// A launch that is compiled; else none, and the row says why no call comes there.
#define IF(condition, launch)    \
    [] {                         \
        if constexpr (condition) \
            return &launch;      \
        else                     \
            return nullptr;      \
    }()
#define ON_HOPPER(launch) IF(HEDDLE_COMPILED_FOR_90 != 0, (launch))
#define OF_ONE_TYPE(launch) IF(HEDDLE_COMPILED_FOR_90 != 0 && (std::is_same_v<In, Out>), (launch))

constexpr auto float_rungs = std::to_array<detail::matmul_rung<float, float>>({
    {naive, "naive", any_problem, never, plan_one_way, launch_naive<float, float>},
    {coalesced, "coalesced", any_problem, never, plan_one_way, launch_coalesced},
    {tiled, "tiled", any_problem, never, plan_one_way, launch_tiled},
    {shared_memory, "shared_memory", any_problem, never, plan_one_way, launch_shared_memory},
    {register_tiled, "register_tiled", any_problem, never, plan_one_way, launch_register_tiled},
    {warp_tiled, "warp_tiled", any_problem, always, plan_warp_tiled, launch_warp_tiled},
    {pipelined, "pipelined", needs_room_for_a_tile, always, plan_pipelined, launch_pipelined},
    {tma_pipelined, "tma_pipelined", needs_boxes, always, plan_tma_pipelined,
     ON_HOPPER(launch_tma_pipelined)},
    {split_k, "split_k", needs_room_for_a_tile, shares_tiles, plan_split_k, launch_split_k},
    {tf32x3, "tf32x3", needs_cp_async, is_normwise, plan_tf32x3, launch_tf32x3},
    {skinny, "skinny", needs_short_side_of_float, always, plan_skinny_float, launch_skinny_float},
    {bf16x6, "bf16x6", needs_32_bits, is_exact_as_bf16x6, plan_bf16x6_elements, ON_HOPPER(launch_bf16x6),
     "elements"},
    {bf16x6, "bf16x6", needs_boxes, is_exact_as_bf16x6, plan_bf16x6_boxes, ON_HOPPER(launch_bf16x6), "boxes"},
    {bf16x6, "bf16x6", needs_boxes, is_exact_as_bf16x6, plan_bf16x6_pairs, ON_HOPPER(launch_bf16x6), "pairs"},
    {fp16x3, "fp16x3", needs_workspace, is_normwise_alone, plan_fp16x3, ON_HOPPER(launch_fp16x3)},
    {tf32, "tf32", needs_boxes_along_k, is_tf32, plan_tf32, ON_HOPPER(launch_tf32), "tiles"},
    {tf32, "tf32", needs_short_side_along_k, is_tf32, plan_skinny_tf32, ON_HOPPER(launch_skinny_tf32),
     "skinny"},
});

template <class In, class Out>
constexpr auto half_rungs = std::to_array<detail::matmul_rung<In, Out>>({
    {naive, "naive", any_problem, never, plan_one_way, launch_naive<In, Out>},
    {wmma, "wmma", any_problem, always, plan_wmma, launch_wmma<In, Out>},
    {mma_sync, "mma_sync", needs_aligned_rows, always, plan_mma_sync, launch_mma_sync<In, Out>},
    {wgmma_tma, "wgmma_tma", takes_plain_products, never, plan_copied, OF_ONE_TYPE(launch_wgmma_tma<In>)},
    {warp_specialized, "warp_specialized", takes_plain_products, never, plan_copied,
     OF_ONE_TYPE(launch_warp_specialized<In>)},
    {persistent, "persistent", takes_no_epilogue, always, plan_persistent,
     ON_HOPPER((launch_persistent<In, Out>))},
    {cluster_multicast, "cluster_multicast", takes_no_epilogue, always, plan_cluster_multicast,
     ON_HOPPER((launch_cluster_multicast<In, Out>))},
    {stream_k, "stream_k", takes_no_batch_or_epilogue, shares_tiles, plan_stream_k,
     ON_HOPPER((launch_persistent<In, Out>))},
    {skinny, "skinny", needs_short_side, always, plan_skinny, ON_HOPPER((launch_skinny<In, Out>))},
    {fused, "fused", takes_epilogues, has_epilogue, plan_fused, OF_ONE_TYPE(launch_fused<In>)},
});

#undef IF
#undef ON_HOPPER
#undef OF_ONE_TYPE

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

constexpr std::string_view name_of(element_type type) {
    return type == element_type::f32    ? "float"
           : type == element_type::f16  ? "half"
           : type == element_type::bf16 ? "bfloat16"
                                        : "double";
}

std::string why_no_kernel(matmul_algorithm algorithm, element_type operands) {
    return detail::format("matmul: {} has no kernel for operands of type {}", to_string(algorithm),
                          name_of(operands));
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
    constexpr auto tiles_of = [](const auto& shapes) {
        std::array<matmul_tile, std::tuple_size_v<std::remove_cvref_t<decltype(shapes)>>> tiles;
        for (std::size_t i = 0; i < tiles.size(); ++i) {
            tiles[i] = {shapes[i].m, shapes[i].n};
            if constexpr (requires { shapes[i].cluster; }) tiles[i].blocks = shapes[i].cluster;
        }
        return tiles;
    };
    static constexpr auto of_persistent = tiles_of(persistent_tiles);
    static constexpr auto of_multicast = tiles_of(multicast_tiles);
    static constexpr auto of_fused = tiles_of(fused_tiles);
    static constexpr auto of_tf32 = tiles_of(tf32_tiles);
    static constexpr auto of_pipelined = tiles_of(pipelined_tiles);
    if (algorithm == persistent || algorithm == stream_k) return of_persistent;
    if (algorithm == cluster_multicast) return of_multicast;
    if (algorithm == fused) return of_fused;
    if (algorithm == tf32) return of_tf32;
    if (algorithm == pipelined || algorithm == split_k) return of_pipelined;
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
        return table.why_not("matmul", algorithm, problem, device, variant);
    });
}

std::int64_t matmul_workspace_bytes(const matmul_problem& problem, const device_traits& device,
                                    matmul_algorithm algorithm, std::string_view variant) {
    validate_algorithm("matmul_workspace_bytes", "algorithm", algorithm, "variant", variant);
    detail::validate_problem("matmul_workspace_bytes", problem, device);
    matmul_problem with = problem;
    with.has_workspace = true;
    if (is_empty(problem) || !why_not(algorithm, with, device, variant).empty()) return 0;
    return with_table(problem.operands, [&](const auto& table) {
        return table.choose("matmul", algorithm, with, device, variant).plan.workspace_bytes();
    });
}

namespace detail {

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

bool may_stand_for(matmul_algorithm algorithm, const matmul_problem& problem, const device_traits& device) {
    return with_table(problem.operands,
                      [&](const auto& table) { return table.may_take(algorithm, problem, device); });
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
    matmul_algorithm algorithm = options.algorithm;
    if (problem.a.cols == 0) {  // nothing is multiplied, and `naive` scales C
        if (const std::string reason = why_not(algorithm, problem, device, options.variant); !reason.empty())
            throw unsupported(reason);
        algorithm = naive;
    }
    return table.choose("matmul", algorithm, problem, device, algorithm == naive ? "" : options.variant);
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
