// mma_sync: fragments of one's own, from tiles that are copied while others are multiplied.
//
//   128 x 128 of C a block, 64 x 32 a warp: 4 x 4 instructions of 16 x 8 x 16; k by 64, three stages
//   128 x 32 or 32 x 128 for a C with a short side, 32 x 32 for batches of small matrices: many blocks at a time
//   a row of a tile in shared memory, 128 bytes: packet p of row r lies at p ^ r % 8
//
// In wmma the compiler decides what a fragment's registers hold, and tiles are copied element by element through registers,
// taking turns with the products. Here mma.sync is given its registers. ldmatrix fills them, four 8 x 8 matrices at once,
// transposed where the operand lies the other way. cp.async copies 16 bytes past the registers while the tensor cores work.
// Where rows begin at any element, it copies the packets that cover them, which threads then shift into the tile. The swizzle
// lets the eight rows that ldmatrix reads lie in different banks. C passes through shared memory, and is stored in packets,
// wherever its rows begin; where it counts, it is fetched into L2 before the products. What limits it: instructions that move
// fragments, or where C has a short side, memory.

#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/cp_async.cuh"
#include "kernels/device/vector.cuh"
#include "kernels/matmul/element.cuh"
#include "kernels/matmul/mma_operand.cuh"
#include "kernels/matmul/mma_sums.cuh"
#include "kernels/matmul/schedule.hpp"
#include "kernels/matmul/tile_lines.cuh"
#include <heddle/types.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>

