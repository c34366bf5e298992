#pragma once

#include <heddle/device.hpp>
#include <heddle/rungs.hpp>
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

/// The rungs of layer_norm and rms_norm; kernels/norm/README.md is their ladder. For each rung, the list has:
/// - the name;
/// - whether `automatic` may take it;
/// - the additions that an element goes through in a sum of n elements (docs/accuracy.md);
/// - what it needs of a problem, if anything.
#define HEDDLE_NORM_RUNGS(RUNG)                       \
    RUNG(naive, never, min(n, 4096.0) + n / 4096 + 1) \
    RUNG(block_per_row, never, n / 256 + 9)           \
    RUNG(strips, always, n / 128 + 40)                \
    RUNG(vectorized, always, 64 + n / 512, unit_stride)

/// The rung that a call asks for; `automatic` leaves the choice to heddle.
enum class norm_algorithm { automatic, HEDDLE_NORM_RUNGS(HEDDLE_ENUMERATOR) };

/// All rungs except `automatic`. Tests, benchmarks and pages iterate over them.
std::span<const norm_algorithm> norm_algorithms();
std::string_view to_string(norm_algorithm algorithm);

struct norm_options {
    norm_algorithm algorithm = norm_algorithm::automatic;
    float epsilon = 1e-5f;  ///< added to the variance or mean square; zero or more
};

/// The facts by which a call of layer_norm() or rms_norm() is planned. norm_problem_of() makes it.
struct norm_problem {
    matrix_layout x{}, y{};
    vector_layout gamma{}, beta{};

    bool operator==(const norm_problem&) const = default;
};

/// The problem of a call of layer_norm() with these arguments, or of rms_norm() without beta. Elements are not read;
/// pointers may be null.
/// @throws invalid_argument  as layer_norm(), but for pointers and overlaps
template <class T>
norm_problem norm_problem_of(matrix_view<const std::type_identity_t<T>> x,
                             vector_view<const std::type_identity_t<T>> gamma,
                             vector_view<const std::type_identity_t<T>> beta, matrix_view<T> y);

/// The rung that `automatic` chooses. Pure.
/// @throws invalid_argument  shapes that disagree, a negative extent, more than 2^58 elements, elements not of 2 or 4
///                           bytes, device.sm_count below 1
norm_algorithm select(const norm_problem& problem, const device_traits& device);

/// The reason, as in `unsupported`, why a rung cannot run a problem; empty if it can, and for `automatic`. Pure.
/// @throws invalid_argument  as select(), and for an unknown algorithm
std::string why_not(norm_algorithm algorithm, const norm_problem& problem, const device_traits& device);

/// y[i][j] = (x[i][j] - mean) / sqrt(variance + epsilon) * gamma[j] + beta[j], with the mean and the variance of row
/// i (the mean of squared deviations).
///
/// x and y are matrices of equal shape with any row and column strides, in device memory. In place is allowed: y may
/// be exactly x. Any other overlap is an error. gamma and beta are vectors of x.cols elements of any stride; an empty
/// gamma means ones, an empty beta zeros. T is float, half or bfloat16; computed in float and rounded once. The
/// variance is computed from deviations from the mean, never as a difference of squares. docs/accuracy.md bounds the
/// errors. The same call gives the same bits each time. The call is enqueued on `stream` and its device. It never
/// synchronises or allocates, and is safe under stream capture. Empty matrices do nothing.
///
/// A NaN or an infinity makes its whole row NaN, and no other row. So does a sum of the row's elements beyond float's
/// largest number, 3.4e38. Where only the sum of the squared deviations is beyond it, the row is beta (or 0); a
/// deviation of 1.8e19 is enough. Where only the sum of the magnitudes is beyond it, the row may be NaN;
/// host::layer_norm() gives numbers there, and otherwise the same. A row of equal elements with an epsilon of 0 is
/// NaN where the mean is exact. Otherwise it depends on the rounding of the mean.
///
/// @throws invalid_argument  shapes disagree, a negative extent, a null or misaligned pointer, a stride smaller than
///                           a row, a partial overlap, a gamma or beta that overlaps y, an epsilon that is negative
///                           or NaN, an unknown algorithm (nothing is enqueued)
/// @throws unsupported       `vectorized` was requested and the elements of a row, of gamma or of beta are not
///                           contiguous
/// @throws cuda_error        the launch failed
template <class T>
void layer_norm(matrix_view<const std::type_identity_t<T>> x,
                vector_view<const std::type_identity_t<T>> gamma,
                vector_view<const std::type_identity_t<T>> beta, matrix_view<T> y, cuda::stream_ref stream,
                const norm_options& options = {});

