// tiled: both passes by a block, in shared memory. For small images, narrow ones and those of few rows.
//
//   source --loads--> (rows + 2r) x (columns + 2r) --along x--> (rows + 2r) x columns --along y--> rows x columns
//
// A block takes a tile of the destination, and the part of the source that its windows reach. A small image then costs one
// launch and one wait for memory, where two passes cost two of each. Tiles are as narrow as a narrow image, up to a power
// of two. If an image has fewer rows than a tile's windows, a block filters each of them along x once. The pass along y
// then looks up which row stands for those outside. Neighbouring tiles both load and filter the rows between them, so
// large images are for the kernels that march.
//
// It takes any alignment, and any window that fits the shared memory of a block. What limits it: loads from shared memory,
// one for each FMA.

#include "kernels/device/border.cuh"
#include "kernels/device/early_launch.hpp"
#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/grid_dependency.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/gaussian_blur/launch.hpp"
#include "kernels/gaussian_blur/pixel.cuh"

#include <algorithm>
#include <cstdint>

namespace heddle::kernels::gaussian_blur {
namespace {

constexpr int block_threads = 256;

/// Calls function(row, column). A thread takes every blockDim.x-th column of every blockDim.y-th row.
template <class Function>
__device__ void for_each(int rows, int columns, Function function) {
    for (int y = static_cast<int>(threadIdx.y); y < rows; y += static_cast<int>(blockDim.y))
        for (int x = static_cast<int>(threadIdx.x); x < columns; x += static_cast<int>(blockDim.x))
            function(y, x);
}

template <class T>
__global__ void __launch_bounds__(block_threads)
    tiled(const __grid_constant__ arguments<T> a, const __grid_constant__ image_tiles tiles) {
    extern __shared__ float storage[];
    ptx::let_next_grid_begin();
    const image_view<const T>& source = a.source.first;
    const image_view<T>& destination = a.destination.first;
    const auto channels = static_cast<int>(source.channels);
    const int radius_x = a.taps_x.radius, radius_y = a.taps_y.radius;
    const int reach = radius_x * channels, window_columns = tiles.columns + 2 * reach;
    float* const window = storage;
    float* const filtered = window + tiles.window_rows * window_columns;
    int* const columns_of = reinterpret_cast<int*>(filtered + tiles.window_rows * tiles.columns);
    int* const rows_of = columns_of + window_columns;
    const int thread = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
    const float constant = to_float(a.border_value);
    float constant_along_x = 0;  // a row outside of the image, filtered as rows inside are
    if (tiles.is_folded && a.border == border::constant)
        for (int i = 0; i <= 2 * radius_x; ++i)
            constant_along_x = fmaf(a.taps_x.table[i], constant, constant_along_x);
    ptx::wait_for_grids_before();

    for (std::int64_t tile = blockIdx.x; tile < tiles.count; tile += gridDim.x) {
        const int begin = static_cast<int>(tile % tiles.across) * tiles.columns;
        const std::int64_t top = tile / tiles.across % tiles.down * tiles.rows;
        const std::int64_t image = tile / tiles.across / tiles.down;
        const int columns = ::min(tiles.columns, static_cast<int>(destination.width) * channels - begin);
        const int rows = static_cast<int>(::min(std::int64_t{tiles.rows}, destination.height - top));
        const std::int64_t first_row = a.y + top - radius_y;
        const auto source_row = [&](std::int64_t row) { return source_index(row, source.height, a.border); };

        ptx::sync_threads();  // the tile before has been read
        for (int i = thread; i < columns + 2 * reach; i += block_threads) {
            const int at = begin + i;  // counted from radius_x pixels before the row
            const int pixel = source_index(static_cast<int>(a.x) + at / channels - radius_x,
                                           static_cast<int>(source.width), a.border);
            columns_of[i] = pixel < 0 ? -1 : pixel * channels + at % channels;
        }
        if (tiles.is_folded)
            for (int i = thread; i < rows + 2 * radius_y; i += block_threads)
                rows_of[i] = static_cast<int>(source_row(first_row + i));
        ptx::sync_threads();

        const T* const from = source.data + image * a.source.stride;
        const int window_rows = tiles.is_folded ? tiles.window_rows : rows + 2 * radius_y;
        // The threads lie along the window, which may be far wider than the tile.
        const int loaded_columns = columns + 2 * reach;
#pragma unroll 4
        for (int i = thread; i < window_rows * loaded_columns; i += block_threads) {
            const int y = i / loaded_columns, x = i - y * loaded_columns;
            const std::int64_t row = tiles.is_folded ? y : source_row(first_row + y);
            const int column = columns_of[x];
            const bool is_constant = row < 0 || column < 0;
            window[y * window_columns + x] =
                is_constant ? constant : to_float(from[row * source.row_stride + column]);
        }
        ptx::sync_threads();
        for_each(window_rows, columns, [&](int y, int x) {
            const float* const values = window + y * window_columns + x;
            float sum = 0;
#pragma unroll 4
            for (int i = 0; i <= 2 * radius_x; ++i) sum = fmaf(a.taps_x.table[i], values[i * channels], sum);
            filtered[y * tiles.columns + x] = sum;
        });
        ptx::sync_threads();
        for_each(rows, columns, [&](int y, int x) {
            const float* const values = filtered + x;
            float sum = 0;
            if (tiles.is_folded) {
#pragma unroll 4
                for (int i = 0; i <= 2 * radius_y; ++i) {
                    const int row = rows_of[y + i];
                    const float value = row < 0 ? constant_along_x : values[row * tiles.columns];
                    sum = fmaf(a.taps_y.table[i], value, sum);
                }
            } else {
#pragma unroll 4
                for (int i = 0; i <= 2 * radius_y; ++i)
                    sum = fmaf(a.taps_y.table[i], values[(y + i) * tiles.columns], sum);
            }
            destination.data[image * a.destination.stride + (top + y) * destination.row_stride + begin + x] =
                from_float<T>(sum);
        });
    }
}

}  // namespace

template <class T>
void launch_tiled(const tiled_plan& plan, const arguments<T>& a, cudaStream_t stream) {
    launch(config_of(plan.grid, stream), tiled<T>, a, plan.tiles);
}

template void launch_tiled(const tiled_plan&, const arguments<float>&, cudaStream_t);
template void launch_tiled(const tiled_plan&, const arguments<half>&, cudaStream_t);
template void launch_tiled(const tiled_plan&, const arguments<std::uint16_t>&, cudaStream_t);
template void launch_tiled(const tiled_plan&, const arguments<std::uint8_t>&, cudaStream_t);

}  // namespace heddle::kernels::gaussian_blur
