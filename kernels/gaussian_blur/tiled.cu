// tiled: both passes by a block, in shared memory. For small images, narrow ones and those of few rows.
//
//   source --loads--> (rows + 2r) x (pixels + 2r) --along x--> (rows + 2r) x pixels --along y--> rows x pixels
//
// A block takes a tile of the destination, and the part of the source that its windows reach. A small image then costs one
// launch and one wait for memory, where two passes cost two of each. Tiles are as narrow as a narrow image, up to a power
// of two. If an image has fewer rows than a tile's windows, a block filters each of them along x once, and the pass along
// y looks up which row stands for those outside. Neighbouring tiles both load and filter the rows between them, so large
// images are for the kernels that march.
//
// It takes any alignment, and radii up to 63: the parameters of a launch stay short. What limits it: the start of a kernel.

#include "kernels/device/border.cuh"
#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/grid_dependency.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/gaussian_blur/convolve.cuh"
#include "kernels/gaussian_blur/launch.hpp"
#include "kernels/gaussian_blur/pixel.cuh"
#include "kernels/gaussian_blur/plan/tiled.hpp"

#include <cstdint>

namespace heddle::kernels::gaussian_blur {
namespace {

constexpr int threads = image_tiles::threads, outputs = image_tiles::outputs;

template <class T>
struct parameters {
    image_batch_view<const T> source;
    image_batch_view<T> destination;
    int x, y;  ///< the source's pixel at the destination's first
    heddle::border border;
    T border_value;
    image_tiles tiles;
    tap_table<short_table_radius> taps_x;
    tap_table<short_table_radius> taps_y;
};

/// A block's shared memory.
template <class T>
struct tile_memory {
    const T** lines;  ///< of the slots; null where the border's constant is
    float* taps_x;
    float* taps_y;
    int* slot_of;  ///< a window's row in `filtered`
    float* loaded;
    float* filtered;
    int* columns;  ///< a window's values in a line; -1 for the border's constant

