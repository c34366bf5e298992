#pragma once

namespace heddle::kernels::separable_filter {

/// The pass along x: adds the input at place `at`, counted from a thread's own values, to those of their sums that it
/// reaches. The first input that one reaches begins it.
template <class tile, int channels, int radius>
__device__ void filter_row_input(int at, float input, const float* taps, float (&sums)[tile::values]) {
#pragma unroll
    for (int i = 0; i < tile::values; ++i) {
        const int distance = at - i;
        if (distance % channels != 0 || distance < -tile::halo || distance > tile::halo) continue;
        const float tap = taps[radius + distance / channels];
        sums[i] = distance == -tile::halo ? tap * input : fmaf(tap, input, sums[i]);
    }
}

}  // namespace heddle::kernels::separable_filter
