#pragma once

#include <heddle/matmul.hpp>
#include <heddle/types.hpp>
#include <heddle/view.hpp>

#include <cuda/stream_ref>

#include <concepts>
#include <cstdint>
#include <span>
#include <type_traits>

#pragma GCC visibility push(default)

namespace heddle {

/// `count` matrices of one shape, each `stride` elements after the previous one. For an operand that is only read, a
/// stride of 0 makes one matrix serve all products.
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

/// C_i = alpha * A_i * B_i + beta * C_i for each of a batch. One launch; in some rungs, one for every 65535 products.
///
/// Views, types, errors and stream behaviour are matmul's. The matrices of C do not overlap one another, nor A or B.
/// For half and bfloat16, these rungs take batches: naive, wmma, mma_sync, persistent, cluster_multicast, stream_k
/// and vector. For float they are naive, warp_tiled, pipelined, split_k, thin, stream, packed, skinny, bf16x6,
/// vector and tf32 without its skinny kernels.
///
/// A rung that needs aligned rows or columns needs them in all matrices. With a workspace, unaligned matrices are all
/// copied, except matrices of A or of B that overlap. `automatic` runs two kinds of batches as one product.
/// One shares B, with all rows of A and of C one stride apart. The other shares A, with all columns so in B and C.
///
/// Nothing is done, and no pointer needed, where the counts are 0.
///
/// @throws invalid_argument  also where the counts disagree or are negative, a stride is negative or too large to
///                           count its bytes, or C's is less than the span of one of its matrices
template <class Out, class In = Out>
void batched_matmul(batch_view<const std::type_identity_t<In>> a,
                    batch_view<const std::type_identity_t<In>> b, batch_view<Out> c, cuda::stream_ref stream,
                    const matmul_options& options = {});

/// The bytes of workspace with which batched_matmul() with these arguments is fastest on the stream's device; 0 where
/// it makes no difference. options.workspace is ignored.
///
/// @throws invalid_argument  as batched_matmul() does, but for the workspace; an algorithm that cannot run needs 0
///                           bytes
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

/// C_i = alpha * A_i * B_i + beta * C_i for each of several products, of any shapes, in any order. No C overlaps an
/// operand of another product. All products are checked before the first is enqueued, also whether the requested
/// algorithm can run each.
///
/// With `automatic` on compute capability 9.0, one launch does some fifty products. A product takes a launch of its own
/// where k is 0, or where A or B has neither rows nor columns at multiples of 16 bytes. So does one of long k in a
/// short list, if the whole device is faster for it. So do all products where In is float or Out is not In, with
/// another algorithm, and on other devices.
template <class Out, class In = Out>
void batched_matmul(std::type_identity_t<std::span<const matmul_operands<Out, In>>> products,
                    cuda::stream_ref stream, const matmul_options& options = {});

/// The same for a list of products, which share one workspace one after another.
template <class Out, class In = Out>
std::int64_t batched_matmul_workspace_bytes(
    std::type_identity_t<std::span<const matmul_operands<Out, In>>> products, cuda::stream_ref stream,
    const matmul_options& options = {});

}  // namespace heddle

#pragma GCC visibility pop
