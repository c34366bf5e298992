#pragma once

#include "kernels/device/normalizer.cuh"
#include "kernels/loss/launch.hpp"

#include <cstdint>
#include <limits>

namespace heddle::kernels::loss {

using namespace normalizers;

inline constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

/// The column that a row's label names. Where it names none, fill() goes into the row's loss and gradient.
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

/// The label's logit; any number where the label is no column. Read it before the row's gradient is written.
template <class T>
__device__ float logit_of(const cross_entropy_arguments<T>& a, std::int64_t row, const row_target& target) {
    if (!target.is_col()) return 0;
    return static_cast<float>(a.logits.data[row * a.logits.row_stride + target.col * a.logits.col_stride]);
}

/// `distances` is the sum over the row of the label's logit less each logit; only smoothing needs it. Where the label's
/// logit is infinitely far below the largest, some of these may be -Inf, and smoothing adds nothing.
template <class T>
__device__ float loss_of(const cross_entropy_arguments<T>& a, const row_target& target, const normalizer& row,
                         float logit, float distances) {
    if (!target.is_col()) return target.fill();
    const float distance = difference(row.largest, logit);
    const float loss = logf(row.sum) + distance;
    const bool is_smooth = a.smoothing > 0 && !isinf(distance);
    return is_smooth ? loss + a.smoothing * (distances / static_cast<float>(a.logits.cols)) : loss;
}

/// Makes the gradient of the softmax p: p * scale - of_label at the label, p * scale - of_others elsewhere.
struct one_hot {
    float of_label;
    float of_others;

    template <class T>
    __device__ explicit one_hot(const cross_entropy_arguments<T>& a)
        : of_label((1 - a.smoothing) * a.scale + a.smoothing / static_cast<float>(a.logits.cols) * a.scale),
          of_others(a.smoothing / static_cast<float>(a.logits.cols) * a.scale) {}
};

/// Writes a row's loss, if losses are wanted. One thread per row calls this.
__device__ inline void write_loss(const vector_view<float>& loss, std::int64_t row, float value) {
    if (loss.size > 0) loss.data[row * loss.stride] = value;
}

template <class T>
__device__ bool is_wanted(const matrix_view<T>& gradient) {
    return gradient.cols > 0;
}

}  // namespace heddle::kernels::loss
