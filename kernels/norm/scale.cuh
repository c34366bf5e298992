#pragma once

#include "kernels/norm/launch.hpp"

namespace heddle::kernels::norm {

/// An element of gamma or beta, or `otherwise` where the vector is empty.
template <class T>
__device__ float parameter(const vector_view<const T>& v, std::int64_t col, float otherwise) {
    return v.size > 0 ? static_cast<float>(v.data[col * v.stride]) : otherwise;
}

/// 1 / sqrt(mean square + epsilon), correctly rounded steps.
__device__ inline float reciprocal_deviation(float squares, float cols, float epsilon) {
    return 1.0f / sqrtf(squares / cols + epsilon);
}

/// The result for x. `scale` is reciprocal_deviation().
__device__ inline float scaled(float x, float mean, float scale, float gamma, float beta) {
    return (x - mean) * scale * gamma + beta;
}

}  // namespace heddle::kernels::norm
