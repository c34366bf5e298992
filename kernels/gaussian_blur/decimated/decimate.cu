// decimated, first step: the source becomes parts of samples, sums of its pixels weighted by a cubic B-spline.
//
//   cells of d pixels     |   0   |   1   |   2   |   3   |   4   |
//   sample 2              |^^^^^^ b((i - 2 d) / d) ^^^^^^^|            is made of cells 0..3
//   a band of cells 1, 2                                              adds to samples 0..4, in part
//
// A block of `decimate` takes a strip of 512 values of a band of some 40 rows. A thread marches down 4 of its columns,
// with the sums of the 4 samples that still miss rows. Each row adds to all four. At the end of a cell one sum is complete
// and the others move on. Rows come by cp.async through a ring in shared memory. It needs no barrier, as a thread reads
// only what it fetched itself. At the end the block adds up its lines of samples along x.
//
// What limits it: the latency of instructions that depend on each other, not DRAM.

#include "kernels/device/border.cuh"
#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/cp_async.cuh"
#include "kernels/device/ptx/grid_dependency.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/gaussian_blur/decimated/samples.cuh"
#include "kernels/gaussian_blur/pixel.cuh"

#include <cstddef>
#include <cstdint>

namespace heddle::kernels::gaussian_blur::decimated {
namespace {

/// The cubic B-spline b at t.
__device__ float b_spline(float t) {
    const float outer = ::max(2 - fabsf(t), 0.0f), inner = ::max(1 - fabsf(t), 0.0f);
    return (outer * outer * outer - 4 * inner * inner * inner) * sixth;
}

/// source_index() out of line, as it divides.
__device__ __noinline__ std::int64_t outside_index(std::int64_t i, std::int64_t size, border kind) {
    return source_index(i, size, kind);
}

__device__ inline std::int64_t extended_index(std::int64_t i, std::int64_t size, border kind) {
    return i >= 0 && i < size ? i : outside_index(i, size, kind);
}

/// A row of a band: where it lies, and its weights in the 4 samples that still miss rows. A row that is all border fetches
/// no bytes, which gives zeros, and adds the border's constant.
template <class T>
struct band_row {
    float4 weights;
    const T* data;
    int bytes;  ///< of a quad; 0: the row is all border
    float outside;
};

/// Reads four neighbouring values of the source's rows. The thread fetches them to its own places in a ring in shared
/// memory, which no other thread reads.
template <class T>
struct quad_reader {
    bool is_vector;
    std::int64_t from[4];  ///< in a row; -1: the border's constant
    T border_value;

    /// Fetches a stage of rows. They have arrived after the wait for the group that is committed next.
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

/// The sums of 4 neighbouring values for the 4 lines of samples that still miss rows.
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
    /// Stores the sums of the first line, which are complete; the others move on.
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

/// Adds up a strip's lines along x. `lanes` threads share the work for one sample of tile::lines lines.
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
        // Cell first_cell adds to the samples from first_cell - 3 on; a sample has the number of its first cell.
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
    ptx::sync_threads();
    const auto fetch = [&](int first, int stage) {
        if (first < count)
            reader.fetch(rows + first, ring + stage * tile::stage_rows * tile::threads + thread);
        ptx::cp_async_commit_group();
    };
    for (int s = 0; s < tile::stages - 1; ++s) fetch(s * tile::stage_rows, s);

    // Computes weights while the first rows are on their way.
    for (int i = thread; i < count; i += tile::threads) {
        const float4 weights = b_spline_weights(static_cast<float>((phase + i) % p.y.factor) * p.y.inverse);
        rows[i].weights = make_float4(weights.x * p.y.inverse, weights.y * p.y.inverse,
                                      weights.z * p.y.inverse, weights.w * p.y.inverse);
    }
    for (int i = thread; i < support * p.x.factor; i += tile::threads)
        weights_x[i] = b_spline(static_cast<float>(i) * p.x.inverse - support / 2) * p.x.inverse;
    ptx::sync_threads();

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
    ptx::sync_threads();

    const std::int64_t block = (image * p.bands + band) * p.strips + strip;
    add_up_strip(p, strip, lines, weights_x, lanes, p.partial + block * p.band.lines() * p.strip_pitch);
}

}  // namespace

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

template <class T>
void launch_decimate(const decimated_plan& plan, const decimation& d, const arguments<T>& a,
                     cudaStream_t stream) {
    launch(config_of(plan.decimate, stream), decimate<T>, d, a.source, plan.aligned_loads, a.border,
           a.border_value, plan.lanes);
}

template void launch_decimate(const decimated_plan&, const decimation&, const arguments<float>&,
                              cudaStream_t);
template void launch_decimate(const decimated_plan&, const decimation&, const arguments<half>&, cudaStream_t);
template void launch_decimate(const decimated_plan&, const decimation&, const arguments<std::uint16_t>&,
                              cudaStream_t);
template void launch_decimate(const decimated_plan&, const decimation&, const arguments<std::uint8_t>&,
                              cudaStream_t);

}  // namespace heddle::kernels::gaussian_blur::decimated
