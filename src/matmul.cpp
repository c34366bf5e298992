#include "src/matmul.hpp"

#include "kernels/matmul/launch.hpp"
#include "src/format.hpp"
#include "src/workspace.hpp"
#include <heddle/batched_matmul.hpp>
#include <heddle/error.hpp>
#include <heddle/matmul.hpp>
#include <heddle/stream.hpp>
#include <heddle/types.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace heddle {
namespace {

namespace rungs = kernels::matmul;

using enum matmul_algorithm;

constexpr std::array float_algorithms = {naive,      coalesced, tiled,         shared_memory, register_tiled,
                                         warp_tiled, pipelined, tma_pipelined, split_k,       tf32x3,
                                         skinny,     bf16x6,    fp16x3,        tf32,          padded};
constexpr std::array half_algorithms = {
    naive,    wmma,   mma_sync, wgmma_tma, warp_specialized, persistent, cluster_multicast,
    stream_k, skinny, fused,    padded};

template <class T>
bool has_unit_stride(const matrix_view<const T>& m) {
    return m.col_stride == 1 || m.row_stride == 1 || m.cols <= 1 || m.rows <= 1;
}

/// cp.async came with compute capability 8.0.
bool can_copy_async(const device_traits& device) {
    return device.has_compute_capability(8, 0);
}

/// Whether the device has compute capability 9.0: other devices, also later ones, do not have its instructions.
bool is_hopper(const device_traits& device) {
    return device.compute_capability_major == 9 && device.compute_capability_minor == 0;
}

/// By their datasheets, tensor cores of compute capability 8.0 and 9.0 multiply tf32 eight and seven times as fast as FFMA
/// units multiply float32, those of 8.6 and 8.9 at most twice: there three products take longer. Of others nothing is known.
bool has_fast_tf32(const device_traits& device) {
    return is_hopper(device) ||
           (device.compute_capability_major == 8 && device.compute_capability_minor == 0);
}

bool has_warpgroups(const device_traits& device) {
    return HEDDLE_COMPILED_FOR_90 != 0 && is_hopper(device);
}

/// Whether the tensor memory accelerator could read copies of A and B whose rows begin at multiples of 16 bytes.
bool can_be_padded(const matmul_problem& problem) {
    return problem.unit_stride && problem.batches == 1 && !problem.has_epilogue &&
           std::max({problem.m, problem.n, problem.k}) <= rungs::max_tensor_extent;
}

std::string why_no_warpgroups(std::string_view name) {
    return detail::format("matmul: {} needs a device of compute capability 9.0, and heddle built for it",
                          name);
}

std::string why_not_padded(const matmul_problem& problem) {
    if (can_be_padded(problem) && problem.has_workspace) return {};
    return "matmul: padded needs a workspace, contiguous rows or columns of a and of b, extents below 2^31, "
           "no batch and no epilogue";
}

/// Whether the tensor memory accelerator can read the operands or copies of them.
bool can_be_tma_pipelined(const matmul_problem& problem) {
    return problem.tensor_maps || (problem.has_workspace && can_be_padded(problem));
}

/// Whether a rung stores the operands' type alone: for float output is built what pays.
bool stores_operand_type(matmul_algorithm algorithm) {
    return algorithm == wgmma_tma || algorithm == warp_specialized || algorithm == fused;
}

/// Whether `tf32` can read the operands without copies.
bool is_fit_for_tf32(const matmul_problem& problem) {
    return problem.tensor_maps && problem.along_k;
}

bool can_be_tf32(const matmul_problem& problem) {
    return is_fit_for_tf32(problem) || (problem.has_workspace && can_be_padded(problem));
}

bool is_skinny(const matmul_problem& problem) {
    return std::min(problem.m, problem.n) <=
           (problem.operands == element_type::f32 ? rungs::max_skinny_float_side : rungs::max_skinny_side);
}

bool has_room_for_skinny_float(const device_traits& device) {
    return static_cast<std::int64_t>(device.shared_memory_per_block_optin) >=
           rungs::skinny_float_shared_bytes;
}

std::string_view name_of(element_type type) {
    switch (type) {
        case element_type::f32:
            return "float";
        case element_type::f64:
            return "double";
        case element_type::f16:
            return "half";
        case element_type::bf16:
            return "bfloat16";
    }
    return "unknown";
}

bool has_kernel(matmul_algorithm algorithm, element_type operands) {
    return std::ranges::find(matmul_algorithms(operands), algorithm) != matmul_algorithms(operands).end();
}

std::string why_no_kernel(matmul_algorithm algorithm, element_type operands) {
    return detail::format("matmul: {} has no kernel for operands of type {}", to_string(algorithm),
                          name_of(operands));
}

std::string why_not_cp_async(std::string_view name, const matmul_problem& problem,
                             const device_traits& device) {
    if (!can_copy_async(device))
        return detail::format("matmul: {} needs compute capability 8.0 (cp.async)", name);
    if (!problem.unit_stride)
        return detail::format(
            "matmul: {} needs the rows or the columns of a and of b side by side (a stride of 1)", name);
    return {};
}

std::string why_not_float(matmul_algorithm algorithm, const matmul_problem& problem,
                          const device_traits& device) {
    const std::string_view name = to_string(algorithm);
    switch (algorithm) {
        case pipelined:
        case split_k:
        case tf32x3:
            return why_not_cp_async(name, problem, device);
        case skinny:
            if (!has_room_for_skinny_float(device))
                return detail::format("matmul: skinny of float needs {} bytes of shared memory",
                                      rungs::skinny_float_shared_bytes);
            if (!is_skinny(problem))
                return detail::format("matmul: skinny needs m or n of at most {}, of float",
                                      rungs::max_skinny_float_side);
            return {};
        case tma_pipelined:
        case padded:
        case fp16x3:
        case tf32:
        case bf16x6:
            if (!has_warpgroups(device)) return why_no_warpgroups(name);
            break;
        default:
            return {};
    }
    if (algorithm == tma_pipelined && !can_be_tma_pipelined(problem))
        return "matmul: tma_pipelined needs rows or columns of a and of b that are contiguous and begin at "
               "multiples of 16 bytes, or a workspace for copies that do; and extents below 2^31";
    if (algorithm == padded) return why_not_padded(problem);
    if (algorithm == fp16x3 && (!problem.countable_by_int || !problem.has_workspace))
        return "matmul: fp16x3 needs a workspace, and extents below 2^31";
    if (algorithm == tf32 && !can_be_tf32(problem))
        return "matmul: tf32 needs rows or columns of a and of b that are contiguous and begin at multiples "
               "of "
               "16 bytes, the rows of a or the columns of b, or a workspace for copies that do; and extents "
               "below 2^31";
    if (algorithm == bf16x6 && !problem.countable_by_int) return "matmul: bf16x6 needs extents below 2^31";
    return {};
}

std::string why_not_half(matmul_algorithm algorithm, const matmul_problem& problem,
                         const device_traits& device) {
    const std::string_view name = to_string(algorithm);
    if (algorithm == naive || algorithm == wmma) return {};
    if (algorithm == mma_sync) {
        if (!can_copy_async(device)) return "matmul: mma_sync needs compute capability 8.0";
        if (!problem.tensor_maps || problem.batches != 1)
            return "matmul: mma_sync needs rows or columns of a and of b that are contiguous and begin at "
                   "multiples of 16 bytes, and takes no batch";
        return {};
    }
    if (problem.has_epilogue && algorithm != fused && algorithm != skinny)
        return detail::format("matmul: {} has no epilogue: naive, wmma, mma_sync, fused and skinny have",
                              name);
    if (problem.batches != 1 && algorithm != persistent && algorithm != cluster_multicast)
        return detail::format("matmul: {} takes no batch: naive, wmma, persistent and cluster_multicast do",
                              name);
    if (stores_operand_type(algorithm) && !problem.stores_operand_type)
        return detail::format("matmul: {} stores the type of its operands", name);
    if (!has_warpgroups(device)) return why_no_warpgroups(name);
    if (algorithm == padded) return why_not_padded(problem);
    if (!problem.tensor_maps)
        return detail::format(
            "matmul: {} needs rows or columns of a and of b that are contiguous and begin at "
            "multiples of 16 bytes, and extents below 2^31",
            name);
    // Where k is 0 there is nothing to multiply, and `naive` scales C.
    if (algorithm == skinny && problem.k > 0 && !is_skinny(problem))
        return detail::format("matmul: skinny needs m or n of at most {}", rungs::max_skinny_side);
    return {};
}

/// Launches a rung that can run the problem on the device.
template <class In, class Out>
void launch(matmul_algorithm algorithm, const matmul_problem& problem,
            const rungs::product<In, Out>& arguments, [[maybe_unused]] std::byte* workspace,
            const device_traits& device, cudaStream_t stream) {
    if (algorithm == naive) return rungs::launch_naive(arguments, device, stream);
    if constexpr (std::is_same_v<In, float>) {
        switch (algorithm) {
            case coalesced:
                return rungs::launch_coalesced(arguments, device, stream);
            case tiled:
                return rungs::launch_tiled(arguments, device, stream);
            case shared_memory:
                return rungs::launch_shared_memory(arguments, device, stream);
            case register_tiled:
                return rungs::launch_register_tiled(arguments, device, stream);
            case warp_tiled:
                return rungs::launch_warp_tiled(arguments, device, stream);
            case pipelined:
                return rungs::launch_pipelined(arguments, device, stream);
            case split_k:
                return rungs::launch_split_k(arguments, workspace, device, stream);
            case tf32x3:
                return rungs::launch_tf32x3(arguments, device, stream);
            case skinny:
                return rungs::launch_skinny(arguments, device, stream);
            default:
                break;
        }
    } else {
        if (algorithm == wmma) return rungs::launch_wmma(arguments, device, stream);
        if (algorithm == mma_sync) return rungs::launch_mma_sync(arguments, device, stream);
    }
    if (problem.k == 0) return rungs::launch_naive(arguments, device, stream);  // no operands to describe
    if constexpr (HEDDLE_COMPILED_FOR_90 != 0 && std::is_same_v<In, float>) {
        switch (algorithm) {
            case tma_pipelined:
                return problem.tensor_maps
                           ? rungs::launch_tma_pipelined(arguments, workspace, device, stream)
                           : rungs::launch_padded_tma_pipelined(arguments, workspace, device, stream);
            case padded:
                return rungs::launch_padded(arguments, workspace, device, stream);
            case fp16x3:
                return rungs::launch_fp16x3(arguments, workspace, device, stream);
            case tf32:
                return is_fit_for_tf32(problem)
                           ? rungs::launch_tf32(arguments, workspace, device, stream)
                           : rungs::launch_padded_tf32(arguments, workspace, device, stream);
            default:
                return rungs::launch_bf16x6(arguments, workspace, device, stream);
        }
    } else if constexpr (HEDDLE_COMPILED_FOR_90 != 0) {
        switch (algorithm) {
            case persistent:
                return rungs::launch_persistent(arguments, device, stream);
            case cluster_multicast:
                return rungs::launch_cluster_multicast(arguments, device, stream);
            case stream_k:
                return rungs::launch_stream_k(arguments, workspace, device, stream);
            case padded:
                return rungs::launch_padded(arguments, workspace, device, stream);
            case skinny:
                return rungs::launch_skinny(arguments, workspace, device, stream);
            default:
                break;
        }
        if constexpr (std::is_same_v<In, Out>) {
            if (algorithm == wgmma_tma) return rungs::launch_wgmma_tma(arguments, device, stream);
            if (algorithm == warp_specialized)
                return rungs::launch_warp_specialized(arguments, device, stream);
            rungs::launch_fused(arguments, device, stream);
        }
    }
}

void require_known(const char* operation, const detail::argument_name& name, matmul_algorithm algorithm) {
    detail::require(to_string(algorithm) != "unknown", operation, name, static_cast<int>(algorithm),
                    "an enumerator of matmul_algorithm");
}

void require_known(const char* operation, const detail::argument_name& name, precision precision) {
    detail::require(to_string(precision) != "unknown", operation, name, static_cast<int>(precision),
                    "an enumerator of precision");
}

void require_valid(const char* operation, const matmul_problem& problem, const device_traits& device) {
    const auto [m, n, k, batches] = std::tuple(problem.m, problem.n, problem.k, problem.batches);
    detail::validate_device(operation, device);
    detail::validate_extents(operation, {{"m", m}, {"n", n}, {"batches", batches}});
    detail::validate_extents(operation, {{"m", m}, {"k", k}});
    detail::validate_extents(operation, {{"n", n}, {"k", k}});
    detail::require(problem.operands != element_type::f64 && name_of(problem.operands) != "unknown",
                    operation, {"problem", "operands"}, static_cast<int>(problem.operands),
                    "f32, f16 or bf16");
    require_known(operation, {"problem", "precision"}, problem.precision);
}

}  // namespace

