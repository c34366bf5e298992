// decimated: a large sigma at a cost that does not grow with it. The image is prefiltered and sampled at
// every d-th pixel, d = floor(sigma / 4); the samples are blurred, and the result is interpolated.
//
//   source --decimate--> parts of samples --add_up--> samples --blur--> --interpolate--> destination
//   w x h                                          w / d x h / d                             w x h
//
// The prefilter and the interpolation are one function, the cubic B-spline b(t / d): smooth, positive, 4 d
// wide. A pixel adds to 4 samples along an axis, and a result is made of 4, with the same weights: those
// of its place in its cell, the d pixels from one sample to the next. At any whole d, b sums to d and its
// variance is d^2 / 3, so that the samples are left a Gaussian of variance (sigma / d)^2 - 2 / 3. Together
// they are within 1.3e-4 of the Gaussian's peak (docs/accuracy.md), and constants stay constant.
//
//   cells of d pixels     |   0   |   1   |   2   |   3   |   4   |
//   sample 2              |^^^^^^ b((i - 2 d) / d) ^^^^^^^|            is made of cells 0..3
//   a band of cells 1, 2                                              adds to samples 0..4, in part
//
// A block of `decimate` takes a strip of 512 values of a band of some 40 rows. A thread marches down 4
// columns of it with the sums of the 4 samples that are open: a row adds to all of them, and at the end of
// a cell one is done and the others move on. Rows come by cp.async through a ring in shared memory, of
// which each thread reads only what it fetched: no barrier. Then the block adds up its lines of samples
// along x. add_up joins what strips and bands have of a sample, in a fixed order. Along y `interpolate`
// evaluates the cubic of a cell, 3 FMAs a value.
//
// Borders are met in `decimate` alone: it reads the source as its border extends it, as far as the blur of
// the samples and the interpolation reach. Sample k is at pixel k d of the source whatever the region, so
// a region's result is the whole's but for rounding. A NaN or an infinity spreads to less than 6 sigma, and
// an infinity may become a NaN.
//
// Sigma is 8 to 8192 along either axis, the window at least 4 sigma. Any alignment; vector loads and
// stores where rows are aligned.
//
// The smaller sigma is, the more samples there are and the longer it takes. `decimate` takes half of the time: it
// issues 50 instructions a warp for a row of its 4 columns and waits for what they depend on, not for DRAM.

#include "kernels/device/border.cuh"
#include "kernels/device/early_launch.hpp"
#include "kernels/device/grid.hpp"
#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/cp_async.cuh"
#include "kernels/device/ptx/grid_dependency.cuh"
#include "kernels/separable_filter/convolve.cuh"
#include "kernels/separable_filter/launch.hpp"
#include "kernels/separable_filter/pixel.cuh"
#include "kernels/separable_filter/plan/extents.hpp"
#include "kernels/separable_filter/tuning/tuning.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string_view>