    __device__ tile_memory(float4* storage, const parameters<T>& p, int channels) {
        const image_tiles& t = p.tiles;
        taps_x = reinterpret_cast<float*>(storage);
        taps_y = taps_x + round_up(p.taps_x.count(), 4);
        slot_of = reinterpret_cast<int*>(taps_y + round_up(p.taps_y.count(), 4));
        lines = reinterpret_cast<const T**>(slot_of + t.window_rows(p.taps_y.radius));
        loaded = reinterpret_cast<float*>(lines + t.slots);
        filtered = loaded + t.slots * t.loaded_pitch(p.taps_x.radius, channels);
        columns = reinterpret_cast<int*>(filtered + t.slots * t.filtered_pitch(channels));
    }
};

template <class T>
__global__ void __launch_bounds__(threads) tiled(const __grid_constant__ parameters<T> p) {
    extern __shared__ float4 storage[];
    ptx::let_next_grid_begin();
    const image_view<const T>& source = p.source.first;
    const image_view<T>& destination = p.destination.first;
    const image_tiles& tiles = p.tiles;
    const auto channels = static_cast<int>(source.channels);
    const tile_memory<T> memory(storage, p, channels);
    const int radius_x = p.taps_x.radius, radius_y = p.taps_y.radius;
    const int thread = static_cast<int>(threadIdx.x);
    const int window = (tiles.pixels + 2 * radius_x) * channels, values = tiles.pixels * channels;
    const int loaded_pitch = tiles.loaded_pitch(radius_x, channels),
              filtered_pitch = tiles.filtered_pitch(channels);
    if (thread < p.taps_x.count()) memory.taps_x[thread] = p.taps_x.values[thread];
    if (thread < p.taps_y.count()) memory.taps_y[thread] = p.taps_y.values[thread];

    const int tile = static_cast<int>(blockIdx.x), down = tile / tiles.across, image = down / tiles.down;
    const int begin = (tile - down * tiles.across) * tiles.pixels,
              top = (down - image * tiles.down) * tiles.rows;
    const auto height = static_cast<int>(destination.height), width = static_cast<int>(destination.width),
               source_height = static_cast<int>(source.height);
    const T* const from = source.data + image * p.source.stride;
    // The last threads look up rows, the first ones columns.
#pragma unroll 1
    for (int i = threads - 1 - thread; i < tiles.window_rows(radius_y); i += threads) {
        const int needed = ::min(top + i, height - 1 + 2 * radius_y);  // none below what stored outputs need
        const int row = source_index(p.y + needed - radius_y, source_height, p.border);
        const int slot = tiles.is_low ? row < 0 ? source_height : row : ::min(i, tiles.slots - 1);
        memory.slot_of[i] = slot * filtered_pitch;
        if (!tiles.is_low && i < tiles.slots)
            memory.lines[i] = row < 0 ? nullptr : from + row * source.row_stride;
    }
    if (tiles.is_low)
        for (int i = thread; i < tiles.slots; i += threads)
            memory.lines[i] = i == source_height ? nullptr : from + i * source.row_stride;
#pragma unroll 1
    for (int i = thread; i < window; i += threads) {
        const int at = i / channels, channel = i - at * channels;
        const bool is_needed = begin + at < width + 2 * radius_x;
        const int pixel =
            is_needed ? source_index(p.x + begin + at - radius_x, static_cast<int>(source.width), p.border)
                      : -1;
        memory.columns[i] = pixel < 0 ? -1 : pixel * channels + channel;
    }
    ptx::sync_threads();
    ptx::wait_for_grids_before();

    // The loads of a batch are all under way at once. i / window is the upper half of i * inverse.
    constexpr int batch = 8;
    const unsigned inverse = ~0u / static_cast<unsigned>(window) + 1;
    const float constant = to_float(p.border_value);
#pragma unroll 1
    for (int first = thread; first < tiles.slots * window; first += batch * threads) {
        float loads[batch];
        int to[batch];
#pragma unroll
        for (int b = 0; b < batch; ++b) {
            const int i = ::min(first + b * threads, tiles.slots * window - 1);
            const auto slot = static_cast<int>(__umulhi(static_cast<unsigned>(i), inverse));
            const int at = i - slot * window, column = memory.columns[at];
            const T* const line = memory.lines[slot];
            to[b] = slot * loaded_pitch + at;
            loads[b] = line == nullptr || column < 0 ? constant : to_float(line[column]);
        }
#pragma unroll
        for (int b = 0; b < batch; ++b)
            if (first + b * threads < tiles.slots * window) memory.loaded[to[b]] = loads[b];
    }
    ptx::sync_threads();

    // Neighbouring threads take neighbouring rows.
#pragma unroll 1
    for (int task = thread; task < tiles.slots * (values / outputs); task += threads) {
        const int group = task / tiles.slots, slot = task - group * tiles.slots;
        const int quad = group / channels, at = quad * outputs * channels + group - quad * channels;
        const float* const own = memory.loaded + slot * loaded_pitch + at;
        float sums[outputs];
        convolve<outputs>(sums, memory.taps_x, p.taps_x.count(), [=](int j) {
            const float* const four = own + 4 * j * channels;
            return make_float4(four[0], four[channels], four[2 * channels], four[3 * channels]);
        });
#pragma unroll
        for (int i = 0; i < outputs; ++i)
            memory.filtered[slot * filtered_pitch + at + i * channels] = sums[i];
    }
    ptx::sync_threads();
    const int columns = ::min(values, (width - begin) * channels);
#pragma unroll 1
    for (int task = thread; task < tiles.rows / outputs * values; task += threads) {
        const int group = task / values, column = task - group * values, row = group * outputs;
        if (column >= columns || top + row >= height) continue;
        const float* const own = memory.filtered + column;
        float sums[outputs];
        convolve<outputs>(sums, memory.taps_y, p.taps_y.count(), [&](int j) {
            const int4 at = *reinterpret_cast<const int4*>(memory.slot_of + row + 4 * j);
            return make_float4(own[at.x], own[at.y], own[at.z], own[at.w]);
        });
        T* const out = destination.data + image * p.destination.stride +
                       std::int64_t{top + row} * destination.row_stride + begin * channels + column;
#pragma unroll
        for (int i = 0; i < outputs; ++i)
            if (top + row + i < height) out[i * destination.row_stride] = from_float<T>(sums[i]);
    }
}

}  // namespace

template <class T>
void launch_tiled(const tiled_plan& plan, const arguments<T>& a, cudaStream_t stream) {
    launch(config_of(plan.grid, stream), tiled<T>,
           {.source = a.source,
            .destination = a.destination,
            .x = static_cast<int>(a.x),
            .y = static_cast<int>(a.y),
            .border = a.border,
            .border_value = a.border_value,
            .tiles = plan.tiles,
            .taps_x = tap_table<short_table_radius>(a.taps_x),
            .taps_y = tap_table<short_table_radius>(a.taps_y)});
}

template void launch_tiled(const tiled_plan&, const arguments<float>&, cudaStream_t);
template void launch_tiled(const tiled_plan&, const arguments<half>&, cudaStream_t);
template void launch_tiled(const tiled_plan&, const arguments<std::uint16_t>&, cudaStream_t);
template void launch_tiled(const tiled_plan&, const arguments<std::uint8_t>&, cudaStream_t);

}  // namespace heddle::kernels::gaussian_blur