std::span<const matmul_algorithm> matmul_algorithms(element_type operands) {
    if (operands == element_type::f32) return float_algorithms;
    return half_algorithms;
}

std::string_view to_string(matmul_algorithm algorithm) {
    switch (algorithm) {
        case automatic:
            return "automatic";
        case naive:
            return "naive";
        case coalesced:
            return "coalesced";
        case tiled:
            return "tiled";
        case shared_memory:
            return "shared_memory";
        case register_tiled:
            return "register_tiled";
        case warp_tiled:
            return "warp_tiled";
        case pipelined:
            return "pipelined";
        case tma_pipelined:
            return "tma_pipelined";
        case split_k:
            return "split_k";
        case tf32x3:
            return "tf32x3";
        case bf16x6:
            return "bf16x6";
        case fp16x3:
            return "fp16x3";
        case tf32:
            return "tf32";
        case wmma:
            return "wmma";
        case mma_sync:
            return "mma_sync";
        case wgmma_tma:
            return "wgmma_tma";
        case warp_specialized:
            return "warp_specialized";
        case persistent:
            return "persistent";
        case cluster_multicast:
            return "cluster_multicast";
        case stream_k:
            return "stream_k";
        case skinny:
            return "skinny";
        case fused:
            return "fused";
        case padded:
            return "padded";
    }
    return "unknown";
}

