#pragma once

#include "kernels/matmul/epilogue.hpp"
#include "kernels/matmul/tensor_layout.hpp"
#include "kernels/matmul/tile_plan.hpp"
#include <heddle/device.hpp>
#include <heddle/view.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace heddle::kernels::matmul {

/// Elements from one matrix to the next. 0: one for all.
struct batch_strides {
    std::int64_t count = 1;
    std::int64_t a = 0;
    std::int64_t b = 0;
    std::int64_t c = 0;
};

/// float products have no batches.
struct no_batch {};

constexpr batch_strides transposed(const batch_strides& s) {
    return {s.count, s.b, s.a, s.c};
}
constexpr no_batch transposed(no_batch b) {
    return b;
}

template <class In>
using batch_of = std::conditional_t<std::is_same_v<In, float>, no_batch, batch_strides>;

/// Which of the rung's plans is taken; -1 is the cheapest.
struct tile_choice {
    int index = -1;
};
struct no_tile_choice {};
template <class In>
using tile_of = std::conditional_t<std::is_same_v<In, float>, no_tile_choice, tile_choice>;

/// C = alpha * A * B + beta * C, shapes in agreement, C not empty. C's rows are the more contiguous: the
/// caller has turned C^T = B^T A^T around where they were not.
/// Where there is a batch, these are its first matrices.
template <class In, class Out, class Activation = matmul_activation>
struct product {
    matrix_view<const In> a;
    matrix_view<const In> b;
    matrix_view<Out> c;
    float alpha = 1;
    float beta = 0;
    [[no_unique_address]] epilogue_of<In, Out, Activation> epilogue{};
    [[no_unique_address]] batch_of<In> batch{};
    [[no_unique_address]] tile_of<In> tile{};
};

/// C^T = B^T A^T.
template <class In, class Out>
product<In, Out> transposed(const product<In, Out>& p) {
    return {transposed(p.b), transposed(p.a),        transposed(p.c),     p.alpha,
            p.beta,          transposed(p.epilogue), transposed(p.batch), p.tile};
}

/// A call whose arguments were checked, ready for launch.
template <class In, class Out>
struct checked_call {
    product<In, Out> arguments;
    matmul_problem problem;
    matmul_algorithm algorithm;  ///< never `automatic`
    bool is_transposed;          ///< the product was turned around
};

using arguments = product<float, float>;

/// In is float, and Out then too; or half or bfloat16, and Out the same or float.
template <class In, class Out>
void launch_naive(const product<In, Out>& arguments, const device_traits& device, cudaStream_t stream);

// float
void launch_coalesced(const arguments& arguments, const device_traits& device, cudaStream_t stream);
void launch_tiled(const arguments& arguments, const device_traits& device, cudaStream_t stream);
void launch_shared_memory(const arguments& arguments, const device_traits& device, cudaStream_t stream);
void launch_register_tiled(const arguments& arguments, const device_traits& device, cudaStream_t stream);
void launch_warp_tiled(const arguments& arguments, const device_traits& device, cudaStream_t stream);
/// Needs a unit stride along one dimension of A and of B, and cp.async (compute capability 8.0).
void launch_pipelined(const arguments& arguments, const device_traits& device, cudaStream_t stream);
/// `sums` is needed where the layout shares tiles: those of their parts are left there.
void launch_pipelined_layout(const ffma_layout& layout, const arguments& arguments, float* sums,
                             cudaStream_t stream);
/// Needs has_tensor_rows_or_columns() of A and B, has_tensor_extents() of C, some k, and compute capability 9.0. Without a
/// workspace, all tiles are whole.
void launch_tma_pipelined(const arguments& arguments, std::byte* workspace, const device_traits& device,
                          cudaStream_t stream);
/// The same of any A and B with contiguous rows or columns; the workspace holds their copies.
void launch_padded_tma_pipelined(const arguments& arguments, std::byte* workspace,
                                 const device_traits& device, cudaStream_t stream);
/// Needs what launch_pipelined() does. Without a workspace, all tiles are whole.
void launch_split_k(const arguments& arguments, std::byte* workspace, const device_traits& device,
                    cudaStream_t stream);
