#pragma once

#include <heddle/device.hpp>
#include <heddle/types.hpp>
#include <heddle/view.hpp>

#include <cuda/stream_ref>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace heddle {

/// The rungs of cross_entropy and mean_squared_error; kernels/loss/README.md is their ladder.
enum class loss_algorithm { automatic, naive, warp_per_row, vectorized };

/// All rungs, without `automatic`: what tests, benchmarks and pages go through.
std::span<const loss_algorithm> loss_algorithms();
std::string_view to_string(loss_algorithm algorithm);

struct cross_entropy_options {
    loss_algorithm algorithm = loss_algorithm::automatic;
    /// A finite factor of the gradient: 1 / rows gives that of the mean of the losses.
    float scale = 1;
    /// Rows of this label have a loss of 0 and a gradient of 0, whatever their logits are.
    std::optional<std::int32_t> ignore_label{};
    /// From 0 to 1: the share of the target that all classes have in equal parts.
    float label_smoothing = 0;
};

struct mean_squared_error_options {
    loss_algorithm algorithm = loss_algorithm::automatic;
    /// A finite factor of the gradient: 1 / rows gives that of the mean of the losses.
    float scale = 1;
};

/// A call of cross_entropy() or mean_squared_error() without its memory: what its plan depends on. loss_problem_of() makes it.
struct loss_problem {
    matrix_layout x{};         ///< the logits or the prediction
    matrix_layout target{};    ///< all zero of cross_entropy()
    matrix_layout gradient{};  ///< all zero where it is not wanted

    bool operator==(const loss_problem&) const = default;
};

/// The problem of a call of cross_entropy() with these arguments. What the views point to is not read; they may be null.
/// @throws invalid_argument  as cross_entropy(), but for pointers and overlaps
template <class T>
loss_problem loss_problem_of(matrix_view<const std::type_identity_t<T>> logits, matrix_view<T> gradient);
/// The same of mean_squared_error().
template <class T>
loss_problem loss_problem_of(matrix_view<const std::type_identity_t<T>> prediction,
                             matrix_view<const std::type_identity_t<T>> target, matrix_view<T> gradient);

/// The rung that `automatic` stands for. Pure.
/// @throws invalid_argument  shapes that disagree, a negative extent, more than 2^58 elements, elements not of 2 or 4 bytes,
///                           device.sm_count below 1
loss_algorithm select(const loss_problem& problem, const device_traits& device);

/// Why a rung cannot run a problem on a device, as `unsupported` says it; empty where it can, and of `automatic`. Pure.
/// @throws invalid_argument  as select(), and for an unknown algorithm
std::string why_not(loss_algorithm algorithm, const loss_problem& problem, const device_traits& device);

/// loss[i] = the sum over j of -q[i][j] log_softmax(logits)[i][j], and
/// gradient[i][j] = (softmax(logits)[i][j] - q[i][j]) * scale, in one kernel, where
/// q[i][j] = (1 - label_smoothing) * (j == labels[i]) + label_smoothing / cols.
///
/// logits is a matrix of a class a column, with any row and column strides, labels a vector with a column's number for each
/// row, of any stride, in device memory. loss is a vector of an element a row, of any stride, or empty: not wanted. gradient
/// is a matrix of the logits' shape with strides of its own, or `{}`: not wanted. It may be exactly the logits; any other
/// overlap is an error. Computed in float, whatever T is: float, half or bfloat16; the gradient is rounded once. Errors in
/// docs/accuracy.md.
///
/// The softmax and its logarithm are those of <heddle/softmax.hpp>, also of infinities: a row of -Inf has the loss log(cols),
/// and a label whose logit is -Inf beside others that are not, or finite beside +Inf, the loss +Inf and the gradient -scale.
/// With label smoothing the loss of any row is +Inf where a class has no share, and where the logits' distances from the
/// label's sum to more than float's largest number, 3.4e38; without, other classes do not matter to it. A NaN makes its row's
/// loss and gradient NaN, and no others. So does a label that is neither a column nor options.ignore_label; nothing is read by
/// it.
///
/// The mean over a batch stays on the device, too: heddle::mean() or heddle::sum() of `loss`. The same call gives the same
/// bits each time. Enqueued on `stream` and its device; never synchronises, never allocates; safe under stream capture. Logits
/// without elements do nothing.
///
/// @throws invalid_argument  shapes disagree, a negative extent, a null or misaligned pointer, a stride
///                           smaller than a row, a partial overlap, an output that overlaps another operand, a scale
///                           that is not finite, a label_smoothing outside 0 to 1, an unknown algorithm (nothing is
///                           enqueued)
/// @throws unsupported       `vectorized` was asked for and a row's elements do not lie side by side
/// @throws cuda_error        the launch failed
template <class T>
void cross_entropy(matrix_view<const std::type_identity_t<T>> logits, vector_view<const std::int32_t> labels,
                   vector_view<float> loss, matrix_view<T> gradient, cuda::stream_ref stream,
                   const cross_entropy_options& options = {});

/// loss[i] = the mean over j of (prediction[i][j] - target[i][j])^2, and
/// gradient[i][j] = 2 (prediction[i][j] - target[i][j]) / cols * scale.
///
/// prediction and target are matrices of equal shape. gradient may be exactly one of them. A NaN, a difference of equal
/// infinities too, makes its row's loss NaN and its own element of the gradient. The squares are summed in float: the loss is
/// +Inf where they sum to more than its largest number, 3.4e38. All else is as for cross_entropy().
template <class T>
void mean_squared_error(matrix_view<const std::type_identity_t<T>> prediction,
                        matrix_view<const std::type_identity_t<T>> target, vector_view<float> loss,
                        matrix_view<T> gradient, cuda::stream_ref stream,
                        const mean_squared_error_options& options = {});

/// hits[i] = 1 where heddle::row_argmax() of row i is labels[i], and else 0: also where the label is not a column.
///
/// How many they are, without waiting for the device: heddle::sum() or heddle::mean() of `hits`. The scores are not written.
/// All else is as for cross_entropy().
///
/// @throws invalid_argument  as cross_entropy()
/// @throws cuda_error        the launch failed
template <class T>
void label_hits(matrix_view<const T> scores, vector_view<const std::int32_t> labels,
                vector_view<std::int32_t> hits, cuda::stream_ref stream);

}  // namespace heddle