std::string_view to_string(precision precision) {
    switch (precision) {
        case precision::ieee:
            return "ieee";
        case precision::fp32:
            return "fp32";
        case precision::fp32_normwise:
            return "fp32_normwise";
        case precision::tf32:
            return "tf32";
    }
    return "unknown";
}

std::string why_not(matmul_algorithm algorithm, const matmul_problem& problem, const device_traits& device) {
    require_known("why_not", "algorithm", algorithm);
    require_valid("why_not", problem, device);
    if (algorithm == automatic) return {};
    if (!has_kernel(algorithm, problem.operands)) return why_no_kernel(algorithm, problem.operands);
    return problem.operands == element_type::f32 ? why_not_float(algorithm, problem, device)
                                                 : why_not_half(algorithm, problem, device);
}

bool detail::is_exact_enough(matmul_algorithm algorithm, precision precision, std::int64_t k) {
    if (precision == precision::tf32) return algorithm != fp16x3;
    if (algorithm == tf32) return false;
    if (algorithm == fp16x3 || algorithm == tf32x3) return precision == precision::fp32_normwise;
    const bool is_bf16x6 = algorithm == bf16x6 || algorithm == padded;
    return !is_bf16x6 || (precision != precision::ieee && k >= rungs::min_bf16x6_k);
}

namespace {

struct choice {
    matmul_algorithm algorithm;
    double us;  ///< predicted, without the launch
};

/// The cheapest of the rungs that multiply with wgmma and tensor maps, without an epilogue.
choice cheapest(const matmul_problem& problem, const device_traits& device) {
    const auto [m, n, k] = std::tuple(problem.m, problem.n, problem.k);
    choice best{persistent, std::numeric_limits<double>::infinity()};
    const auto consider = [&](matmul_algorithm algorithm, double us) {
        if (us < best.us) best = {algorithm, us};
    };
    const std::int64_t batches = problem.batches;
    consider(persistent,
             rungs::cheapest_whole(rungs::persistent_tiles, m, n, k, device.sm_count, batches).us);
    consider(cluster_multicast,
             rungs::cheapest_whole(rungs::multicast_tiles, m, n, k, device.sm_count, batches).us);
    if (batches != 1) return best;
    if (problem.has_workspace)
        consider(stream_k,
                 rungs::cheapest_streamed(rungs::persistent_tiles, m, n, k, device.sm_count, true).us);
    if (is_skinny(problem))
        consider(skinny, rungs::lay_out_skinny(std::max(m, n), std::min(m, n), k, device.sm_count,
                                               problem.has_workspace, true)
                             .us);
    return best;
}

/// The rung for operands of float.
matmul_algorithm select_float(const matmul_problem& problem, const device_traits& device) {
    const bool can_be_pipelined = problem.unit_stride && can_copy_async(device);
    const auto [m, n, k] = std::tuple(problem.m, problem.n, problem.k);
    if (std::min({m, n, k}) == 0) return naive;
    choice best =
        can_be_pipelined
            ? choice{pipelined, rungs::cheapest_ffma(m, n, k, device, false).us}
            : choice{warp_tiled, rungs::whole_tiles_us(rungs::warp_tiled_tile, m, n, k, device.sm_count)};
    const auto consider = [&](matmul_algorithm algorithm, double us) {
        if (us < best.us) best = {algorithm, us};
    };
    if (can_be_pipelined && problem.has_workspace)
        consider(split_k, rungs::cheapest_ffma(m, n, k, device, true).us);
    if (is_skinny(problem) && has_room_for_skinny_float(device))
        consider(skinny, rungs::skinny_float_us(m, n, k, device.sm_count));
    if (detail::is_exact_enough(tf32x3, problem.precision, k) && problem.unit_stride && has_fast_tf32(device))
        consider(tf32x3, rungs::tf32x3_us(m, n, k, device.sm_count, problem.tensor_maps));
    if (!has_warpgroups(device) || !problem.countable_by_int) return best.algorithm;
    if (can_be_tma_pipelined(problem))
        consider(tma_pipelined, rungs::tma_pipelined_us(m, n, k, device.sm_count, problem.has_workspace,
                                                        !problem.tensor_maps));
    if (detail::is_exact_enough(fp16x3, problem.precision, k) && problem.has_workspace)
        consider(fp16x3, rungs::fp16x3_us(m, n, k, device.sm_count));
    if (detail::is_exact_enough(tf32, problem.precision, k) && can_be_tf32(problem))
        consider(tf32,
                 rungs::tf32_us(m, n, k, device.sm_count, problem.has_workspace, !is_fit_for_tf32(problem)));
    if (!detail::is_exact_enough(bf16x6, problem.precision, k)) return best.algorithm;
    consider(bf16x6,
             rungs::lay_out_bf16x6(m, n, k, device.sm_count, problem.tensor_maps, problem.has_workspace).us);
    if (!problem.tensor_maps && problem.has_workspace && can_be_padded(problem))
        consider(padded, rungs::padded_bf16x6_us(m, n, k, device.sm_count));
    return best.algorithm;
}

}  // namespace

