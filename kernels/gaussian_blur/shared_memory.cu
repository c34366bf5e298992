// shared_memory: the two passes of `separable`, but each block first brings its inputs to shared memory.
//
//   along x:  rows of (halo | pixels | halo), channels apart -> a lane 8 pixels of a channel -> intermediate
//   along y:  down strips of columns, a ring of rows         -> a thread 8 rows of a column  -> destination
//
// A block loads an input from DRAM or L2 once, and not once for each tap. A thread slides a window of registers over its
// inputs, so that a load from shared memory feeds 8 sums. Blocks take the shape of narrow and of low images. Any shape and
// alignment will do; a ring must fit the shared memory. What limits it: instructions, of large windows mostly FMA.

#include "kernels/device/border.cuh"
#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/cp_async.cuh"
#include "kernels/device/ptx/grid_dependency.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/gaussian_blur/convolve.cuh"
#include "kernels/gaussian_blur/launch.hpp"
#include "kernels/gaussian_blur/pixel.cuh"
#include "kernels/gaussian_blur/plan/two_passes.hpp"
#include "kernels/gaussian_blur/plan/window.hpp"

#include <cstdint>

namespace heddle::kernels::gaussian_blur {
namespace {
constexpr int outputs = outputs_of_thread, lanes = 32;

template <class T, int max_radius>
struct parameters_x {
    image_batch_view<const T> source;
    float* intermediate;
    intermediate_image between;
    std::int64_t rows;  ///< between the passes, of all images
    std::int64_t plane;
    row_tile tile;
    int x;      ///< the source's pixel at the destination's first
    int width;  ///< of the destination
    heddle::border border;
    float border_value;
    tap_table<max_radius> taps;
};

template <class T, int max_radius>
struct parameters_y {
    image_batch_view<T> destination;
    const float* intermediate;
    intermediate_image between;
    std::int64_t plane;
    column_strips strips;
    int y;  ///< the source's row at the destination's first
    int source_height;
    heddle::border border;
    float border_value;  ///< filtered along x
    tap_table<max_radius> taps;
};

template <int max_radius>
__device__ void stage_taps(const tap_table<max_radius>& taps, float* staged) {
#pragma unroll 1
    for (int i = static_cast<int>(threadIdx.x); i < taps.count(); i += static_cast<int>(blockDim.x))
        staged[i] = taps.values[i];
}

/// Looks up the window that starts `radius` pixels before the destination's pixel `begin`. Each of its values gets the
/// element of a source's row that stands for it, or -1 for the border's constant, and its place in a staged row.
template <class T, int max_radius>
__device__ void look_up_window(int2* window, int begin, const parameters_x<T, max_radius>& p) {
    const int radius = p.taps.radius, pitch = p.tile.pitch(radius);
    const auto channels = static_cast<int>(p.source.first.channels),
               width = static_cast<int>(p.source.first.width);
    const int values = p.tile.window(radius) * channels;
#pragma unroll 1
    for (int i = static_cast<int>(threadIdx.x); i < values; i += static_cast<int>(blockDim.x)) {
        const int at = i / channels, channel = i % channels;
        const bool is_needed = begin + at < p.width + 2 * radius;
        const int pixel = is_needed ? source_index(p.x + begin + at - radius, width, p.border) : -1;
        window[i] =
            make_int2(pixel < 0 ? -1 : pixel * channels + channel, channel * pitch + row_tile::place(at));
    }
}

/// A warp copies the windows of `rows` rows to shared memory, as float. Loads go out in batches, so that a lane waits once
/// for several of them.
template <bool one_row, class T>
__device__ void stage_rows(float* staged, int row_pitch, const T* const* lines, int rows, const int2* window,
                           int window_values, float border_value) {
    constexpr int batch = 8;
    // i / window_values is the upper half of i * inverse, as i * window_values stays below 2^32.
    const unsigned inverse = ~0u / static_cast<unsigned>(window_values) + 1;
    const int count = rows * window_values;
#pragma unroll 1
    for (int first = static_cast<int>(threadIdx.x) % lanes; first < count; first += batch * lanes) {
        int2 places[batch];  // the element of a row, the place in shared memory
        T values[batch];
#pragma unroll
        for (int b = 0; b < batch; ++b) {
            const int i = ::min(first + b * lanes, count - 1);
            const int row = one_row ? 0 : static_cast<int>(__umulhi(static_cast<unsigned>(i), inverse));
            places[b] = window[i - row * window_values];
            places[b].y += row * row_pitch;
            values[b] = lines[row][::max(places[b].x, 0)];
        }
#pragma unroll
        for (int b = 0; b < batch; ++b)
            if (first + b * lanes < count)
                staged[places[b].y] = places[b].x < 0 ? border_value : to_float(values[b]);
    }
}

template <class T, int max_radius>
__global__ void __launch_bounds__(256) along_x(const __grid_constant__ parameters_x<T, max_radius> p) {
    extern __shared__ float4 storage[];
    ptx::let_next_grid_begin();
    const row_tile& tile = p.tile;
    const int radius = p.taps.radius, pitch = tile.pitch(radius);
    const auto channels = static_cast<int>(p.source.first.channels);
    const int window_values = tile.window(radius) * channels, row_pitch = channels * pitch;
    const int lane = static_cast<int>(threadIdx.x) % lanes, warp = static_cast<int>(threadIdx.x) / lanes;
    float* const taps = reinterpret_cast<float*>(storage);
    float* const all_rows = taps + round_up(p.taps.count(), 4);
    auto* const window = reinterpret_cast<int2*>(all_rows + tile.warps * tile.rows * row_pitch);
    auto* const all_lines = reinterpret_cast<const T**>(window + window_values);
    float* const staged = all_rows + warp * tile.rows * row_pitch;
    const T** const lines = all_lines + warp * tile.rows;

    // A lane's row, channel and pixels.
    const int line = lane / tile.groups, own_row = line / channels, channel = line % channels;
    const int first_pixel = lane % tile.groups * outputs;
    const int begin = static_cast<int>(blockIdx.x) * tile.groups * outputs, pixel = begin + first_pixel;
    const float* const own = staged + line * pitch;

    stage_taps(p.taps, taps);
    look_up_window(window, begin, p);
    ptx::sync_threads();
    ptx::wait_for_grids_before();
    const std::int64_t step = std::int64_t{gridDim.y} * tile.warps * tile.rows;
    for (std::int64_t first = (std::int64_t{blockIdx.y} * tile.warps + warp) * tile.rows; first < p.rows;
         first += step) {
        const auto rows = static_cast<int>(::min(std::int64_t{tile.rows}, p.rows - first));
        if (lane < rows) {
            const std::int64_t row = first + lane, image = p.source.count == 1 ? 0 : row / p.between.rows;
            lines[lane] = p.source.first.data + image * p.source.stride +
                          p.between.source_row(row - image * p.between.rows) * p.source.first.row_stride;
        }
        ptx::sync_warp();
        if (tile.rows == 1)
            stage_rows<true>(staged, row_pitch, lines, 1, window, window_values, p.border_value);
        else
            stage_rows<false>(staged, row_pitch, lines, rows, window, window_values, p.border_value);
        ptx::sync_warp();
        if (own_row < rows && pixel < p.width) {
            float sums[outputs];
            convolve<outputs>(sums, taps, p.taps.count(), [=](int j) {
                return *reinterpret_cast<const float4*>(own + row_tile::place(first_pixel + 4 * j));
            });
            float* const out =
                p.intermediate + (first + own_row) * p.between.stride + channel * p.plane + pixel;
            *reinterpret_cast<float4*>(out) = make_float4(sums[0], sums[1], sums[2], sums[3]);
            if (pixel + 4 < p.plane)
                *reinterpret_cast<float4*>(out + 4) = make_float4(sums[4], sums[5], sums[6], sums[7]);
        }
        ptx::sync_warp();
    }
}

/// Copies `rows` rows to the rings of all strips of a block, from the source's row `first` on and the rings' row `place` on.
/// A thread copies four columns.
template <class T, int max_radius>
__device__ void load_rows(float* rings, int place, const float* intermediate, int first, int rows,
                          std::int64_t column, const parameters_y<T, max_radius>& p) {
    constexpr int chunk_values = 4;
    const column_strips& strips = p.strips;
    const int ring = strips.ring(p.taps.radius), columns = strips.columns, chunks = columns / chunk_values;
    const int thread = static_cast<int>(threadIdx.x), chunk = thread % chunks, thread_row = thread / chunks,
              strip = thread_row % strips.strips;
    const std::int64_t at = column + strip * columns + chunk * chunk_values;
    if (at >= p.between.stride) return;
    float* const own = rings + strip * strips.place(ring) + chunk * chunk_values;
#pragma unroll 1
    for (int line = thread_row / strips.strips; line < rows;
         line += strips.threads() / chunks / strips.strips) {
        const int unwrapped = place + line;
        float* const to = own + strips.place(unwrapped < ring ? unwrapped : unwrapped - ring);
        const int row = source_index(first + line, p.source_height, p.border);
        if (row >= 0)
            ptx::cp_async<16>(to, intermediate + p.between.row_of(row) * p.between.stride + at, 16);
        else
            *reinterpret_cast<float4*>(to) =
                make_float4(p.border_value, p.border_value, p.border_value, p.border_value);
    }
}

template <class T, int max_radius>
__global__ void __launch_bounds__(256) along_y(const __grid_constant__ parameters_y<T, max_radius> p) {
    extern __shared__ float4 storage[];
    ptx::let_next_grid_begin();
    const column_strips& strips = p.strips;
    const int radius = p.taps.radius, groups = strips.groups, step = strips.step(),
              ring = strips.ring(radius);
    const int thread = static_cast<int>(threadIdx.x), columns = strips.columns;
    const int own_place = thread % columns, group = thread / columns % groups,
              strip = thread / columns / groups;
    float* const taps = reinterpret_cast<float*>(storage);
    float* const rings = taps + round_up(p.taps.count(), 4);
    const float* const own = rings + strip * strips.place(ring) + own_place;

    const image_view<T>& destination = p.destination.first;
    const std::int64_t column = std::int64_t{blockIdx.x} * strips.strips * columns,
                       own_column = column + strip * columns + own_place, channel = own_column / p.plane,
                       pixel = own_column - channel * p.plane;
    const bool is_inside = channel < destination.channels && pixel < destination.width;
    const auto height = static_cast<int>(destination.height),
               segments = (height + strips.rows - 1) / strips.rows;

    stage_taps(p.taps, taps);
    ptx::wait_for_grids_before();
#pragma unroll 1
    for (std::int64_t task = blockIdx.y; task < p.destination.count * segments; task += gridDim.y) {
        const std::int64_t image = task / segments;
        const int begin = static_cast<int>(task - image * segments) * strips.rows,
                  end = ::min(begin + strips.rows, height), top = p.y + begin - radius;
        const float* const intermediate = p.intermediate + image * p.between.rows * p.between.stride;
        T* const out =
            destination.data + image * p.destination.stride + pixel * destination.channels + channel;
        int loaded = 0, place = 0, at = group * outputs;  // places in the ring
#pragma unroll 1
        for (int first = begin - step; first < end; first += step) {
            const bool is_start = first < begin;
            ptx::cp_async_wait_group<0>();
            ptx::sync_threads();  // rows have arrived, and those that others replace have been read
            const int rows = ::min(is_start ? column_strips::first_rows(step, radius) : step,
                                   end - begin + 2 * radius - loaded);  // below them, no window reaches
            if (rows > 0) load_rows(rings, place, intermediate, top + loaded, rows, column, p);
            ptx::cp_async_commit_group();
            loaded += rows;
            place = (place + rows) % ring;
            if (is_start) continue;
            const int row = first + group * outputs;
            if (!is_inside || row >= end) continue;
            float sums[outputs];
            convolve<outputs>(sums, taps, p.taps.count(), [&](int) {
                const float* const rows = own + strips.place(at);
                at = at + 4 == ring ? 0 : at + 4;
                return make_float4(rows[0], rows[columns], rows[2 * columns], rows[3 * columns]);
            });
            at = (row - begin + step) % ring;
            T* to = out + row * destination.row_stride;
#pragma unroll
            for (int i = 0; i < outputs; ++i, to += destination.row_stride)
                if (row + i < end) *to = from_float<T>(sums[i]);
        }
    }
}

template <int max_radius, class T>
void launch_along_x(const shared_memory_plan& plan, const arguments<T>& a, cudaStream_t stream) {
    launch(config_of(plan.along_x, stream), along_x<T, max_radius>,
           {.source = a.source,
            .intermediate = a.intermediate,
            .between = plan.between,
            .rows = a.destination.count * plan.between.rows,
            .plane = plan.plane,
            .tile = plan.rows,
            .x = static_cast<int>(a.x),
            .width = static_cast<int>(a.destination.first.width),
            .border = a.border,
            .border_value = static_cast<float>(a.border_value),
            .taps = tap_table<max_radius>(a.taps_x)});
}

template <int max_radius, class T>
void launch_along_y(const shared_memory_plan& plan, const arguments<T>& a, cudaStream_t stream) {
    launch(config_of(plan.along_y, stream), along_y<T, max_radius>,
           {.destination = a.destination,
            .intermediate = a.intermediate,
            .between = plan.between,
            .plane = plan.plane,
            .strips = plan.columns,
            .y = static_cast<int>(a.y),
            .source_height = static_cast<int>(a.source.first.height),
            .border = a.border,
            .border_value = static_cast<float>(a.border_value) * a.taps_x.sum,
            .taps = tap_table<max_radius>(a.taps_y)});
}

}  // namespace

template <class T>
void launch_shared_memory(const shared_memory_plan& plan, const arguments<T>& a, cudaStream_t stream) {
    a.taps_x.radius <= short_table_radius ? launch_along_x<short_table_radius>(plan, a, stream)
                                          : launch_along_x<taps::table_radius>(plan, a, stream);
    a.taps_y.radius <= short_table_radius ? launch_along_y<short_table_radius>(plan, a, stream)
                                          : launch_along_y<taps::table_radius>(plan, a, stream);
}

template void launch_shared_memory(const shared_memory_plan&, const arguments<float>&, cudaStream_t);
template void launch_shared_memory(const shared_memory_plan&, const arguments<half>&, cudaStream_t);
template void launch_shared_memory(const shared_memory_plan&, const arguments<std::uint16_t>&, cudaStream_t);
template void launch_shared_memory(const shared_memory_plan&, const arguments<std::uint8_t>&, cudaStream_t);

}  // namespace heddle::kernels::gaussian_blur
