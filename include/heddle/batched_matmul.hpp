#pragma once

#include <heddle/matmul.hpp>
#include <heddle/types.hpp>
#include <heddle/view.hpp>

#include <cuda/stream_ref>

#include <concepts>
#include <cstdint>
#include <span>
#include <type_traits>

namespace heddle {

/// `count` matrices of one shape, each `stride` elements from the one before. Of an operand that is only read, a stride of 0
/// makes one matrix serve all.
template <class T>
struct batch_view {
    matrix_view<T> first;
    std::int64_t count = 1;
    std::int64_t stride = 0;

    /// A view of mutable elements converts to one of constant elements.
    template <std::same_as<T> U>
    constexpr operator batch_view<const U>() const {
        return {first, count, stride};
    }
};

/// C_i = alpha * A_i * B_i + beta * C_i for each of a batch, in one launch, or in some rungs one for
/// every 65535 products.
///
/// Views, types, errors and stream behaviour are matmul's. The matrices of C lie one after another and apart from all of A
/// and B. Rungs that take batches are, of half and bfloat16, naive, wmma, mma_sync, persistent, cluster_multicast, stream_k
/// and vector; of float, naive, warp_tiled, pipelined, split_k, thin, skinny, bf16x6, vector and, but for its skinny kernels,
/// tf32. Where a rung needs rows or
/// columns that are aligned, those of all matrices have to be, or with a workspace all are copied, but for matrices of A or of B
/// that overlap. `automatic` takes a batch that shares B, and in which the rows of A, and those of C, are all one stride apart,
/// as one product of all rows; or of columns, where it shares A and the columns of B and C are.
///
/// Nothing is done, and no pointer needed, where the counts are 0.
///
/// @throws invalid_argument  and where the counts disagree or are negative, a stride is negative or too large to count
///                           its bytes, or C's is less than one of its matrices spans
template <class Out, class In = Out>
void batched_matmul(batch_view<const std::type_identity_t<In>> a,
                    batch_view<const std::type_identity_t<In>> b, batch_view<Out> c, cuda::stream_ref stream,
                    const matmul_options& options = {});

/// The workspace, in bytes, with which batched_matmul() with these arguments is fastest on the stream's device; 0 where it makes
/// no difference. options.workspace counts for nothing.
///
/// @throws invalid_argument  as batched_matmul() does, but for the workspace; an algorithm that cannot run needs 0 bytes
template <class Out, class In = Out>
std::int64_t batched_matmul_workspace_bytes(batch_view<const std::type_identity_t<In>> a,
                                            batch_view<const std::type_identity_t<In>> b, batch_view<Out> c,
                                            cuda::stream_ref stream, const matmul_options& options = {});

/// One of several products of any shapes.
template <class Out, class In = Out>
struct matmul_operands {
    matrix_view<const In> a;
    matrix_view<const In> b;
    matrix_view<Out> c;
};

/// C_i = alpha * A_i * B_i + beta * C_i for each of several products, of any shapes, in any order: their Cs do not overlap one
/// another's operands. All are checked before the first is enqueued, also whether the algorithm that is asked for can run each.
///
/// With `automatic` on compute capability 9.0, one launch does some fifty products. These take a launch each: where A or B
/// has neither rows nor columns that begin at multiples of 16 bytes; where k is 0; where a k is so long, and the list so
/// short, that a product is faster with the device to itself. So do all products where In is float or Out is not In, with
/// another algorithm, and on other devices.
template <class Out, class In = Out>
void batched_matmul(std::type_identity_t<std::span<const matmul_operands<Out, In>>> products,
                    cuda::stream_ref stream, const matmul_options& options = {});

/// The same for a list of products: one workspace serves them one after another.
template <class Out, class In = Out>
std::int64_t batched_matmul_workspace_bytes(
    std::type_identity_t<std::span<const matmul_operands<Out, In>>> products, cuda::stream_ref stream,
    const matmul_options& options = {});

}  // namespace heddle
