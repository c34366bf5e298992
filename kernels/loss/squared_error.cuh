#pragma once

namespace heddle::kernels::loss {

/// (x - t) factor. A difference that is beyond float is made of halves: its product may not be.
__device__ inline float squared_error_gradient(float x, float t, float factor) {
    const float difference = x - t;
    return isinf(difference) ? 2 * ((0.5f * x - 0.5f * t) * factor) : difference * factor;
}

}  // namespace heddle::kernels::loss
