#pragma once

#include <heddle/device.hpp>
#include <heddle/rungs.hpp>
#include <heddle/types.hpp>
#include <heddle/view.hpp>

#include <cuda/stream_ref>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#pragma GCC visibility push(default)

namespace heddle {

/// The rungs of softmax and log_softmax; kernels/softmax/README.md is their ladder. For each rung, the list has:
/// - the name;
/// - whether `automatic` may take it;
/// - the additions and the rescalings that an element goes through in a sum of n elements (docs/accuracy.md);
/// - what it needs of a problem, if anything.
#define HEDDLE_SOFTMAX_RUNGS(RUNG)                       \
    RUNG(naive, never, min(n, 4096.0) + n / 4096 + 1, 0) \
    RUNG(online, never, n / 256 + 9, n / 256 + 9)        \
    RUNG(strips, always, n / 128 + 40, n / 128 + 40)     \
    RUNG(vectorized, always, 64 + n / 512, 4 + n / 8192, unit_stride)

/// The rung that a call asks for; `automatic` leaves the choice to heddle.
enum class softmax_algorithm { automatic, HEDDLE_SOFTMAX_RUNGS(HEDDLE_ENUMERATOR) };

/// All rungs except `automatic`. Tests, benchmarks and pages iterate over them.
std::span<const softmax_algorithm> softmax_algorithms();
std::string_view to_string(softmax_algorithm algorithm);

struct softmax_options {
    softmax_algorithm algorithm = softmax_algorithm::automatic;
};

/// The facts by which a call of softmax() or log_softmax() is planned. softmax_problem_of() makes it.
struct softmax_problem {
    matrix_layout x{}, y{};

    bool operator==(const softmax_problem&) const = default;
};

/// The problem of a call with these arguments. Elements are not read; pointers may be null.
/// @throws invalid_argument  as softmax(), but for pointers and overlaps
template <class T>
softmax_problem softmax_problem_of(matrix_view<const std::type_identity_t<T>> x, matrix_view<T> y);

/// The rung that `automatic` chooses. Pure.
/// @throws invalid_argument  shapes that disagree, a negative extent, more than 2^58 elements, elements not of 2 or 4
///                           bytes, device.sm_count below 1
softmax_algorithm select(const softmax_problem& problem, const device_traits& device);

/// The reason, as in `unsupported`, why a rung cannot run a problem; empty if it can, and for `automatic`. Pure.
/// @throws invalid_argument  as select(), and for an unknown algorithm
std::string why_not(softmax_algorithm algorithm, const softmax_problem& problem, const device_traits& device);

/// y[i][j] = exp(x[i][j] - m) / (sum over k of exp(x[i][k] - m)), m being the largest element of row i.
///
/// x and y are matrices of equal shape with any row and column strides, in device memory. In place is allowed: y may
/// be exactly x. Any other overlap is an error. T is float, half or bfloat16; computed in float and rounded once.
/// docs/accuracy.md bounds the errors. No finite elements overflow. For infinities, y is the limit of the formula:
/// elements equal to the largest one have equal shares. So a row of -Inf gives 1 / cols everywhere. A row with k
/// elements +Inf gives 1 / k for these and 0 for the others. Each row sums to 1. (Other libraries give NaN for both.)
/// A NaN makes its whole row NaN, and no other row. The same call gives the same bits each time. The call is enqueued
/// on `stream` and its device. It never synchronises or allocates, and is safe under stream capture. Empty views do
/// nothing.
///
/// @throws invalid_argument  shapes disagree, a negative extent, a null or misaligned pointer, a stride smaller than
///                           a row, a partial overlap, an unknown algorithm (nothing is enqueued)
/// @throws unsupported       `vectorized` was requested and the elements of a row are not contiguous
/// @throws cuda_error        the launch failed
template <class T>
void softmax(matrix_view<const std::type_identity_t<T>> x, matrix_view<T> y, cuda::stream_ref stream,
             const softmax_options& options = {});

/// y[i][j] = log(softmax(x)[i][j]) = (x[i][j] - m) - log(sum over k of exp(x[i][k] - m)). It is finite even where the
/// softmax underflows. A row of -Inf gives -log(cols). A row with k elements +Inf gives -log(k) for these and -Inf
/// for the others. All else is as for softmax().
template <class T>
void log_softmax(matrix_view<const std::type_identity_t<T>> x, matrix_view<T> y, cuda::stream_ref stream,
                 const softmax_options& options = {});

/// The rungs of softmax_gradient and log_softmax_gradient; kernels/softmax/README.md describes them. For each rung,
/// the list has:
/// - the name;
/// - whether `automatic` may take it;
/// - the additions that an element goes through in a sum of n elements (docs/accuracy.md);
/// - what it needs of a problem, if anything.
#define HEDDLE_SOFTMAX_GRADIENT_RUNGS(RUNG)           \
    RUNG(naive, never, min(n, 4096.0) + n / 4096 + 1) \
    RUNG(block_per_row, always, n / 256 + 9)          \
    RUNG(vectorized, always, 64 + n / 512, unit_stride)

/// The rung that a call asks for; `automatic` leaves the choice to heddle.
enum class softmax_gradient_algorithm { automatic, HEDDLE_SOFTMAX_GRADIENT_RUNGS(HEDDLE_ENUMERATOR) };

/// All rungs except `automatic`. Tests, benchmarks and pages iterate over them.
std::span<const softmax_gradient_algorithm> softmax_gradient_algorithms();
std::string_view to_string(softmax_gradient_algorithm algorithm);

struct softmax_gradient_options {
    softmax_gradient_algorithm algorithm = softmax_gradient_algorithm::automatic;
};

/// The facts by which a call of either gradient is planned. softmax_gradient_problem_of() makes it.
struct softmax_gradient_problem {
    matrix_layout y{}, dy{}, dx{};