matmul_algorithm select(const matmul_problem& problem, const device_traits& device) {
    require_valid("select", problem, device);
    if (problem.operands == element_type::f32) return select_float(problem, device);
    if (std::min({problem.m, problem.n, problem.k, problem.batches}) == 0) return naive;
    if (!has_warpgroups(device))
        return problem.tensor_maps && problem.batches == 1 && can_copy_async(device) ? mma_sync : wmma;
    if (!problem.tensor_maps) return problem.has_workspace && can_be_padded(problem) ? padded : wmma;
    if (problem.has_epilogue && problem.batches != 1) return wmma;
    if (problem.has_epilogue && is_skinny(problem)) return skinny;
    if (problem.has_epilogue) return problem.stores_operand_type ? fused : wmma;
    return cheapest(problem, device).algorithm;
}

std::span<const matmul_tile> matmul_tiles(matmul_algorithm algorithm) {
    constexpr auto tiles_of = [](const auto& plans) {
        std::array<matmul_tile, std::tuple_size_v<std::remove_cvref_t<decltype(plans)>>> tiles;
        for (std::size_t i = 0; i < tiles.size(); ++i) tiles[i] = {plans[i].m, plans[i].n, plans[i].cluster};
        return tiles;
    };
    static constexpr auto of_persistent = tiles_of(rungs::persistent_tiles);
    static constexpr auto of_multicast = tiles_of(rungs::multicast_tiles);
    static constexpr auto of_fused = tiles_of(rungs::fused_tiles);
    if (algorithm == persistent || algorithm == stream_k) return of_persistent;
    if (algorithm == cluster_multicast) return of_multicast;
    if (algorithm == fused) return of_fused;
    return {};
}

namespace {

std::int64_t workspace_bytes(const matmul_problem& problem, const device_traits& device,
                             matmul_algorithm algorithm) {
    const auto [m, n, k] = std::tuple(problem.m, problem.n, problem.k);
    if (std::min({m, n, k}) == 0) return 0;
    matmul_problem with = problem;
    with.has_workspace = true;
    if (algorithm == automatic) algorithm = select(with, device);
    if (!why_not(algorithm, with, device).empty()) return 0;
    std::int64_t sums = 0;
    if (algorithm == stream_k) {
        for (const rungs::tile_plan& plan : rungs::persistent_tiles)  // any of them may be asked for
            sums = std::max(sums, rungs::shared_sums_bytes(
                                      plan, rungs::lay_out_streamed(plan, m, n, k, device.sm_count)));
    } else if (algorithm == skinny && is_skinny(problem) && problem.operands != element_type::f32) {
        for (const bool short_operand_along_k : {false, true}) {
            sums = std::max(sums, rungs::lay_out_skinny(std::max(m, n), std::min(m, n), k, device.sm_count,
                                                        true, short_operand_along_k)
                                      .sums_bytes);
        }
    }
    if (algorithm == split_k) {
        const rungs::ffma_layout layout = rungs::cheapest_ffma(m, n, k, device, true);
        sums = rungs::ffma_sums_bytes(rungs::ffma_tiles[layout.tile], layout);
    }
    if (algorithm == tma_pipelined) sums = rungs::tma_pipelined_sums_bytes(m, n, k, device.sm_count);
    const bool splits = problem.operands == element_type::f32 && (algorithm == bf16x6 || algorithm == padded);
    if (algorithm == fp16x3) sums = rungs::fp16x3_bytes(m, n, k, device.sm_count);
    if (splits) sums = rungs::bf16x6_sums_bytes(m, n, k, device.sm_count);
    if (algorithm == tf32) sums = rungs::tf32_sums_bytes(m, n, k, device.sm_count);
    const bool copies = algorithm == padded || (algorithm == tma_pipelined && !problem.tensor_maps) ||
                        (algorithm == tf32 && !is_fit_for_tf32(problem));
    if (copies) {  // whichever way the operands lie, and both of them
        const std::int64_t element = problem.operands == element_type::f32 ? 4 : 2;
        const auto either_way = [&](std::int64_t rows, std::int64_t cols) {
            return std::max(rungs::padded_bytes(rows, cols, element),
                            rungs::padded_bytes(cols, rows, element));
        };
        sums += either_way(m, k) + either_way(k, n);
    }
    return sums == 0 ? 0 : detail::workspace_ticket_bytes + sums;
}

}  // namespace

std::int64_t matmul_workspace_bytes(const matmul_problem& problem, const device_traits& device,
                                    matmul_algorithm algorithm) {
    require_known("matmul_workspace_bytes", "algorithm", algorithm);
    require_valid("matmul_workspace_bytes", problem, device);
    matmul_problem turned = problem;  // as a product is whose C lies in columns
    std::swap(turned.m, turned.n);
    return std::max(workspace_bytes(problem, device, algorithm), workspace_bytes(turned, device, algorithm));
}

static_assert(rungs::workspace_ticket_bytes == detail::workspace_ticket_bytes);

