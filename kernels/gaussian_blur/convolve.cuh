#pragma once

namespace heddle::kernels::gaussian_blur {

/// sums[i] = sum over k = 0..count-1 of taps[k] * values[i + k], for 4 or 8 neighbouring outputs.
///
/// load(j) gives values 4j..4j+3. They pass through a window of registers, so that each is loaded once and feeds all
/// outputs. The loads reach round_up(count, 4) + outputs values. Those past the last tap's are not used.
/// `taps` is aligned to 16 bytes.
template <int outputs, class Load>
__device__ void convolve(float (&sums)[outputs], const float* taps, int count, Load load) {
    constexpr int group = 4;  // taps of one step
    float window[outputs + group];
    const auto set = [&](int vector, float4 v) {
        window[4 * vector] = v.x;
        window[4 * vector + 1] = v.y;
        window[4 * vector + 2] = v.z;
        window[4 * vector + 3] = v.w;
    };

    int next = 0;
#pragma unroll
    for (int v = 0; v < outputs / 4; ++v) set(v, load(next++));
#pragma unroll
    for (int i = 0; i < outputs; ++i) sums[i] = 0;

    const auto add_group = [&](int first, int valid) {
        set(outputs / 4, load(next++));
        const float4 loaded = *reinterpret_cast<const float4*>(taps + first);
        const float tap[group] = {loaded.x, loaded.y, loaded.z, loaded.w};
#pragma unroll
        for (int k = 0; k < group; ++k)
            if (k < valid)
#pragma unroll
                for (int i = 0; i < outputs; ++i) sums[i] = fmaf(tap[k], window[i + k], sums[i]);
#pragma unroll
        for (int i = 0; i < outputs; ++i) window[i] = window[i + group];
    };
    const int whole = count / group * group;
    constexpr int turn =
        outputs / group + 1;  // after so many groups the window's registers are at their places again
#pragma unroll turn
    for (int first = 0; first < whole; first += group) add_group(first, group);
    if (whole < count) add_group(whole, count - whole);
}

}  // namespace heddle::kernels::gaussian_blur