namespace heddle::kernels::separable_filter {
namespace {

constexpr double samples_per_sigma = 4;
constexpr double min_sigma = 8;     // d = 2
constexpr double max_sigma = 8192;  // 4 d weights are 32 KiB
/// Where the Gaussian of the samples is cut, in its own sigmas: at 4e-5 of its peak.
constexpr double cut = 4.5;
constexpr int support = samples_of_pixel;
constexpr float sixth = 1.0f / 6;

struct tile {
    static constexpr int threads = 128;
    static constexpr int values = decimation::strip_values;  ///< of a row, that a block takes
    static_assert(values == 4 * threads);
    static constexpr int out_rows = 64;    ///< that a block of `interpolate` writes
    static constexpr int rows = 40;        ///< that a block of `decimate` reads, at most
    static constexpr int least_rows = 16;  ///< and where the image is so small that blocks would be few
    static constexpr int cells = 9;        ///< along y, that they make, at most
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

/// The cell, counted from x's first, that a strip begins in.
__device__ int first_cell_of(const decimation& p, int strip) {
    return ::max(strip * tile::values - p.lead, 0) / p.channels / p.x.factor;
}

/// The weights of the samples -1, 0, 1, 2 for a pixel at u = 0..1 from sample 0 to sample 1.
__device__ float4 b_spline_weights(float u) {
    const float v = 1 - u;
    return make_float4(v * v * v * sixth, 2.0f / 3 - u * u * (1 - u / 2), 2.0f / 3 - v * v * (1 - v / 2),
                       u * u * u * sixth);
}

/// b at t.
__device__ float b_spline(float t) {
    const float outer = ::max(2 - fabsf(t), 0.0f), inner = ::max(1 - fabsf(t), 0.0f);
    return (outer * outer * outer - 4 * inner * inner * inner) * sixth;
}

/// source_index(), out of line where it divides.
__device__ __noinline__ std::int64_t outside_index(std::int64_t i, std::int64_t size, border kind) {
    return source_index(i, size, kind);
}

__device__ inline std::int64_t extended_index(std::int64_t i, std::int64_t size, border kind) {
    return i >= 0 && i < size ? i : outside_index(i, size, kind);
}

/// What a row of a band adds to the 4 samples that are open, and where it is. Of a row that is all border no
/// bytes are fetched, which gives zeros, and the border's constant is added.
template <class T>
struct band_row {
    float4 weights;
    const T* data;
    int bytes;  ///< of a quad
    float outside;
};

/// Four neighbouring values of a source's rows, fetched into the thread's places in a ring in shared memory,
/// where it alone reads them.
template <class T>
struct quad_reader {
    bool is_vector;
    std::int64_t from[4];  ///< in a row; -1: the border's constant
    T border_value;

    /// A stage of rows. They are there after the wait for the group that is committed next.
    __device__ void fetch(const band_row<T>* rows, quad<T>* places) const {
        if (is_vector) {
#pragma unroll
            for (int i = 0; i < tile::stage_rows; ++i)
                ptx::cp_async<sizeof(quad<T>)>(places + i * tile::threads, rows[i].data + from[0],
                                               rows[i].bytes);
            return;
        }
        T values[tile::stage_rows][4];
#pragma unroll
        for (int i = 0; i < tile::stage_rows; ++i)
#pragma unroll
            for (int v = 0; v < 4; ++v)
                values[i][v] = rows[i].bytes == 0 ? T(0) : from[v] < 0 ? border_value : rows[i].data[from[v]];
#pragma unroll
        for (int i = 0; i < tile::stage_rows; ++i)
#pragma unroll
            for (int v = 0; v < 4; ++v) places[i * tile::threads].set(v, values[i][v]);
    }
};

/// The sums of 4 neighbouring values for the 4 lines of samples that are open.
struct column_sums {
    float sums[support][4] = {};
    float* line;  ///< in shared memory