/// y[i][j] = x[i][j] / sqrt(mean of squares of row i + epsilon) * gamma[j]. The squares are summed in float. Where
/// the sum exceeds float's largest number, 3.4e38, the row's results are 0, or NaN where x is infinite; an element of
/// 1.8e19 is enough. A NaN makes its whole row NaN. All else is as for layer_norm().
template <class T>
void rms_norm(matrix_view<const std::type_identity_t<T>> x, vector_view<const std::type_identity_t<T>> gamma,
              matrix_view<T> y, cuda::stream_ref stream, const norm_options& options = {});

/// The rungs of layer_norm_gradient and rms_norm_gradient; kernels/norm/README.md describes them. For each rung, the
/// list has:
/// - the name;
/// - whether `automatic` may take it;
/// - the additions that an element goes through in a sum of n elements (docs/accuracy.md);
/// - what it needs of a problem, if anything.
#define HEDDLE_NORM_GRADIENT_RUNGS(RUNG)              \
    RUNG(naive, never, min(n, 4096.0) + n / 4096 + 1) \
    RUNG(block_per_row, always, n / 256 + 9)          \
    RUNG(vectorized, always, 64, unit_stride, row_in_registers)

/// The rung that a call asks for; `automatic` leaves the choice to heddle.
enum class norm_gradient_algorithm { automatic, HEDDLE_NORM_GRADIENT_RUNGS(HEDDLE_ENUMERATOR) };

/// All rungs except `automatic`. Tests, benchmarks and pages iterate over them.
std::span<const norm_gradient_algorithm> norm_gradient_algorithms();
std::string_view to_string(norm_gradient_algorithm algorithm);

struct norm_gradient_options {
    norm_gradient_algorithm algorithm = norm_gradient_algorithm::automatic;
    float epsilon = 1e-5f;  ///< that of the forward call; zero or more
    /// Device scratch memory, as in heddle::workspace: at least norm_gradient_workspace_bytes(), 16-byte aligned,
    /// zeroed before first use, apart from all operands. Each call leaves it ready for the next.
    std::span<std::byte> workspace{};
    /// The source of scratch memory without a workspace. With a workspace nothing is allocated. With scratch::none, a
    /// call for dgamma or dbeta throws unsupported. A call for dx alone takes no scratch memory.
    heddle::scratch scratch = heddle::scratch::pool;
};

/// The facts by which a call of either gradient is planned. norm_gradient_problem_of() makes it.
struct norm_gradient_problem {
    matrix_layout x{}, dy{}, dx{};
    vector_layout gamma{}, dgamma{}, dbeta{};
    /// Scratch memory is available: a workspace, or the pool.
    bool has_scratch = true;

    bool operator==(const norm_gradient_problem&) const = default;
};

/// The problem of a call of layer_norm_gradient() with these arguments, or of rms_norm_gradient() without dbeta.
/// Elements are not read; pointers may be null.
/// @throws invalid_argument  as layer_norm_gradient(), but for pointers, overlaps and the workspace
template <class T>
norm_gradient_problem norm_gradient_problem_of(matrix_view<const std::type_identity_t<T>> x,
                                               vector_view<const std::type_identity_t<T>> gamma,
                                               matrix_view<const T> dy,
                                               matrix_view<std::type_identity_t<T>> dx,
                                               vector_view<std::type_identity_t<T>> dgamma,
                                               vector_view<std::type_identity_t<T>> dbeta,
                                               const norm_gradient_options& options = {});

/// The rung that `automatic` chooses. Pure.
/// @throws invalid_argument  as select() of a norm_problem
/// @throws unsupported       column sums without scratch memory
norm_gradient_algorithm select(const norm_gradient_problem& problem, const device_traits& device);

