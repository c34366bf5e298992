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
#include "kernels/gaussian_blur/convolve.cuh"
#include "kernels/gaussian_blur/extents.hpp"
#include "kernels/gaussian_blur/launch.hpp"
#include "kernels/gaussian_blur/pixel.cuh"
#include "kernels/gaussian_blur/round_up.cuh"
#include "kernels/gaussian_blur/strip.cuh"

#include <algorithm>
#include <bit>
#include <cmath>

namespace heddle::kernels::gaussian_blur {
namespace {

constexpr double samples_per_sigma = 4;
constexpr double min_sigma = 8;     // d = 2
constexpr double max_sigma = 8192;  // 4 d weights are 32 KiB
/// Where the Gaussian of the samples is cut, in its own sigmas: at 4e-5 of its peak.
constexpr double cut = 4.5;
/// sigma / d is largest, and below 6, where d = 2: cut * sqrt(36 - 2 / 3).
constexpr int most_radius = 27;
/// The samples that a pixel adds to, and that a result is made of, along an axis.
constexpr int support = 4;
constexpr float sixth = 1.0f / 6;

struct tile {
    static constexpr int threads = 128;
    static constexpr int values = 4 * threads;  ///< of a row, that a block takes
    static constexpr int out_rows = 64;         ///< that a block of `interpolate` writes
    static constexpr int rows = 40;             ///< that a block of `decimate` reads, at most
    static constexpr int least_rows = 16;       ///< and where the image is so small that blocks would be few
    static constexpr int wanted_blocks = 512;
    static constexpr int cells = 9;   ///< along y, that they make, at most
    static constexpr int stages = 3;  ///< of the ring: all but one are on their way
    static constexpr int stage_rows = 4;
    static constexpr int lines = 4;  ///< that a thread adds up along x at a time

    /// Where a line's values lie in shared memory: a step of 32 goes to the next bank.
    __device__ static int place(int value) { return value + value / 32; }
    static constexpr int pitch = values + values / 32;
};

/// The samples along one axis. Sample k is at pixel k * factor of the source.
struct axis {
    int factor;     ///< d
    float inverse;  ///< 1 / d
    std::int64_t
        first;  ///< of the samples that are computed; those beyond are equal to the first or the last
    int count;
    int before;   ///< from the first to the first blurred one
    int blurred;  ///< the samples whose blur is wanted, from the one before the region's first cell on
    int phase;    ///< of the region's first pixel in its cell
    int radius;   ///< of the Gaussian
    static constexpr int most_taps = round_up(2 * most_radius + 1, 4);
    float taps[most_taps];

    /// The cells that add to the samples. Sample first + i is made of the cells i..i + 3 of them.
    __host__ __device__ int cells() const { return count + support - 1; }
    __host__ __device__ std::int64_t first_pixel() const { return (first - support / 2) * factor; }
};

/// Rows that a block of `decimate` takes: whole cells, or, where parts > 1, a part of one.
struct band {
    int cells;
    int parts;
    int rows;

    /// Lines of samples that it adds to.
    __host__ __device__ int lines() const { return cells + support - 1; }
    __host__ __device__ int count(const axis& y) const { return (y.cells() + cells - 1) / cells * parts; }
};

/// The samples that tile::values of a row add to, at most.
__host__ __device__ constexpr int samples_of_strip(int factor, int channels) {
    return ((tile::values - 1) / channels + factor) / factor + support;
}

struct plan {
    axis x;
    axis y;
    gaussian_blur::band band;
    int bands;
    int strips;       ///< of tile::values
    int strip_pitch;  ///< samples_of_strip() * channels
    int channels;
    std::int64_t first_value;  ///< of the strips in a row of the source: a multiple of 4
    int lead;                  ///< values from there to x.first_pixel()
    float* partial;            ///< images x bands x strips x band.lines() x strip_pitch
    float* samples;            ///< images x y.count x x.count x channels
    float* blurred;            ///< images x y.blurred x x.blurred x channels