    __device__ void add(float4 weights, float4 values, float outside) {
        const float weight[support] = {weights.x, weights.y, weights.z, weights.w};
        const float value[4] = {values.x + outside, values.y + outside, values.z + outside,
                                values.w + outside};
#pragma unroll
        for (int s = 0; s < support; ++s)
#pragma unroll
            for (int i = 0; i < 4; ++i) sums[s][i] = fmaf(weight[s], value[i], sums[s][i]);
    }
    /// The first line's are done; the others move on.
    __device__ void complete() {
#pragma unroll
        for (int i = 0; i < 4; ++i) line[i] = sums[0][i];
        line += tile::pitch;
#pragma unroll
        for (int s = 0; s < support; ++s)
#pragma unroll
            for (int i = 0; i < 4; ++i) sums[s][i] = s + 1 < support ? sums[s + 1][i] : 0;
    }
};

/// Dynamic shared memory of `decimate`: the band's rows, the ring, the band's lines of samples, and b at the
/// pixels of a sample.
template <class T>
struct decimate_shared {
    static constexpr int rows = tile::rows + tile::stage_rows;
    static constexpr int ring = tile::stages * tile::stage_rows * tile::threads;
    __host__ __device__ static int line_floats(const decimation& p) {
        return round_up(p.band.lines(), tile::lines) * tile::pitch;
    }
    static std::size_t bytes(const decimation& p) {
        return sizeof(band_row<T>) * rows + sizeof(quad<T>) * ring +
               sizeof(float) * static_cast<std::size_t>(line_floats(p) + support * p.x.factor);
    }
};

/// A strip's lines, added up along x: `lanes` threads share a sample of tile::lines lines.
__device__ inline void add_up_strip(const decimation& p, int strip, const float* lines, const float* weights,
                                    int lanes, float* out) {
    const int thread = static_cast<int>(threadIdx.x);
    const int lane = thread % lanes;
    const int strip_pitch = p.strip_pitch;
    const int groups = (p.band.lines() + tile::lines - 1) / tile::lines;
    const int tasks = strip_pitch * groups;
    const int first_cell = first_cell_of(p, strip);
    for (int first = 0; first < tasks; first += tile::threads / lanes) {
        const int task = ::min(first + thread / lanes, tasks - 1);
        const int group = task / strip_pitch;
        const int value = task % strip_pitch;
        // first_cell adds to the samples from first_cell - 3 on. A sample's first cell has its number.
        const int cell = first_cell - (support - 1) + value / p.channels;
        const int begin = cell * p.x.factor * p.channels + value % p.channels + p.lead - strip * tile::values;
        const int from = begin < 0 ? (p.channels - 1 - begin) / p.channels : 0;
        const int end = ::min(support * p.x.factor, (tile::values - 1 - begin) / p.channels + 1);
        float sums[tile::lines] = {};
        const float* group_lines = lines + group * tile::lines * tile::pitch;
        if (begin < tile::values)
#pragma unroll 4
            for (int i = from + lane; i < end; i += lanes) {
                const int place = tile::place(begin + i * p.channels);
#pragma unroll
                for (int l = 0; l < tile::lines; ++l)
                    sums[l] = fmaf(weights[i], group_lines[l * tile::pitch + place], sums[l]);
            }
#pragma unroll
        for (int l = 0; l < tile::lines; ++l) {
            for (int other = lanes / 2; other > 0; other /= 2)
                sums[l] += __shfl_xor_sync(~0u, sums[l], other);
            const int line = group * tile::lines + l;
            if (lane == 0 && line < p.band.lines()) out[line * strip_pitch + value] = sums[l];
        }
    }
}

template <class T>
__global__ void __launch_bounds__(tile::threads)
    decimate(const __grid_constant__ decimation p, const __grid_constant__ image_batch_view<const T> source,
             bool aligned, border border, T border_value, int lanes) {
    extern __shared__ float4 storage[];
    auto* rows = reinterpret_cast<band_row<T>*>(storage);
    auto* ring = reinterpret_cast<quad<T>*>(rows + decimate_shared<T>::rows);
    float* lines = reinterpret_cast<float*>(ring + decimate_shared<T>::ring);
    float* weights_x = lines + decimate_shared<T>::line_floats(p);
    ptx::let_next_grid_begin();
    const int thread = static_cast<int>(threadIdx.x);
    const int strip = static_cast<int>(blockIdx.x);
    const int band = static_cast<int>(blockIdx.y);
    const std::int64_t image = blockIdx.z;
    const int phase = band % p.band.parts * p.band.rows;
    const int cell = band / p.band.parts * p.band.cells;
    const int count = p.band.parts > 1 ? ::min(p.band.rows, p.y.factor - phase)
                                       : ::min(p.band.cells, p.y.cells() - cell) * p.y.factor;

    // Where the rows and the thread's values are.
    const T* data = source.first.data + image * source.stride;
    const std::int64_t top = p.y.first_pixel() + std::int64_t{cell} * p.y.factor + phase;
    for (int i = thread; i < count + tile::stage_rows; i += tile::threads) {
        const std::int64_t y = extended_index(top + ::min(i, count - 1), source.first.height, border);
        rows[i].data = y < 0 ? data : data + y * source.first.row_stride;
        rows[i].bytes = y < 0 ? 0 : sizeof(quad<T>);
        rows[i].outside = y < 0 ? to_float(border_value) : 0;
    }
    const int at = strip * tile::values + 4 * thread;
    const int channels = p.channels;
    const std::int64_t element = p.first_value + at;
    quad_reader<T> reader{false, {element}, border_value};
    reader.is_vector = aligned && element >= 0 && element + 4 <= source.first.width * channels;
    if (!reader.is_vector)
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int value = at + i - p.lead + 4 * channels;  // of the row from 4 pixels before the first
            const std::int64_t pixel =
                extended_index(p.x.first_pixel() - 4 + value / channels, source.first.width, border);
            reader.from[i] = pixel < 0 ? -1 : pixel * channels + value % channels;
        }
    __syncthreads();
    const auto fetch = [&](int first, int stage) {
        if (first < count)
            reader.fetch(rows + first, ring + stage * tile::stage_rows * tile::threads + thread);
        ptx::cp_async_commit_group();
    };
    for (int s = 0; s < tile::stages - 1; ++s) fetch(s * tile::stage_rows, s);

