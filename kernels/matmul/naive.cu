// naive: one thread computes one element of C. Neighbours in a warp have neighbouring rows.
//
//   thread (x, y) of a 16 x 16 block -> C(row = x, col = y)
//
// This is the definition. For every k, the 16 rows of a warp are 16 different cache lines of A, and its stores touch 16
// lines of C. Only four bytes of each 32-byte sector are used. Takes any shape and any strides.

#include "kernels/device/launch.hpp"
#include "kernels/device/launchers.hpp"
#include "kernels/matmul/element.cuh"
#include <heddle/types.hpp>

namespace heddle::kernels::matmul {
namespace {

struct tile {
    static constexpr int m = 16;
    static constexpr int n = 16;
};

template <class In, class Out>
__global__ void __launch_bounds__(tile::m* tile::n) naive(product<In, Out> p) {
    take_batch(p, blockIdx.z);
    const tile_position position = row_by_row(p, tile::n);
    const std::int64_t row = position.row * tile::m + threadIdx.x;
    const std::int64_t col = position.col * tile::n + threadIdx.y;
    if (row >= p.c.rows || col >= p.c.cols) return;

    float sum = 0;
    for (std::int64_t k = 0; k < p.a.cols; ++k)
        sum += static_cast<float>(element(p.a, row, k)) * static_cast<float>(element(p.b, k, col));
    store<true>(p, row, col, sum);
}

}  // namespace

template <class In, class Out>
void launch_naive(const plan&, const product<In, Out>& arguments, cudaStream_t stream) {
    for_each_grid(
        arguments, {tile_count(arguments, tile::m, tile::n)},
        [&](const launch_extents& grid, const product<In, Out>& p) {
            launch({.blocks = grid, .threads = {tile::m, tile::n}, .stream = stream}, naive<In, Out>, p);
        });
}

HEDDLE_LAUNCHES_OF_PAIRS(launch_naive, plan, product)

}  // namespace heddle::kernels::matmul
