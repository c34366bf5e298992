// wmma: uses the tensor cores through C++ (nvcuda::wmma), on tiles in shared memory.
//
//   a block has 64 x 64 of C, a warp 32 x 32: 2 x 2 fragments of 16 x 16; k by 32
//
// A tensor core multiplies 16 x 16 x 16 for a warp, where an FFMA multiplies one pair for a thread. The compiler decides
// what the registers of a fragment hold, so only whole tiles are loaded and stored. So alpha, beta and ragged edges need a
// pass through shared memory. Elements are loaded one by one, so any shape, stride and alignment is possible.

#pragma once

#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/matmul/element.cuh"
#include <heddle/types.hpp>

#include <mma.h>

#include <cstdint>

namespace heddle::kernels::matmul {

struct wmma_tile {
    static constexpr int m = 64;
    static constexpr int n = 64;
    static constexpr int k = 32;
    static constexpr int fragment = 16;
    static constexpr int warp = 32;  ///< rows and columns of C
    static constexpr int warps_n = n / warp;
    static constexpr int threads = m / warp * warps_n * 32;
    static constexpr int padding = 8;  ///< elements; rows below one another begin in different banks
};

template <class In>
struct wmma_storage {
    union {
        struct {
            In a[wmma_tile::m][wmma_tile::k + wmma_tile::padding];
            In b[wmma_tile::k][wmma_tile::n + wmma_tile::padding];
        } in;
        float c[wmma_tile::m][wmma_tile::n + wmma_tile::padding];
    };
};

/// Loads rows x cols of `in` from (row, col) on, with zeros outside. Neighbouring threads take neighbouring addresses.
template <int rows, int cols, class T>
__device__ void load_wmma_tile(T* tile_row, int stride, const matrix_view<const T>& in, std::int64_t row,
                               std::int64_t col) {
    const bool along_rows = in.col_stride <= in.row_stride;
    for (int i = threadIdx.x; i < rows * cols; i += wmma_tile::threads) {
        const int r = along_rows ? i / cols : i % rows;
        const int c = along_rows ? i % cols : i / rows;
        tile_row[r * stride + c] =
            row + r < in.rows && col + c < in.cols ? element(in, row + r, col + c) : T(0.0f);
    }
}

template <class In, class Out, class Activation>
__global__ void __launch_bounds__(wmma_tile::threads) wmma(product<In, Out, Activation> p) {
    namespace wmma = nvcuda::wmma;
    __shared__ __align__(32) unsigned char storage[sizeof(wmma_storage<In>)];
    auto& shared = *reinterpret_cast<wmma_storage<In>*>(storage);

    // locate
    take_batch(p, blockIdx.z);
    const tile_position position = row_by_row(p, wmma_tile::n);
    const std::int64_t row = position.row * wmma_tile::m;
    const std::int64_t col = position.col * wmma_tile::n;
    const int warp = threadIdx.x / 32;
    const int warp_row = warp / wmma_tile::warps_n * wmma_tile::warp;
    const int warp_col = warp % wmma_tile::warps_n * wmma_tile::warp;

    constexpr int parts = wmma_tile::warp / wmma_tile::fragment;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[parts][parts];
    for (auto& line : sums)
        for (auto& sum : line) wmma::fill_fragment(sum, 0.0f);
    for (std::int64_t k = 0; k < p.a.cols; k += wmma_tile::k) {
        // load
        load_wmma_tile<wmma_tile::m, wmma_tile::k>(shared.in.a[0], wmma_tile::k + wmma_tile::padding, p.a,
                                                   row, k);
        load_wmma_tile<wmma_tile::k, wmma_tile::n>(shared.in.b[0], wmma_tile::n + wmma_tile::padding, p.b, k,
                                                   col);
        ptx::sync_threads();

        // compute
        for (int kk = 0; kk < wmma_tile::k; kk += wmma_tile::fragment) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, In, wmma::row_major> as[parts];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, In, wmma::row_major> bs[parts];
            for (int i = 0; i < parts; ++i) {
                wmma::load_matrix_sync(as[i], &shared.in.a[warp_row + i * wmma_tile::fragment][kk],
                                       wmma_tile::k + wmma_tile::padding);
                wmma::load_matrix_sync(bs[i], &shared.in.b[kk][warp_col + i * wmma_tile::fragment],
                                       wmma_tile::n + wmma_tile::padding);
            }
            for (int i = 0; i < parts; ++i)
                for (int j = 0; j < parts; ++j) wmma::mma_sync(sums[i][j], as[i], bs[j], sums[i][j]);
        }
        ptx::sync_threads();
    }

    // store
    for (int i = 0; i < parts; ++i)
        for (int j = 0; j < parts; ++j)
            wmma::store_matrix_sync(
                &shared.c[warp_row + i * wmma_tile::fragment][warp_col + j * wmma_tile::fragment], sums[i][j],
                wmma_tile::n + wmma_tile::padding, wmma::mem_row_major);
    ptx::sync_threads();
    for (int i = threadIdx.x; i < wmma_tile::m * wmma_tile::n; i += wmma_tile::threads)
        store(p, row + i / wmma_tile::n, col + i % wmma_tile::n,
              shared.c[i / wmma_tile::n][i % wmma_tile::n]);
}

template <class In, class Out, class Activation>
void launch_wmma(const plan&, const product<In, Out, Activation>& arguments, cudaStream_t stream) {
    for_each_grid(arguments, {tile_count(arguments, wmma_tile::m, wmma_tile::n)},
                  [&](const launch_extents& grid, const product<In, Out, Activation>& p) {
                      kernels::launch({.blocks = grid, .threads = {wmma_tile::threads}, .stream = stream},
                                      wmma<In, Out, Activation>, p);
                  });
}

}  // namespace heddle::kernels::matmul
