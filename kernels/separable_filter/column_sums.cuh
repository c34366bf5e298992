#pragma once

namespace heddle::kernels::separable_filter {

/// The pass along y: adds a row to sums [first, last) of 2 * radius, and gives the one that is complete.
template <int radius, int first = 0, int last = 2 * radius>
__device__ float filter_column(float h, const float* taps, float (&sums)[2 * radius + 1]) {
    sums[2 * radius] = 0;
    const float complete = fmaf(taps[2 * radius], h, sums[0]);
#pragma unroll
    for (int i = first; i < last; ++i) sums[i] = fmaf(taps[2 * radius - 1 - i], h, sums[i + 1]);
    return complete;
}

}  // namespace heddle::kernels::separable_filter
