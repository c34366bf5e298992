// mma_sync: fragments of one's own, from tiles that are copied while others are multiplied.
//
//   128 x 128 of C a block, 64 x 32 a warp: 4 x 4 instructions of 16 x 8 x 16; k by 64, three stages
//   a row of a tile in shared memory, 128 bytes: packet p of row r lies at p ^ r % 8
//   32 x 32 of C a block, 16 x 32 a warp; k by 32, two stages: for batches of small matrices, with many blocks at a time
//
// In wmma the compiler decides what a fragment's registers hold, and tiles are copied element by element through registers,
// taking turns with the products. Here mma.sync is given its registers. ldmatrix fills them, four 8 x 8 matrices at once,
// transposed where the operand lies the other way. cp.async copies 16 bytes past the registers while the tensor cores work.
// The swizzle lets the eight rows that ldmatrix reads lie in different banks. Needs rows or columns of A and of B that begin
// at multiples of 16 bytes. What limits it: instructions that move fragments.

#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/cp_async.cuh"
#include "kernels/device/ptx/mma.cuh"
#include "kernels/matmul/element.cuh"
#include "kernels/matmul/schedule.hpp"
#include <heddle/types.hpp>

#include <cstdint>

namespace heddle::kernels::matmul {
namespace {

template <int side, int k_, int warp_m_, int stages_>
struct mma_tile {
    static constexpr int m = side;
    static constexpr int n = side;
    static constexpr int k = k_;
    static constexpr int cluster = 1;
    static constexpr int warp_m = warp_m_;
    static constexpr int warp_n = 32;
    static constexpr int warps_n = n / warp_n;
    static constexpr int threads = m / warp_m * warps_n * 32;
    static constexpr int stages = stages_;
    static constexpr int packet_bytes = 16;
    static constexpr int packet = 8;  ///< elements
    static constexpr int row = k;     ///< elements of a row in shared memory
    static constexpr int packets = row / packet;
    static constexpr int rows_of_line = 8 / packets;  ///< of 128 bytes: all banks
    static constexpr int bytes = side * k * 2;
    static_assert(side % row == 0);
};
using large_tile = mma_tile<128, 64, 64, 3>;
using small_tile = mma_tile<32, 32, 16, 2>;

/// `side` along m or n by k. k-major: `side` rows along k. Otherwise rows along m or n for each k, as often as they make a side.
template <class tile, class T, bool k_major>
struct operand {
    /// The packet of element (position along m or n, k).
    static __device__ unsigned char* at(unsigned char* tile_begin, int position, int k) {
        const int row = k_major ? position : position / tile::row * tile::k + k;
        const int packet = (k_major ? k : position % tile::row) / tile::packet;
        const int place = packet ^ row / tile::rows_of_line % tile::packets;
        return tile_begin + row * (tile::row * 2) + place * tile::packet_bytes;
    }

