// shared_memory: the two passes of `separable`, but each block first brings its inputs to shared memory.
//
//   along x:  8 rows of (halo | 128 values | halo)  -> a warp a row, a lane 4 neighbours -> intermediate
//   along y:  32 columns of (halo / 64 rows / halo) -> a thread 8 rows of a column       -> destination
//
// A block loads an input from DRAM or L2 once, and not once for each tap. A thread slides a window of registers over its
// inputs, so that a load from shared memory feeds 4 or 8 sums. What remains is the intermediate image: a write and a read
// of DRAM. Any shape and alignment will do; the window must fit the shared memory.

#include "kernels/device/grid.hpp"
#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/gaussian_blur/convolve.cuh"
#include "kernels/gaussian_blur/facts.hpp"
#include "kernels/gaussian_blur/launch.hpp"
#include "kernels/gaussian_blur/plan/window.hpp"

#include <algorithm>

namespace heddle::kernels::gaussian_blur {
namespace {

struct tile_x {
    static constexpr int rows = 8;

    /// Shared memory: rows, taps, columns.
    static constexpr std::int64_t shared_bytes(int radius, int channels) {
        return 4 * (std::int64_t{rows} * strip::pitch(radius, channels) + strip::taps_size(radius) +
                    strip::window(radius, channels));
    }
};

struct tile_y {
    static constexpr int columns = 32;
    static constexpr int rows_per_thread = 8;
    static constexpr int groups = strip::threads / columns;  ///< of threads side by side
    static constexpr int rows = groups * rows_per_thread;
    static constexpr int batch = 6;