    bool operator==(const softmax_gradient_problem&) const = default;
};

/// The problem of a call with these arguments. Elements are not read; pointers may be null.
/// @throws invalid_argument  as softmax_gradient(), but for pointers and overlaps
template <class T>
softmax_gradient_problem softmax_gradient_problem_of(matrix_view<const std::type_identity_t<T>> y,
                                                     matrix_view<const std::type_identity_t<T>> dy,
                                                     matrix_view<T> dx);

/// The rung that `automatic` chooses. Pure.
/// @throws invalid_argument  as select() of a softmax_problem
softmax_gradient_algorithm select(const softmax_gradient_problem& problem, const device_traits& device);

/// The reason, as in `unsupported`, why a rung cannot run a problem; empty if it can, and for `automatic`. Pure.
/// @throws invalid_argument  as select(), and for an unknown algorithm
std::string why_not(softmax_gradient_algorithm algorithm, const softmax_gradient_problem& problem,
                    const device_traits& device);

/// The gradient of softmax(), computed from its result y. dy is the gradient of a loss with respect to y, and dx with
/// respect to x:
///
///   dx[i][j] = y[i][j] * (dy[i][j] - sum over k of dy[i][k] * y[i][k])
///
/// This is the product of dy with softmax's Jacobian, diag(y) - y y^T (Bridle, 1990). y, dy and dx are matrices of
/// equal shape with any row and column strides, in device memory. In place is allowed: dx may be exactly y or dy. Any
/// other overlap is an error. T is float, half or bfloat16; computed in float and rounded once. docs/accuracy.md
/// bounds the errors. NaN and infinities propagate as in the formula, within their own row. The same call gives the
/// same bits each time. The call is enqueued on `stream` and its device. It never synchronises or allocates, and is
/// safe under stream capture. Empty views do nothing.
///
/// @throws invalid_argument  shapes disagree, a negative extent, a null or misaligned pointer, a stride smaller than
///                           a row, a partial overlap, an unknown algorithm (nothing is enqueued)
/// @throws unsupported       `vectorized` was requested and the elements of a row are not contiguous
/// @throws cuda_error        the launch failed
template <class T>
void softmax_gradient(matrix_view<const std::type_identity_t<T>> y,
                      matrix_view<const std::type_identity_t<T>> dy, matrix_view<T> dx,
                      cuda::stream_ref stream, const softmax_gradient_options& options = {});

/// The gradient of log_softmax(), from its result y: dx[i][j] = dy[i][j] - exp(y[i][j]) * sum over k of dy[i][k]. All
/// else is as for softmax_gradient().
template <class T>
void log_softmax_gradient(matrix_view<const std::type_identity_t<T>> y,
                          matrix_view<const std::type_identity_t<T>> dy, matrix_view<T> dx,
                          cuda::stream_ref stream, const softmax_gradient_options& options = {});

}  // namespace heddle

#pragma GCC visibility pop
