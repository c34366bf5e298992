// mma_sync: controls the registers of its fragments, and copies the next tiles while the current ones are multiplied.
//
//   a block has 128 x 128 of C, a warp 64 x 32: 4 x 4 instructions of 16 x 8 x 16; k by 64, three stages
//   128 x 32 or 32 x 128 for a C with a short side, 32 x 32 for batches of small matrices, with many blocks at a time
//   a row of a tile in shared memory, 128 bytes: packet p of row r lies at p ^ r % 8
//
// In wmma the compiler decides what the registers of a fragment hold. Tiles are copied by elements through registers,
// alternating with the products. Here mma.sync names its registers. The instruction ldmatrix fills them with four 8 x 8
// matrices at once, transposed if the operand has the other order. Meanwhile cp.async copies 16 bytes at a time without
// registers. If rows do not begin at multiples of 16 bytes, threads read single elements, in parts of the next tile during
// parts of this one. The swizzle puts the eight rows that ldmatrix reads into different banks. C passes through shared
// memory and is stored in packets, wherever its rows begin. If C is needed, it is prefetched into L2 before the products.
// What limits it: instructions that move fragments, or memory if C has a short side.

#pragma once

#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/cp_async.cuh"
#include "kernels/device/ptx/in_register.cuh"
#include "kernels/device/ptx/mma.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/vector.cuh"
#include "kernels/matmul/element.cuh"
#include "kernels/matmul/orders.cuh"
#include "kernels/matmul/tile_lines.cuh"
#include <heddle/types.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace heddle::kernels::matmul {

template <std::size_t row>
struct mma_tile {
    static constexpr mma_kernel config = mma_sync_kernels[row];
    static constexpr int m = config.m;
    static constexpr int n = config.n;
    static constexpr int k = config.k;
    static constexpr int warp_m = config.warp_m;
    static constexpr int warp_n = 32;
    static constexpr int warps_n = n / warp_n;
    static constexpr int threads = m / warp_m * warps_n * 32;
    static constexpr int stages = config.stages;
    static constexpr int blocks = config.least_blocks;
    static constexpr int stage_bytes = (m + n) * k * 2;
    static constexpr int c_stride =
        n + 8;  ///< floats; puts the rows that a warp stores at once into different banks
    static constexpr int c_bytes = m * c_stride * static_cast<int>(sizeof(float));
    static constexpr int parts_m = warp_m / 16, parts_n = warp_n / 16;  ///< of a warp, one instruction each

    /// The place of a warp's sums in the tile.
    static __device__ int warp_row() { return threadIdx.x / 32 / warps_n * warp_m; }
    static __device__ int warp_col() { return threadIdx.x / 32 % warps_n * warp_n; }
};

/// A tile of A or B in shared memory: `extent` along m or n by k. If k-major, it has `extent` rows along k. Otherwise its
/// rows run along m or n, one for each k, in as many groups as the extent needs.
template <class tile, int extent, class T, bool k_major>
struct operand {
    static constexpr int packet_bytes = 16;
    static constexpr int packet = 8;                                            ///< elements
    static constexpr int row = k_major || extent > tile::k ? tile::k : extent;  ///< elements in shared memory
    static constexpr int packets = row / packet;
    static constexpr int rows_of_line = 8 / packets;  ///< in 128 bytes, which are all banks
    static_assert(extent % row == 0 || k_major);

    /// The address of the packet that has element (position along m or n, k).
    static __device__ unsigned char* at(unsigned char* tile_begin, int position, int k) {
        const int r = k_major ? position : position / row * tile::k + k;
        const int packet_in_row = (k_major ? k : position % row) / packet;
        return tile_begin + r * (row * 2) + (packet_in_row ^ r / rows_of_line % packets) * packet_bytes;
    }

    static constexpr int per_thread = extent * tile::k / packet / tile::threads;  ///< packets of a thread
    using packets_of_thread = vector<T, packet>[per_thread];

