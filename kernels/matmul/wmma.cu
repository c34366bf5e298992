// wmma: the tensor cores through C++ (nvcuda::wmma), from tiles in shared memory.
//
//   64 x 64 of C a block, 32 x 32 a warp: 2 x 2 fragments of 16 x 16; k by 32
//
// A tensor core multiplies 16 x 16 x 16 for a warp where an FFMA multiplies one pair for a thread. What a fragment's
// registers hold is the compiler's business: whole tiles are loaded and stored, so alpha, beta and ragged edges need a
// pass through shared memory. Elements are fetched one by one, which any shape, stride and alignment allows.

#include "kernels/matmul/element.cuh"
#include <heddle/error.hpp>
#include <heddle/types.hpp>

#include <mma.h>

namespace heddle::kernels::matmul {
namespace {

namespace wmma = nvcuda::wmma;

struct tile {
    static constexpr int m = 64;
    static constexpr int n = 64;
    static constexpr int k = 32;
    static constexpr int fragment = 16;
    static constexpr int warp = 32;  ///< rows and columns of C
    static constexpr int warps_n = n / warp;
    static constexpr int threads = m / warp * warps_n * 32;
    static constexpr int padding = 8;  ///< elements: rows below one another begin in different banks
};

template <class In>
struct shared_storage {
    union {
        struct {
            In a[tile::m][tile::k + tile::padding];
            In b[tile::k][tile::n + tile::padding];
        } in;
        float c[tile::m][tile::n + tile::padding];
    };
};

/// rows x cols of `in` from (row, col) on; zeros outside. Neighbouring threads take neighbouring addresses.
template <int rows, int cols, class T>
__device__ void load(T* tile_row, int stride, const matrix_view<const T>& in, std::int64_t row,
                     std::int64_t col) {
    const bool along_rows = in.col_stride <= in.row_stride;
    for (int i = threadIdx.x; i < rows * cols; i += tile::threads) {
        const int r = along_rows ? i / cols : i % rows;
        const int c = along_rows ? i % cols : i / rows;
        tile_row[r * stride + c] =
            row + r < in.rows && col + c < in.cols ? element(in, row + r, col + c) : T(0.0f);
    }
}

template <class In, class Out>
__global__ void __launch_bounds__(tile::threads) multiply(product<In, Out> p) {
    __shared__ __align__(32) unsigned char storage[sizeof(shared_storage<In>)];
    auto& shared = *reinterpret_cast<shared_storage<In>*>(storage);

    // locate
    take_batch(p, blockIdx.z);
    const tile_position position = row_by_row(p, tile::n);
    const std::int64_t row = position.row * tile::m;
    const std::int64_t col = position.col * tile::n;
    const int warp = threadIdx.x / 32;
    const int warp_row = warp / tile::warps_n * tile::warp;
    const int warp_col = warp % tile::warps_n * tile::warp;

    constexpr int parts = tile::warp / tile::fragment;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[parts][parts];
    for (auto& line : sums)
        for (auto& sum : line) wmma::fill_fragment(sum, 0.0f);
    for (std::int64_t k = 0; k < p.a.cols; k += tile::k) {
        // load
        load<tile::m, tile::k>(shared.in.a[0], tile::k + tile::padding, p.a, row, k);
        load<tile::k, tile::n>(shared.in.b[0], tile::n + tile::padding, p.b, k, col);
        __syncthreads();

        // compute
        for (int kk = 0; kk < tile::k; kk += tile::fragment) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, In, wmma::row_major> as[parts];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, In, wmma::row_major> bs[parts];
            for (int i = 0; i < parts; ++i) {
                wmma::load_matrix_sync(as[i], &shared.in.a[warp_row + i * tile::fragment][kk],
                                       tile::k + tile::padding);
                wmma::load_matrix_sync(bs[i], &shared.in.b[kk][warp_col + i * tile::fragment],
                                       tile::n + tile::padding);
            }
            for (int i = 0; i < parts; ++i)
                for (int j = 0; j < parts; ++j) wmma::mma_sync(sums[i][j], as[i], bs[j], sums[i][j]);
        }
        __syncthreads();
    }

    // store
    for (int i = 0; i < parts; ++i)
        for (int j = 0; j < parts; ++j)
            wmma::store_matrix_sync(&shared.c[warp_row + i * tile::fragment][warp_col + j * tile::fragment],
                                    sums[i][j], tile::n + tile::padding, wmma::mem_row_major);
    __syncthreads();
    for (int i = threadIdx.x; i < tile::m * tile::n; i += tile::threads)
        store(p, row + i / tile::n, col + i % tile::n, shared.c[i / tile::n][i % tile::n]);
}

}  // namespace

template <class In, class Out>
void launch_wmma(const product<In, Out>& arguments, const device_traits&, cudaStream_t stream) {
    for_each_grid(arguments, tile_count(arguments, tile::m, tile::n),
                  [&](dim3 grid, const product<In, Out>& p) {
                      multiply<<<grid, tile::threads, 0, stream>>>(p);
                      check(cudaGetLastError());
                  });
}

template void launch_wmma(const product<half, half>&, const device_traits&, cudaStream_t);
template void launch_wmma(const product<half, float>&, const device_traits&, cudaStream_t);
template void launch_wmma(const product<bfloat16, bfloat16>&, const device_traits&, cudaStream_t);
template void launch_wmma(const product<bfloat16, float>&, const device_traits&, cudaStream_t);

}  // namespace heddle::kernels::matmul