    /// Rows that a column's outputs need.
    __host__ __device__ static constexpr int window(int radius) { return rows + 2 * radius; }
    /// Rows that shared memory has room for, with those that convolve() loads but does not use.
    __host__ __device__ static constexpr int depth(int radius) { return rows + strip::taps_size(radius); }
    /// Shared memory: rows, taps, source rows.
    static constexpr std::int64_t shared_bytes(int radius) {
        return 4 * (std::int64_t{depth(radius)} * columns + strip::taps_size(radius)) +
               std::int64_t{sizeof(std::int64_t)} * window(radius);
    }
};

template <class T>
__global__ void __launch_bounds__(strip::threads)
    along_x(const __grid_constant__ arguments<T> a, const intermediate_image between) {
    extern __shared__ float4 storage[];
    const int radius = a.taps_x.radius;
    const auto channels = static_cast<int>(a.source.first.channels);
    const int pitch = strip::pitch(radius, channels);
    float* staged = reinterpret_cast<float*>(storage);
    float* taps = staged + tile_x::rows * pitch;
    int* columns = reinterpret_cast<int*>(taps + strip::taps_size(radius));

    const int row_values = static_cast<int>(a.destination.first.width) * channels;
    const int begin = static_cast<int>(blockIdx.x) * strip::values;
    const int x = begin + 4 * static_cast<int>(threadIdx.x % strip::lanes);
    const int warp = static_cast<int>(threadIdx.x) / strip::lanes;
    float* own_row = staged + warp * pitch;

    stage_taps(a.taps_x, taps);
    look_up_columns(columns, begin, a);
    ptx::sync_threads();
    // The rows of all images of the batch, one after another.
    for (std::int64_t row = std::int64_t{blockIdx.y} * tile_x::rows + warp;
         row < a.destination.count * between.rows; row += std::int64_t{gridDim.y} * tile_x::rows) {
        const T* image = a.source.first.data + row / between.rows * a.source.stride;
        const std::int64_t y = between.source_row(row % between.rows);
        stage_row(own_row, image + y * a.source.first.row_stride, columns, strip::window(radius, channels),
                  to_float(a.border_value));
        ptx::sync_warp();
        const float4 sums = filter_row(own_row, taps, radius, channels);
        ptx::sync_warp();
        if (x < row_values) *reinterpret_cast<float4*>(a.intermediate + row * between.stride + x) = sums;
    }
}

template <class T>
__global__ void __launch_bounds__(strip::threads)
    along_y(const __grid_constant__ arguments<T> a, const intermediate_image between) {
    extern __shared__ float4 storage[];
    const int radius = a.taps_y.radius;
    float* staged = reinterpret_cast<float*>(storage);
    float* taps = staged + tile_y::depth(radius) * tile_y::columns;
    const int window = tile_y::window(radius);
    auto* window_rows = reinterpret_cast<std::int64_t*>(taps + strip::taps_size(radius));

    const image_view<T>& destination = a.destination.first;
    const int row_values = static_cast<int>(destination.width * destination.channels);
    const std::int64_t tiles = (destination.height + tile_y::rows - 1) / tile_y::rows;
    const int column = static_cast<int>(threadIdx.x) % tile_y::columns;
    const int group = static_cast<int>(threadIdx.x) / tile_y::columns;
    const int x = static_cast<int>(blockIdx.x) * tile_y::columns + column;

    stage_taps(a.taps_y, taps);
    for (std::int64_t tile = blockIdx.y; tile < a.destination.count * tiles; tile += gridDim.y) {
        const std::int64_t image = tile / tiles;
        const std::int64_t top = tile % tiles * tile_y::rows;
        const float* intermediate = a.intermediate + image * between.rows * between.stride;
        const int needed = static_cast<int>(min(std::int64_t{window}, destination.height - top + 2 * radius));
        for (int i = static_cast<int>(threadIdx.x); i < needed; i += strip::threads) {
            const std::int64_t y = source_index(a.y + top - radius + i, a.source.first.height, a.border);
            window_rows[i] = y < 0 ? -1 : between.row_of(y);
        }
        ptx::sync_threads();
        // Loads go out in batches, so that a thread waits once for several of them.
        for (int first = group; x < row_values && first < needed; first += tile_y::batch * tile_y::groups) {
            float loaded[tile_y::batch];
#pragma unroll
            for (int b = 0; b < tile_y::batch; ++b) {
                const std::int64_t y = window_rows[min(first + b * tile_y::groups, needed - 1)];
                loaded[b] =
                    y < 0 ? to_float(a.border_value) * a.taps_x.sum : intermediate[y * between.stride + x];
            }
#pragma unroll
            for (int b = 0; b < tile_y::batch; ++b) {
                const int i = first + b * tile_y::groups;
                if (i < needed) staged[i * tile_y::columns + column] = loaded[b];
            }
        }
        ptx::sync_threads();
        const std::int64_t first = top + group * tile_y::rows_per_thread;
        if (x >= row_values || first >= destination.height) continue;

        const float* own = staged + group * tile_y::rows_per_thread * tile_y::columns + column;
        float sums[tile_y::rows_per_thread];
        convolve<tile_y::rows_per_thread, 1>(sums, taps, 2 * radius + 1, [own](int j) {
            const float* rows = own + 4 * j * tile_y::columns;
            return make_float4(rows[0], rows[tile_y::columns], rows[2 * tile_y::columns],
                               rows[3 * tile_y::columns]);
        });
        T* out = destination.data + image * a.destination.stride + first * destination.row_stride + x;
#pragma unroll
        for (int i = 0; i < tile_y::rows_per_thread; ++i)
            if (first + i < destination.height) out[i * destination.row_stride] = from_float<T>(sums[i]);
    }
}

}  // namespace

std::int64_t shared_bytes_along_x(const filter_facts& p) {
    return tile_x::shared_bytes(static_cast<int>(p.radius.x), static_cast<int>(p.channels));
}
std::int64_t shared_bytes_along_y(const filter_facts& p) {
    return tile_y::shared_bytes(static_cast<int>(p.radius.y));
}

kernel_grid grid_along_x(const filter_facts& p, const intermediate_image& between,
                         const device_traits& device) {
    const std::int64_t tiles = divide_up(p.images * between.rows, tile_x::rows);
    return {.blocks = {divide_up(p.row_values(), strip::values), std::min(tiles, max_grid_y)},
            .threads = {strip::threads},
            .shared_bytes = static_cast<std::size_t>(shared_bytes_along_x(p)),
            .shared_limit = device.shared_memory_per_block_optin};
}

template <class T>
void launch_along_x(const two_pass_plan& plan, const arguments<T>& a, cudaStream_t stream) {
    launch(config_of(plan.along_x, stream), along_x<T>, a, plan.between);
}

two_pass_plan plan_shared_memory(const filter_facts& p, const device_traits& device) {
    const intermediate_image between = intermediate_of(p);
    const std::int64_t tiles = divide_up(p.height, tile_y::rows) * p.images;
    return {.between = between,
            .scratch_bytes = scratch_bytes_between(p),
            .along_x = grid_along_x(p, between, device),
            .along_y = {.blocks = {divide_up(p.row_values(), tile_y::columns), std::min(tiles, max_grid_y)},
                        .threads = {strip::threads},
                        .shared_bytes = static_cast<std::size_t>(shared_bytes_along_y(p)),
                        .shared_limit = device.shared_memory_per_block_optin},
            .us = predicted_us("shared_memory", device,
                               work_of_two_passes(p, between, columns_along_x, tile_y::columns, device))};
}

template <class T>
void launch_shared_memory(const two_pass_plan& plan, const arguments<T>& a, cudaStream_t stream) {
    launch_along_x(plan, a, stream);
    launch(config_of(plan.along_y, stream), along_y<T>, a, plan.between);
}

template void launch_along_x(const two_pass_plan&, const arguments<float>&, cudaStream_t);
template void launch_along_x(const two_pass_plan&, const arguments<half>&, cudaStream_t);
template void launch_along_x(const two_pass_plan&, const arguments<std::uint16_t>&, cudaStream_t);
template void launch_along_x(const two_pass_plan&, const arguments<std::uint8_t>&, cudaStream_t);

template void launch_shared_memory(const two_pass_plan&, const arguments<float>&, cudaStream_t);
template void launch_shared_memory(const two_pass_plan&, const arguments<half>&, cudaStream_t);
template void launch_shared_memory(const two_pass_plan&, const arguments<std::uint16_t>&, cudaStream_t);
template void launch_shared_memory(const two_pass_plan&, const arguments<std::uint8_t>&, cudaStream_t);

}  // namespace heddle::kernels::gaussian_blur
