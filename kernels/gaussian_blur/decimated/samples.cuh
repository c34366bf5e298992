#pragma once

#include "kernels/gaussian_blur/launch.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

/// Shared by the kernels of decimated.
namespace heddle::kernels::gaussian_blur::decimated {

inline constexpr int support = samples_of_pixel;
inline constexpr float sixth = 1.0f / 6;

struct tile {
    static constexpr int threads = 128;
    static constexpr int values = decimation::strip_values;  ///< of a row that a block takes
    static_assert(values == 4 * threads);
    static constexpr int out_rows = 64;    ///< that a block of `interpolate` writes
    static constexpr int rows = 40;        ///< that a block of `decimate` reads, at most
    static constexpr int least_rows = 16;  ///< that it reads at least, however small the image is
    static constexpr int cells = 9;        ///< of a band along y, at most
    static constexpr int stages = 3;       ///< of the ring: all but one are on their way
    static constexpr int stage_rows = 4;
    static constexpr int lines = 4;  ///< that a thread adds up along x at a time

    /// Where a line's values lie in shared memory: a step of 32 goes to the next bank.
    __device__ static int place(int value) { return value + value / 32; }
    static constexpr int pitch = values + values / 32;
};

/// The samples that tile::values of a row add to, at most.
__host__ __device__ constexpr int samples_of_strip(int factor, int channels) {
    return ((tile::values - 1) / channels + factor) / factor + support;
}

/// The cell in which a strip begins, counted from the first cell of `x`.
__device__ inline int first_cell_of(const decimation& p, int strip) {
    return ::max(strip * tile::values - p.lead, 0) / p.channels / p.x.factor;
}

/// The weights of the samples -1, 0, 1, 2 for a pixel at u = 0..1 from sample 0 to sample 1.
__device__ inline float4 b_spline_weights(float u) {
    const float v = 1 - u;
    return make_float4(v * v * v * sixth, 2.0f / 3 - u * u * (1 - u / 2), 2.0f / 3 - v * v * (1 - v / 2),
                       u * u * u * sixth);
}

struct blur_tile {
    static constexpr int size = 32;  ///< samples, along x and along y
    /// A thread makes `outputs` results in each pass. For one channel, the pass along x has work for all threads.
    __host__ __device__ static constexpr int threads(int outputs) { return 72 * size / outputs; }

    /// Samples of a tile's line with those around it, and with those that convolve() loads but does not use.
    __host__ __device__ static constexpr int line(int radius) { return size + round_up(2 * radius + 1, 4); }
    /// Odd, so that the lanes' rows lie in different banks.
    __host__ __device__ static constexpr int pitch(int values) { return values | 1; }
    /// Dynamic shared memory: taps, the columns' places, the samples, and the samples filtered along x.
    static std::size_t shared_bytes(int radius_x, int radius_y, std::int64_t channels) {
        const auto count = static_cast<int>(channels);
        const int words = 2 * sample_axis::most_taps + line(radius_x) * count +
                          line(radius_y) * (pitch(line(radius_x) * count) + pitch(size * count));
        return sizeof(float) * static_cast<std::size_t>(words);
    }
};

std::size_t shared_bytes_of_decimate(const decimation& d, pixel_type type);

// The three steps, in their order.

/// From the source to parts of samples.
template <class T>
void launch_decimate(const decimated_plan& plan, const decimation& d, const arguments<T>& arguments,
                     cudaStream_t stream);
/// From those to blurred samples.
void launch_blur(const decimated_plan& plan, const decimation& d, cudaStream_t stream);
/// From the blurred samples to the destination.
template <class T>
void launch_interpolate(const decimated_plan& plan, const decimation& d, const arguments<T>& arguments,
                        cudaStream_t stream);

}  // namespace heddle::kernels::gaussian_blur::decimated
