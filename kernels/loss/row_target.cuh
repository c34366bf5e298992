#pragma once

#include "kernels/device/normalizer.cuh"
#include "kernels/loss/launch.hpp"

#include <cstdint>
#include <limits>

namespace heddle::kernels::loss {

using namespace normalizers;

inline constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

/// What a label asks for: a column, or where it is none, what the row's loss and gradient are filled with.
struct row_target {
    static constexpr int ignored = -1, invalid = -2;

    int col = ignored;

    __device__ bool is_col() const { return col >= 0; }
    __device__ float fill() const { return col == ignored ? 0 : not_a_number; }
};

template <class T>
__device__ row_target target_of(const cross_entropy_arguments<T>& a, std::int64_t row) {
    const int label = a.labels.data[row * a.labels.stride];
    if (label == a.ignored) return {row_target::ignored};
    return {label >= 0 && label < a.logits.cols ? label : row_target::invalid};
}

/// The label's logit, which is to be read before the row's gradient is written; where the label is no column, any number.
template <class T>
__device__ float logit_of(const cross_entropy_arguments<T>& a, std::int64_t row, const row_target& target) {
    if (!target.is_col()) return 0;
    return static_cast<float>(a.logits.data[row * a.logits.row_stride + target.col * a.logits.col_stride]);
}

/// `distances` is the sum of the differences of the label's logit from each of the row; only smoothing needs it. Where the
/// logit is infinitely far below the largest, some of the distances may be -Inf, and nothing is added to its own.
template <class T>
__device__ float loss_of(const cross_entropy_arguments<T>& a, const row_target& target, const normalizer& row,
                         float logit, float distances) {
    if (!target.is_col()) return target.fill();
    const float distance = difference(row.largest, logit);
    const float loss = logf(row.sum) + distance;
    const bool is_smooth = a.smoothing > 0 && !isinf(distance);
    return is_smooth ? loss + a.smoothing * (distances / static_cast<float>(a.logits.cols)) : loss;
}

/// From a softmax to the gradient: p * scale - of_label, or of the others - of_others.
struct one_hot {
    float of_label;
    float of_others;

    template <class T>
    __device__ explicit one_hot(const cross_entropy_arguments<T>& a)
        : of_label((1 - a.smoothing) * a.scale + a.smoothing / static_cast<float>(a.logits.cols) * a.scale),
          of_others(a.smoothing / static_cast<float>(a.logits.cols) * a.scale) {}
};

/// Who calls this with a float of each row writes it, if it is wanted.
__device__ inline void write_loss(const vector_view<float>& loss, std::int64_t row, float value) {
    if (loss.size > 0) loss.data[row * loss.stride] = value;
}

template <class T>
__device__ bool is_wanted(const matrix_view<T>& gradient) {
    return gradient.cols > 0;
}

}  // namespace heddle::kernels::loss