    // Weights, while the first rows are on their way.
    for (int i = thread; i < count; i += tile::threads) {
        const float4 weights = b_spline_weights(static_cast<float>((phase + i) % p.y.factor) * p.y.inverse);
        rows[i].weights = make_float4(weights.x * p.y.inverse, weights.y * p.y.inverse,
                                      weights.z * p.y.inverse, weights.w * p.y.inverse);
    }
    for (int i = thread; i < support * p.x.factor; i += tile::threads)
        weights_x[i] = b_spline(static_cast<float>(i) * p.x.inverse - support / 2) * p.x.inverse;
    __syncthreads();

    column_sums sums;
    sums.line = lines + tile::place(4 * thread);
    int row_of_cell = phase;
    int stage = 0;
    for (int first = 0; first < count; first += tile::stage_rows) {
        ptx::cp_async_wait_group<tile::stages - 2>();
        const int free = stage == 0 ? tile::stages - 1 : stage - 1;
        fetch(first + (tile::stages - 1) * tile::stage_rows, free);
        const quad<T>* place = ring + stage * tile::stage_rows * tile::threads + thread;
        const auto add = [&](int i) {
            const band_row<T>& row = rows[first + i];
            sums.add(row.weights, place[i * tile::threads].to_floats(), row.outside);
        };
        const auto end_cell = [&] {
            if (row_of_cell < p.y.factor) return;
            sums.complete();
            row_of_cell = 0;
        };
        const int left = ::min(tile::stage_rows, count - first);
        if (left == tile::stage_rows && row_of_cell + left <= p.y.factor) {  // all of one cell
#pragma unroll
            for (int i = 0; i < tile::stage_rows; ++i) add(i);
            row_of_cell += left;
            end_cell();
        } else {
#pragma unroll 1
            for (int i = 0; i < left; ++i) {
                add(i);
                ++row_of_cell;
                end_cell();
            }
        }
        stage = stage + 1 == tile::stages ? 0 : stage + 1;
    }
    const int open = row_of_cell == 0 ? support - 1 : support;
    for (int s = 0; s < open; ++s) sums.complete();
    __syncthreads();

    const std::int64_t block = (image * p.bands + band) * p.strips + strip;
    add_up_strip(p, strip, lines, weights_x, lanes, p.partial + block * p.band.lines() * p.strip_pitch);
}

/// The samples, each from the bands and strips that have a part of it.
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

struct blur_tile {
    static constexpr int size = 32;  ///< samples, both ways
    /// A thread makes `outputs` in either pass. Along x, at one channel, there is work for all of them.
    __host__ __device__ static constexpr int threads(int outputs) { return 72 * size / outputs; }

    /// Samples of a line of the tile with those around it, and those that convolve() loads but does not use.
    __host__ __device__ static constexpr int line(int radius) { return size + round_up(2 * radius + 1, 4); }
    /// Odd, so that the lanes' rows lie in different banks.
    __host__ __device__ static constexpr int pitch(int values) { return values | 1; }
    /// Dynamic shared memory: taps, where the columns are, the samples, and those filtered along x.
    static std::size_t shared_bytes(int radius_x, int radius_y, std::int64_t channels) {
        const auto count = static_cast<int>(channels);
        const int words = 2 * sample_axis::most_taps + line(radius_x) * count +
                          line(radius_y) * (pitch(line(radius_x) * count) + pitch(size * count));
        return sizeof(float) * static_cast<std::size_t>(words);
    }
};

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
    __syncthreads();
    ptx::wait_for_grids_before();

