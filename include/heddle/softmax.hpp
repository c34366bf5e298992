#pragma once

#include <heddle/device.hpp>
#include <heddle/types.hpp>
#include <heddle/view.hpp>

#include <cuda/stream_ref>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace heddle {

/// The rungs of softmax and log_softmax; kernels/softmax/README.md is their ladder.
enum class softmax_algorithm {
    automatic,
    naive,
    online,
    strips,
    vectorized,
};

/// All rungs, without `automatic`: what tests, benchmarks and pages go through.
std::span<const softmax_algorithm> softmax_algorithms();
std::string_view to_string(softmax_algorithm algorithm);

struct softmax_options {
    softmax_algorithm algorithm = softmax_algorithm::automatic;
};

/// A call of softmax() or log_softmax() without its memory: what its plan depends on. softmax_problem_of() makes it.
struct softmax_problem {
    matrix_layout x{}, y{};

    bool operator==(const softmax_problem&) const = default;
};

/// The problem of a call with these arguments. What the views point to is not read; they may be null.
/// @throws invalid_argument  as softmax(), but for pointers and overlaps
template <class T>
softmax_problem softmax_problem_of(matrix_view<const std::type_identity_t<T>> x, matrix_view<T> y);

/// The rung that `automatic` stands for. Pure.
/// @throws invalid_argument  shapes that disagree, a negative extent, more than 2^58 elements, elements not of 2 or 4 bytes,
///                           device.sm_count below 1
softmax_algorithm select(const softmax_problem& problem, const device_traits& device);

/// Why a rung cannot run a problem on a device, as `unsupported` says it; empty where it can, and of `automatic`. Pure.
/// @throws invalid_argument  as select(), and for an unknown algorithm
std::string why_not(softmax_algorithm algorithm, const softmax_problem& problem, const device_traits& device);

/// y[i][j] = exp(x[i][j] - m) / (sum over k of exp(x[i][k] - m)), m being the largest element of row i.
///
/// x and y are matrices of equal shape with any row and column strides, in device memory; in place is
/// allowed: y may be exactly x; any other overlap is an error. Computed in float, whatever T is: float, half
/// or bfloat16; rounded once. Errors in docs/accuracy.md. Nothing overflows, whatever the elements are. What
/// the formula leaves open is its limit: elements equal to the largest one have equal shares, also where that
/// is infinite. So a row of -Inf gives 1 / cols everywhere, and a row with k elements +Inf gives 1 / k for
/// these and 0 for the others: each row sums to 1. (Other libraries give NaN for both.) A NaN makes its whole
/// row NaN, and no other. The same call gives the same bits each time. Enqueued on `stream` and its device; never
/// synchronises, never allocates; safe under stream capture. Empty views do nothing.
///
/// @throws invalid_argument  shapes disagree, a negative extent, a null or misaligned pointer, a stride
///                           smaller than a row, a partial overlap, an unknown algorithm (nothing is
///                           enqueued)
/// @throws unsupported       `vectorized` was asked for and a row's elements do not lie side by side
/// @throws cuda_error        the launch failed
template <class T>
void softmax(matrix_view<const std::type_identity_t<T>> x, matrix_view<T> y, cuda::stream_ref stream,
             const softmax_options& options = {});

/// y[i][j] = log(softmax(x)[i][j]) = (x[i][j] - m) - log(sum over k of exp(x[i][k] - m)), finite also where
/// the softmax itself would underflow. A row of -Inf gives -log(cols); a row with k elements +Inf gives
/// -log(k) for these and -Inf for the others. All else is as for softmax().
template <class T>
void log_softmax(matrix_view<const std::type_identity_t<T>> x, matrix_view<T> y, cuda::stream_ref stream,
                 const softmax_options& options = {});

/// The rungs of softmax_gradient and log_softmax_gradient; kernels/softmax/README.md tells of them.
enum class softmax_gradient_algorithm { automatic, naive, block_per_row, vectorized };

/// All rungs, without `automatic`: what tests, benchmarks and pages go through.
std::span<const softmax_gradient_algorithm> softmax_gradient_algorithms();
std::string_view to_string(softmax_gradient_algorithm algorithm);

struct softmax_gradient_options {
    softmax_gradient_algorithm algorithm = softmax_gradient_algorithm::automatic;
};

/// A call of either gradient without its memory: what its plan depends on. softmax_gradient_problem_of() makes it.
struct softmax_gradient_problem {
    matrix_layout y{}, dy{}, dx{};

    bool operator==(const softmax_gradient_problem&) const = default;
};

/// The problem of a call with these arguments. What the views point to is not read; they may be null.
/// @throws invalid_argument  as softmax_gradient(), but for pointers and overlaps
template <class T>
softmax_gradient_problem softmax_gradient_problem_of(matrix_view<const std::type_identity_t<T>> y,
                                                     matrix_view<const std::type_identity_t<T>> dy,
                                                     matrix_view<T> dx);

/// The rung that `automatic` stands for. Pure.
/// @throws invalid_argument  as select() of a softmax_problem
softmax_gradient_algorithm select(const softmax_gradient_problem& problem, const device_traits& device);

/// Why a rung cannot run a problem on a device, as `unsupported` says it; empty where it can, and of `automatic`. Pure.
/// @throws invalid_argument  as select(), and for an unknown algorithm
std::string why_not(softmax_gradient_algorithm algorithm, const softmax_gradient_problem& problem,
                    const device_traits& device);

/// The gradient of softmax(), of its result y: where a loss has the gradient dy with respect to y, it has this with respect to x:
///
///   dx[i][j] = y[i][j] * (dy[i][j] - sum over k of dy[i][k] * y[i][k])
///
/// (the product of dy with softmax's Jacobian, diag(y) - y y^T; Bridle, 1990). y, dy and dx are matrices of equal shape with any
/// row and column strides, in device memory; dx may be exactly y or dy, any other overlap is an error. Computed in float,
/// whatever T is: float, half or bfloat16; rounded once. Errors in docs/accuracy.md. NaN and infinities propagate as in the
/// formula, to their own row alone. The same call gives the same bits each time. Enqueued on `stream` and its device; never
/// synchronises, never allocates; safe under stream capture. Empty views do nothing.
///
/// @throws invalid_argument  shapes disagree, a negative extent, a null or misaligned pointer, a stride smaller than a row, a
///                           partial overlap, an unknown algorithm (nothing is enqueued)
/// @throws unsupported       `vectorized` was asked for and a row's elements do not lie side by side
/// @throws cuda_error        the launch failed
template <class T>
void softmax_gradient(matrix_view<const std::type_identity_t<T>> y,
                      matrix_view<const std::type_identity_t<T>> dy, matrix_view<T> dx,
                      cuda::stream_ref stream, const softmax_gradient_options& options = {});

/// The gradient of log_softmax(), of its result y: dx[i][j] = dy[i][j] - exp(y[i][j]) * sum over k of dy[i][k]. All else is as
/// for softmax_gradient().
template <class T>
void log_softmax_gradient(matrix_view<const std::type_identity_t<T>> y,
                          matrix_view<const std::type_identity_t<T>> dy, matrix_view<T> dx,
                          cuda::stream_ref stream, const softmax_gradient_options& options = {});

}  // namespace heddle
