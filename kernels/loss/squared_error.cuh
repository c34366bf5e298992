#pragma once

#include "kernels/loss/launch.hpp"
#include "kernels/loss/row_target.cuh"

#include <cstdint>

namespace heddle::kernels::loss {

/// (x - t) * factor. Where only the difference is beyond float, it is computed from halves.
__device__ inline float squared_error_gradient(float x, float t, float factor) {
    const float difference = x - t;
    return isinf(difference) ? 2 * ((0.5f * x - 0.5f * t) * factor) : difference * factor;
}

/// A row of mean_squared_error(), at any strides.
template <class T>
struct squared_error_row {
    const mean_squared_error_arguments<T>& a;
    const T* x;
    const T* t;
    T* y;
    float cols;
    float factor;

    __device__ squared_error_row(const mean_squared_error_arguments<T>& arguments, std::int64_t row)
        : a(arguments),
          x(a.prediction.data + row * a.prediction.row_stride),
          t(a.target.data + row * a.target.row_stride),
          y(a.gradient.data + row * a.gradient.row_stride),
          cols(static_cast<float>(a.prediction.cols)),
          factor(2 / cols * a.scale) {}

    /// Writes the gradient of an element, if gradients are wanted. Returns the squared difference.
    __device__ float take_square(std::int64_t col) const {
        const auto prediction = static_cast<float>(x[col * a.prediction.col_stride]),
                   target = static_cast<float>(t[col * a.target.col_stride]);
        if (is_wanted(a.gradient))
            y[col * a.gradient.col_stride] =
                static_cast<T>(squared_error_gradient(prediction, target, factor));
        const float difference = prediction - target;
        return difference * difference;
    }
};

}  // namespace heddle::kernels::loss