    // A warp takes every so many rows, and waits once for several of them.
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
    __syncthreads();

    // Neighbouring threads take neighbouring rows.
    for (int task = thread; task < rows * size / outputs * channels; task += threads) {
        const int group = task / rows;
        const int row = task - group * rows;
        const int first = group / channels * outputs * channels + group % channels;
        float sums[outputs];
        convolve<outputs, 1>(sums, taps_x, 2 * p.x.radius + 1, [&](int j) {
            const float* four = loaded + row * pitch + first + 4 * j * channels;
            return make_float4(four[0], four[channels], four[2 * channels], four[3 * channels]);
        });
#pragma unroll
        for (int i = 0; i < outputs; ++i) along_x[row * along_x_pitch + first + i * channels] = sums[i];
    }
    __syncthreads();

    for (int task = thread; task < size * channels * (size / outputs); task += threads) {
        const int column = task % (size * channels);
        const int row = task / (size * channels) * outputs;
        float sums[outputs];
        convolve<outputs, 1>(sums, taps_y, 2 * p.y.radius + 1, [&](int j) {
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

template <class T>
__global__ void __launch_bounds__(tile::threads)
    interpolate(const __grid_constant__ decimation p, const __grid_constant__ image_batch_view<T> destination,
                bool aligned) {
    ptx::let_next_grid_begin();
    const image_view<T>& image = destination.first;
    const int channels = p.channels;
    const int row_values = static_cast<int>(image.width) * channels;
    const int height = static_cast<int>(image.height);
    const std::int64_t index = blockIdx.z;
    const int at = static_cast<int>(blockIdx.x) * tile::values + 4 * static_cast<int>(threadIdx.x);
    const int top = static_cast<int>(blockIdx.y) * tile::out_rows;
    const int rows = ::min(tile::out_rows, height - top);
    if (at >= row_values) return;

    // Along x: the first of the 4 samples of each value, and their weights.
    int from[4];
    float4 weights[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int value = ::min(at + i, row_values - 1);
        const int pixel = value / channels;
        const int cell = (p.x.phase + pixel) / p.x.factor;
        from[i] = cell * channels + value - pixel * channels;
        weights[i] =
            b_spline_weights(static_cast<float>(p.x.phase + pixel - cell * p.x.factor) * p.x.inverse);
    }
    const int cell = (p.y.phase + top) / p.y.factor;
    int phase = p.y.phase + top - cell * p.y.factor;
    const int pitch = p.x.blurred * channels;
    const float* row = p.blurred + (index * p.y.blurred + cell) * pitch;
    float lines[support][4];
    const auto take_line = [&](float* line) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const float* four = row + from[i];
            line[i] = weights[i].x * four[0] + weights[i].y * four[channels] +
                      weights[i].z * four[2 * channels] + weights[i].w * four[3 * channels];
        }
        row += pitch;
    };
    ptx::wait_for_grids_before();
#pragma unroll
    for (int s = 0; s < support; ++s) take_line(lines[s]);

    // The cell's cubic, from the differences of its lines: exact where they are equal.
    float cubic[4][4];
    const auto take_cubic = [&] {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const float before = lines[1][i] - lines[0][i];
            const float within = lines[2][i] - lines[1][i];
            const float after = lines[3][i] - lines[2][i];
            cubic[0][i] = lines[1][i] + (within - before) * sixth;
            cubic[1][i] = (within + before) / 2;
            cubic[2][i] = (within - before) / 2;
            cubic[3][i] = (after - within - (within - before)) * sixth;
        }
    };
    take_cubic();

    T* out = image.data + index * destination.stride + std::int64_t{top} * image.row_stride + at;
    const bool is_vector = aligned && at + 4 <= row_values;
    const int count = ::min(4, row_values - at);
    for (int i = 0; i < rows; ++i, ++phase, out += image.row_stride) {
        if (phase == p.y.factor) {
            phase = 0;
#pragma unroll
            for (int v = 0; v < 4; ++v) {
                lines[0][v] = lines[1][v];
                lines[1][v] = lines[2][v];
                lines[2][v] = lines[3][v];
            }
            take_line(lines[3]);
            take_cubic();
        }
        const float u = static_cast<float>(phase) * p.y.inverse;
        float values[4];
#pragma unroll
        for (int v = 0; v < 4; ++v)
            values[v] = fmaf(fmaf(fmaf(cubic[3][v], u, cubic[2][v]), u, cubic[1][v]), u, cubic[0][v]);
        if (is_vector) {
            *reinterpret_cast<quad<T>*>(out) = quad<T>::from_floats(values);
        } else {
#pragma unroll
            for (int v = 0; v < 4; ++v)
                if (v < count) out[v] = from_float<T>(values[v]);
        }
    }
}

int factor_of(double sigma) {
    return static_cast<int>(sigma / samples_per_sigma);
}

/// The Gaussian that is left for the small image when the prefilter and the interpolation have done theirs.
double sigma_of_samples(double sigma) {
    const double ratio = sigma / factor_of(sigma);
    return std::sqrt(ratio * ratio - 2.0 / 3);
}

int radius_of_samples(double sigma) {
    return static_cast<int>(std::ceil(cut * sigma_of_samples(sigma)));
}

/// Samples that the interpolation of `size` pixels reads, at most: 3 more than the cells they lie in.
std::int64_t most_blurred(std::int64_t size, double sigma) {
    return (size + factor_of(sigma) - 2) / factor_of(sigma) + support;
}

std::int64_t most_samples(std::int64_t size, double sigma) {
    return most_blurred(size, sigma) + 2 * radius_of_samples(sigma);
}

/// Pixels of the source as its border extends it that the samples are made of, at most.
std::int64_t most_pixels(std::int64_t size, double sigma) {
    return (most_samples(size, sigma) + support - 1) * factor_of(sigma);
}

/// Values of such a row, from a multiple of 4 on.
std::int64_t most_row_values(const problem& p) {
    return most_pixels(p.width, p.sigma.x) * p.channels + 3;
}

/// Few rows where blocks would be few, many where they need not be: the lines of samples at a band's ends are
/// shared by two of them.
sample_band band_of(const problem& p, std::int64_t wanted_blocks) {
    const int factor = factor_of(p.sigma.y);
    const std::int64_t strips = divide_up(most_row_values(p), tile::values) * p.images;
    const std::int64_t even = most_pixels(p.height, p.sigma.y) * strips / wanted_blocks;
    const int rows = static_cast<int>(std::clamp<std::int64_t>(even, tile::least_rows, tile::rows));
    if (factor <= rows) {
        const int cells = std::min(rows / factor, tile::cells);
        return {cells, 1, cells * factor};
    }
    const int parts = (factor + rows - 1) / rows;
    return {1, parts, (factor + parts - 1) / parts};
}

struct sizes {
    std::int64_t partial;
    std::int64_t samples;
    std::int64_t blurred;
};

/// In floats, at most.
sizes sizes_of(const problem& p, const sample_band& band) {
    const std::int64_t bands =
        divide_up(most_samples(p.height, p.sigma.y) + support - 1, band.cells) * band.parts;
    const std::int64_t strips = divide_up(most_row_values(p), tile::values);
    const std::int64_t strip_pitch =
        samples_of_strip(factor_of(p.sigma.x), static_cast<int>(p.channels)) * p.channels;
    return {p.images * bands * strips * band.lines() * strip_pitch,
            p.images * most_samples(p.height, p.sigma.y) * most_samples(p.width, p.sigma.x) * p.channels,
            p.images * most_blurred(p.height, p.sigma.y) * most_blurred(p.width, p.sigma.x) * p.channels};
}

/// For `size` pixels from `begin` of a line of `source_size`.
sample_axis axis_of(double sigma, std::int64_t begin, std::int64_t size, std::int64_t source_size,
                    border border) {
    sample_axis a{};
    a.factor = factor_of(sigma);
    a.inverse = 1 / static_cast<float>(a.factor);
    a.radius = radius_of_samples(sigma);
    a.phase = static_cast<int>(begin % a.factor);
    const std::int64_t first_blurred = begin / a.factor - 1;
    const std::int64_t last_blurred = (begin + size - 1) / a.factor + 2;
    a.blurred = static_cast<int>(last_blurred - first_blurred + 1);
    a.first = first_blurred - a.radius;
    std::int64_t last = last_blurred + a.radius;
    // Samples that see nothing of the picture are all the same.
    if (border == border::replicate || border == border::constant) {
        a.first = std::max<std::int64_t>(a.first, -support / 2);
        last = std::min(last, (source_size - 1 + a.factor - 1) / a.factor + support / 2);
    }
    a.count = static_cast<int>(last - a.first + 1);
    a.before = static_cast<int>(first_blurred - a.first);

    const double sigma_left = sigma_of_samples(sigma);
    double sum = 0;
    const auto weight = [&](int i) { return std::exp(-0.5 * (i / sigma_left) * (i / sigma_left)); };
    for (int i = -a.radius; i <= a.radius; ++i) sum += weight(i);
    for (int i = -a.radius; i <= a.radius; ++i) a.taps[i + a.radius] = static_cast<float>(weight(i) / sum);
    return a;
}

/// What all of its kernels know of the problem.
decimation decimation_of(const problem& p, const sample_band& band) {
    decimation d{};
    d.x = axis_of(p.sigma.x, p.x, p.width, p.source_width, p.border);
    d.y = axis_of(p.sigma.y, p.y, p.height, p.source_height, p.border);
    d.band = band;
    d.channels = static_cast<int>(p.channels);
    const std::int64_t first_value = d.x.first_pixel() * d.channels;
    d.lead = static_cast<int>((first_value % 4 + 4) % 4);
    d.first_value = first_value - d.lead;
    const std::int64_t row_values = d.lead + std::int64_t{d.x.cells()} * d.x.factor * d.channels;
    d.strips = static_cast<int>(divide_up(row_values, tile::values));
    d.strip_pitch = samples_of_strip(d.x.factor, d.channels) * d.channels;
    d.bands = d.band.count(d.y);
    return d;
}

std::size_t shared_bytes_of_decimate(const decimation& d, pixel_type type) {
    switch (type) {
        case pixel_type::u8:
            return decimate_shared<std::uint8_t>::bytes(d);
        case pixel_type::u16:
            return decimate_shared<std::uint16_t>::bytes(d);
        case pixel_type::f16:
            return decimate_shared<half>::bytes(d);
        case pixel_type::f32:
            break;
    }
    return decimate_shared<float>::bytes(d);
}

bool is_wide(double sigma, std::int64_t radius) {
    return sigma >= min_sigma && sigma <= max_sigma && static_cast<double>(radius) >= 4 * sigma;
}

bool fits_grids(const problem& p) {
    return most_row_values(p) <= max_row_values && p.images <= max_grid_y &&
           most_pixels(p.height, p.sigma.y) <= max_grid_y * tile::least_rows &&
           divide_up(most_samples(p.width, p.sigma.x) * p.channels, tile::threads) <= max_grid_y;
}

/// What lies around a small picture must not cost more than the window.
bool is_small(const problem& p, double taps_per_pixel) {
    const auto pixels = [](std::int64_t size, double sigma) {
        return static_cast<double>(most_pixels(size, sigma));
    };
    return taps_per_pixel * pixels(p.width, p.sigma.x) * pixels(p.height, p.sigma.y) >
           static_cast<double>(p.width) * static_cast<double>(p.height) *
               (2.0 * static_cast<double>(p.radius.x) + 2.0 * static_cast<double>(p.radius.y));
}

}  // namespace

std::string_view decimated_needs(const problem& p, const device_traits& device) {
    static_assert(min_sigma == 8 && max_sigma == 8192);
    if (p.kind != taps_kind::gaussian) return "takes Gaussians";
    if (!is_wide(p.sigma.x, p.radius.x) || !is_wide(p.sigma.y, p.radius.y))
        return "takes sigmas from 8 to 8192, and radii from 4 sigma on";
    if (p.source_width > max_row_values / p.channels || !fits_grids(p))
        return "takes no more rows, values of a row and images than its grids count";
    if (is_small(p, tuning_of(device).decimated_taps_per_pixel))
        return "needs an image that is not small against the window";
    if (blur_tile::shared_bytes(radius_of_samples(p.sigma.x), radius_of_samples(p.sigma.y), p.channels) >
        device.shared_memory_per_block_optin)
        return "needs more shared memory a block than the device has";
    return {};
}

decimated_plan plan_decimated(const problem& p, const device_traits& device) {
    const tuning& numbers = tuning_of(device);
    const sample_band band = band_of(p, numbers.decimated_blocks);
    const decimation d = decimation_of(p, band);
    const sizes floats = sizes_of(p, band);
    // As many threads a sample as keep the block busy.
    const int tasks = d.strip_pitch * round_up(band.lines(), tile::lines) / tile::lines;
    const auto lanes =
        static_cast<int>(std::bit_floor(static_cast<unsigned>(std::clamp(tile::threads / tasks, 1, 32))));
    // Where tiles are many, fewer threads a tile, which share more of what they load.
    const launch_extents tiles{divide_up(d.x.blurred, blur_tile::size),
                               divide_up(d.y.blurred, blur_tile::size), p.images};
    const bool are_many = tiles.x * tiles.y * p.images >= numbers.decimated_tiles_per_sm * device.sm_count;
    const int outputs = are_many ? 8 : 4;
    const bool waits = waits_for_grids(device);
    const int quad = 4 * p.value_bytes();
    return {.samples = d,
            .partial_floats = floats.partial,
            .sample_floats = floats.samples,
            .scratch_bytes = (floats.partial + floats.samples + floats.blurred) * std::int64_t{sizeof(float)},
            .decimate = {.blocks = {d.strips, d.bands, p.images},
                         .threads = {tile::threads},
                         .shared_bytes = shared_bytes_of_decimate(d, p.type),
                         .shared_limit = device.shared_memory_per_block_optin},
            .add_up = {.blocks = {d.y.count, divide_up(std::int64_t{d.x.count} * p.channels, tile::threads),
                                  p.images},
                       .threads = {tile::threads},
                       .begins_early = waits},
            .blur = {.blocks = tiles,
                     .threads = {blur_tile::threads(outputs)},
                     .shared_bytes = blur_tile::shared_bytes(d.x.radius, d.y.radius, p.channels),
                     .shared_limit = device.shared_memory_per_block_optin,
                     .begins_early = waits},
            .interpolate = {.blocks = {divide_up(p.row_values(), tile::values),
                                       divide_up(p.height, tile::out_rows), p.images},
                            .threads = {tile::threads},
                            .begins_early = waits},
            .lanes = lanes,
            .outputs = outputs,
            .aligned_loads = p.source_alignment() >= quad,
            .aligned_stores = p.destination_alignment >= quad};
}

template <class T>
void launch_decimated(const decimated_plan& plan, const arguments<T>& a, cudaStream_t stream) {
    decimation d = plan.samples;
    d.partial = a.intermediate;
    d.samples = d.partial + plan.partial_floats;
    d.blurred = d.samples + plan.sample_floats;
    launch(config_of(plan.decimate, stream), decimate<T>, d, a.source, plan.aligned_loads, a.border,
           a.border_value, plan.lanes);
    launch(config_of(plan.add_up, stream), add_up, d);
    launch(config_of(plan.blur, stream), plan.outputs == 8 ? blur<8> : blur<4>, d);
    launch(config_of(plan.interpolate, stream), interpolate<T>, d, a.destination, plan.aligned_stores);
}

template void launch_decimated(const decimated_plan&, const arguments<float>&, cudaStream_t);
template void launch_decimated(const decimated_plan&, const arguments<half>&, cudaStream_t);
template void launch_decimated(const decimated_plan&, const arguments<std::uint16_t>&, cudaStream_t);
template void launch_decimated(const decimated_plan&, const arguments<std::uint8_t>&, cudaStream_t);

}  // namespace heddle::kernels::separable_filter