/// Needs a side of C of at most max_skinny_float_side, and skinny_float_shared_bytes for a block.
void launch_skinny(const arguments& arguments, const device_traits& device, cudaStream_t stream);
/// Needs what launch_pipelined() does.
void launch_tf32x3(const arguments& arguments, const device_traits& device, cudaStream_t stream);
/// Needs has_tensor_extents() of A, B and C, some k, and compute capability 9.0. Without a workspace, all tiles are whole.
void launch_bf16x6(const arguments& arguments, std::byte* workspace, const device_traits& device,
                   cudaStream_t stream);
/// Needs has_tensor_extents() of A, B and C, some k, compute capability 9.0, and a workspace.
void launch_fp16x3(const arguments& arguments, std::byte* workspace, const device_traits& device,
                   cudaStream_t stream);
/// Needs has_tensor_rows_or_columns() of A and B, has_tensor_operand_along_k(), has_tensor_extents() of C, some k, and
/// compute capability 9.0. Without a workspace, all tiles are whole.
void launch_tf32(const arguments& arguments, std::byte* workspace, const device_traits& device,
                 cudaStream_t stream);
/// With the layout, of those of lay_out_skinny_tf32(); B lies along k, has_tensor_rows(transposed(b)).
void launch_skinny_tf32(const arguments& arguments, const skinny_layout& layout, std::byte* workspace,
                        cudaStream_t stream);
/// The same as launch_tf32() of any A and B with contiguous rows or columns; the workspace holds their copies.
void launch_padded_tf32(const arguments& arguments, std::byte* workspace, const device_traits& device,
                        cudaStream_t stream);

// half and bfloat16
template <class In, class Out>
void launch_wmma(const product<In, Out>& arguments, const device_traits& device, cudaStream_t stream);
/// Needs has_tensor_rows_or_columns() of A and B, and cp.async and mma.sync (compute capability 8.0).
template <class In, class Out>
void launch_mma_sync(const product<In, Out>& arguments, const device_traits& device, cudaStream_t stream);
// These need has_tensor_rows_or_columns() of A and B, has_tensor_extents() of C, some k, and compute capability 9.0.
template <class T>
void launch_wgmma_tma(const product<T, T>& arguments, const device_traits& device, cudaStream_t stream);
template <class T>
void launch_warp_specialized(const product<T, T>& arguments, const device_traits& device,
                             cudaStream_t stream);
template <class In, class Out>
void launch_persistent(const product<In, Out>& arguments, const device_traits& device, cudaStream_t stream);
template <class In, class Out>
void launch_cluster_multicast(const product<In, Out>& arguments, const device_traits& device,
                              cudaStream_t stream);
/// With one of persistent_tiles. `workspace` is needed where the layout streams.
template <class In, class Out>
void launch_persistent_layout(const tile_layout& layout, const product<In, Out>& arguments,
                              std::byte* workspace, cudaStream_t stream);
/// Without a workspace, all tiles are whole.
template <class In, class Out>
void launch_stream_k(const product<In, Out>& arguments, std::byte* workspace, const device_traits& device,
                     cudaStream_t stream);
template <class In, class Out>
void launch_skinny(const product<In, Out>& arguments, std::byte* workspace, const device_traits& device,
                   cudaStream_t stream);

/// Products without batches and epilogues, in the order of falling k, which is kept among those that lie the same way.
template <class T>
void launch_grouped(std::span<product<T, T>> products, const device_traits& device, cudaStream_t stream);

/// With the epilogue. (naive, wmma, mma_sync and skinny heed it too.)
template <class T>
void launch_fused(const product<T, T>& arguments, const device_traits& device, cudaStream_t stream);

/// For A and B with contiguous rows or columns at any address; the workspace holds their copies. float takes bf16x6.
template <class In, class Out>
void launch_padded(const product<In, Out>& arguments, std::byte* workspace, const device_traits& device,
                   cudaStream_t stream);

/// A workspace begins with the tickets, which are zero between calls. The sums that are shared come behind them.
inline constexpr std::int64_t workspace_ticket_bytes = max_tickets * std::int64_t{sizeof(unsigned)};

}  // namespace heddle::kernels::matmul
