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

#pragma GCC visibility push(default)

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
    vector,
    // float
    stream,
    packed
};

/// The rungs for operands of a type, except `automatic`. Tests, benchmarks and pages iterate over them.
std::span<const matmul_algorithm> matmul_algorithms(element_type operands);
std::string_view to_string(matmul_algorithm algorithm);

/// The compiled kernels for operands of a type, of a rung, or of all rungs for `automatic`: "persistent 128x256". The
/// first word names the rung. The others name the tile of C, after the blocks that share it, or another difference
/// between its kernels.
std::span<const std::string_view> matmul_kernels(element_type operands,
                                                 matmul_algorithm algorithm = matmul_algorithm::automatic);

/// How a product of float may be computed (docs/accuracy.md).
enum class precision {
    /// Products are added by float32 FMAs, and the sums of parts along k by float32 additions.
    ieee,
    /// Also on tensor cores, by bf16x6, whose sums are at least as exact as those of consecutive FMAs. Elements below
    /// 2^-110 lose their bits below 2^-134.
    fp32,
    /// Also by rungs whose errors are small beside the norms of A's rows and B's columns, but not always beside their
    /// product. tf32x3 has products that are exact to 2^-21. fp16x3, which needs scratch memory, keeps an element to
    /// 2^-39 of the largest of 64 beside it along k. In fp16x3 infinities become NaN, and elements beyond 2^118 may
    /// give NaN or infinities.
    fp32_normwise,
    /// Also with elements rounded to TF32, which has 11 significant bits (three decimal digits) and float32's range.
    /// Needs compute capability 9.0.
    tf32
};

std::string_view to_string(precision precision);

struct matmul_options {
    float alpha = 1;
    /// If 0, C is not read. It may then hold anything, even NaN.
    float beta = 0;
    matmul_algorithm algorithm = matmul_algorithm::automatic;
    /// Device scratch memory, as in heddle::workspace: at least matmul_workspace_bytes() with these options, 16-byte
    /// aligned, zeroed before first use, apart from A, B and C. The size also depends on whether alpha and beta are 0.
    /// Each call leaves it ready for the next.
    std::span<std::byte> workspace{};
    /// The source of scratch memory without a workspace. With a workspace nothing is allocated.
    ///
    /// With scratch memory, products with too few tiles for the device are also split along k. Operands are copied
    /// first where the fastest rungs cannot read them in place, or read them slower. That includes aligned rows that
    /// do not begin at multiples of 128 bytes.
    heddle::scratch scratch = heddle::scratch::pool;
    /// Limits the choice of `automatic` where the operands are float.
    heddle::precision precision = heddle::precision::fp32;
    /// One of matmul_kernels(), or the first words of several, from which a cost model chooses. It belongs to
    /// `algorithm` unless that is automatic. Empty: all.
    std::string_view kernel{};
};

enum class matmul_activation { none, relu, gelu, gelu_tanh, silu, sigmoid, tanh };

/// Operations on a product before it is stored, all in float32:
/// C = scale * activation(alpha * A * B + beta * C + bias) + residual.
template <class Out>
struct matmul_epilogue {
    matmul_activation activation = matmul_activation::none;
    /// Added to every row. It has one element for each column, or is empty.
    vector_view<const Out> row_bias{};
    /// Added to every column. It has one element for each row, or is empty.
    vector_view<const Out> column_bias{};
    float scale = 1;
    /// Has C's shape, or is empty. It may be C itself, as it is read before C is written.
    matrix_view<const Out> residual{};
};

/// The facts by which a product is planned. matmul_problem_of() makes it.
struct matmul_problem {
    /// The layouts of the product; those of C^T = B^T A^T where C's columns are more contiguous than its rows.
    matrix_layout a{}, b{}, c{};
    element_type operands = element_type::f32;
    element_type result = element_type::f32;
    /// The matrices of a batch. The strides below are the elements from each A, B and C to the next.
    std::int64_t batches = 1;
    std::int64_t a_stride = 0, b_stride = 0, c_stride = 0;
    bool has_epilogue = false;
    /// C is also read: beta is not 0.
    bool adds_c = false;
    /// Scratch memory is available: a workspace, or the pool.
    bool has_scratch = true;
    heddle::precision precision = heddle::precision::fp32;

    bool operator==(const matmul_problem&) const = default;
};

