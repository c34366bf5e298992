#pragma once

#include <heddle/device.hpp>
#include <heddle/scratch.hpp>
#include <heddle/types.hpp>
#include <heddle/view.hpp>

#include <cuda/stream_ref>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace heddle {

/// The rungs of the matrix product; kernels/matmul/README.md is their ladder.
enum class matmul_algorithm {
    automatic,
    naive,
    // float
    coalesced,
    tiled,
    shared_memory,
    register_tiled,
    warp_tiled,
    pipelined,
    tma_pipelined,
    split_k,
    thin,
    tf32x3,
    bf16x6,
    fp16x3,
    tf32,
    // half and bfloat16; skinny: float too
    wmma,
    mma_sync,
    wgmma_tma,
    warp_specialized,
    persistent,
    cluster_multicast,
    stream_k,
    skinny,
    fused,
    // all of these
    vector
};

/// The rungs for operands of a type, without `automatic`: what tests, benchmarks and pages go through.
std::span<const matmul_algorithm> matmul_algorithms(element_type operands);
std::string_view to_string(matmul_algorithm algorithm);

/// The compiled kernels of a rung, or with `automatic` of all, for operands of a type: "persistent 128x256". The first word names
/// the rung, and the others the tile of C, blocks that share it first, or what else the rung's kernels differ by.
std::span<const std::string_view> matmul_kernels(element_type operands,
                                                 matmul_algorithm algorithm = matmul_algorithm::automatic);

/// How a product of float may be computed (docs/accuracy.md).
enum class precision {
    /// Products are added by float32 FMAs, and the sums of parts along k by float32 additions.
    ieee,
    /// Also on tensor cores, by a rung whose sums are at least as exact as those of FMAs one after another: bf16x6. Elements
    /// below 2^-110 lose what they have below 2^-134.
    fp32,
    /// Also by rungs whose errors are small beside the norms of A's rows and B's columns, if not always beside their product:
    /// tf32x3, whose products are exact to 2^-21, and with scratch memory fp16x3, where an element counts to 2^-39 of the
    /// largest of 64 beside it along k. There infinities become NaN, and elements beyond 2^118 may give them.
    fp32_normwise,
    /// Also with elements rounded to the 11 bits of TF32, as long as float32's exponent: three decimal digits. On a device of
    /// compute capability 9.0.
    tf32
};

std::string_view to_string(precision precision);

struct matmul_options {
    float alpha = 1;
    /// Where it is 0, C is not read: it may hold anything, NaN too.
    float beta = 0;
    matmul_algorithm algorithm = matmul_algorithm::automatic;
    /// Device scratch memory, zeroed before its first use (heddle::workspace is), of at least
    /// matmul_workspace_bytes() with these options (whether alpha and beta are 0 counts too), 16-byte aligned, apart from A, B
    /// and C; ready for the next call when this one is done.
    std::span<std::byte> workspace{};
    /// Without a workspace, scratch memory that makes the call faster comes, stream-ordered, from heddle's pool of the stream's
    /// device (memory_pool::scratch_of); with a workspace nothing is allocated. scratch::none forbids it: then the call plans
    /// without scratch memory, and a rung that needs some throws unsupported.
    /// With scratch memory, products that have too few tiles for the device are shared out along k as well, and operands are
    /// copied first where the fastest rungs cannot read them as they lie, or read them slower: aligned rows too, if they begin
    /// within lines of 128 bytes.
    heddle::scratch scratch = heddle::scratch::pool;
    /// Limits what `automatic` chooses from where the operands are float.
    heddle::precision precision = heddle::precision::fp32;
    /// One of matmul_kernels(), or the first words of several, from which a model of their costs chooses; of `algorithm`, where
    /// that is not automatic. Empty: all.
    std::string_view kernel{};
};

enum class matmul_activation { none, relu, gelu, gelu_tanh, silu, sigmoid, tanh };

/// What becomes of a product before it is stored, all of it in float32:
/// C = scale * activation(alpha * A * B + beta * C + bias) + residual.
template <class Out>
struct matmul_epilogue {
    matmul_activation activation = matmul_activation::none;
    /// Added to every row: as long as a row, or empty.
    vector_view<const Out> row_bias{};
    /// Added to every column: as long as a column, or empty.
    vector_view<const Out> column_bias{};
    float scale = 1;
    /// Has C's shape, or is empty. C itself may be given: it is read before it is written.
    matrix_view<const Out> residual{};
};

/// A product without its memory: what its plan depends on. matmul_problem_of() makes it.
struct matmul_problem {
    /// Those of the product, or where C's columns are the more contiguous, of C^T = B^T A^T.
    matrix_layout a{}, b{}, c{};
    element_type operands = element_type::f32;
    element_type result = element_type::f32;
    /// Matrices of a batch, and elements from each of A, of B and of C to the next.
    std::int64_t batches = 1;
    std::int64_t a_stride = 0, b_stride = 0, c_stride = 0;
    bool has_epilogue = false;
    /// C is read too: beta is not 0.
    bool adds_c = false;
    /// Scratch memory is there: given, or from the pool.
    bool has_scratch = true;
    heddle::precision precision = heddle::precision::fp32;

    bool operator==(const matmul_problem&) const = default;
};

/// The problem of a call of matmul() with these arguments. What the views point to is not read; they may be null.
/// @throws invalid_argument  shapes disagree or are negative, a stride smaller than a row, an unknown algorithm or precision, a
///                           kernel that the algorithm does not have
template <class Out, class In = Out>
matmul_problem matmul_problem_of(matrix_view<const std::type_identity_t<In>> a,
                                 matrix_view<const std::type_identity_t<In>> b, matrix_view<Out> c,
                                 const matmul_options& options = {});