/// The reason, as in `unsupported`, why a rung cannot run a problem; empty if it can, and for `automatic`. Pure.
/// @throws invalid_argument  as select(), and for an unknown algorithm
std::string why_not(norm_gradient_algorithm algorithm, const norm_gradient_problem& problem,
                    const device_traits& device);

/// The bytes of workspace that either gradient needs for matrices of this shape, for any strides and alignment. 0
/// where no column sums are wanted. Pure; throws as why_not().
std::int64_t norm_gradient_workspace_bytes(
    const norm_gradient_problem& problem, const device_traits& device,
    norm_gradient_algorithm algorithm = norm_gradient_algorithm::automatic);

/// The gradients of layer_norm(): dx, dgamma and dbeta are the gradients of a loss with respect to x, gamma and beta.
/// dy is its gradient with respect to y. With z[i][j] = (x[i][j] - mean) / s, s = sqrt(variance + epsilon) and
/// g[i][j] = dy[i][j] * gamma[j],
///
///   dx[i][j]  = (g[i][j] - mean of row i of g - z[i][j] * mean of row i of g z) / s
///   dgamma[j] = sum over i of dy[i][j] * z[i][j]
///   dbeta[j]  = sum over i of dy[i][j]
///
/// This is the chain rule through mean and variance (the forward formula is that of Ba, Kiros and Hinton, "Layer
/// normalization", 2016). Mean and variance are computed from x again: nothing of the forward call is kept.
///
/// x, dy and dx are matrices of equal shape with any row and column strides, in device memory. dx may be exactly x or
/// dy; any other overlap is an error. gamma has x.cols elements of any stride, or is empty: ones. dgamma and dbeta
/// have x.cols elements of any stride, apart from all other operands. An empty dx, dgamma or dbeta is not computed.
/// Without rows, dgamma and dbeta are zeros. T is float, half or bfloat16; computed in float and rounded once.
/// docs/accuracy.md bounds the errors.
///
/// A NaN or an infinity in x makes its row of dx and all of dgamma NaN. One in dy makes its row of dx NaN or
/// infinite, and dgamma and dbeta of its column. Sums beyond float's largest number, 3.4e38, are infinite, and
/// results follow from that by the formula. The order of the column sums depends on shape, strides, alignment, rung
/// and device alone: the same call gives the same bits each time. The call is enqueued on `stream` and its device. It
/// never synchronises, is safe under stream capture, and allocates only as norm_gradient_options says. Matrices
/// without elements change no dx.
///
/// @throws invalid_argument  shapes disagree, a negative extent, a null or misaligned pointer, a stride smaller than
///                           a row, an overlap that is not allowed, an epsilon that is negative or NaN, a workspace
///                           that is misaligned, too small or overlaps an operand, an unknown algorithm (nothing is
///                           enqueued)
/// @throws unsupported       dgamma or dbeta is wanted and there is no scratch memory; `vectorized` was requested,
///                           and elements are not contiguous or a row has more than 8192 of them, 65536 on compute
///                           capability 9.0
/// @throws cuda_error        a launch or the allocation failed
template <class T>
void layer_norm_gradient(matrix_view<const std::type_identity_t<T>> x,
                         vector_view<const std::type_identity_t<T>> gamma, matrix_view<const T> dy,
                         matrix_view<std::type_identity_t<T>> dx, vector_view<std::type_identity_t<T>> dgamma,
                         vector_view<std::type_identity_t<T>> dbeta, cuda::stream_ref stream,
                         const norm_gradient_options& options = {});

/// The gradient of rms_norm(): z[i][j] = x[i][j] / s, s = sqrt(mean of squares of row i + epsilon), and
///
///   dx[i][j]  = (g[i][j] - z[i][j] * mean of row i of g z) / s
///
/// (Zhang and Sennrich, "Root mean square layer normalization", 2019). An infinity in x makes its row of dx NaN, and
/// dgamma of its own column alone. All else is as for layer_norm_gradient().
template <class T>
void rms_norm_gradient(matrix_view<const std::type_identity_t<T>> x,
                       vector_view<const std::type_identity_t<T>> gamma, matrix_view<const T> dy,
                       matrix_view<std::type_identity_t<T>> dx, vector_view<std::type_identity_t<T>> dgamma,
                       cuda::stream_ref stream, const norm_gradient_options& options = {});

}  // namespace heddle

#pragma GCC visibility pop
