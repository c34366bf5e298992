// shared_memory: the two passes of `separable`, but each block first brings its inputs to shared memory.
//
//   along x:  rows of (halo | pixels | halo), channels apart -> a lane 8 pixels of a channel -> intermediate
//   along y:  strips of 32 columns, (halo / rows / halo)     -> a thread 8 rows of a column  -> destination
//
// A block loads an input from DRAM or L2 once, and not once for each tap. A thread slides a window of registers over its
// inputs, so that a load from shared memory feeds 8 sums. Blocks take the shape of narrow and of low images. Any shape and
// alignment will do; a strip must fit the shared memory. What limits it: of large windows FMA, of small ones the
// intermediate image, a write and a read of DRAM.

#include "kernels/device/border.cuh"
#include "kernels/device/launch.hpp"
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

constexpr int outputs = outputs_of_thread;
constexpr int lanes = 32;

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
    column_tile tile;
    std::int64_t y;  ///< the source's row at the destination's first
    std::int64_t source_height;
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
    const auto channels = static_cast<int>(p.source.first.channels);
    const auto width = static_cast<int>(p.source.first.width);
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
template <class T>
__device__ void stage_rows(float* staged, int row_pitch, const T* const* lines, int rows, const int2* window,
                           int window_values, float border_value) {
    constexpr int batch = 8;
    const int count = rows * window_values;
    // i / window_values is the upper half of i * inverse, as i * window_values stays below 2^32.
    const unsigned inverse = ~0u / static_cast<unsigned>(window_values) + 1;
#pragma unroll 1
    for (int first = static_cast<int>(threadIdx.x) % lanes; first < count; first += batch * lanes) {
        float values[batch];
        int to[batch];
#pragma unroll
        for (int b = 0; b < batch; ++b) {
            const int i = ::min(first + b * lanes, count - 1);
            const int row = static_cast<int>(__umulhi(static_cast<unsigned>(i), inverse));
            const int2 place = window[i - row * window_values];
            to[b] = row * row_pitch + place.y;
            const T value = lines[row][::max(place.x, 0)];
            values[b] = place.x < 0 ? border_value : to_float(value);
        }
#pragma unroll
        for (int b = 0; b < batch; ++b)
            if (first + b * lanes < count) staged[to[b]] = values[b];
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
            const std::int64_t row = first + lane, image = row / p.between.rows;
            lines[lane] = p.source.first.data + image * p.source.stride +
                          p.between.source_row(row - image * p.between.rows) * p.source.first.row_stride;
        }
        ptx::sync_warp();
        stage_rows(staged, row_pitch, lines, rows, window, window_values, p.border_value);
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

template <class T, int max_radius>
__global__ void __launch_bounds__(256) along_y(const __grid_constant__ parameters_y<T, max_radius> p) {
    extern __shared__ float4 storage[];
    constexpr int columns = column_tile::columns, batch = 6;
    ptx::let_next_grid_begin();
    const column_tile& tile = p.tile;
    const int radius = p.taps.radius, groups = tile.groups;
    const int column = static_cast<int>(threadIdx.x) % columns,
              warp = static_cast<int>(threadIdx.x) / columns;
    const int group = warp % groups, strip = warp / groups;
    float* const taps = reinterpret_cast<float*>(storage);
    float* const all_strips = taps + round_up(p.taps.count(), 4);
    auto* const window_rows =
        reinterpret_cast<std::int64_t*>(all_strips + tile.strips * tile.depth(radius) * columns);
    float* const staged = all_strips + strip * tile.depth(radius) * columns + column;

    const image_view<T>& destination = p.destination.first;
    const std::int64_t place = (std::int64_t{blockIdx.x} * tile.strips + strip) * columns + column;
    const std::int64_t channel = place / p.plane, pixel = place - channel * p.plane;
    const bool is_inside = channel < destination.channels && pixel < destination.width;
    const std::int64_t tiles = (destination.height + tile.rows() - 1) / tile.rows();

    stage_taps(p.taps, taps);
    for (std::int64_t at = blockIdx.y; at < p.destination.count * tiles; at += gridDim.y) {
        const std::int64_t image = at / tiles, top = (at - image * tiles) * tile.rows();
        const float* const intermediate = p.intermediate + image * p.between.rows * p.between.stride + place;
        const int needed =
            static_cast<int>(::min(std::int64_t{tile.window(radius)}, destination.height - top + 2 * radius));
#pragma unroll 1
        for (int i = static_cast<int>(threadIdx.x); i < needed; i += tile.threads()) {
            const std::int64_t y = source_index(p.y + top - radius + i, p.source_height, p.border);
            window_rows[i] = y < 0 ? -1 : p.between.row_of(y) * p.between.stride;
        }
        ptx::sync_threads();
        if (at == blockIdx.y) ptx::wait_for_grids_before();
        // Loads go out in batches, so that a thread waits once for several of them.
        for (int first = group; is_inside && first < needed; first += batch * groups) {
            float loaded[batch];
#pragma unroll
            for (int b = 0; b < batch; ++b) {
                const std::int64_t row = window_rows[::min(first + b * groups, needed - 1)];
                loaded[b] = row < 0 ? p.border_value : intermediate[row];
            }
#pragma unroll
            for (int b = 0; b < batch; ++b)
                if (first + b * groups < needed) staged[(first + b * groups) * columns] = loaded[b];
        }
        ptx::sync_threads();
        const std::int64_t first = top + group * outputs;
        if (is_inside && first < destination.height) {
            const float* const own = staged + group * outputs * columns;
            float sums[outputs];
            convolve<outputs>(sums, taps, p.taps.count(), [own](int j) {
                const float* const rows = own + 4 * j * columns;
                return make_float4(rows[0], rows[columns], rows[2 * columns], rows[3 * columns]);
            });
            T* const out = destination.data + image * p.destination.stride + first * destination.row_stride +
                           pixel * destination.channels + channel;
#pragma unroll
            for (int i = 0; i < outputs; ++i)
                if (first + i < destination.height) out[i * destination.row_stride] = from_float<T>(sums[i]);
        }
        ptx::sync_threads();  // before the next tile
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
            .tile = plan.columns,
            .y = a.y,
            .source_height = a.source.first.height,
            .border = a.border,
            .border_value = static_cast<float>(a.border_value) * a.taps_x.sum,
            .taps = tap_table<max_radius>(a.taps_y)});
}

}  // namespace

template <class T>
void launch_shared_memory(const shared_memory_plan& plan, const arguments<T>& a, cudaStream_t stream) {
    const auto is_short = [](const taps& taps) { return taps.radius <= short_table_radius; };
    if (is_short(a.taps_x))
        launch_along_x<short_table_radius>(plan, a, stream);
    else
        launch_along_x<taps::table_radius>(plan, a, stream);
    if (is_short(a.taps_y))
        launch_along_y<short_table_radius>(plan, a, stream);
    else
        launch_along_y<taps::table_radius>(plan, a, stream);
}

template void launch_shared_memory(const shared_memory_plan&, const arguments<float>&, cudaStream_t);
template void launch_shared_memory(const shared_memory_plan&, const arguments<half>&, cudaStream_t);
template void launch_shared_memory(const shared_memory_plan&, const arguments<std::uint16_t>&, cudaStream_t);
template void launch_shared_memory(const shared_memory_plan&, const arguments<std::uint8_t>&, cudaStream_t);

}  // namespace heddle::kernels::gaussian_blur
