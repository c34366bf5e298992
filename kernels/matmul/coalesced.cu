// coalesced: the naive kernel with x and y exchanged.
//
//   thread (x, y) of a 32 x 8 block -> C(row = y, col = x)
//
// Each warp now has a row of C. For every k it reads one element of A (a broadcast) and 32 neighbours of B, one cache
// line. Nothing else changes. What limits it: each multiply-add takes two loads, all of them served by L1 and L2. Takes
// any shape and any strides.

#include "kernels/device/launch.hpp"
#include "kernels/matmul/element.cuh"

namespace heddle::kernels::matmul {
namespace {

struct tile {
    static constexpr int m = 8;
    static constexpr int n = 32;
};

__global__ void __launch_bounds__(tile::m* tile::n) coalesced(arguments p) {
    const tile_position position = row_by_row(p, tile::n);
    const std::int64_t row = position.row * tile::m + threadIdx.y;
    const std::int64_t col = position.col * tile::n + threadIdx.x;
    if (row >= p.c.rows || col >= p.c.cols) return;

    float sum = 0;
    for (std::int64_t k = 0; k < p.a.cols; ++k) sum += element(p.a, row, k) * element(p.b, k, col);
    store(p, row, col, sum);
}

}  // namespace

void launch_coalesced(const plan&, const arguments& arguments, cudaStream_t stream) {
    launch({.blocks = {tile_count(arguments, tile::m, tile::n)},
            .threads = {tile::n, tile::m},
            .stream = stream},
           coalesced, arguments);
}

}  // namespace heddle::kernels::matmul
