// register_tiled: uses shared memory and registers: a block computes 128 x 128 of C, and a thread 8 x 8.
//
//   A tile, stored transposed: 8 (k) x 128 (m)      B tile: 8 (k) x 128 (n)
//   16 x 16 threads; thread (x, y) -> rows y, y+16, .., y+112; columns x, x+16, .., x+112
//
// For each k a thread reads 16 values from shared memory for 64 multiply-adds, a fifth of the shared-memory traffic of the
// rung below. Each element is read from global memory once for 128 uses. What limits it: loading and computing alternate,
// each followed by a barrier, and every access has four bytes. Takes any shape and any strides.

#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/matmul/element.cuh"

namespace heddle::kernels::matmul {
namespace {

struct tile {
    static constexpr int m = 128;
    static constexpr int n = 128;
    static constexpr int k = 8;
    static constexpr int side = 16;  ///< threads along m and along n
    static constexpr int threads = side * side;
    static constexpr int thread_m = m / side;
    static constexpr int thread_n = n / side;
    static_assert(m == n, "A's and B's tiles are loaded by one function");
};

using slab = float[tile::k][tile::m + 1];  // the extra column spreads transposed stores over the banks

/// out[k][i] = in(first + i, first_k + k). Neighbouring threads read neighbours in memory, in either order.
__device__ void load(slab& out, const matrix_view<const float>& in, std::int64_t first,
                     std::int64_t first_k) {
    const bool k_is_contiguous = in.col_stride <= in.row_stride;
#pragma unroll
    for (int e = threadIdx.x; e < tile::m * tile::k; e += tile::threads) {
        const int k = k_is_contiguous ? e % tile::k : e / tile::m;
        const int i = k_is_contiguous ? e / tile::k : e % tile::m;
        out[k][i] = element_or_zero(in, first + i, first_k + k);
    }
}

__global__ void __launch_bounds__(tile::threads) register_tiled(arguments p) {
    __shared__ slab a, b;
    const tile_position position = row_by_row(p, tile::n);
    const std::int64_t row = position.row * tile::m;
    const std::int64_t col = position.col * tile::n;
    const int x = threadIdx.x % tile::side;
    const int y = threadIdx.x / tile::side;
    const matrix_view<const float> b_transposed{p.b.data, p.b.cols, p.b.rows, p.b.col_stride, p.b.row_stride};

    float sums[tile::thread_m][tile::thread_n] = {};
    for (std::int64_t k = 0; k < p.a.cols; k += tile::k) {
        load(a, p.a, row, k);
        load(b, b_transposed, col, k);
        ptx::sync_threads();
#pragma unroll
        for (int kk = 0; kk < tile::k; ++kk) {
            float as[tile::thread_m], bs[tile::thread_n];
#pragma unroll
            for (int i = 0; i < tile::thread_m; ++i) as[i] = a[kk][y + i * tile::side];
#pragma unroll
            for (int j = 0; j < tile::thread_n; ++j) bs[j] = b[kk][x + j * tile::side];
#pragma unroll
            for (int i = 0; i < tile::thread_m; ++i)
#pragma unroll
                for (int j = 0; j < tile::thread_n; ++j) sums[i][j] += as[i] * bs[j];
        }
        ptx::sync_threads();
    }

#pragma unroll
    for (int i = 0; i < tile::thread_m; ++i)
#pragma unroll
        for (int j = 0; j < tile::thread_n; ++j)
            store(p, row + y + i * tile::side, col + x + j * tile::side, sums[i][j]);
}

}  // namespace

void launch_register_tiled(const plan&, const arguments& arguments, cudaStream_t stream) {
    launch(
        {.blocks = {tile_count(arguments, tile::m, tile::n)}, .threads = {tile::threads}, .stream = stream},
        register_tiled, arguments);
}

}  // namespace heddle::kernels::matmul
