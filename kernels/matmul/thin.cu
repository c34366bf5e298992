// thin: C with a short side, or a short k: A is read once and C is written once, at the memory's rate.
//
//   a block:    256 rows of 8, 16 or 32 columns of C, or 128 of 64;  16 of k at a time, three stages
//   a thread:   2 or 4 rows, 32 apart, of 8 or 16 columns; warps side by side share rows
//   A's tile    lies as A does: along k, read four at a time, or along m;  B's: read by all lanes at once
//   C's tile    passes through shared memory, and is stored in packets, wherever C's lines begin
//
// Tiles of pipelined are at least 64 wide, and skinny is made for few rows that all blocks share. Here a block has little to
// begin and to end, and several of them on a multiprocessor hide one another's loads and stores. Where C counts, its tile is
// fetched into L2 before the products. Needs a unit stride along one dimension of A and of B. What limits it: the memory; from
// 32 columns on FFMA comes close.

#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/matmul/thin_tile.cuh"
#include "kernels/matmul/tile_lines.cuh"
#include "kernels/matmul/tile_split.cuh"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace heddle::kernels::matmul {
namespace {

/// Adds `depth` products, a multiple of four, to a thread's sums.
template <class Tile, bool a_k_major>
__device__ void multiply_stage(float (&sums)[Tile::thread_m][Tile::thread_n], const float* a, const float* b,
                               int depth) {
    using of_a = a_tile<Tile, a_k_major>;
#pragma unroll 1
    for (int k = 0; k < depth; k += 4) {
        packet along_k[Tile::thread_m] = {};
        if constexpr (a_k_major)
#pragma unroll
            for (int i = 0; i < Tile::thread_m; ++i)
                along_k[i] = *reinterpret_cast<const packet*>(a + i * 32 * of_a::stride + k);
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            float as[Tile::thread_m], bs[Tile::thread_n];
#pragma unroll
            for (int i = 0; i < Tile::thread_m; ++i)
                as[i] = a_k_major ? along_k[i][e] : a[(k + e) * of_a::stride + i * 32];
            load_fragment<1>(bs, b + (k + e) * Tile::b_stride, 0);
            multiply(sums, as, bs);
        }
    }
}

