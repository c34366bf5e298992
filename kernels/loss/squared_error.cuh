#pragma once

namespace heddle::kernels::loss {

/// (x - t) * factor. Where only the difference is beyond float, it is computed from halves.
__device__ inline float squared_error_gradient(float x, float t, float factor) {
    const float difference = x - t;
    return isinf(difference) ? 2 * ((0.5f * x - 0.5f * t) * factor) : difference * factor;
}

}  // namespace heddle::kernels::loss
