#pragma once

#include "kernels/device/border.cuh"
#include "kernels/gaussian_blur/launch.hpp"
#include "kernels/gaussian_blur/pixel.cuh"
#include "kernels/gaussian_blur/plan/window.hpp"

#include <cstdint>

namespace heddle::kernels::gaussian_blur {

/// sums[i] = sum over k = 0..count-1 of taps[k] * values[i + k * step], for 4 or 8 neighbouring outputs.
///
/// load(j) gives values 4j..4j+3. They pass through a window of registers, so that each is loaded once and feeds all
/// outputs. The loads reach fewer than round_up(count, 4) * step + outputs values. Those past the last tap's are not used.
/// `taps` is aligned to 16 bytes.
template <int outputs, int step, class Load>
__device__ void convolve(float (&sums)[outputs], const float* taps, int count, Load load) {
    constexpr int group = 4;  // taps of one step
    float window[outputs + group * step];
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
#pragma unroll
        for (int v = 0; v < step; ++v) set(outputs / 4 + v, load(next++));
        const float4 loaded = *reinterpret_cast<const float4*>(taps + first);
        const float tap[group] = {loaded.x, loaded.y, loaded.z, loaded.w};
#pragma unroll
        for (int k = 0; k < group; ++k)
            if (k < valid)
#pragma unroll
                for (int i = 0; i < outputs; ++i) sums[i] = fmaf(tap[k], window[i + k * step], sums[i]);
#pragma unroll
        for (int i = 0; i < outputs; ++i) window[i] = window[i + group * step];
    };
    const int whole = count / group * group;
#pragma unroll 2
    for (int first = 0; first < whole; first += group) add_group(first, group);
    if (whole < count) add_group(whole, count - whole);
}

/// The strips whose rows are filtered along x from shared memory, for any radius. A warp filters a row. A lane filters 4
/// neighbouring values, so that a load of 16 bytes feeds all of them.
struct strip {
    static constexpr int values = columns_along_x;
    static constexpr int lanes = 32;
    static constexpr int threads = 256;
    static constexpr int warps = threads / lanes;

    /// Floats that all taps take, in whole groups of 4.
    __host__ __device__ static constexpr int taps_size(int radius) { return round_up(2 * radius + 1, 4); }
    /// Values of the source that a row's outputs need.
    __host__ __device__ static constexpr int window(int radius, int channels) {
        return values + 2 * radius * channels;
    }
    /// Floats that such a row takes in shared memory, with those that convolve() loads but does not use.
    __host__ __device__ static constexpr int pitch(int radius, int channels) {
        return values + taps_size(radius) * channels;
    }
};

/// Copies all taps, -radius..radius, to shared memory.
__device__ inline void stage_taps(const taps& taps, float* staged) {
    for (int i = static_cast<int>(threadIdx.x); i <= 2 * taps.radius; i += strip::threads)
        staged[i] = taps.table[i];
}

/// Looks up the window that starts `radius` pixels before the destination's value `begin`. `columns` gets the element of a
/// source's row that stands for each value. It is -1 for the border's constant, and where nobody needs the value. All rows
/// have the same columns.
template <class T>
__device__ void look_up_columns(int* columns, int begin, const arguments<T>& a) {
    const int radius = a.taps_x.radius;
    const auto channels = static_cast<int>(a.source.first.channels);
    const int end = (static_cast<int>(a.destination.first.width) + 2 * radius) * channels;
    const int width = static_cast<int>(a.source.first.width);
    for (int i = static_cast<int>(threadIdx.x); i < strip::window(radius, channels); i += strip::threads) {
        const int at = begin + i;  // counted from `radius` pixels before the row
        const int pixel =
            at < end ? source_index(static_cast<int>(a.x) + at / channels - radius, width, a.border) : -1;
        columns[i] = pixel < 0 ? -1 : pixel * channels + at % channels;
    }
}

/// One warp copies the window of a row to shared memory, as float. Loads go out in batches, so that a lane waits once for
/// several of them.
template <class T>
__device__ void stage_row(float* staged, const T* row, const int* columns, int window, float border_value) {
    constexpr int batch = 8;
    const int lane = static_cast<int>(threadIdx.x) % strip::lanes;
    for (int first = lane; first < window; first += batch * strip::lanes) {
        int from[batch];
        T loaded[batch];
#pragma unroll
        for (int b = 0; b < batch; ++b) {
            const int i = first + b * strip::lanes;
            from[b] = i < window ? columns[i] : -1;
        }
#pragma unroll
        for (int b = 0; b < batch; ++b) loaded[b] = row[max(from[b], 0)];
#pragma unroll
        for (int b = 0; b < batch; ++b) {
            const int i = first + b * strip::lanes;
            if (i < window) staged[i] = from[b] < 0 ? border_value : to_float(loaded[b]);
        }
    }
}

/// Filters a staged row along x: the lane's 4 values.
__device__ inline float4 filter_row(const float* staged, const float* taps, int radius, int channels) {
    const float4* own = reinterpret_cast<const float4*>(staged) + threadIdx.x % strip::lanes;
    float sums[4];
    const auto filter = [&]<int count>() {
        convolve<4, count>(sums, taps, 2 * radius + 1, [own](int j) { return own[j]; });
    };
    switch (channels) {
        case 1:
            filter.template operator()<1>();
            break;
        case 2:
            filter.template operator()<2>();
            break;
        case 3:
            filter.template operator()<3>();
            break;
        default:
            filter.template operator()<4>();
    }
    return make_float4(sums[0], sums[1], sums[2], sums[3]);
}

}  // namespace heddle::kernels::gaussian_blur
