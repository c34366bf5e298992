// decimated, second step: the samples are blurred.
//
// `add_up` adds up the parts of a sample from all strips and bands, in a fixed order. Then `blur` does both passes in one
// kernel. A block copies the samples for a tile of 32 x 32 results to shared memory. It filters them along x there, and
// then along y. Samples beyond the first or the last are equal to it, so the borders need no other care.

#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/grid_dependency.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/gaussian_blur/convolve.cuh"
#include "kernels/gaussian_blur/decimated/samples.cuh"

#include <cstdint>

namespace heddle::kernels::gaussian_blur::decimated {
namespace {

/// Adds up the samples: each is the sum of its parts from the bands and strips.
__global__ void __launch_bounds__(tile::threads) add_up(const __grid_constant__ decimation p) {
    ptx::let_next_grid_begin();
    const int row_values = p.x.count * p.channels;
    const int value = static_cast<int>(blockIdx.y) * tile::threads + static_cast<int>(threadIdx.x);
    const int row = static_cast<int>(blockIdx.x);
    const std::int64_t image = blockIdx.z;
    if (value >= row_values) return;

    // Sample i is made of the cells i..i + 3; `begin` is their first value.
    const int sample = value / p.channels;
    const int begin = sample * p.x.factor * p.channels + value % p.channels + p.lead;
    const int end_strip = (begin + (support * p.x.factor - 1) * p.channels) / tile::values + 1;
    const int end_band = ((row + support - 1) / p.band.cells + 1) * p.band.parts;
    const int strip_pitch = p.strip_pitch;
    ptx::wait_for_grids_before();
    float sum = 0;
    for (int strip = begin / tile::values; strip < end_strip; ++strip) {
        const int at = value - (first_cell_of(p, strip) - support + 1) * p.channels;
        for (int band = row / p.band.cells * p.band.parts; band < end_band; ++band) {
            const int line = row - band / p.band.parts * p.band.cells + support - 1;
            const std::int64_t block = (image * p.bands + band) * p.strips + strip;
            sum += p.partial[(block * p.band.lines() + line) * strip_pitch + at];
        }
    }
    p.samples[(image * p.y.count + row) * row_values + value] = sum;
}

template <int outputs>
__global__ void __launch_bounds__(blur_tile::threads(outputs)) blur(const __grid_constant__ decimation p) {
    extern __shared__ float4 storage[];
    ptx::let_next_grid_begin();
    constexpr int size = blur_tile::size, threads = blur_tile::threads(outputs);
    const int channels = p.channels;
    const int x = static_cast<int>(blockIdx.x) * size;
    const int y = static_cast<int>(blockIdx.y) * size;
    const std::int64_t image = blockIdx.z;
    const int thread = static_cast<int>(threadIdx.x);
    const int rows = size + 2 * p.y.radius;
    const int columns = (size + 2 * p.x.radius) * channels;
    const int pitch = blur_tile::pitch(blur_tile::line(p.x.radius) * channels);
    const int along_x_pitch = blur_tile::pitch(size * channels);
    float* taps_x = reinterpret_cast<float*>(storage);
    float* taps_y = taps_x + sample_axis::most_taps;
    int* column_of = reinterpret_cast<int*>(taps_y + sample_axis::most_taps);
    float* loaded = reinterpret_cast<float*>(column_of + blur_tile::line(p.x.radius) * channels);
    float* along_x = loaded + blur_tile::line(p.y.radius) * pitch;
    if (thread < sample_axis::most_taps) {
        taps_x[thread] = p.x.taps[thread];
        taps_y[thread] = p.y.taps[thread];
    }
    const auto clamped = [](const sample_axis& a, int i) {
        return ::min(::max(a.before - a.radius + i, 0), a.count - 1);
    };
    for (int v = thread; v < columns; v += threads)
        column_of[v] = clamped(p.x, x + v / channels) * channels + v % channels;
    ptx::sync_threads();
    ptx::wait_for_grids_before();

    // A warp takes every `warps`-th row, and waits once for several of them.
    constexpr int warps = threads / 32, batch = outputs;
    const float* samples = p.samples + image * p.y.count * p.x.count * channels;
    for (int v = thread % 32; v < columns; v += 32)
        for (int first = thread / 32; first < rows; first += batch * warps) {
            float values[batch];
#pragma unroll
            for (int i = 0; i < batch; ++i) {
                const std::int64_t row = clamped(p.y, y + ::min(first + i * warps, rows - 1));
                values[i] = samples[row * p.x.count * channels + column_of[v]];
            }
#pragma unroll
            for (int i = 0; i < batch; ++i)
                if (first + i * warps < rows) loaded[(first + i * warps) * pitch + v] = values[i];
        }
    ptx::sync_threads();

    // Neighbouring threads take neighbouring rows.
    for (int task = thread; task < rows * size / outputs * channels; task += threads) {
        const int group = task / rows;
        const int row = task - group * rows;
        const int first = group / channels * outputs * channels + group % channels;
        float sums[outputs];
        convolve<outputs>(sums, taps_x, 2 * p.x.radius + 1, [&](int j) {
            const float* four = loaded + row * pitch + first + 4 * j * channels;
            return make_float4(four[0], four[channels], four[2 * channels], four[3 * channels]);
        });
#pragma unroll
        for (int i = 0; i < outputs; ++i) along_x[row * along_x_pitch + first + i * channels] = sums[i];
    }
    ptx::sync_threads();

    for (int task = thread; task < size * channels * (size / outputs); task += threads) {
        const int column = task % (size * channels);
        const int row = task / (size * channels) * outputs;
        float sums[outputs];
        convolve<outputs>(sums, taps_y, 2 * p.y.radius + 1, [&](int j) {
            const float* four = along_x + (row + 4 * j) * along_x_pitch + column;
            return make_float4(four[0], four[along_x_pitch], four[2 * along_x_pitch],
                               four[3 * along_x_pitch]);
        });
        if (x * channels + column >= p.x.blurred * channels) continue;
        float* out = p.blurred + ((image * p.y.blurred + y + row) * p.x.blurred + x) * channels + column;
#pragma unroll
        for (int i = 0; i < outputs; ++i)
            if (y + row + i < p.y.blurred) out[std::int64_t{i} * p.x.blurred * channels] = sums[i];
    }
}

}  // namespace

void launch_blur(const decimated_plan& plan, const decimation& d, cudaStream_t stream) {
    launch(config_of(plan.add_up, stream), add_up, d);
    launch(config_of(plan.blur, stream), plan.outputs == 8 ? blur<8> : blur<4>, d);
}

}  // namespace heddle::kernels::gaussian_blur::decimated