    /// Starts the copy of the tile at (position, k) of `in`, whose rows are contiguous; what lies outside becomes zeros.
    static __device__ void copy_async(unsigned char* tile_begin, const matrix_view<const T>& in,
                                      std::int64_t position, std::int64_t k) {
        constexpr int packets = tile::bytes / tile::packet_bytes;
#pragma unroll
        for (int i = 0; i < packets / tile::threads; ++i) {
            const int index = threadIdx.x + i * tile::threads;
            const int of_row = tile::row / tile::packet;
            const int row = index / of_row, col = index % of_row * tile::packet;
            const int p = k_major ? row : row / tile::k * tile::row + col;
            const int kk = k_major ? col : row % tile::k;
            const std::int64_t in_row = k_major ? position + p : k + kk;
            const std::int64_t in_col = k_major ? k + kk : position + p;
            const std::int64_t left = in_row < in.rows ? in.cols - in_col : 0;
            const int valid = static_cast<int>(max(std::int64_t{0}, min(std::int64_t{tile::packet}, left)));
            ptx::cp_async<tile::packet_bytes>(at(tile_begin, p, kk),
                                              in.data + in_row * in.row_stride + in_col,
                                              valid * static_cast<int>(sizeof(T)));
        }
    }
};

template <class tile, bool has_epilogue, class In, class Out, bool a_k_major, bool b_k_major>
__global__ void __launch_bounds__(tile::threads)
    mma_sync(product<In, Out> p, matrix_view<const In> a, matrix_view<const In> b, std::int64_t k_extent) {
    using a_operand = operand<tile, In, a_k_major>;
    using b_operand = operand<tile, In, b_k_major>;
    extern __shared__ __align__(128) unsigned char storage[];
    const auto a_tile = [&](int stage) { return storage + stage * 2 * tile::bytes; };
    const auto b_tile = [&](int stage) { return storage + (stage * 2 + 1) * tile::bytes; };

    // locate
    take_batch(p, blockIdx.z);
    a.data = p.a.data;
    b.data = p.b.data;
    const tile_position position = row_by_row(p, tile::n);
    const std::int64_t row = position.row * tile::m;
    const std::int64_t col = position.col * tile::n;
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    const int warp_row = warp / tile::warps_n * tile::warp_m;
    const int warp_col = warp % tile::warps_n * tile::warp_n;

    // load
    const std::int64_t tiles = (k_extent + tile::k - 1) / tile::k;
    const auto load = [&](int stage, std::int64_t t) {
        a_operand::copy_async(a_tile(stage), a, row, t * tile::k);
        b_operand::copy_async(b_tile(stage), b, col, t * tile::k);
    };
#pragma unroll
    for (int stage = 0; stage < tile::stages - 1; ++stage) {
        if (stage < tiles) load(stage, stage);
        ptx::cp_async_commit_group();
    }

    // compute
    constexpr int parts_m = tile::warp_m / 16, parts_n = tile::warp_n / 16;
    float sums[parts_m][2 * parts_n][4] = {};
    int stage = 0;
    for (std::int64_t t = 0; t < tiles; ++t) {
        ptx::cp_async_wait_group<tile::stages - 2>();
        __syncthreads();  // this tile has arrived for all, and all are done with the one that is overwritten next
        if (const std::int64_t next = t + tile::stages - 1; next < tiles)
            load(stage == 0 ? tile::stages - 1 : stage - 1, next);
        ptx::cp_async_commit_group();
#pragma unroll
        for (int k = 0; k < tile::k; k += 16) {
            // Lanes 8 i .. 8 i + 7 give the rows of matrix i: A's second is 8 rows below, B's 8 further along k.
            unsigned as[parts_m][4], bs[parts_n][4];
            const int low = lane % 8, second = lane / 8 % 2 * 8, third = lane / 16 * 8;
#pragma unroll
            for (int i = 0; i < parts_m; ++i) {
                const int m = warp_row + i * 16 + second + (a_k_major ? low : 0);
                ptx::load_matrices<!a_k_major>(
                    as[i], a_operand::at(a_tile(stage), m, k + third + (a_k_major ? 0 : low)));
            }
#pragma unroll
            for (int j = 0; j < parts_n; ++j) {
                const int n = warp_col + j * 16 + third + (b_k_major ? low : 0);
                ptx::load_matrices<!b_k_major>(
                    bs[j], b_operand::at(b_tile(stage), n, k + second + (b_k_major ? 0 : low)));
            }
#pragma unroll
            for (int i = 0; i < parts_m; ++i)
#pragma unroll
                for (int j = 0; j < parts_n; ++j) {
                    ptx::mma<In>(sums[i][2 * j], as[i], bs[j][0], bs[j][1]);
                    ptx::mma<In>(sums[i][2 * j + 1], as[i], bs[j][2], bs[j][3]);
                }
        }
        stage = stage + 1 == tile::stages ? 0 : stage + 1;
    }

    // store
#pragma unroll
    for (int i = 0; i < parts_m; ++i)
#pragma unroll
        for (int j = 0; j < 2 * parts_n; ++j)
#pragma unroll
            for (int e = 0; e < 4; ++e)
                store<has_epilogue>(p, row + warp_row + i * 16 + lane / 4 + e / 2 * 8,
                                    col + warp_col + j * 8 + lane % 4 * 2 + e % 2, sums[i][j][e]);
}

}  // namespace

template <class tile, bool has_epilogue, class In, class Out>
void launch_tile(const product<In, Out>& all, cudaStream_t stream) {
    const bool a_k_major = has_tensor_rows(all.a);
    const bool b_k_major = !has_tensor_rows(all.b);
    const matrix_view<const In> a = a_k_major ? all.a : transposed(all.a);
    const matrix_view<const In> b = b_k_major ? transposed(all.b) : all.b;
    const auto with = [&]<bool a_major, bool b_major>() {
        constexpr int bytes = tile::stages * 2 * tile::bytes;
        for_each_grid(all, {tile_count(all, tile::m, tile::n)},
                      [&](const launch_extents& grid, const product<In, Out>& p) {
                          launch({.blocks = grid,
                                  .threads = {tile::threads},
                                  .shared_bytes = bytes,
                                  .shared_limit = bytes,
                                  .stream = stream},
                                 mma_sync<tile, has_epilogue, In, Out, a_major, b_major>, p, a, b, p.a.cols);
                      });
    };
    if (a_k_major)
        b_k_major ? with.template operator()<true, true>() : with.template operator()<true, false>();
    else
        b_k_major ? with.template operator()<false, true>() : with.template operator()<false, false>();
}

template <class In, class Out>
void launch_mma_sync(const plan& plan, const product<In, Out>& p, cudaStream_t stream) {
    require_tile_of<large_tile>(mma_sync_tiles[0]);
    require_tile_of<small_tile>(mma_sync_tiles[1]);
    const auto with = [&]<bool has_epilogue>() {
        plan.tile == 0 ? launch_tile<large_tile, has_epilogue>(p, stream)
                       : launch_tile<small_tile, has_epilogue>(p, stream);
    };
    p.epilogue.is_identity ? with.template operator()<false>() : with.template operator()<true>();
}

template void launch_mma_sync(const plan&, const product<half, half>&, cudaStream_t);
template void launch_mma_sync(const plan&, const product<half, float>&, cudaStream_t);
template void launch_mma_sync(const plan&, const product<bfloat16, bfloat16>&, cudaStream_t);
template void launch_mma_sync(const plan&, const product<bfloat16, float>&, cudaStream_t);

}  // namespace heddle::kernels::matmul
