// shared_memory: a block stages 32 x 32 tiles of A and B in shared memory; a thread computes 4 elements of C.
//
//   A tile 32 (m) x 32 (k)     B tile 32 (k) x 32 (n)
//   a 32 x 8 block: thread (x, y) -> rows y, y+8, y+16, y+24 of column x
//
// Every element is read from global memory once for 32 uses instead of once for four. A tile is loaded along the dimension
// that is contiguous in memory. A's tile has one more column, so that loads by columns do not send a warp to one bank.
// What limits it: five shared-memory loads for four multiply-adds. Takes any shape and any strides.

#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/matmul/element.cuh"

namespace heddle::kernels::matmul {
namespace {

struct tile {
    static constexpr int size = 32;
    static constexpr int threads_m = 8;
    static constexpr int thread_m = size / threads_m;
};

using square = float[tile::size][tile::size + 1];

/// Neighbouring threads read neighbours in memory, in either order of the matrix.
__device__ void load(square& out, const matrix_view<const float>& in, std::int64_t row, std::int64_t col) {
    const bool row_major = in.col_stride <= in.row_stride;
#pragma unroll
    for (int i = 0; i < tile::thread_m; ++i) {
        const int slow = threadIdx.y + i * tile::threads_m;
        const int fast = threadIdx.x;
        const int r = row_major ? slow : fast;
        const int c = row_major ? fast : slow;
        out[r][c] = element_or_zero(in, row + r, col + c);
    }
}

__global__ void __launch_bounds__(tile::size* tile::threads_m) shared_memory(arguments p) {
    __shared__ square a, b;
    const tile_position position = row_by_row(p, tile::size);
    const std::int64_t row = position.row * tile::size;
    const std::int64_t col = position.col * tile::size;

    float sums[tile::thread_m] = {};
    for (std::int64_t k = 0; k < p.a.cols; k += tile::size) {
        load(a, p.a, row, k);
        load(b, p.b, k, col);
        ptx::sync_threads();
#pragma unroll
        for (int kk = 0; kk < tile::size; ++kk)
#pragma unroll
            for (int i = 0; i < tile::thread_m; ++i)
                sums[i] += a[threadIdx.y + i * tile::threads_m][kk] * b[kk][threadIdx.x];
        ptx::sync_threads();
    }

#pragma unroll
    for (int i = 0; i < tile::thread_m; ++i)
        store(p, row + threadIdx.y + i * tile::threads_m, col + threadIdx.x, sums[i]);
}

}  // namespace

void launch_shared_memory(const plan&, const arguments& arguments, cudaStream_t stream) {
    launch({.blocks = {tile_count(arguments, tile::size, tile::size)},
            .threads = {tile::size, tile::threads_m},
            .stream = stream},
           shared_memory, arguments);
}

}  // namespace heddle::kernels::matmul
