// shared_memory: a block turns a tile of 32 x 32 over on chip.
//
//   source row r   ->  shared[r][0..31]        a warp reads 32 neighbours
//   destination row c  <-  shared[0..31][c]    and writes 32 neighbours: column c of the tile
//
// Both sides of global memory are now whole lines. A row of the tile is padded by one bank, so that a column
// lies in 32 different banks:
//
//   bank of shared[r][c]:   0 1 2 .. 31 |  pad
//                           1 2 3 ..  0 |
//                           2 3 4 ..  1 |
//
// A thread has four elements in flight. Any shape, any strides; whole lines need unit stride on both sides.
// What limits it: four instructions for every element, and lines shorter than 128 bytes for small ones.

#include "kernels/device/grid.hpp"
#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/transpose/launch.hpp"

#include <algorithm>

namespace heddle::kernels::transpose {
namespace {

struct tile {
    static constexpr int side = 32;
    static constexpr int threads_down = 8;
    static constexpr int per_thread = side / threads_down;
    static_assert(side % threads_down == 0);
};

template <class Word>
struct shared_storage {
    static constexpr int bank_bytes = 4;
    static constexpr int padding = std::max<int>(1, bank_bytes / sizeof(Word));
    Word elements[tile::side][tile::side + padding];
};

template <class Word>
__global__ void __launch_bounds__(tile::side* tile::threads_down) shared_memory(arguments<Word> a) {
    __shared__ shared_storage<Word> shared;
    const std::int64_t first_col = std::int64_t{blockIdx.x} * tile::side;
    for (std::int64_t first_row = std::int64_t{blockIdx.y} * tile::side; first_row < a.source.rows;
         first_row += std::int64_t{gridDim.y} * tile::side) {
#pragma unroll
        for (int i = 0; i < tile::per_thread; ++i) {
            const int y = static_cast<int>(threadIdx.y) + i * tile::threads_down;
            const std::int64_t row = first_row + y, col = first_col + threadIdx.x;
            if (row < a.source.rows && col < a.source.cols)
                shared.elements[y][threadIdx.x] =
                    a.source.data[row * a.source.row_stride + col * a.source.col_stride];
        }
        ptx::sync_threads();

#pragma unroll
        for (int i = 0; i < tile::per_thread; ++i) {
            const int y = static_cast<int>(threadIdx.y) + i * tile::threads_down;
            const std::int64_t row = first_row + threadIdx.x, col = first_col + y;
            if (row < a.source.rows && col < a.source.cols)
                a.destination.data[col * a.destination.row_stride + row * a.destination.col_stride] =
                    shared.elements[threadIdx.x][y];
        }
        ptx::sync_threads();  // before the next tile overwrites this one
    }
}

}  // namespace

plan plan_shared_memory(const transpose_problem& problem, const device_traits&) {
    const auto tiles = [](std::int64_t extent) { return (extent + tile::side - 1) / tile::side; };
    return {.blocks = {tiles(problem.cols), std::min(tiles(problem.rows), max_grid_y)},
            .threads = {tile::side, tile::threads_down}};
}

template <class Word>
void launch_shared_memory(const plan& plan, const arguments<Word>& arguments, cudaStream_t stream) {
    launch({.blocks = plan.blocks, .threads = plan.threads, .stream = stream}, shared_memory<Word>,
           arguments);
}

template void launch_shared_memory(const plan&, const arguments<std::uint8_t>&, cudaStream_t);
template void launch_shared_memory(const plan&, const arguments<std::uint16_t>&, cudaStream_t);
template void launch_shared_memory(const plan&, const arguments<std::uint32_t>&, cudaStream_t);
template void launch_shared_memory(const plan&, const arguments<std::uint64_t>&, cudaStream_t);

}  // namespace heddle::kernels::transpose