namespace heddle::kernels::matmul {
namespace {

template <int m_, int n_, int k_, int warp_m_, int stages_, int blocks_>
struct mma_tile {
    static constexpr int m = m_;
    static constexpr int n = n_;
    static constexpr int k = k_;
    static constexpr int cluster = 1;
    static constexpr int warp_m = warp_m_;
    static constexpr int warp_n = 32;
    static constexpr int warps_n = n / warp_n;
    static constexpr int threads = m / warp_m * warps_n * 32;
    static constexpr int stages = stages_;
    static constexpr int blocks = blocks_;  ///< a multiprocessor, at least
    static constexpr int stage_bytes = (m + n) * k * 2;
    static constexpr int ahead = m + n <= 64 ? 3 : 2;  ///< tiles on the way where these are realigned
    static constexpr int c_stride =
        n + 8;  ///< of floats: the rows that a warp stores at once are in different banks
    static constexpr int c_bytes = m * c_stride * static_cast<int>(sizeof(float));
};
using large_tile = mma_tile<128, 128, 64, 64, 3, 1>;
using small_tile = mma_tile<32, 32, 32, 16, 2, 12>;
using tall_tile = mma_tile<128, 32, 64, 32, 2, 3>;
using wide_tile = mma_tile<32, 128, 64, 32, 2, 3>;

/// Stores the sums of a tile, which lie in shared memory: a thread `width` neighbours of a row of C, which has whole ones.
/// `together` of these wait for C at once.
template <class tile, int width, int together, class In, class Out>
__device__ void store_tile(const product<In, Out>& p, const matrix_view<Out>& of, std::int64_t row,
                           std::int64_t col, const float* sums) {
    using packet = vector<Out, width>;
    constexpr int across = tile::n / width;
    static_assert(tile::m * across % (together * tile::threads) == 0);
#pragma unroll 1
    for (int first = threadIdx.x; first < tile::m * across; first += together * tile::threads) {
        packet old[together];
        const auto each = [&](auto function) {
#pragma unroll
            for (int i = 0; i < together; ++i) {
                const int index = first + i * tile::threads;
                const int r = index / across, c = index % across * width;
                if (row + r < of.rows && col + c < of.cols)
                    function(i, r, c, reinterpret_cast<packet*>(&element(of, row + r, col + c)));
            }
        };
        if (p.beta != 0) each([&](int i, int, int, const packet* from) { old[i] = *from; });
        each([&](int i, int r, int c, packet* to) {
            vector<float, width> x;
#pragma unroll
            for (int e = 0; e < width; ++e) {
                x[e] = p.alpha * sums[r * tile::c_stride + c + e];
                if (p.beta != 0) x[e] += p.beta * static_cast<float>(old[i][e]);
            }
            if (!p.epilogue.is_identity)
                x = finished_piece(p.epilogue, x, row, col, r, c, tile::n, true, (1u << width) - 1);
            packet stored;
#pragma unroll
            for (int e = 0; e < width; ++e) stored[e] = static_cast<Out>(x[e]);
            *to = stored;
        });
    }
}

/// Adds the products of tiles whose packets are copied as they are.
template <class tile, bool a_k_major, bool b_k_major, class In>
__device__ void add_products(warp_sums<tile>& sums, unsigned char* storage, const matrix_view<const In>& a,
                             const matrix_view<const In>& b, std::int64_t row, std::int64_t col,
                             std::int64_t depth) {
    const std::int64_t tiles = (depth + tile::k - 1) / tile::k;
    const auto a_tile = [&](int stage) { return storage + stage * tile::stage_bytes; };
    const auto b_tile = [&](int stage) { return a_tile(stage) + tile::m * tile::k * 2; };
    const auto copy = [&](int stage, std::int64_t t) {
        operand<tile, tile::m, In, a_k_major>::copy_async(a_tile(stage), a, row, t * tile::k);
        operand<tile, tile::n, In, b_k_major>::copy_async(b_tile(stage), b, col, t * tile::k);
    };
#pragma unroll
    for (int stage = 0; stage < tile::stages - 1; ++stage) {
        if (stage < tiles) copy(stage, stage);
        ptx::cp_async_commit_group();
    }
    int stage = 0;
    for (std::int64_t t = 0; t < tiles; ++t) {
        ptx::cp_async_wait_group<tile::stages - 2>();
        __syncthreads();  // this tile has arrived for all, and all are done with the one that is overwritten next
        const std::int64_t next = t + tile::stages - 1;
        if (next < tiles) copy(stage == 0 ? tile::stages - 1 : stage - 1, next);
        ptx::cp_async_commit_group();
        sums.template add<In, a_k_major, b_k_major, tile::k / 16>(a_tile(stage), b_tile(stage),
                                                                  depth - t * tile::k);
        stage = stage + 1 == tile::stages ? 0 : stage + 1;
    }
}

template <class tile, class In, bool a_k_major, bool b_k_major>
constexpr int realigned_bytes = realigned_operand<tile, tile::m, In, a_k_major>::bytes +
                                realigned_operand<tile, tile::n, In, b_k_major>::bytes;

/// The same where rows begin anywhere. The loops are short: code that nobody has run yet is fetched line by line.
template <class tile, bool a_k_major, bool b_k_major, class In>
__device__ void add_realigned_products(warp_sums<tile>& sums, unsigned char* storage,
                                       const matrix_view<const In>& of_a, const matrix_view<const In>& of_b,
                                       std::int64_t row, std::int64_t col, std::int64_t depth) {
    realigned_operand<tile, tile::m, In, a_k_major> a(of_a);
    realigned_operand<tile, tile::n, In, b_k_major> b(of_b);
    const std::int64_t tiles = (depth + tile::k - 1) / tile::k;
    unsigned char* const b_tile = storage + tile::m * tile::k * 2;
    const auto a_copied = [&](int stage) {
        return storage + tile::stage_bytes + stage * realigned_bytes<tile, In, a_k_major, b_k_major>;
    };
    const auto b_copied = [&](int stage) { return a_copied(stage) + a.bytes; };
    int stage = 0;
#pragma unroll 1
    for (std::int64_t t = -tile::ahead; t < tiles; ++t) {
        if (t >= 0) {
            ptx::cp_async_wait_group<tile::ahead - 1>();
            __syncthreads();  // this tile has arrived for all, and all are done with the one before
            a.realign(storage, a_copied(stage));
            b.realign(b_tile, b_copied(stage));
            __syncthreads();
        }
        const std::int64_t next = t + tile::ahead;
        if (next < tiles) {
            a.copy_async(a_copied(stage), row, next * tile::k);
            b.copy_async(b_copied(stage), col, next * tile::k);
        }
        ptx::cp_async_commit_group();
        if (t >= 0) sums.template add<In, a_k_major, b_k_major, 1>(storage, b_tile, depth - t * tile::k);
        if (next <= tiles) {  // heads have had as long as a product takes
            const int last_stage = stage == 0 ? tile::ahead - 1 : stage - 1;
            a.store_heads(a_copied(last_stage));
            b.store_heads(b_copied(last_stage));
        }
        if (next < tiles) {
            a.load_heads(row, next * tile::k);
            b.load_heads(col, next * tile::k);
        }
        stage = stage + 1 == tile::ahead ? 0 : stage + 1;
    }
}

constexpr int stored_at_once = 4;

template <class tile, bool in_packets, class In, class Out, bool a_k_major, bool b_k_major>
__global__ void __launch_bounds__(tile::threads, tile::blocks)
    mma_sync(const __grid_constant__ product<In, Out> p, matrix_view<const In> a, matrix_view<const In> b,
             c_access of_c) {
    extern __shared__ __align__(128) unsigned char storage[];

    // locate
    a.data = p.a.data + blockIdx.z * p.batch.a;
    b.data = p.b.data + blockIdx.z * p.batch.b;
    matrix_view<Out> c = p.c;
    c.data += blockIdx.z * p.batch.c;
    const tile_position position = row_by_row(p, tile::n);
    const std::int64_t row = position.row * tile::m, col = position.col * tile::n;

    // compute
    if (p.beta != 0) prefetch_tile<tile::threads, tile::m, tile::n, true>(c, row, col);
    warp_sums<tile> of_warp;
    if constexpr (in_packets)
        add_products<tile, a_k_major, b_k_major>(of_warp, storage, a, b, row, col, p.a.cols);
    else
        add_realigned_products<tile, a_k_major, b_k_major>(of_warp, storage, a, b, row, col, p.a.cols);

    // store
    __syncthreads();  // all have read the last stage
    float* const of_tile = reinterpret_cast<float*>(storage);
    constexpr int together = in_packets ? 4 : 2;
#pragma unroll
    for (int i = 0; i < of_warp.parts_m; ++i)
#pragma unroll
        for (int j = 0; j < 2 * of_warp.parts_n; ++j)
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const int r = of_warp.row + i * 16 + of_warp.lane / 4 + half * 8;
                const int c = of_warp.col + j * 8 + of_warp.lane % 4 * 2;
                const auto& sums = of_warp.sums[i][j];
                *reinterpret_cast<float2*>(of_tile + r * tile::c_stride + c) =
                    make_float2(sums[2 * half], sums[2 * half + 1]);
            }
    __syncthreads();
    if (of_c == c_access::packets)
        store_tile<tile, stored_at_once, together>(p, c, row, col, of_tile);
    else if (of_c == c_access::elements)
        store_tile<tile, 1, together>(p, c, row, col, of_tile);
    else
        tile_lines<Out, stored_at_once, tile::m, tile::n, true>(c, row, col, of_c == c_access::line)
            .template store<tile::threads, together>(
                p, [&](int line, int at) { return of_tile[line * tile::c_stride + at]; });
}

template <class tile, bool in_packets, class In, class Out>
void launch_tile(const plan& plan, const product<In, Out>& all, cudaStream_t stream) {
    const bool a_k_major = in_packets ? has_tensor_rows(all.a) : has_contiguous_rows(all.a);
    const bool b_k_major = !(in_packets ? has_tensor_rows(all.b) : has_contiguous_rows(all.b));
    const matrix_view<const In> a = a_k_major ? all.a : transposed(all.a);
    const matrix_view<const In> b = b_k_major ? transposed(all.b) : all.b;
    const auto with = [&]<bool a_major, bool b_major>() {
        const auto bytes = [](std::int64_t tiles) {
            const auto stages = static_cast<std::size_t>(
                std::min<std::int64_t>(in_packets ? tile::stages : tile::ahead, tiles));
            return std::max<std::size_t>(
                tile::c_bytes,
                in_packets ? stages * tile::stage_bytes
                           : tile::stage_bytes + stages * realigned_bytes<tile, In, a_major, b_major>);
        };
        for_each_grid(all, {tile_count(all, tile::m, tile::n)},
                      [&](const launch_extents& grid, const product<In, Out>& p) {
                          launch({.blocks = grid,
                                  .threads = {tile::threads},
                                  .shared_bytes = bytes(divide_up(p.a.cols, tile::k)),
                                  .shared_limit = bytes(std::numeric_limits<std::int64_t>::max()),
                                  .stream = stream},
                                 mma_sync<tile, in_packets, In, Out, a_major, b_major>, p, a, b, plan.of_c);
                      });
    };
    if (a_k_major)
        b_k_major ? with.template operator()<true, true>() : with.template operator()<true, false>();
    else
        b_k_major ? with.template operator()<false, true>() : with.template operator()<false, false>();
}

}  // namespace

template <class In, class Out>
void launch_mma_sync(const plan& plan, const product<In, Out>& p, cudaStream_t stream) {
    std::size_t index = 0;
    const auto launch_if_chosen = [&]<class tile>() {
        require_tile_of<tile>(mma_sync_tiles[index]);
        if (index++ != plan.tile) return;
        if (plan.in_packets)
            launch_tile<tile, true>(plan, p, stream);
        else if constexpr (takes_elements({tile::m, tile::n}))
            launch_tile<tile, false>(plan, p, stream);
        else
            throw std::logic_error("matmul: a plan has a tile that reads whole packets alone");
    };
    launch_if_chosen.template operator()<large_tile>();
    launch_if_chosen.template operator()<small_tile>();
    launch_if_chosen.template operator()<tall_tile>();
    launch_if_chosen.template operator()<wide_tile>();
}

template void launch_mma_sync(const plan&, const product<half, half>&, cudaStream_t);
template void launch_mma_sync(const plan&, const product<half, float>&, cudaStream_t);
template void launch_mma_sync(const plan&, const product<bfloat16, bfloat16>&, cudaStream_t);
template void launch_mma_sync(const plan&, const product<bfloat16, float>&, cudaStream_t);

}  // namespace heddle::kernels::matmul
