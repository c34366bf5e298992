#pragma once

#include <limits>

namespace heddle::kernels::softmax {

inline constexpr float infinity = std::numeric_limits<float>::infinity();

/// x - largest, of which equal infinities make 0 and no NaN.
__device__ inline float difference(float x, float largest) {
    return x == largest ? 0.0f : x - largest;
}

/// exp(x), x being 0 or less. For half and bfloat16 the hardware's exponential is far inside the result's half
/// unit.
template <class T>
__device__ float exponential(float x) {
    return sizeof(T) == 2 ? __expf(x) : expf(x);
}

}  // namespace heddle::kernels::softmax
