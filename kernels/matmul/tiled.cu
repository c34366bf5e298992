// tiled: a thread computes a 4 x 4 tile of C in registers, directly from global memory.
//
//   a 32 x 8 block -> 32 x 128 of C;  thread (x, y) -> rows 4y .. 4y+3, columns x, x+32, x+64, x+96
//
// Eight loads now serve sixteen multiply-adds: a register uses each element of A four times, and each of B four times. The
// columns of a thread are 32 apart, so that a warp still reads whole cache lines. What limits it: the warps of a block
// read the same B from L1 again and again. Takes any shape and any strides.

#include "kernels/device/launch.hpp"
#include "kernels/matmul/element.cuh"

namespace heddle::kernels::matmul {
namespace {

struct tile {
    static constexpr int threads_m = 8;
    static constexpr int threads_n = 32;
    static constexpr int thread_m = 4;
    static constexpr int thread_n = 4;
    static constexpr int m = threads_m * thread_m;
    static constexpr int n = threads_n * thread_n;
};

__global__ void __launch_bounds__(tile::threads_m* tile::threads_n) tiled(arguments p) {
    const tile_position position = row_by_row(p, tile::n);
    const std::int64_t row = position.row * tile::m + threadIdx.y * tile::thread_m;
    const std::int64_t col = position.col * tile::n + threadIdx.x;

    float sums[tile::thread_m][tile::thread_n] = {};
    for (std::int64_t k = 0; k < p.a.cols; ++k) {
        float a[tile::thread_m], b[tile::thread_n];
#pragma unroll
        for (int i = 0; i < tile::thread_m; ++i) a[i] = element_or_zero(p.a, row + i, k);
#pragma unroll
        for (int j = 0; j < tile::thread_n; ++j) b[j] = element_or_zero(p.b, k, col + j * tile::threads_n);
#pragma unroll
        for (int i = 0; i < tile::thread_m; ++i)
#pragma unroll
            for (int j = 0; j < tile::thread_n; ++j) sums[i][j] += a[i] * b[j];
    }

#pragma unroll
    for (int i = 0; i < tile::thread_m; ++i)
#pragma unroll
        for (int j = 0; j < tile::thread_n; ++j) store(p, row + i, col + j * tile::threads_n, sums[i][j]);
}

}  // namespace

void launch_tiled(const plan&, const arguments& arguments, cudaStream_t stream) {
    launch({.blocks = {tile_count(arguments, tile::m, tile::n)},
            .threads = {tile::threads_n, tile::threads_m},
            .stream = stream},
           tiled, arguments);
}

}  // namespace heddle::kernels::matmul
