#pragma once

#include <heddle/device.hpp>
#include <heddle/rungs.hpp>
#include <heddle/types.hpp>
#include <heddle/view.hpp>

#include <cuda/stream_ref>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#pragma GCC visibility push(default)

namespace heddle {

/// The rungs of cross_entropy and mean_squared_error; kernels/loss/README.md is their ladder. For each rung, the list
/// has:
/// - the name;
/// - whether `automatic` may take it;
/// - the additions and the rescalings that an element goes through in a sum of n elements (docs/accuracy.md);
/// - what it needs of a problem, if anything.
#define HEDDLE_LOSS_RUNGS(RUNG)                          \
    RUNG(naive, never, min(n, 4096.0) + n / 4096 + 1, 0) \
    RUNG(warp_per_row, always, n / 32 + 6, n / 32 + 2)   \
    RUNG(vectorized, always, 64 + n / 512, 4 + n / 8192, unit_stride)

/// The rung that a call asks for; `automatic` leaves the choice to heddle.
enum class loss_algorithm { automatic, HEDDLE_LOSS_RUNGS(HEDDLE_ENUMERATOR) };

/// All rungs except `automatic`. Tests, benchmarks and pages iterate over them.
std::span<const loss_algorithm> loss_algorithms();
std::string_view to_string(loss_algorithm algorithm);

struct cross_entropy_options {
    loss_algorithm algorithm = loss_algorithm::automatic;
    /// A finite factor of the gradient. 1 / rows gives the gradient of the mean loss.
    float scale = 1;
    /// Rows of this label have a loss of 0 and a gradient of 0, whatever their logits are.
    std::optional<std::int32_t> ignore_label{};
    /// From 0 to 1: the share of the target that is spread evenly over all classes.
    float label_smoothing = 0;
};

struct mean_squared_error_options {
    loss_algorithm algorithm = loss_algorithm::automatic;
    /// A finite factor of the gradient. 1 / rows gives the gradient of the mean loss.
    float scale = 1;
};

/// The facts by which a call of cross_entropy() or mean_squared_error() is planned. loss_problem_of() makes it.
struct loss_problem {
    matrix_layout x{};         ///< the logits or the prediction
    matrix_layout target{};    ///< all zero for cross_entropy()
    matrix_layout gradient{};  ///< all zero where it is not wanted

    bool operator==(const loss_problem&) const = default;
};

/// The problem of a call of cross_entropy() with these arguments. Elements are not read; pointers may be null.
/// @throws invalid_argument  as cross_entropy(), but for pointers and overlaps
template <class T>
loss_problem loss_problem_of(matrix_view<const std::type_identity_t<T>> logits, matrix_view<T> gradient);
/// The same for mean_squared_error().
template <class T>
loss_problem loss_problem_of(matrix_view<const std::type_identity_t<T>> prediction,
                             matrix_view<const std::type_identity_t<T>> target, matrix_view<T> gradient);

/// The rung that `automatic` chooses. Pure.
/// @throws invalid_argument  shapes that disagree, a negative extent, more than 2^58 elements, elements not of 2 or 4
///                           bytes, device.sm_count below 1
loss_algorithm select(const loss_problem& problem, const device_traits& device);

/// The reason, as in `unsupported`, why a rung cannot run a problem; empty if it can, and for `automatic`. Pure.
/// @throws invalid_argument  as select(), and for an unknown algorithm
std::string why_not(loss_algorithm algorithm, const loss_problem& problem, const device_traits& device);

/// loss[i] = the sum over j of -q[i][j] log_softmax(logits)[i][j], and
/// gradient[i][j] = (softmax(logits)[i][j] - q[i][j]) * scale, in one kernel, where
/// q[i][j] = (1 - label_smoothing) * (j == labels[i]) + label_smoothing / cols.
///
/// All operands are in device memory. logits is a matrix with one class a column and any row and column strides.
/// labels is a vector of any stride with a column number for each row. loss is a vector of any stride with one
/// element a row, or empty: not wanted. gradient is a matrix of the logits' shape with strides of its own, or `{}`:
/// not wanted. It may be exactly the logits; any other overlap is an error. T is float, half or bfloat16. Computed in
/// float; the gradient is rounded once. docs/accuracy.md bounds the errors.
///
/// The softmax and its logarithm are those of <heddle/softmax.hpp>, also for infinities. So a row of -Inf has the loss
/// log(cols). The loss is +Inf and the label's gradient -scale in two cases. The label's logit is -Inf and others are
/// not, or it is finite beside +Inf. With label smoothing, the loss of any row is +Inf where a class has no share. It
/// is also +Inf where the logits' distances from the label's sum to more than float's largest number, 3.4e38. Without
/// it, other classes do not change the loss in this way. A NaN makes the loss and gradient of its row NaN, and no
/// others. So does a label that is neither a column nor options.ignore_label; nothing is read at such a label.
///
/// The mean over a batch can stay on the device: heddle::mean() or heddle::sum() of `loss`. The same call gives the
/// same bits each time. The call is enqueued on `stream` and its device. It never synchronises or allocates, and is
/// safe under stream capture. Logits without elements do nothing.
///
/// @throws invalid_argument  shapes disagree, a negative extent, a null or misaligned pointer, a stride smaller than
///                           a row, a partial overlap, an output that overlaps another operand, a scale that is not
///                           finite, a label_smoothing outside 0 to 1, an unknown algorithm (nothing is enqueued)
/// @throws unsupported       `vectorized` was requested and the elements of a row are not contiguous
/// @throws cuda_error        the launch failed
template <class T>
void cross_entropy(matrix_view<const std::type_identity_t<T>> logits, vector_view<const std::int32_t> labels,
                   vector_view<float> loss, matrix_view<T> gradient, cuda::stream_ref stream,
                   const cross_entropy_options& options = {});

/// loss[i] = the mean over j of (prediction[i][j] - target[i][j])^2, and
/// gradient[i][j] = 2 (prediction[i][j] - target[i][j]) / cols * scale.
///
/// prediction and target are matrices of equal shape. gradient may be exactly one of them. A NaN makes its row's loss
/// and its own element of the gradient NaN. So does a difference of equal infinities. The squares are summed in
/// float: the loss is +Inf where the sum exceeds float's largest number, 3.4e38. All else is as for cross_entropy().
template <class T>
void mean_squared_error(matrix_view<const std::type_identity_t<T>> prediction,
                        matrix_view<const std::type_identity_t<T>> target, vector_view<float> loss,
                        matrix_view<T> gradient, cuda::stream_ref stream,
                        const mean_squared_error_options& options = {});

/// hits[i] = 1 where heddle::row_argmax() of row i is labels[i], else 0. It is also 0 where the label is not a column.
///
/// heddle::sum() or heddle::mean() of `hits` counts them without waiting for the device. The scores are not written.
/// All else is as for cross_entropy().
///
/// @throws invalid_argument  as cross_entropy()
/// @throws cuda_error        the launch failed
template <class T>
void label_hits(matrix_view<const T> scores, vector_view<const std::int32_t> labels,
                vector_view<std::int32_t> hits, cuda::stream_ref stream);

}  // namespace heddle

#pragma GCC visibility pop
