#include "src/matmul/rungs.hpp"

#include <heddle/types.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace heddle {
namespace {

using namespace kernels::matmul;
using detail::always, detail::any_problem, detail::launch_on_hopper, detail::needs, detail::never,
    detail::rows_of;
using enum matmul_algorithm;

// What rungs need.

using need = detail::need<product_facts>;

constexpr auto& ampere = detail::ampere<product_facts>;
constexpr auto& hopper = detail::hopper<product_facts>;
constexpr need unit_strides{[](auto& p, auto&) { return p.has_unit_strides; },
                            "needs the rows or the columns of a and of b side by side (a stride of 1)"};
template <int bytes>
constexpr need shared_memory_of{[](auto&, auto& device) {
                                    return static_cast<std::size_t>(bytes) <=
                                           device.shared_memory_per_block_optin;
                                },
                                "needs more shared memory than the device has"};
template <std::size_t kernel>
constexpr need shared_memory_for = shared_memory_of<pipelined_kernels[kernel].shared_bytes()>;
constexpr need short_k{[](auto& p, auto&) { return p.a.cols <= stream_kernel::max_k; },
                       "needs a k of at most 64"};
static_assert(stream_kernel::max_k == 64);
template <std::size_t kernel>
constexpr need tiles_for_packed{
    [](auto& p, auto&) { return packed_kernels[kernel].has_countable_tiles(p.c.rows, p.c.cols, p.batches); },
    "needs at most 2^30 of its tiles of C, in all of a batch"};
static_assert(max_packed_tiles == 1 << 30);
template <std::size_t kernel>
constexpr need packets_for{
    [](auto& p, auto&) { return mma_sync_kernels[kernel].takes_elements() || p.lies_in_boxes; },
    "needs rows or columns of a and of b that begin at multiples of 16 bytes"};
template <std::size_t kernel>
constexpr need boxes_for_skinny{
    [](auto& p, auto&) { return skinny_kernels[kernel].n % skinny_height == 0 || p.short_side_lies_along_k; },
    "needs the operand of C's shorter side along k"};
template <std::size_t kernel>
constexpr need rows_for_skinny_float{[](auto& p, auto&) {
                                         return kernel + 1 == skinny_float_kernels.size() ||
                                                std::min(p.c.rows, p.c.cols) <=
                                                    skinny_float_kernels[kernel].rows;
                                     },
                                     "needs m or n of at most its rows"};
constexpr need boxes{
    [](auto& p, auto&) { return p.lies_in_boxes || p.can_be_copied; },
    "needs rows or columns of a and of b that are contiguous and begin at multiples of 16 "
    "bytes, in each matrix of a batch, or scratch memory for copies that do, unless matrices "
    "of a batch overlap; and extents below 2^31"};
constexpr need boxes_along_k{[](auto& p, auto&) { return p.lies_along_k || p.can_be_copied_along_k; },
                             "needs rows of a or columns of b that are contiguous, or scratch memory for a "
                             "copy that has them"};
constexpr need countable{[](auto& p, auto&) { return p.is_countable; }, "needs extents below 2^31"};
constexpr need tiles{[](auto& p, auto&) { return p.has_countable_tiles; },
                     "needs at most 2^30 tiles of C, of 64 x 64, in all of a batch"};
/// Where nothing is multiplied, any C will do.
constexpr need short_side{[](auto& p, auto&) { return p.is_skinny || p.a.cols == 0; },
                          "needs m or n of at most 64"};
static_assert(max_skinny_side == 64 && max_skinny_float_side == 64);
constexpr need one_line{[](auto& p, auto&) { return p.is_vector; }, "needs m or n of 1"};
constexpr need rows_in_shared_memory{
    [](auto&, auto& device) { return device.shared_memory_per_block_optin >= skinny_float_shared_bytes; },
    "of float needs 204800 bytes of shared memory"};
static_assert(skinny_float_shared_bytes == 204800);
constexpr need no_batch{[](auto& p, auto&) { return p.batches == 1; },
                        "takes no batch: those that batched_matmul() names do"};
constexpr need no_epilogue{[](auto& p, auto&) { return !p.has_epilogue; }, "has no epilogue"};
constexpr need one_type{[](auto& p, auto&) { return p.result == p.operands; },
                        "stores the type of its operands"};

// What `automatic` may take.

bool shares_tiles(const product_facts& p, const device_traits&) {
    return p.has_scratch;
}
template <precision... those>
bool is_at(const product_facts& p, const device_traits&) {
    return ((p.precision == those) || ...);
}
/// From this k on the sums of bf16x6 are at least as exact as sums of FMAs one after another, also where few terms outweigh
/// all others (docs/accuracy.md).
bool is_exact_as_bf16x6(const product_facts& p, const device_traits&) {
    constexpr std::int64_t min_k = 512;
    return p.precision == precision::tf32 || (p.precision != precision::ieee && p.a.cols >= min_k);
}

using float_rung = detail::matmul_rung<float, float>;

constexpr auto float_rungs = detail::joined(
    std::to_array<float_rung>({
        {naive, "naive", any_problem, never, plan_one_way, launch_naive<float, float>},
        {coalesced, "coalesced", needs<no_batch, no_epilogue>, never, plan_one_way, launch_coalesced},
        {tiled, "tiled", needs<no_batch, no_epilogue>, never, plan_one_way, launch_tiled},
        {shared_memory, "shared_memory", needs<no_batch, no_epilogue>, never, plan_one_way,
         launch_shared_memory},
        {register_tiled, "register_tiled", needs<no_batch, no_epilogue>, never, plan_one_way,
         launch_register_tiled},
        {warp_tiled, "warp_tiled", any_problem, always, plan_warp_tiled,
         launch_warp_tiled<matmul_activation>},
    }),
    rows_of<float_rung, pipelined_kernels, plan_pipelined>(
        pipelined, []<std::size_t kernel> { return needs<ampere, shared_memory_for<kernel>, unit_strides>; },
        always, launch_pipelined),
    std::to_array<float_rung>({{tma_pipelined, "tma_pipelined", needs<hopper, no_batch, no_epilogue, boxes>,
                                always, plan_tma_pipelined, launch_on_hopper<launch_tma_pipelined>}}),
    rows_of<float_rung, split_k_names, plan_split_k>(
        split_k, []<std::size_t kernel> { return needs<ampere, shared_memory_for<kernel>, unit_strides>; },
        shares_tiles, launch_split_k),
    rows_of<float_rung, thin_kernels, plan_thin>(thin, needs<ampere, unit_strides>, always, launch_thin),
    rows_of<float_rung, stream_kernels, plan_stream>(
        stream,
        []<std::size_t kernel> {
            return needs<ampere, short_k, shared_memory_of<stream_kernels[kernel].most_shared_bytes()>>;
        },
        always, launch_stream),
    rows_of<float_rung, packed_kernels, plan_packed>(
        packed, []<std::size_t kernel> { return needs<ampere, tiles_for_packed<kernel>>; }, always,
        launch_packed),
    std::to_array<float_rung>(
        {{tf32x3, "tf32x3", needs<ampere, no_batch, no_epilogue, unit_strides>,
          is_at<precision::fp32_normwise, precision::tf32>, plan_tf32x3, launch_tf32x3}}),
    rows_of<float_rung, skinny_float_kernels, plan_skinny_float>(
        skinny,
        []<std::size_t
               kernel> { return needs<rows_in_shared_memory, short_side, rows_for_skinny_float<kernel>>; },
        always, launch_skinny_float),
    rows_of<float_rung, bf16x6_kernels, plan_bf16x6>(bf16x6, needs<hopper, boxes, tiles>, is_exact_as_bf16x6,
                                                     launch_on_hopper<launch_bf16x6>),
    std::to_array<float_rung>(
        {{fp16x3, "fp16x3", needs<hopper, no_batch, countable>, is_at<precision::fp32_normwise>, plan_fp16x3,
          launch_on_hopper<launch_fp16x3>}}),
    rows_of<float_rung, tf32_kernels, plan_tf32>(tf32, needs<hopper, boxes, boxes_along_k, tiles>,
                                                 is_at<precision::tf32>,
                                                 launch_on_hopper<launch_tf32<matmul_activation>>),
    rows_of<float_rung, skinny_tf32_kernels, plan_skinny_tf32>(
        tf32, needs<hopper, no_batch, boxes, boxes_along_k, short_side>, is_at<precision::tf32>,
        launch_on_hopper<launch_skinny_tf32>),
    std::to_array<float_rung>(
        {{vector, "vector", needs<one_line>, always, plan_vector, launch_vector<float, float>}}));

template <class In, class Out, class Rung = detail::matmul_rung<In, Out>>
constexpr auto half_rungs = detail::joined(
    std::to_array<Rung>({
        {naive, "naive", any_problem, never, plan_one_way, launch_naive<In, Out>},
        {wmma, "wmma", any_problem, always, plan_wmma, launch_wmma<In, Out>},
    }),
    rows_of<Rung, mma_sync_kernels, plan_mma_sync>(
        mma_sync, []<std::size_t kernel> { return needs<ampere, unit_strides, packets_for<kernel>>; }, always,
        launch_mma_sync<In, Out>),
    std::to_array<Rung>({
        {wgmma_tma, "wgmma_tma", needs<hopper, no_batch, no_epilogue, one_type, boxes>, never, plan_copied,
         launch_on_hopper<launch_wgmma_tma<In>>},
        {warp_specialized, "warp_specialized", needs<hopper, no_batch, no_epilogue, one_type, boxes>, never,
         plan_copied, launch_on_hopper<launch_warp_specialized<In>>},
    }),
    rows_of<Rung, persistent_kernels, plan_persistent>(persistent, needs<hopper, no_epilogue, boxes, tiles>,
                                                       always, launch_on_hopper<launch_persistent<In, Out>>),
    rows_of<Rung, multicast_kernels, plan_cluster_multicast>(
        cluster_multicast, needs<hopper, no_epilogue, boxes, tiles>, always,
        launch_on_hopper<launch_cluster_multicast<In, Out>>),
    rows_of<Rung, stream_k_names, plan_stream_k>(stream_k, needs<hopper, no_epilogue, boxes, tiles>,
                                                 shares_tiles, launch_on_hopper<launch_persistent<In, Out>>),
    rows_of<Rung, skinny_kernels, plan_skinny>(
        skinny,
        []<std::size_t
               kernel> { return needs<hopper, no_batch, short_side, boxes, boxes_for_skinny<kernel>>; },
        always, launch_on_hopper<launch_skinny<In, Out>>),
    rows_of<Rung, fused_kernels, plan_fused>(fused, needs<hopper, no_batch, boxes, tiles>, always,
                                             launch_on_hopper<launch_fused<In, Out>>),
    std::to_array<Rung>({{vector, "vector", needs<one_line>, always, plan_vector, launch_vector<In, Out>}}));

}  // namespace

std::span<const matmul_algorithm> matmul_algorithms(element_type operands) {
    if (operands == element_type::f32) return detail::ids_of<float_rungs>;
    return detail::ids_of<half_rungs<half, half>>;
}

std::span<const std::string_view> matmul_kernels(element_type operands, matmul_algorithm algorithm) {
    return operands == element_type::f32 ? detail::kernels_of<float_rungs>(algorithm)
                                         : detail::kernels_of<half_rungs<half, half>>(algorithm);
}

namespace detail {

template <class In, class Out>
rung_table<matmul_rung<In, Out>> matmul_rungs() {
    constexpr const char* enumeration = "matmul_algorithm";
    if constexpr (std::is_same_v<In, float>)
        return {float_rungs, enumeration};
    else
        return {half_rungs<In, Out>, enumeration};
}

#define INSTANTIATE(In, Out) template rung_table<matmul_rung<In, Out>> matmul_rungs();
HEDDLE_PAIRS_OF_TYPES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace detail
}  // namespace heddle
