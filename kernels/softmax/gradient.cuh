#pragma once

#include "kernels/softmax/exponential.cuh"

namespace heddle::kernels::softmax {

/// The term that is summed over a row: the product for softmax, and dy alone for its logarithm.
template <bool logarithm>
__device__ float gradient_term(float y, float dy) {
    return logarithm ? dy : dy * y;
}

template <bool logarithm, class T>
__device__ float gradient_of(float y, float dy, float sum) {
    return logarithm ? dy - exponential<T>(y) * sum : y * (dy - sum);
}

}  // namespace heddle::kernels::softmax