    /// Calls function(i, to, from, valid) for a thread's packets of the tile at (position, k) of `in`, whose rows are
    /// contiguous. Packet i goes to `to`. Its first `valid` elements come from `from`, and the others are zeros.
    template <int parts = 1, class Function>
    static __device__ void each(int part, unsigned char* tile_begin, const matrix_view<const T>& in,
                                std::int64_t position, std::int64_t k, Function function) {
        const std::int64_t first_row = k_major ? position : k, first_col = k_major ? k : position;
        const T* const first = in.data + first_row * in.row_stride + first_col;
        const auto left = [](std::int64_t n) {
            return static_cast<int>(max(std::int64_t{0}, min(std::int64_t{extent + tile::k}, n)));
        };
        // Addresses are computed again for each part: to keep those of all parts would fill the registers.
        const std::int64_t next = parts > 1 ? ptx::in_register(in.row_stride) : in.row_stride;
        const int thread = parts > 1 ? ptx::in_register(static_cast<int>(threadIdx.x)) : threadIdx.x;
        const int rows_left = left(in.rows - first_row), cols_left = left(in.cols - first_col);
#pragma unroll
        for (int i = 0; i < per_thread; ++i) {
            if (i * parts / per_thread != part) continue;
            const int index = thread + i * tile::threads;
            const int r = index / packets, col = index % packets * packet;
            const int p = k_major ? r : r / tile::k * row + col;
            const int kk = k_major ? col : r % tile::k;
            const int down = k_major ? p : kk, across = k_major ? kk : p;
            const int valid = down < rows_left ? max(0, min(packet, cols_left - across)) : 0;
            function(i, at(tile_begin, p, kk), valid > 0 ? first + down * next + across : in.data, valid);
        }
    }

    static __device__ void copy_async(unsigned char* tile_begin, const matrix_view<const T>& in,
                                      std::int64_t position, std::int64_t k) {
        each(0, tile_begin, in, position, k, [](int, unsigned char* to, const T* from, int valid) {
            ptx::cp_async<packet_bytes>(to, from, valid * static_cast<int>(sizeof(T)));
        });
    }

    /// Loads one of `parts` parts through registers. All its loads are in flight before the first packet is stored.
    template <int parts>
    static __device__ void load(int part, packets_of_thread& moved, const matrix_view<const T>& in,
                                std::int64_t position, std::int64_t k) {
        each<parts>(part, nullptr, in, position, k, [&](int i, unsigned char*, const T* from, int valid) {
#pragma unroll
            for (int e = 0; e < packet; ++e) moved[i][e] = e < valid ? from[e] : T(0.0f);
        });
    }
    template <int parts>
    static __device__ void store(int part, const packets_of_thread& moved, unsigned char* tile_begin) {
        each<parts>(part, tile_begin, {}, 0, 0, [&](int i, unsigned char* to, const T*, int) {
            *reinterpret_cast<vector<T, packet>*>(to) = moved[i];
        });
    }
};