/// The problem of a call of matmul() with these arguments. Elements are not read; pointers may be null.
/// @throws invalid_argument  shapes disagree or are negative, a stride smaller than a row, an unknown algorithm or
///                           precision, a kernel that the algorithm does not have
template <class Out, class In = Out>
matmul_problem matmul_problem_of(matrix_view<const std::type_identity_t<In>> a,
                                 matrix_view<const std::type_identity_t<In>> b, matrix_view<Out> c,
                                 const matmul_options& options = {});
template <class Out, class In = Out>
matmul_problem matmul_problem_of(matrix_view<const std::type_identity_t<In>> a,
                                 matrix_view<const std::type_identity_t<In>> b, matrix_view<Out> c,
                                 const matmul_epilogue<std::type_identity_t<Out>>& epilogue,
                                 const matmul_options& options = {});

/// The rung that `automatic` chooses. It can run the problem. Pure.
/// @throws invalid_argument  shapes that disagree or are negative; more than 2^58 elements of an operand; an unknown
///                           type or precision; device.sm_count below 1
matmul_algorithm select(const matmul_problem& problem, const device_traits& device);

/// The reason, as in `unsupported`, why a rung cannot run a problem; empty if it can, and for `automatic`. Pure.
/// @throws invalid_argument  as select(), and for an unknown algorithm or kernel
std::string why_not(matmul_algorithm algorithm, const matmul_problem& problem, const device_traits& device,
                    std::string_view kernel = {});

/// The kernel that a call with these arguments runs, one of matmul_kernels(). "naive" where nothing is multiplied.
/// Pure.
/// @throws invalid_argument  as why_not()
/// @throws unsupported       no kernel that may be chosen can run the problem
std::string_view select_kernel(const matmul_problem& problem, const device_traits& device,
                               matmul_algorithm algorithm = matmul_algorithm::automatic,
                               std::string_view kernel = {});

/// Whether `automatic` or the tuner may choose a rung for such a problem, provided that it can run it. The rung must
/// be as exact as is asked for, and not serve learning alone. Pure.
bool may_stand_for(matmul_algorithm algorithm, const matmul_problem& problem, const device_traits& device);

/// The bytes of workspace with which this product is fastest. 0 where a workspace makes no difference, and where the
/// rung cannot run the problem. problem.has_scratch is ignored. Pure.
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
/// Matrices are in device memory with any row and column strides. transposed(v) exchanges rows and columns at no
/// cost; a column-major BLAS matrix is the transposed view of a row-major one. C must not overlap A or B. As in BLAS,
/// A and B are not read where alpha is 0. The call is enqueued on `stream` and its device. It never synchronises, is
/// safe under stream capture, and allocates only as matmul_options says. Nothing is done where m or n is 0; where k
/// is 0, C = beta * C.
///
/// Out and In are both float: as accurate as float32, or as options.precision says. Or In is half or bfloat16 and Out
/// the same or float, as in matmul<float, half>. Products are then exact, summed in float32, and rounded once to Out.
/// docs/accuracy.md bounds the errors.
///
/// @throws invalid_argument  shapes disagree or are negative, a null or misaligned pointer, a stride
///                           smaller than a row, an overlap, a workspace that is null, misaligned, too small or
///                           overlaps an operand, an unknown algorithm or precision, a kernel that the algorithm
///                           does not have (nothing is enqueued)
/// @throws unsupported       the requested algorithm cannot run this problem on this device (nothing is enqueued)
/// @throws cuda_error        the launch or the allocation failed
template <class Out, class In = Out>
void matmul(matrix_view<const std::type_identity_t<In>> a, matrix_view<const std::type_identity_t<In>> b,
            matrix_view<Out> c, cuda::stream_ref stream, const matmul_options& options = {});

/// The same with an epilogue, applied before C is stored. For 16 bits, these rungs have epilogues: `naive`, `wmma`,
/// `mma_sync`, `skinny`, `fused` and `vector`. For float they are `naive`, `warp_tiled`, `pipelined`, `split_k`,
/// `thin`, `stream`, `packed`, `skinny`, `bf16x6`, `fp16x3`, `tf32` and `vector`. A residual may be C itself; otherwise
/// residual and biases do not overlap C.
///
/// @throws as above, and where a bias has the wrong length, or the residual is not of C's shape
template <class Out, class In = Out>
void matmul(matrix_view<const std::type_identity_t<In>> a, matrix_view<const std::type_identity_t<In>> b,
            matrix_view<Out> c, const matmul_epilogue<std::type_identity_t<Out>>& epilogue,
            cuda::stream_ref stream, const matmul_options& options = {});

}  // namespace heddle

#pragma GCC visibility pop