namespace {

/// A bias that is not given is empty.
template <class T>
void validate_bias(const char* name, const vector_view<const T>& bias, std::int64_t size,
                   const detail::footprint& c) {
    if (bias.size == 0) return;
    detail::validate("matmul", name, bias);
    detail::require(bias.size == size, "matmul", {name, "size"}, bias.size, "{}, or 0", size);
    const detail::footprint memory =
        detail::footprint_of(matrix_view<const T>{bias.data, bias.size, 1, bias.stride});
    detail::require(!detail::overlap(memory, c), "matmul", name, "a view that overlaps c",
                    "one apart from it");
}

template <class Out>
rungs::epilogue<Out> validated(const matmul_epilogue<Out>& e, const matrix_view<Out>& c) {
    const detail::footprint of_c = detail::footprint_of(c);
    validate_bias("epilogue.row_bias", e.row_bias, c.cols, of_c);
    validate_bias("epilogue.column_bias", e.column_bias, c.rows, of_c);
    detail::require(matmul_activation::none <= e.activation && e.activation <= matmul_activation::tanh,
                    "matmul", {"epilogue", "activation"}, static_cast<int>(e.activation),
                    "an enumerator of matmul_activation");
    rungs::epilogue<Out> result{e.activation, e.scale};
    if (e.row_bias.size > 0) {
        result.row_bias = e.row_bias.data;
        result.row_bias_stride = e.row_bias.stride;
    }
    if (e.column_bias.size > 0) {
        result.column_bias = e.column_bias.data;
        result.column_bias_stride = e.column_bias.stride;
    }
    if (const matrix_view<const Out>& r = e.residual; r.rows != 0 || r.cols != 0) {
        detail::validate("matmul", "epilogue.residual", r);
        detail::require(r.rows == c.rows, "matmul", {"epilogue.residual", "rows"}, r.rows, "{} (c.rows)",
                        c.rows);
        detail::require(r.cols == c.cols, "matmul", {"epilogue.residual", "cols"}, r.cols, "{} (c.cols)",
                        c.cols);
        const bool is_c = r.data == c.data && r.row_stride == c.row_stride && r.col_stride == c.col_stride;
        detail::require(is_c || !detail::overlap(detail::footprint_of(r), of_c), "matmul",
                        "epilogue.residual", "a view that overlaps c", "c itself, or one apart from it");
        result.residual = r.data;
        result.residual_row_stride = r.row_stride;
        result.residual_col_stride = r.col_stride;
    }
    result.is_identity = e.activation == matmul_activation::none && e.scale == 1 &&
                         result.row_bias == nullptr && result.column_bias == nullptr &&
                         result.residual == nullptr;
    return result;
}

/// All of a batch, from its first byte to its last.
template <class T>
detail::footprint footprint_of_batch(const matrix_view<T>& first, std::int64_t stride, std::int64_t count) {
    detail::footprint result = detail::footprint_of(first);
    if (count == 0) return {};
    if (result.empty() || count == 1) return result;
    const std::uintptr_t end = result.end() + static_cast<std::uintptr_t>((count - 1) * stride) * sizeof(T);
    return {result.begin, end - result.begin, 1, end - result.begin};
}

void validate_tile(const matmul_options& options) {
    const detail::argument_name name{"options", "tile"};
    const auto tiles = static_cast<int>(matmul_tiles(options.algorithm).size());
    detail::require(options.tile == -1 || tiles > 0, "matmul", name, options.tile,
                    "-1: {} has no tiles to choose from", to_string(options.algorithm));
    detail::require(options.tile >= -1 && (options.tile < tiles || options.tile == -1), "matmul", name,
                    options.tile, "-1 to {}: a place in matmul_tiles({})", tiles - 1,
                    to_string(options.algorithm));
}

/// A call whose arguments are valid; what depends on the device is left to choose_rung(). Nothing where there is nothing to do.
/// `has_function`: the user's function stands in place of an activation.
template <class Out, class In>
std::optional<rungs::checked_call<In, Out>> described(matrix_view<const In> a, matrix_view<const In> b,
                                                      matrix_view<Out> c,
                                                      [[maybe_unused]] const matmul_epilogue<Out>& epilogue,
                                                      const rungs::batch_strides& batch,
                                                      const matmul_options& options,
                                                      [[maybe_unused]] bool has_function = false) {
    detail::validate_matmul<In, Out>("matmul", a, b, c, batch.count > 0);
    require_known("matmul", {"options", "algorithm"}, options.algorithm);
    require_known("matmul", {"options", "precision"}, options.precision);
    validate_tile(options);
    detail::validate_workspace("matmul", options.workspace,
                               {{"a", footprint_of_batch(a, batch.a, batch.count)},
                                {"b", footprint_of_batch(b, batch.b, batch.count)},
                                {"c", footprint_of_batch(c, batch.c, batch.count)}});
    if (c.rows == 0 || c.cols == 0 || batch.count == 0) return {};
    // Either nothing is multiplied or nothing counts: then neither A and B nor an infinite alpha are read.
    if (options.alpha == 0) {
        a.cols = 0;
        b.rows = 0;
    }
    const float alpha = a.cols == 0 ? 0 : options.alpha;

    rungs::product<In, Out> arguments{a, b, c, alpha, options.beta};
    if constexpr (!std::is_same_v<In, float>) {
        arguments.epilogue = validated(epilogue, c);
        const auto of_bias = [](const vector_view<const Out>& v) {
            return detail::footprint_of(matrix_view<const Out>{v.data, v.size, 1, v.stride});
        };
        detail::validate_workspace("matmul", options.workspace,
                                   {{"epilogue.row_bias", of_bias(epilogue.row_bias)},
                                    {"epilogue.column_bias", of_bias(epilogue.column_bias)},
                                    {"epilogue.residual", detail::footprint_of(epilogue.residual)}});
        if (has_function) arguments.epilogue.is_identity = false;
        arguments.batch = batch;
        arguments.tile.index = options.tile;
    }
    const bool is_transposed = !detail::is_row_major(c);
    if (is_transposed) arguments = transposed(arguments);
    const bool tensor_maps = rungs::has_tensor_rows_or_columns(arguments.a) &&
                             rungs::has_tensor_rows_or_columns(arguments.b) &&
                             rungs::has_tensor_extents(arguments.c) &&
                             batch.a * std::int64_t{sizeof(In)} % rungs::tensor_alignment == 0 &&
                             batch.b * std::int64_t{sizeof(In)} % rungs::tensor_alignment == 0 &&
                             batch.count <= rungs::max_tensor_extent;
    const matmul_problem problem{arguments.c.rows,
                                 arguments.c.cols,
                                 arguments.a.cols,
                                 element_type_of<In>,
                                 has_unit_stride(a) && has_unit_stride(b),
                                 tensor_maps,
                                 !options.workspace.empty(),
                                 !arguments.epilogue.is_identity,
                                 std::is_same_v<In, Out>,
                                 batch.count,
                                 rungs::has_tensor_extents(arguments.a) &&
                                     rungs::has_tensor_extents(arguments.b) &&
                                     rungs::has_tensor_extents(arguments.c),
                                 options.precision,
                                 rungs::has_tensor_operand_along_k(arguments.a, arguments.b)};
    return rungs::checked_call<In, Out>{arguments, problem, options.algorithm, is_transposed};
}

/// Finds the rung of a described call. It may not be able to run it.
template <class Out, class In>
void choose_rung(rungs::checked_call<In, Out>& call, const matmul_options& options,
                 const device_traits& device, bool has_function = false) {
    require_valid("matmul", call.problem, device);
    detail::validate_workspace_size(
        "matmul", options.workspace,
        matmul_workspace_bytes(call.problem, device, has_function ? fused : options.algorithm));
    if (options.algorithm == automatic) call.algorithm = select(call.problem, device);
}

void require_kernel(matmul_algorithm algorithm, element_type operands) {
    if (algorithm != automatic && !has_kernel(algorithm, operands))
        throw unsupported(why_no_kernel(algorithm, operands));
}

/// Finds the rung of a described call, which can run it.
template <class Out, class In>
void prepare(rungs::checked_call<In, Out>& call, const matmul_options& options, const device_traits& device) {
    choose_rung(call, options, device);
    const std::string reason = why_not(call.algorithm, call.problem, device);
    if (!reason.empty()) throw unsupported(reason);
}

template <class Out, class In>
void enqueue(const rungs::checked_call<In, Out>& call, const matmul_options& options,
             const device_traits& device, cuda::stream_ref stream) {
    launch(call.algorithm, call.problem, call.arguments,
           options.workspace.empty() ? nullptr : options.workspace.data(), device, stream.get());
}

template <class Out, class In>
void run(matrix_view<const In> a, matrix_view<const In> b, matrix_view<Out> c,
         const matmul_epilogue<Out>& epilogue, const rungs::batch_strides& batch, cuda::stream_ref stream,
         const matmul_options& options) {
    auto call = described<Out, In>(a, b, c, epilogue, batch, options);
    require_kernel(options.algorithm, element_type_of<In>);
    if (!call) return;
    const detail::stream_device call_device(stream);
    prepare(*call, options, call_device.traits());
    enqueue(*call, options, call_device.traits(), stream);
}

/// Whether launch_grouped takes it.
bool can_be_grouped(const matmul_problem& problem, const device_traits& device) {
    return has_warpgroups(device) && problem.tensor_maps && problem.stores_operand_type && problem.k > 0;
}

/// How many of the first products, in the order of falling k, take a launch each: none, all, or those of which one tile
/// would take longer than the whole product does where it has the device to itself.
template <class Products>
std::size_t count_alone(const Products& products, const device_traits& device) {
    constexpr double launch_us = 2;  // from the end of one kernel to the work of the next; not measured
    const auto of_each = [](const auto& p) -> const auto& {
        return p.arguments;
    };
    std::size_t long_ones = 0;
    double all_us = 0, long_us = 0;
    for (std::size_t i = 0; i < products.size(); ++i) {
        const matmul_problem& problem = products[i].problem;
        const double us = launch_us + cheapest(problem, device).us;
        all_us += us;
        if (long_ones != i || us >= rungs::tile_us(rungs::grouped_tiles.back(), problem.k)) continue;
        ++long_ones;
        long_us += us;
    }
    const auto grouped_us = [&](std::size_t first) {
        return launch_us + rungs::cheapest_grouped(products.subspan(first) | std::views::transform(of_each),
                                                   device.sm_count)
                               .us;
    };
    const double none_us = grouped_us(0);
    const double some_us = long_us + grouped_us(long_ones);
    if (all_us <= std::min(none_us, some_us)) return products.size();
    return some_us < none_us ? long_ones : 0;
}

}  // namespace

