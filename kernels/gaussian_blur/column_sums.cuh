#pragma once

namespace heddle::kernels::gaussian_blur {

/// The pass along y: adds a row to all sums and gives the one that is complete.
template <int radius>
__device__ float filter_column(float h, const float* taps, float (&sums)[2 * radius + 1]) {
    sums[2 * radius] = 0;
    const float complete = fmaf(taps[2 * radius], h, sums[0]);
#pragma unroll
    for (int i = 0; i < 2 * radius; ++i) sums[i] = fmaf(taps[2 * radius - 1 - i], h, sums[i + 1]);
    return complete;
}

}  // namespace heddle::kernels::gaussian_blur