/// Adds the products of the tiles at (row, col) to a warp's sums. `storage` has a ring of stages.
template <class tile, bool in_packets, bool a_k_major, bool b_k_major, class In>
__device__ void multiply(unsigned char* storage, const matrix_view<const In>& a,
                         const matrix_view<const In>& b, std::int64_t row, std::int64_t col,
                         std::int64_t depth, float (&sums)[tile::parts_m][2 * tile::parts_n][4]) {
    using a_operand = operand<tile, tile::m, In, a_k_major>;
    using b_operand = operand<tile, tile::n, In, b_k_major>;
    const auto a_tile = [&](int stage) { return storage + stage * tile::stage_bytes; };
    const auto b_tile = [&](int stage) { return a_tile(stage) + tile::m * tile::k * 2; };
    const int lane = threadIdx.x % 32, warp_row = tile::warp_row(), warp_col = tile::warp_col();

    // load
    const std::int64_t tiles = (depth + tile::k - 1) / tile::k;
    typename a_operand::packets_of_thread a_moved;
    typename b_operand::packets_of_thread b_moved;
    const auto load = [&]<int parts>(int part, std::int64_t t) {
        a_operand::template load<parts>(part, a_moved, a, row, t * tile::k);
        b_operand::template load<parts>(part, b_moved, b, col, t * tile::k);
    };
    const auto store_loaded = [&]<int parts>(int part, int stage) {
        a_operand::template store<parts>(part, a_moved, a_tile(stage));
        b_operand::template store<parts>(part, b_moved, b_tile(stage));
    };
    const auto copy = [&](int stage, std::int64_t t) {
        if constexpr (in_packets) {
            a_operand::copy_async(a_tile(stage), a, row, t * tile::k);
            b_operand::copy_async(b_tile(stage), b, col, t * tile::k);
        } else {
            load.template operator()<1>(0, t);
            store_loaded.template operator()<1>(0, stage);
        }
    };
#pragma unroll
    for (int stage = 0; stage < tile::stages - 1; ++stage) {
        if (stage < tiles) copy(stage, stage);
        ptx::cp_async_commit_group();
    }

    // compute
    int stage = 0;
    for (std::int64_t t = 0; t < tiles; ++t) {
        ptx::cp_async_wait_group<tile::stages - 2>();
        // Now this tile has arrived for all, and all are done with the tile that is overwritten next.
        ptx::sync_threads();
        const std::int64_t next = t + tile::stages - 1;
        const int next_stage = stage == 0 ? tile::stages - 1 : stage - 1;
        if constexpr (in_packets)
            if (next < tiles) copy(next_stage, next);
        ptx::cp_async_commit_group();
        const std::int64_t left = depth - t * tile::k;
#pragma unroll
        for (int k = 0; k < tile::k; k += 16) {
            if (k >= left) break;
            // Single elements are loaded in parts while parts of this tile are multiplied: registers hold one part.
            if (!in_packets && next < tiles) load.template operator()<tile::k / 16>(k / 16, next);
            // Lanes 8 i .. 8 i + 7 give the rows of matrix i. A's second matrix is 8 rows below, and B's is 8 further along k.
            unsigned as[tile::parts_m][4], bs[tile::parts_n][4];
            const int low = lane % 8, second = lane / 8 % 2 * 8, third = lane / 16 * 8;
#pragma unroll
            for (int i = 0; i < tile::parts_m; ++i) {
                const int m = warp_row + i * 16 + second + (a_k_major ? low : 0);
                ptx::load_matrices<!a_k_major>(
                    as[i], a_operand::at(a_tile(stage), m, k + third + (a_k_major ? 0 : low)));
            }
#pragma unroll
            for (int j = 0; j < tile::parts_n; ++j) {
                const int n = warp_col + j * 16 + third + (b_k_major ? low : 0);
                ptx::load_matrices<!b_k_major>(
                    bs[j], b_operand::at(b_tile(stage), n, k + second + (b_k_major ? 0 : low)));
            }
#pragma unroll
            for (int i = 0; i < tile::parts_m; ++i)
#pragma unroll
                for (int j = 0; j < tile::parts_n; ++j) {
                    ptx::mma<In>(sums[i][2 * j], as[i], bs[j][0], bs[j][1]);
                    ptx::mma<In>(sums[i][2 * j + 1], as[i], bs[j][2], bs[j][3]);
                }
            if (!in_packets && next < tiles)
                store_loaded.template operator()<tile::k / 16>(k / 16, next_stage);
        }
        stage = stage + 1 == tile::stages ? 0 : stage + 1;
    }
}

