// warp_tiled: a warp also has a tile, as square as possible, and a thread's elements lie in 4 x 4 quads of it.
//
//   block: 128 x 128 of C, 4 x 2 warps          warp: 32 x 64, 4 x 8 lanes          thread: 8 x 8
//   A tile, stored transposed: 8 (k) x 128 (m)      | quads of 4 x 4 of all lanes | the same to the right |
//   B tile: 8 (k) x 128 (n)                         | the same below              | and both              |
//
// A warp of register_tiled computes 16 x 128. For each k it reads 144 elements for 2048 multiply-adds. That takes 16
// passes of shared memory, as long as the multiply-adds. A warp of 32 x 64 reads 96 elements in 8 passes of 16 bytes each.
// Global memory too is read by 16 bytes, into registers, before the arithmetic that hides it. Two buffers leave one
// barrier per step. At edges, unaligned addresses, and if neither dimension is contiguous, elements are read singly. Takes
// any shape and strides. What limits it: 8 passes per 64 products, tiles that pass through registers, a barrier every 8 of
// k.

#pragma once

#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/matmul/fragment.cuh"
#include "kernels/matmul/orders.cuh"
#include "kernels/matmul/tile_loader.cuh"

#include <cstdint>

namespace heddle::kernels::matmul {
namespace warp_tiled {

struct tile {
    static constexpr int lanes_m = 4;
    static constexpr int lanes_n = 8;
    static constexpr int thread_m = 8;
    static constexpr int thread_n = 8;
    static constexpr int warp_m = lanes_m * thread_m;
    static constexpr int warp_n = lanes_n * thread_n;
    static constexpr int warps_m = 4;
    static constexpr int warps_n = 2;
    static constexpr int threads = warps_m * warps_n * 32;
    static constexpr int m = warps_m * warp_m;
    static constexpr int n = warps_n * warp_n;
    static constexpr int k = 8;
    static constexpr int blocks_per_sm = 2;
    static_assert(m == n, "A's and B's tiles are loaded by one type");
    static_assert(m * k == threads * 4, "a thread loads four elements of each");
};

using slab = float[tile::k][tile::m + 4];  // the gap spreads transposed stores over the banks

/// A, or B transposed. Its rows lie along m (or n).
struct operand {
    matrix_view<const float> view;
    bool has_packets;  ///< whether four neighbours may be read at once
};

/// A thread's share of consecutive tiles along k: four neighbours along k, or along m (or n).
template <bool k_major>
class share {
  public:
    __device__ share(const operand& in, std::int64_t first)
        : from_(in.view.data + (first + row()) * in.view.row_stride + col() * in.view.col_stride),
          rows_left_(static_cast<int>(
              ::max(std::int64_t{0}, ::min(std::int64_t{4}, in.view.rows - first - row())))) {}

    /// Loads its part of the next tile, of which k_left rows lie inside.
    __device__ void load(const operand& in, std::int64_t k_left) {
        const int inside = static_cast<int>(::min(k_left, std::int64_t{tile::k})) - col();
        const int count = k_major ? (rows_left_ > 0 ? inside : 0) : (inside > 0 ? rows_left_ : 0);
        if (in.has_packets && count >= 4) {
            elements_ = *reinterpret_cast<const packet*>(from_);
        } else {
#pragma unroll
            for (int e = 0; e < 4; ++e)
                elements_[e] =
                    e < count ? from_[e * (k_major ? in.view.col_stride : in.view.row_stride)] : 0.0f;
        }
        from_ += tile::k * in.view.col_stride;
    }

    __device__ void store(slab& to) const {
        if constexpr (k_major) {
#pragma unroll
            for (int e = 0; e < 4; ++e) to[col() + e][row()] = elements_[e];
        } else {
            reinterpret_cast<packet&>(to[col()][row()]) = elements_;
        }
    }