template <class Out, class In = Out>
matmul_problem matmul_problem_of(matrix_view<const std::type_identity_t<In>> a,
                                 matrix_view<const std::type_identity_t<In>> b, matrix_view<Out> c,
                                 const matmul_epilogue<std::type_identity_t<Out>>& epilogue,
                                 const matmul_options& options = {});

/// The rung that `automatic` stands for. It can run the problem. Pure.
/// @throws invalid_argument  shapes that disagree or are negative; more than 2^58 elements of an operand; an unknown type or
///                           precision; device.sm_count below 1
matmul_algorithm select(const matmul_problem& problem, const device_traits& device);

/// Why a rung cannot run a problem on a device, as `unsupported` says it; empty where it can, and of `automatic`. Pure.
/// @throws invalid_argument  as select(), and for an unknown algorithm or kernel
std::string why_not(matmul_algorithm algorithm, const matmul_problem& problem, const device_traits& device,
                    std::string_view kernel = {});

/// The kernel that a call takes, of those that it may: one of matmul_kernels(). "naive" where nothing is multiplied. Pure.
/// @throws invalid_argument  as why_not()
/// @throws unsupported       none of them can run the problem
std::string_view select_kernel(const matmul_problem& problem, const device_traits& device,
                               matmul_algorithm algorithm = matmul_algorithm::automatic,
                               std::string_view kernel = {});

/// Whether `automatic`, or the tuner, may take a rung for such a problem where it can run: whether it is as exact as is asked
/// for, and not there to learn from alone. Pure.
bool may_stand_for(matmul_algorithm algorithm, const matmul_problem& problem, const device_traits& device);

/// The workspace, in bytes, with which this product is fastest; 0 where it makes no difference, and where the rung cannot run
/// it. problem.has_scratch counts for nothing. Pure.
/// @throws invalid_argument  as why_not()
std::int64_t matmul_workspace_bytes(const matmul_problem& problem, const device_traits& device,
                                    matmul_algorithm algorithm = matmul_algorithm::automatic,
                                    std::string_view kernel = {});

/// The same for a call of matmul() with these arguments, on the stream's device.
/// @throws as matmul_problem_of()
template <class Out, class In = Out>
std::int64_t matmul_workspace_bytes(matrix_view<const std::type_identity_t<In>> a,
                                    matrix_view<const std::type_identity_t<In>> b, matrix_view<Out> c,
                                    cuda::stream_ref stream, const matmul_options& options = {}) {
    return matmul_workspace_bytes(matmul_problem_of<Out, In>(a, b, c, options), traits_of(device_of(stream)),
                                  options.algorithm, options.kernel);
}
template <class Out, class In = Out>
std::int64_t matmul_workspace_bytes(matrix_view<const std::type_identity_t<In>> a,
                                    matrix_view<const std::type_identity_t<In>> b, matrix_view<Out> c,
                                    const matmul_epilogue<std::type_identity_t<Out>>& epilogue,
                                    cuda::stream_ref stream, const matmul_options& options = {}) {
    return matmul_workspace_bytes(matmul_problem_of<Out, In>(a, b, c, epilogue, options),
                                  traits_of(device_of(stream)), options.algorithm, options.kernel);
}

/// C (m x n) = alpha * A (m x k) * B (k x n) + beta * C.
///
/// Matrices in device memory with any row and column strides; transposed(v) swaps the roles at no cost, and a
/// column-major BLAS matrix is the transposed view of a row-major one. C must not overlap A or B. As in BLAS,
/// A and B are not read where alpha is 0. Enqueued on `stream` and its device; never synchronises; safe under
/// stream capture; allocates only as matmul_options says. Nothing is done where m or n is 0; where k is 0, C = beta * C.
///
/// Out is float, and In too: as accurate as float32, or as options.precision says. Or In is half or bfloat16 and Out the same or float, as
/// in matmul<float, half>: exact products, summed in float32, and one rounding to Out. The error bounds are in
/// docs/accuracy.md.
///
/// @throws invalid_argument  shapes disagree or are negative, a null or misaligned pointer, a stride
///                           smaller than a row, an overlap, a workspace that is null, misaligned, too small or
///                           overlaps an operand, an unknown algorithm or precision, a kernel that the algorithm
///                           does not have (nothing is enqueued)
/// @throws unsupported       the algorithm that was asked for cannot run this problem on this device;
///                           says why (nothing is enqueued)
/// @throws cuda_error        the launch or the allocation failed
template <class Out, class In = Out>
void matmul(matrix_view<const std::type_identity_t<In>> a, matrix_view<const std::type_identity_t<In>> b,
            matrix_view<Out> c, cuda::stream_ref stream, const matmul_options& options = {});

/// The same with an epilogue, which is applied before C is stored. These rungs have it for 16 bits: `naive`, `wmma`, `mma_sync`,
/// `skinny`, `fused` and `vector`; and these for float: `naive`, `warp_tiled`, `pipelined`, `split_k`, `thin`, `skinny`, `bf16x6`,
/// `fp16x3`, `tf32` and `vector`.
/// A residual may be C itself; otherwise residual and biases do not overlap C.
///
/// @throws as above, and where a bias is not as long as its side of C, or the residual is not of C's shape
template <class Out, class In = Out>
void matmul(matrix_view<const std::type_identity_t<In>> a, matrix_view<const std::type_identity_t<In>> b,
            matrix_view<Out> c, const matmul_epilogue<std::type_identity_t<Out>>& epilogue,
            cuda::stream_ref stream, const matmul_options& options = {});

}  // namespace heddle