template <class Out, class In>
void matmul(matrix_view<const std::type_identity_t<In>> a, matrix_view<const std::type_identity_t<In>> b,
            matrix_view<Out> c, cuda::stream_ref stream, const matmul_options& options) {
    run<Out, In>(a, b, c, {}, {}, stream, options);
}

template <class Out, class In>
void matmul(matrix_view<const std::type_identity_t<In>> a, matrix_view<const std::type_identity_t<In>> b,
            matrix_view<Out> c, const matmul_epilogue<std::type_identity_t<Out>>& epilogue,
            cuda::stream_ref stream, const matmul_options& options) {
    run<Out, In>(a, b, c, epilogue, {}, stream, options);
}

namespace {

template <class In, class Out>
void validate_batch(const batch_view<const In>& a, const batch_view<const In>& b, const batch_view<Out>& c) {
    detail::validate("batched_matmul", "c", c);
    for (const auto& [name, operand] : {std::pair("a", &a), std::pair("b", &b)}) {
        detail::validate("batched_matmul", name, *operand);
        detail::require(operand->count == c.count, "batched_matmul", {name, "count"}, operand->count,
                        "{} (c.count)", c.count);
    }
    const std::int64_t span = detail::span_of(c.first);
    detail::require(c.count <= 1 || c.stride >= span, "batched_matmul", {"c", "stride"}, c.stride,
                    "at least {}: what one matrix spans", span);
    const detail::footprint of_c = footprint_of_batch(c.first, c.stride, c.count);
    for (const auto& [name, operand] : {std::pair("a", &a), std::pair("b", &b)})
        if (detail::overlap(footprint_of_batch(operand->first, operand->stride, operand->count), of_c))
            throw invalid_argument("batched_matmul", "c", detail::format("a batch that overlaps {}", name),
                                   "one apart from it");
}

}  // namespace

template <class Out, class In>
void batched_matmul(batch_view<const std::type_identity_t<In>> a,
                    batch_view<const std::type_identity_t<In>> b, batch_view<Out> c, cuda::stream_ref stream,
                    const matmul_options& options) {
    validate_batch(a, b, c);
    run<Out, In>(a.first, b.first, c.first, {}, {c.count, a.stride, b.stride, c.stride}, stream, options);
}

namespace {

template <class Out, class In>
std::int64_t workspace_bytes(matrix_view<const In> a, matrix_view<const In> b, matrix_view<Out> c,
                             const matmul_epilogue<Out>& epilogue, const rungs::batch_strides& batch,
                             cuda::stream_ref stream, matmul_options options) {
    options.workspace = {};
    const auto call = described<Out, In>(a, b, c, epilogue, batch, options);
    if (!call) return 0;
    return matmul_workspace_bytes(call->problem, traits_of(device_of(stream)), options.algorithm);
}

}  // namespace