  private:
    static __device__ int row() {
        return k_major ? threadIdx.x / (tile::k / 4) : threadIdx.x % (tile::m / 4) * 4;
    }
    static __device__ int col() {
        return k_major ? threadIdx.x % (tile::k / 4) * 4 : threadIdx.x / (tile::m / 4);
    }

    const float* from_;
    int rows_left_;  ///< of four
    packet elements_;
};

/// A is m x k, and B is n x k.
template <bool a_k_major, bool b_k_major, class Activation>
__global__ void __launch_bounds__(tile::threads, tile::blocks_per_sm)
    warp_tiled(product<float, float, Activation> p, operand a, operand b, bool stores_packets) {
    __shared__ __align__(16) slab as[2], bs[2];

    // locate
    take_batch(p, blockIdx.z);
    const tile_position at = grouped<tile>(p);
    const std::int64_t row = at.row * tile::m, col = at.col * tile::n;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int lane_m = lane_of_four(lane), lane_n = lane_of_eight(lane);
    const int warp_row = warp / tile::warps_n * tile::warp_m, warp_col = warp % tile::warps_n * tile::warp_n;

    float sums[tile::thread_m][tile::thread_n] = {};
    a.view.data = p.a.data;
    b.view.data = p.b.data;
    share<a_k_major> a_share(a, row);
    share<b_k_major> b_share(b, col);
    std::int64_t k_left = p.a.cols;
    a_share.load(a, k_left);
    b_share.load(b, k_left);
    a_share.store(as[0]);
    b_share.store(bs[0]);
    ptx::sync_threads();
    for (int now = 0; k_left > 0; now ^= 1) {
        // load
        k_left -= tile::k;
        if (k_left > 0) {
            a_share.load(a, k_left);
            b_share.load(b, k_left);
        }

        // compute
#pragma unroll 2
        for (int kk = 0; kk < tile::k; ++kk) {
            float row_values[tile::thread_m], col_values[tile::thread_n];
            load_fragment<tile::lanes_m>(row_values, &as[now][kk][warp_row], lane_m);
            load_fragment<tile::lanes_n>(col_values, &bs[now][kk][warp_col], lane_n);
            multiply(sums, row_values, col_values);
        }

        if (k_left > 0) {
            a_share.store(as[now ^ 1]);
            b_share.store(bs[now ^ 1]);
        }
        ptx::sync_threads();
    }

    // store
    const auto row_of = [&](int i) { return row + warp_row + position<tile::lanes_m>(lane_m, i); };
    const auto col_of = [&](int j) { return col + warp_col + position<tile::lanes_n>(lane_n, j); };
    if (!p.epilogue.is_identity) return finish_fragment(p, sums, row_of, col_of);
    store_fragment(p, sums, row_of, col_of, stores_packets);
}

inline operand operand_of(const matrix_view<const float>& view, std::int64_t batch_stride) {
    const matrix_view<const float> lines = lies_by_rows(view) ? view : transposed(view);
    return {view, has_packets(lines, batch_stride)};
}

}  // namespace warp_tiled

template <class Activation>
void launch_warp_tiled(const plan&, const product<float, float, Activation>& all, cudaStream_t stream) {
    using namespace warp_tiled;
    const matrix_view<const float> columns_of_b = transposed(all.b);
    const operand a = operand_of(all.a, all.batch.a), b = operand_of(columns_of_b, all.batch.b);
    const bool stores_packets = has_packets(all.c, all.batch.c);
    with_orders(lies_by_rows(all.a), lies_by_rows(columns_of_b), [&]<bool a_k_major, bool b_k_major>() {
        for_each_grid(all, {tile_count(all, tile::m, tile::n)},
                      [&](const launch_extents& grid, const auto& p) {
                          kernels::launch({.blocks = grid, .threads = {tile::threads}, .stream = stream},
                                          warp_tiled::warp_tiled<a_k_major, b_k_major, Activation>, p, a, b,
                                          stores_packets);
                      });
    });
}

}  // namespace heddle::kernels::matmul
