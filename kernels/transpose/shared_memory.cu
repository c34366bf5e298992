// shared_memory: a block transposes a tile on chip. Its rows are whole lines: 32 x 32 elements of four bytes.
//
//   source row r   ->  shared[r][0..31]        a warp reads 32 neighbours
//   destination row c  <-  shared[0..31][c]    and writes 32 neighbours of column c of the tile
//
// Both sides of global memory are now whole lines. A row of the tile is padded by one bank, so that a column
// lies in 32 different banks:
//
//   bank of shared[r][c]:   0 1 2 .. 31 |  pad
//                           1 2 3 ..  0 |
//                           2 3 4 ..  1 |
//
// A thread has four elements or more in flight. It takes any shape and any strides; whole lines need unit stride on both
// sides. Four instructions for every element limit it.

#include "kernels/device/grid.hpp"
#include "kernels/device/launch.hpp"
#include "kernels/device/launchers.hpp"
#include "kernels/device/math.hpp"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/warp.hpp"
#include "kernels/transpose/launch.hpp"

#include <algorithm>
#include <cstdint>

namespace heddle::kernels::transpose {
namespace {

constexpr int threads_down = 8;

constexpr int side_of_tile(std::int64_t element_bytes) {
    return std::max(warp_size, static_cast<int>(128 / element_bytes));
}

template <class Word>
struct tile {
    static constexpr int side = side_of_tile(sizeof(Word));
    static constexpr int bank_bytes = 4;
    static constexpr int padding = std::max<int>(1, bank_bytes / sizeof(Word));
    Word elements[side][side + padding];
};

/// Calls function(row, column) for a thread's elements of a tile. A warp has 32 neighbouring columns.
template <int side, class Function>
__device__ void for_each(const Function& function) {
#pragma unroll 4
    for (int i = 0; i < side / threads_down; ++i)
#pragma unroll
        for (int j = 0; j < side / warp_size; ++j)
            function(static_cast<int>(threadIdx.y) + i * threads_down,
                     static_cast<int>(threadIdx.x) + j * warp_size);
}

template <class Word>
__global__ void __launch_bounds__(warp_size* threads_down) shared_memory(arguments<Word> a) {
    constexpr int side = tile<Word>::side;
    __shared__ tile<Word> shared;
    const std::int64_t first_col = std::int64_t{blockIdx.x} * side;
    for (std::int64_t first_row = std::int64_t{blockIdx.y} * side; first_row < a.source.rows;
         first_row += std::int64_t{gridDim.y} * side) {
        for_each<side>([&](int y, int x) {
            const std::int64_t row = first_row + y, col = first_col + x;
            if (row < a.source.rows && col < a.source.cols)
                shared.elements[y][x] = a.source.data[row * a.source.row_stride + col * a.source.col_stride];
        });
        ptx::sync_threads();

        for_each<side>([&](int y, int x) {
            const std::int64_t row = first_row + x, col = first_col + y;
            if (row < a.source.rows && col < a.source.cols)
                a.destination.data[col * a.destination.row_stride + row * a.destination.col_stride] =
                    shared.elements[x][y];
        });
        ptx::sync_threads();  // the next tile overwrites this one
    }
}

}  // namespace

plan plan_shared_memory(const transpose_facts& problem, const device_traits&) {
    const auto tiles = [side = side_of_tile(problem.element_bytes)](std::int64_t extent) {
        return divide_up(extent, side);
    };
    return {.blocks = {tiles(problem.cols), std::min(tiles(problem.rows), max_grid_y)},
            .threads = {warp_size, threads_down}};
}

template <class Word>
void launch_shared_memory(const plan& plan, const arguments<Word>& arguments, cudaStream_t stream) {
    launch({.blocks = plan.blocks, .threads = plan.threads, .stream = stream}, shared_memory<Word>,
           arguments);
}

HEDDLE_WORD_TYPES(HEDDLE_LAUNCH, launch_shared_memory, plan, arguments)

}  // namespace heddle::kernels::transpose