template <class Out, class In>
std::int64_t matmul_workspace_bytes(matrix_view<const std::type_identity_t<In>> a,
                                    matrix_view<const std::type_identity_t<In>> b, matrix_view<Out> c,
                                    cuda::stream_ref stream, const matmul_options& options) {
    return workspace_bytes<Out, In>(a, b, c, {}, {}, stream, options);
}

template <class Out, class In>
std::int64_t matmul_workspace_bytes(matrix_view<const std::type_identity_t<In>> a,
                                    matrix_view<const std::type_identity_t<In>> b, matrix_view<Out> c,
                                    const matmul_epilogue<std::type_identity_t<Out>>& epilogue,
                                    cuda::stream_ref stream, const matmul_options& options) {
    return workspace_bytes<Out, In>(a, b, c, epilogue, {}, stream, options);
}

template <class Out, class In>
std::int64_t batched_matmul_workspace_bytes(batch_view<const std::type_identity_t<In>> a,
                                            batch_view<const std::type_identity_t<In>> b, batch_view<Out> c,
                                            cuda::stream_ref stream, const matmul_options& options) {
    validate_batch(a, b, c);
    return workspace_bytes<Out, In>(a.first, b.first, c.first, {}, {c.count, a.stride, b.stride, c.stride},
                                    stream, options);
}

template <class Out, class In>
std::int64_t batched_matmul_workspace_bytes(
    std::type_identity_t<std::span<const matmul_operands<Out, In>>> products, cuda::stream_ref stream,
    const matmul_options& options) {
    std::int64_t bytes = 0;
    for (const auto& each : products)
        bytes = std::max(bytes, workspace_bytes<Out, In>(each.a, each.b, each.c, {}, {}, stream, options));
    return bytes;
}

template <class Out, class In>
void batched_matmul(std::type_identity_t<std::span<const matmul_operands<Out, In>>> products,
                    cuda::stream_ref stream, const matmul_options& options) {
    std::vector<rungs::checked_call<In, Out>> todo;
    todo.reserve(products.size());
    for (const auto& each : products)
        if (const auto call = described<Out, In>(each.a, each.b, each.c, {}, {}, options))
            todo.push_back(*call);
    require_kernel(options.algorithm, element_type_of<In>);
    if (todo.empty()) return;

    const detail::stream_device call_device(stream);
    const device_traits& device = call_device.traits();
    for (auto& each : todo) prepare(each, options, device);
    std::vector<rungs::product<In, Out>> grouped;
    if (options.algorithm == automatic) {
        const std::span group =
            std::ranges::partition(todo, [&](const auto& p) { return !can_be_grouped(p.problem, device); });
        std::ranges::sort(group, std::greater(), [](const auto& p) { return p.problem.k; });
        for (const auto& p : group.subspan(count_alone(group, device))) grouped.push_back(p.arguments);
        todo.resize(todo.size() - grouped.size());
    }
    for (const auto& each : todo) enqueue(each, options, device, stream);
    if constexpr (HEDDLE_COMPILED_FOR_90 != 0 && std::is_same_v<In, Out>)
        rungs::launch_grouped<In>(grouped, device, stream.get());
}

template void matmul<float, float>(matrix_view<const float>, matrix_view<const float>, matrix_view<float>,
                                   cuda::stream_ref, const matmul_options&);
template void matmul<half, half>(matrix_view<const half>, matrix_view<const half>, matrix_view<half>,
                                 cuda::stream_ref, const matmul_options&);
template void matmul<float, half>(matrix_view<const half>, matrix_view<const half>, matrix_view<float>,
                                  cuda::stream_ref, const matmul_options&);
template void matmul<bfloat16, bfloat16>(matrix_view<const bfloat16>, matrix_view<const bfloat16>,
                                         matrix_view<bfloat16>, cuda::stream_ref, const matmul_options&);
template void matmul<float, bfloat16>(matrix_view<const bfloat16>, matrix_view<const bfloat16>,
                                      matrix_view<float>, cuda::stream_ref, const matmul_options&);

template std::int64_t matmul_workspace_bytes<float, float>(matrix_view<const float>, matrix_view<const float>,
                                                           matrix_view<float>, cuda::stream_ref,
                                                           const matmul_options&);
template std::int64_t matmul_workspace_bytes<half, half>(matrix_view<const half>, matrix_view<const half>,
                                                         matrix_view<half>, cuda::stream_ref,
                                                         const matmul_options&);
template std::int64_t matmul_workspace_bytes<float, half>(matrix_view<const half>, matrix_view<const half>,
                                                          matrix_view<float>, cuda::stream_ref,
                                                          const matmul_options&);
template std::int64_t matmul_workspace_bytes<bfloat16, bfloat16>(matrix_view<const bfloat16>,
                                                                 matrix_view<const bfloat16>,
                                                                 matrix_view<bfloat16>, cuda::stream_ref,
                                                                 const matmul_options&);
template std::int64_t matmul_workspace_bytes<float, bfloat16>(matrix_view<const bfloat16>,
                                                              matrix_view<const bfloat16>, matrix_view<float>,
                                                              cuda::stream_ref, const matmul_options&);

template std::int64_t matmul_workspace_bytes<half, half>(matrix_view<const half>, matrix_view<const half>,
                                                         matrix_view<half>, const matmul_epilogue<half>&,
                                                         cuda::stream_ref, const matmul_options&);
template std::int64_t matmul_workspace_bytes<float, half>(matrix_view<const half>, matrix_view<const half>,
                                                          matrix_view<float>, const matmul_epilogue<float>&,
                                                          cuda::stream_ref, const matmul_options&);
template std::int64_t matmul_workspace_bytes<bfloat16, bfloat16>(matrix_view<const bfloat16>,
                                                                 matrix_view<const bfloat16>,
                                                                 matrix_view<bfloat16>,
                                                                 const matmul_epilogue<bfloat16>&,
                                                                 cuda::stream_ref, const matmul_options&);
template std::int64_t matmul_workspace_bytes<float, bfloat16>(matrix_view<const bfloat16>,
                                                              matrix_view<const bfloat16>, matrix_view<float>,
                                                              const matmul_epilogue<float>&, cuda::stream_ref,
                                                              const matmul_options&);

template std::int64_t batched_matmul_workspace_bytes<half, half>(batch_view<const half>,
                                                                 batch_view<const half>, batch_view<half>,
                                                                 cuda::stream_ref, const matmul_options&);