    /// The cell, counted from x's first, that a strip begins in.
    __device__ int first_cell(int strip) const {
        return ::max(strip * tile::values - lead, 0) / channels / x.factor;
    }
};

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
    __host__ __device__ static int line_floats(const plan& p) {
        return round_up(p.band.lines(), tile::lines) * tile::pitch;
    }
    static std::size_t bytes(const plan& p) {
        return sizeof(band_row<T>) * rows + sizeof(quad<T>) * ring +
               sizeof(float) * static_cast<std::size_t>(line_floats(p) + support * p.x.factor);
    }
};

/// A strip's lines, added up along x: `lanes` threads share a sample of tile::lines lines.
__device__ inline void add_up_strip(const plan& p, int strip, const float* lines, const float* weights,
                                    int lanes, float* out) {
    const int thread = static_cast<int>(threadIdx.x);
    const int lane = thread % lanes;
    const int strip_pitch = p.strip_pitch;
    const int groups = (p.band.lines() + tile::lines - 1) / tile::lines;
    const int tasks = strip_pitch * groups;
    const int first_cell = p.first_cell(strip);
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
    decimate(const __grid_constant__ plan p, const __grid_constant__ image_batch_view<const T> source,
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
__global__ void __launch_bounds__(tile::threads) add_up(const __grid_constant__ plan p) {
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
        const int at = value - (p.first_cell(strip) - support + 1) * p.channels;
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
    __host__ __device__ static constexpr int line(const axis& a) {
        return size + round_up(2 * a.radius + 1, 4);
    }
    /// Odd, so that the lanes' rows lie in different banks.
    __host__ __device__ static constexpr int pitch(int values) { return values | 1; }
    /// Dynamic shared memory: taps, where the columns are, the samples, and those filtered along x.
    static std::size_t shared_bytes(const plan& p) {
        const int words = 2 * axis::most_taps + line(p.x) * p.channels +
                          line(p.y) * (pitch(line(p.x) * p.channels) + pitch(size * p.channels));
        return sizeof(float) * static_cast<std::size_t>(words);
    }
};

template <int outputs>
__global__ void __launch_bounds__(blur_tile::threads(outputs)) blur(const __grid_constant__ plan p) {
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
    const int pitch = blur_tile::pitch(blur_tile::line(p.x) * channels);
    const int along_x_pitch = blur_tile::pitch(size * channels);
    float* taps_x = reinterpret_cast<float*>(storage);
    float* taps_y = taps_x + axis::most_taps;
    int* column_of = reinterpret_cast<int*>(taps_y + axis::most_taps);
    float* loaded = reinterpret_cast<float*>(column_of + blur_tile::line(p.x) * channels);
    float* along_x = loaded + blur_tile::line(p.y) * pitch;
    if (thread < axis::most_taps) {
        taps_x[thread] = p.x.taps[thread];
        taps_y[thread] = p.y.taps[thread];
    }
    const auto clamped = [](const axis& a, int i) {
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
    interpolate(const __grid_constant__ plan p, const __grid_constant__ image_batch_view<T> destination,
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
std::int64_t most_row_values(const gaussian_blur_problem& p) {
    return most_pixels(p.width, p.sigma.x) * p.channels + 3;
}

/// Few rows where blocks would be few, many where they need not be: the lines of samples at a band's ends are
/// shared by two of them.
band band_of(const gaussian_blur_problem& problem) {
    const int factor = factor_of(problem.sigma.y);
    const std::int64_t strips = divide_up(most_row_values(problem), tile::values) * problem.images;
    const std::int64_t even = most_pixels(problem.height, problem.sigma.y) * strips / tile::wanted_blocks;
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
sizes sizes_of(const gaussian_blur_problem& p, const band& band) {
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
axis axis_of(double sigma, std::int64_t begin, std::int64_t size, std::int64_t source_size, border border) {
    axis a{};
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

/// Whether the quads of all rows can be loaded or stored as vectors.
template <class T>
bool has_aligned_rows(const image_batch_view<T>& images) {
    return reinterpret_cast<std::uintptr_t>(images.first.data) % (4 * sizeof(T)) == 0 &&
           images.first.row_stride % 4 == 0 && (images.count == 1 || images.stride % 4 == 0);
}

}  // namespace

bool decimated_fits(const gaussian_blur_problem& p) {
    const auto is_wide = [](double sigma, std::int64_t radius) {
        return sigma >= min_sigma && sigma <= max_sigma && static_cast<double>(radius) >= 4 * sigma;
    };
    if (!is_wide(p.sigma.x, p.radius.x) || !is_wide(p.sigma.y, p.radius.y)) return false;
    // What lies around a small picture must not cost more than the window: a pixel about as much as 8 taps.
    const auto pixels = [](std::int64_t size, double sigma) {
        return static_cast<double>(most_pixels(size, sigma));
    };
    if (most_row_values(p) > max_row_values || p.images > max_grid_y) return false;
    if (most_pixels(p.height, p.sigma.y) > max_grid_y * tile::least_rows) return false;
    if (divide_up(most_samples(p.width, p.sigma.x) * p.channels, tile::threads) > max_grid_y) return false;
    return 8 * pixels(p.width, p.sigma.x) * pixels(p.height, p.sigma.y) <=
           static_cast<double>(p.width) * static_cast<double>(p.height) *
               (2.0 * static_cast<double>(p.radius.x) + 2.0 * static_cast<double>(p.radius.y));
}

bool decimated_fits(const gaussian_blur_problem& p, const device_traits& device) {
    if (!decimated_fits(p)) return false;
    plan small{};
    small.x = axis_of(p.sigma.x, 0, p.width, p.width, border::replicate);
    small.y = axis_of(p.sigma.y, 0, p.height, p.height, border::replicate);
    small.channels = static_cast<int>(p.channels);
    return blur_tile::shared_bytes(small) <= device.shared_memory_per_block_optin;
}

std::int64_t decimated_workspace_bytes(const gaussian_blur_problem& problem) {
    const sizes floats = sizes_of(problem, band_of(problem));
    return (floats.partial + floats.samples + floats.blurred) * std::int64_t{sizeof(float)};
}

template <class T>
void launch_decimated(const arguments<T>& a, const device_traits& device, cudaStream_t stream) {
    const image_view<T>& image = a.destination.first;
    const auto channels = static_cast<int>(image.channels);
    const gaussian_blur_problem problem{.width = image.width,
                                        .height = image.height,
                                        .channels = image.channels,
                                        .sigma = {a.taps_x.sigma, a.taps_y.sigma},
                                        .images = a.destination.count};
    plan p{};
    p.x = axis_of(a.taps_x.sigma, a.x, image.width, a.source.first.width, a.border);
    p.y = axis_of(a.taps_y.sigma, a.y, image.height, a.source.first.height, a.border);
    p.band = band_of(problem);
    p.channels = channels;
    const sizes floats = sizes_of(problem, p.band);
    const std::int64_t first_value = p.x.first_pixel() * channels;
    p.lead = static_cast<int>((first_value % 4 + 4) % 4);
    p.first_value = first_value - p.lead;
    const std::int64_t row_values = p.lead + std::int64_t{p.x.cells()} * p.x.factor * channels;
    p.strips = static_cast<int>(divide_up(row_values, tile::values));
    p.strip_pitch = samples_of_strip(p.x.factor, channels) * channels;
    p.bands = p.band.count(p.y);
    p.partial = a.intermediate;
    p.samples = p.partial + floats.partial;
    p.blurred = p.samples + floats.samples;

    // As many threads a sample as keep the block busy.
    const int tasks = p.strip_pitch * round_up(p.band.lines(), tile::lines) / tile::lines;
    const auto lanes =
        static_cast<int>(std::bit_floor(static_cast<unsigned>(std::clamp(tile::threads / tasks, 1, 32))));
    const std::int64_t images = problem.images;
    const bool waits = waits_for_grids(device);
    launch({.blocks = {p.strips, p.bands, images},
            .threads = {tile::threads},
            .shared_bytes = decimate_shared<T>::bytes(p),
            .shared_limit = device.shared_memory_per_block_optin,
            .stream = stream},
           decimate<T>, p, a.source, has_aligned_rows(a.source), a.border, a.border_value, lanes);
    launch({.blocks = {p.y.count, divide_up(std::int64_t{p.x.count} * channels, tile::threads), images},
            .threads = {tile::threads},
            .stream = stream,
            .begins_early = waits},
           add_up, p);
    // Where tiles are many, fewer threads a tile, which share more of what they load.
    const launch_extents tiles{divide_up(p.x.blurred, blur_tile::size),
                               divide_up(p.y.blurred, blur_tile::size), images};
    const bool are_many = tiles.x * tiles.y * images >= 2 * device.sm_count;
    launch({.blocks = tiles,
            .threads = {blur_tile::threads(are_many ? 8 : 4)},
            .shared_bytes = blur_tile::shared_bytes(p),
            .shared_limit = device.shared_memory_per_block_optin,
            .stream = stream,
            .begins_early = waits},
           are_many ? blur<8> : blur<4>, p);
    launch({.blocks = {divide_up(image.width * channels, tile::values),
                       divide_up(image.height, tile::out_rows), images},
            .threads = {tile::threads},
            .stream = stream,
            .begins_early = waits},
           interpolate<T>, p, a.destination, has_aligned_rows(a.destination));
}

template void launch_decimated(const arguments<float>&, const device_traits&, cudaStream_t);
template void launch_decimated(const arguments<half>&, const device_traits&, cudaStream_t);
template void launch_decimated(const arguments<std::uint16_t>&, const device_traits&, cudaStream_t);
template void launch_decimated(const arguments<std::uint8_t>&, const device_traits&, cudaStream_t);

}  // namespace heddle::kernels::gaussian_blur
