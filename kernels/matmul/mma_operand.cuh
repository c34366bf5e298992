#pragma once

#include "kernels/device/ptx/cp_async.cuh"
#include "kernels/device/ptx/in_register.cuh"
#include "kernels/device/vector.cuh"
#include <heddle/view.hpp>

#include <cstdint>

/// How the rung mma_sync brings tiles of A and B into shared memory.
namespace heddle::kernels::matmul {

/// `extent` along m or n by k. k-major: `extent` rows along k. Otherwise rows along m or n for each k, as often as they make the
/// extent.
template <class tile, int extent, class T, bool k_major>
struct operand {
    static constexpr int packet_bytes = 16;
    static constexpr int packet = 8;                                            ///< elements
    static constexpr int row = k_major || extent > tile::k ? tile::k : extent;  ///< elements in shared memory
    static constexpr int packets = row / packet;
    static constexpr int rows_of_line = 8 / packets;  ///< of 128 bytes: all banks
    static_assert(extent % row == 0 || k_major);

    /// The packet of element (position along m or n, k).
    static __device__ unsigned char* at(unsigned char* tile_begin, int position, int k) {
        const int r = k_major ? position : position / row * tile::k + k;
        const int of_row = (k_major ? k : position % row) / packet;
        return tile_begin + r * (row * 2) + (of_row ^ r / rows_of_line % packets) * packet_bytes;
    }

    static constexpr int of_thread = extent * tile::k / packet / tile::threads;  ///< packets
    using packets_of_thread = vector<T, packet>[of_thread];

    /// Calls function(i, to, from, valid) for a thread's packets of the tile at (position, k) of `in`, whose rows are contiguous:
    /// packet i goes to `to`, and has `valid` elements at `from`, and zeros.
    template <int parts = 1, class Function>
    static __device__ void each(int part, unsigned char* tile_begin, const matrix_view<const T>& in,
                                std::int64_t position, std::int64_t k, Function function) {
        const std::int64_t first_row = k_major ? position : k, first_col = k_major ? k : position;
        const T* const first = in.data + first_row * in.row_stride + first_col;
        const auto left = [](std::int64_t n) {
            return static_cast<int>(max(std::int64_t{0}, min(std::int64_t{extent + tile::k}, n)));
        };
        // What a part needs is found anew for each tile: kept for all parts, it would fill the registers.
        const std::int64_t next = parts > 1 ? ptx::in_register(in.row_stride) : in.row_stride;
        const int thread = parts > 1 ? ptx::in_register(static_cast<int>(threadIdx.x)) : threadIdx.x;
        const int rows_left = left(in.rows - first_row), cols_left = left(in.cols - first_col);
#pragma unroll
        for (int i = 0; i < of_thread; ++i) {
            if (i * parts / of_thread != part) continue;
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

    /// The same of one of so many parts, by way of registers: all its loads are under way before the first packet is stored.
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

}  // namespace heddle::kernels::matmul