/// The layouts of A and B are part of the loads from shared memory, so each of the four combinations has its own loop.
template <class tile, bool in_packets, class In, class Out>
__global__ void __launch_bounds__(tile::threads, tile::blocks)
    mma_sync(const __grid_constant__ product<In, Out> p, matrix_view<const In> a, matrix_view<const In> b,
             bool a_k_major, bool b_k_major, c_access of_c) {
    extern __shared__ __align__(128) unsigned char storage[];
    a.data = p.a.data + blockIdx.z * p.batch.a;
    b.data = p.b.data + blockIdx.z * p.batch.b;
    matrix_view<Out> c = p.c;
    c.data += blockIdx.z * p.batch.c;
    const tile_position position = row_by_row(p, tile::n);
    const std::int64_t row = position.row * tile::m, col = position.col * tile::n;
    const int lane = threadIdx.x % 32, warp_row = tile::warp_row(), warp_col = tile::warp_col();
    if (p.beta != 0) prefetch_tile<tile::threads, tile::m, tile::n, true>(c, row, col);

    float sums[tile::parts_m][2 * tile::parts_n][4] = {};
    with_orders(a_k_major, b_k_major, [&]<bool a_major, bool b_major>() {
        multiply<tile, in_packets, a_major, b_major>(storage, a, b, row, col, p.a.cols, sums);
    });

    // store
    ptx::sync_threads();  // all have read the last stage
    float* const tile_sums = reinterpret_cast<float*>(storage);
#pragma unroll
    for (int i = 0; i < tile::parts_m; ++i)
#pragma unroll
        for (int j = 0; j < 2 * tile::parts_n; ++j)
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const int r = warp_row + i * 16 + lane / 4 + half * 8, c = warp_col + j * 8 + lane % 4 * 2;
                *reinterpret_cast<float2*>(tile_sums + r * tile::c_stride + c) =
                    make_float2(sums[i][j][2 * half], sums[i][j][2 * half + 1]);
            }
    ptx::sync_threads();
    store_tile<tile::threads, tile::m, tile::n, true>(
        p, c, row, col, of_c, [&](int line, int at) { return tile_sums[line * tile::c_stride + at]; });
}

template <class tile, bool in_packets, class In, class Out>
void launch_tile(const plan& plan, const product<In, Out>& all, cudaStream_t stream) {
    const bool a_k_major = in_packets ? has_tensor_rows(all.a) : has_contiguous_rows(all.a);
    const bool b_k_major = !(in_packets ? has_tensor_rows(all.b) : has_contiguous_rows(all.b));
    const matrix_view<const In> a = a_k_major ? all.a : transposed(all.a);
    const matrix_view<const In> b = b_k_major ? transposed(all.b) : all.b;
    const auto bytes = [](std::int64_t stages) {
        return std::max<std::size_t>(static_cast<std::size_t>(stages) * tile::stage_bytes, tile::c_bytes);
    };
    for_each_grid(
        all, {tile_count(all, tile::m, tile::n)}, [&](const launch_extents& grid, const product<In, Out>& p) {
            launch({.blocks = grid,
                    .threads = {tile::threads},
                    .shared_bytes = bytes(std::min<std::int64_t>(tile::stages, divide_up(p.a.cols, tile::k))),
                    .shared_limit = bytes(tile::stages),
                    .stream = stream},
                   mma_sync<tile, in_packets, In, Out>, p, a, b, a_k_major, b_k_major, plan.of_c);
        });
}

template <class In, class Out>
void launch_mma_sync(const plan& plan, const product<In, Out>& p, cudaStream_t stream) {
    frame::with_row<mma_sync_kernels>(plan.kernel, [&]<std::size_t row>() {
        using tile = mma_tile<row>;
        if (plan.in_packets)
            launch_tile<tile, true>(plan, p, stream);
        else if constexpr (tile::config.takes_elements())
            launch_tile<tile, false>(plan, p, stream);
        else
            throw std::logic_error("matmul: a kernel that reads whole packets alone was chosen");
    });
}

}  // namespace heddle::kernels::matmul