template std::int64_t batched_matmul_workspace_bytes<half, half>(std::span<const matmul_operands<half, half>>,
                                                                 cuda::stream_ref, const matmul_options&);
template std::int64_t batched_matmul_workspace_bytes<float, half>(batch_view<const half>,
                                                                  batch_view<const half>, batch_view<float>,
                                                                  cuda::stream_ref, const matmul_options&);
template std::int64_t batched_matmul_workspace_bytes<float, half>(
    std::span<const matmul_operands<float, half>>, cuda::stream_ref, const matmul_options&);
template std::int64_t batched_matmul_workspace_bytes<bfloat16, bfloat16>(batch_view<const bfloat16>,
                                                                         batch_view<const bfloat16>,
                                                                         batch_view<bfloat16>,
                                                                         cuda::stream_ref,
                                                                         const matmul_options&);
template std::int64_t batched_matmul_workspace_bytes<bfloat16, bfloat16>(
    std::span<const matmul_operands<bfloat16, bfloat16>>, cuda::stream_ref, const matmul_options&);
template std::int64_t batched_matmul_workspace_bytes<float, bfloat16>(batch_view<const bfloat16>,
                                                                      batch_view<const bfloat16>,
                                                                      batch_view<float>, cuda::stream_ref,
                                                                      const matmul_options&);
template std::int64_t batched_matmul_workspace_bytes<float, bfloat16>(
    std::span<const matmul_operands<float, bfloat16>>, cuda::stream_ref, const matmul_options&);

template void matmul<half, half>(matrix_view<const half>, matrix_view<const half>, matrix_view<half>,
                                 const matmul_epilogue<half>&, cuda::stream_ref, const matmul_options&);
template void matmul<float, half>(matrix_view<const half>, matrix_view<const half>, matrix_view<float>,
                                  const matmul_epilogue<float>&, cuda::stream_ref, const matmul_options&);
template void matmul<bfloat16, bfloat16>(matrix_view<const bfloat16>, matrix_view<const bfloat16>,
                                         matrix_view<bfloat16>, const matmul_epilogue<bfloat16>&,
                                         cuda::stream_ref, const matmul_options&);
template void matmul<float, bfloat16>(matrix_view<const bfloat16>, matrix_view<const bfloat16>,
                                      matrix_view<float>, const matmul_epilogue<float>&, cuda::stream_ref,
                                      const matmul_options&);

namespace detail {

/// For heddle/matmul.cuh: the rung is `fused`, where this device and these operands allow it, or `wmma`.
template <class Out, class In>
std::optional<rungs::checked_call<In, Out>> prepare_matmul(matrix_view<const In> a, matrix_view<const In> b,
                                                           matrix_view<Out> c,
                                                           const matmul_epilogue<Out>& epilogue,
                                                           cuda::stream_ref stream,
                                                           const matmul_options& options) {
    require(epilogue.activation == matmul_activation::none, "matmul", {"epilogue", "activation"},
            static_cast<int>(epilogue.activation), "none: the function stands in its place");
    auto call = described<Out, In>(a, b, c, epilogue, {}, options, true);
    if (options.algorithm != automatic && options.algorithm != wmma && options.algorithm != fused)
        throw unsupported(
            detail::format("matmul: {} takes no function: wmma and fused do", to_string(options.algorithm)));
    if (!call) return call;
    const device_traits& device = traits_of(device_of(stream));
    choose_rung(*call, options, device, true);
    const bool can_be_fused = is_hopper(device) && call->problem.tensor_maps;
    if (options.algorithm == fused && !can_be_fused)
        throw unsupported(
            "matmul: fused needs a device of compute capability 9.0, rows or columns of a and of b that are "
            "contiguous and begin at multiples of 16 bytes, and extents below 2^31");
    call->algorithm = options.algorithm != wmma && can_be_fused && call->problem.k > 0 ? fused : wmma;
    return call;
}

template std::optional<rungs::checked_call<half, half>> prepare_matmul(
    matrix_view<const half>, matrix_view<const half>, matrix_view<half>, const matmul_epilogue<half>&,
    cuda::stream_ref, const matmul_options&);
template std::optional<rungs::checked_call<half, float>> prepare_matmul(
    matrix_view<const half>, matrix_view<const half>, matrix_view<float>, const matmul_epilogue<float>&,
    cuda::stream_ref, const matmul_options&);
template std::optional<rungs::checked_call<bfloat16, bfloat16>> prepare_matmul(
    matrix_view<const bfloat16>, matrix_view<const bfloat16>, matrix_view<bfloat16>,
    const matmul_epilogue<bfloat16>&, cuda::stream_ref, const matmul_options&);
template std::optional<rungs::checked_call<bfloat16, float>> prepare_matmul(
    matrix_view<const bfloat16>, matrix_view<const bfloat16>, matrix_view<float>,
    const matmul_epilogue<float>&, cuda::stream_ref, const matmul_options&);

}  // namespace detail

template void batched_matmul<half, half>(batch_view<const half>, batch_view<const half>, batch_view<half>,
                                         cuda::stream_ref, const matmul_options&);
template void batched_matmul<half, half>(std::span<const matmul_operands<half, half>>, cuda::stream_ref,
                                         const matmul_options&);
template void batched_matmul<float, half>(batch_view<const half>, batch_view<const half>, batch_view<float>,
                                          cuda::stream_ref, const matmul_options&);
template void batched_matmul<float, half>(std::span<const matmul_operands<float, half>>, cuda::stream_ref,
                                          const matmul_options&);
template void batched_matmul<bfloat16, bfloat16>(batch_view<const bfloat16>, batch_view<const bfloat16>,
                                                 batch_view<bfloat16>, cuda::stream_ref,
                                                 const matmul_options&);
template void batched_matmul<bfloat16, bfloat16>(std::span<const matmul_operands<bfloat16, bfloat16>>,
                                                 cuda::stream_ref, const matmul_options&);
template void batched_matmul<float, bfloat16>(batch_view<const bfloat16>, batch_view<const bfloat16>,
                                              batch_view<float>, cuda::stream_ref, const matmul_options&);
template void batched_matmul<float, bfloat16>(std::span<const matmul_operands<float, bfloat16>>,
                                              cuda::stream_ref, const matmul_options&);

}  // namespace heddle