/// A is m x k, B is n x k.
template <class Tile, bool a_k_major, int width>
__global__ void __launch_bounds__(Tile::threads, Tile::blocks_per_sm)
    thin(const __grid_constant__ arguments p, bool b_k_major, bool along_n, c_access of_c) {
    using of_a = a_tile<Tile, a_k_major>;
    constexpr int stage_size = of_a::size + Tile::b_size;
    extern __shared__ float4 storage[];
    float* const shared = reinterpret_cast<float*>(storage);

    // locate
    const tile_position position = grouped<Tile>(p);
    const std::int64_t row = position.row * Tile::m, col = position.col * Tile::n, depth = p.a.cols;
    const float* a = p.a.data + blockIdx.z * p.batch.a + row * p.a.row_stride;
    const float* b = p.b.data + blockIdx.z * p.batch.b + col * p.b.col_stride;
    matrix_view<float> c = p.c;
    c.data += blockIdx.z * p.batch.c;
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const int warp_row = warp / Tile::warps_across * Tile::warp_m;
    const int warp_col = warp % Tile::warps_across * Tile::thread_n;
    if (p.beta != 0)
        along_n ? prefetch_tile<Tile::threads, Tile::m, Tile::n, true>(c, row, col)
                : prefetch_tile<Tile::threads, Tile::n, Tile::m, false>(c, row, col);

    // load
    using a_copies = tile_copies<of_a::lines, of_a::length, width, of_a::stride, 1, Tile::threads>;
    using b_rows = tile_copies<Tile::k, Tile::n, 1, Tile::b_stride, 1, Tile::threads>;
    using b_columns = tile_copies<Tile::n, Tile::k, 1, 1, Tile::b_stride, Tile::threads>;
    // One line alone may have any stride, and even a copy of nothing starts at a multiple of its size.
    const bool has_lines = (a_k_major ? c.rows : depth) > 1;
    const std::int64_t next_a = has_lines ? (a_k_major ? p.a.row_stride : p.a.col_stride) : 0;
    const std::int64_t next_b = b_k_major ? p.b.col_stride : p.b.row_stride;
    const std::int64_t m_left = c.rows - row, n_left = c.cols - col;
    const bool is_inside = m_left >= Tile::m && n_left >= Tile::n;
    a += a_copies::first(next_a);
    b += b_k_major ? b_columns::first(next_b) : b_rows::first(next_b);
    const auto load = [&](std::int64_t first, int stage) {
        float* const to_a = shared + stage * stage_size;
        float* const to_b = to_a + of_a::size;
        const std::int64_t k_left = depth - first;
        const auto start = [&]<bool is_full>() {
            a_copies::template start<is_full>(to_a, a, next_a, a_k_major ? m_left : k_left,
                                              a_k_major ? k_left : m_left);
            if (b_k_major)
                b_columns::template start<is_full>(to_b, b, next_b, n_left, k_left);
            else
                b_rows::template start<is_full>(to_b, b, next_b, k_left, n_left);
        };
        if (is_inside && k_left >= Tile::k)
            start.template operator()<true>();
        else if (k_left > 0)
            start.template operator()<false>();
        a += Tile::k * p.a.col_stride;
        b += Tile::k * p.b.row_stride;
        ptx::cp_async_commit_group();
    };
#pragma unroll 1
    for (int stage = 0; stage < Tile::stages - 1; ++stage) load(stage * Tile::k, stage);

    // compute
    float sums[Tile::thread_m][Tile::thread_n] = {};
    const float* const from_a = shared + (warp_row + lane) * (a_k_major ? of_a::stride : 1);
    const float* const from_b = shared + of_a::size + warp_col;
    const bool has_columns = col + warp_col < c.cols;
    int stage = 0;
#pragma unroll 1
    for (std::int64_t first = 0; first < depth; first += Tile::k) {
        ptx::cp_async_wait_group<Tile::stages - 2>();
        ptx::sync_threads();  // this stage has arrived for all, and all have read the one before
        load(first + (Tile::stages - 1) * Tile::k, stage == 0 ? Tile::stages - 1 : stage - 1);
        const auto left = static_cast<int>(min(std::int64_t{Tile::k}, depth - first));
        if (has_columns)
            multiply_stage<Tile, a_k_major>(sums, from_a + stage * stage_size, from_b + stage * stage_size,
                                            left);
        stage = stage + 1 == Tile::stages ? 0 : stage + 1;
    }

    // store
    ptx::sync_threads();
#pragma unroll
    for (int i = 0; i < Tile::thread_m; ++i)
#pragma unroll
        for (int j = 0; j < Tile::thread_n; j += 4) {
            const int down = warp_row + lane + 32 * i, across = warp_col + j;
            const packet four = {sums[i][j], sums[i][j + 1], sums[i][j + 2], sums[i][j + 3]};
            if (along_n)
                *reinterpret_cast<packet*>(shared + down * c_tile<Tile, true>::stride + across) =
                    swapped(four);
            else
#pragma unroll
                for (int e = 0; e < 4; ++e) shared[c_tile<Tile, false>::place(across + e, down)] = four[e];
        }
    ptx::sync_threads();
    along_n ? store_tile<Tile, true>(p, c, row, col, shared, of_c)
            : store_tile<Tile, false>(p, c, row, col, shared, of_c);
}

template <class Tile, bool a_k_major, int width>
void launch(const plan& plan, const arguments& all, cudaStream_t stream) {
    constexpr int stage = a_tile<Tile, a_k_major>::size + Tile::b_size;
    constexpr auto bytes = [](std::int64_t stages) {
        return static_cast<std::size_t>(std::max(stages * stage, std::int64_t{Tile::c_size})) * sizeof(float);
    };
    const bool b_k_major = all.b.cols > 1 && all.b.col_stride != 1;
    for_each_grid(
        all, {tile_count(all, Tile::m, Tile::n)}, [&](const launch_extents& grid, const arguments& p) {
            kernels::launch(
                {.blocks = grid,
                 .threads = {Tile::threads},
                 .shared_bytes = bytes(std::min<std::int64_t>(Tile::stages, divide_up(p.a.cols, Tile::k))),
                 .shared_limit = bytes(Tile::stages),
                 .stream = stream},
                thin<Tile, a_k_major, width>, p, b_k_major, lies_by_rows(all.c), plan.of_c);
        });
}

template <class Tile>
void launch_tile(const plan& plan, const arguments& p, cudaStream_t stream) {
    if (has_contiguous_rows(p.a))
        plan.in_packets ? launch<Tile, true, 4>(plan, p, stream) : launch<Tile, true, 1>(plan, p, stream);
    else
        plan.in_packets ? launch<Tile, false, 4>(plan, p, stream) : launch<Tile, false, 1>(plan, p, stream);
}

}  // namespace

void launch_thin(const plan& plan, const arguments& arguments, cudaStream_t stream) {
    frame::with_row<thin_kernels>(
        plan.kernel, [&]<std::size_t row>() { launch_tile<thin_tile<row>>(plan, arguments, stream); });
}

}  // namespace heddle::kernels::matmul
