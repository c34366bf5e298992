#pragma once

#include "kernels/device/launch.hpp"
#include "kernels/frame/epilogue.cuh"
#include "kernels/matmul/launch.hpp"
#include <heddle/error.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace heddle::kernels::matmul {

using frame::element_place;

template <class T>
__device__ T& element(const matrix_view<T>& m, std::int64_t row, std::int64_t col) {
    return m.data[row * m.row_stride + col * m.col_stride];
}

/// The element, or 0 outside of the matrix.
__device__ inline float element_or_zero(const matrix_view<const float>& m, std::int64_t row,
                                        std::int64_t col) {
    return row < m.rows && col < m.cols ? element(m, row, col) : 0.0f;
}

/// Stores one element: C = alpha * sum + beta * C, and then the epilogue. C is not read if beta is 0.
template <bool has_epilogue, class In, class Out, class Activation>
__device__ void store(const product<In, Out, Activation>& p, std::int64_t row, std::int64_t col, float sum) {
    if (row >= p.c.rows || col >= p.c.cols) return;
    Out& c = element(p.c, row, col);
    float result = p.beta == 0.0f ? p.alpha * sum : p.alpha * sum + p.beta * static_cast<float>(c);
    if constexpr (has_epilogue)
        if (!p.epilogue.is_identity) result = applied(p.epilogue, result, row, col);
    c = static_cast<Out>(result);
}

/// The rungs for float, except `naive`, store without the epilogue here: a thread has too many elements for one call each.
template <class In, class Out, class Activation>
__device__ void store(const product<In, Out, Activation>& p, std::int64_t row, std::int64_t col, float sum) {
    store<!std::is_same_v<In, float>>(p, row, col, sum);
}

/// Moves the pointers to product `index` of the batch. In a kernel the index is blockIdx.z.
template <class In, class Out, class Activation>
__host__ __device__ void take_batch(product<In, Out, Activation>& p, std::int64_t index) {
    p.a.data += index * p.batch.a;
    p.b.data += index * p.batch.b;
    p.c.data += index * p.batch.c;
}

/// The position of a tile in C, in tiles. Grids number their blocks along `x` alone, because y is limited to 65535.
struct tile_position {
    std::int64_t row;
    std::int64_t col;
};

/// The position of this block's tile, where tiles are counted row by row.
template <class In, class Out, class Activation>
__device__ tile_position row_by_row(const product<In, Out, Activation>& p, int tile_cols) {
    const std::int64_t across = (p.c.cols + tile_cols - 1) / tile_cols;
    return {blockIdx.x / across, blockIdx.x % across};
}

/// Tiles are taken in groups of eight rows, column by column, so that concurrent tiles share A and B in L2.
__device__ inline tile_position grouped(int index, int down, int across) {
    const int group = ::min(8, down);
    const int first = index / (group * across) * group;
    const int height = ::min(group, down - first);
    const int within = index % (group * across);
    return {first + within % height, within / height};
}

template <class Tile, class In, class Out, class Activation>
__device__ tile_position grouped(const product<In, Out, Activation>& p) {
    return grouped(static_cast<int>(blockIdx.x), static_cast<int>((p.c.rows + Tile::m - 1) / Tile::m),
                   static_cast<int>((p.c.cols + Tile::n - 1) / Tile::n));
}

template <class In, class Out, class Activation>
unsigned tile_count(const product<In, Out, Activation>& p, int tile_rows, int tile_cols) {
    const std::int64_t tiles =
        (p.c.rows + tile_rows - 1) / tile_rows * ((p.c.cols + tile_cols - 1) / tile_cols);
    if (tiles > std::numeric_limits<int>::max())
        throw unsupported("matmul: C has more tiles of this algorithm than a grid has blocks");
    return static_cast<unsigned>(tiles);
}

/// Calls launch(grid, product) until the batch is done: a grid is at most 65535 deep. `grid` is that of one product.
template <class In, class Out, class Activation, class Launch>
void for_each_grid(product<In, Out, Activation> p, launch_extents grid, Launch launch) {
    constexpr std::int64_t most = 65535;
    for (std::int64_t left = p.batch.count; left > 0; left -= most) {
        grid.z = std::min(left, most);
        launch(grid, p);
        if (left > most) take_batch(p, most);
    }
}

}  // namespace heddle::kernels::matmul
