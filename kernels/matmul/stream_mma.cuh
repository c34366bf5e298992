// stream_mma: stream on tensor cores, for half, bfloat16 and tf32.
//
//   a block:    tiles of 128 x 64 down C, or of 32 x 256 across it; one operand stays, for one or several such tiles
//   a warp:     32 x 64 of C: 2 x 8 instructions of 16 x 8 x 16 (tf32: x 8) for each step along k
//   operands    all of k, in their order in memory; the next tile of the one that moves is copied meanwhile
//   C           16 rows of a warp pass through its own shared memory; lanes store 128 bytes of a row, wherever it begins
//
// mma_sync waits for k in steps of 64, fills and empties a pipeline for each tile, and its threads store pieces of four
// elements. With a short k that takes longer than the bytes do. Here a block has one barrier for each tile that moves, and
// warps store C without waiting for one another. Copies have 16 bytes, 4 bytes, or single elements at any address and
// stride. Needs a k of at most 128, or 64 for tf32. What limits it: the bytes of C and of the operand that moves.

#pragma once

#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/cp_async.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/matmul/element.cuh"
#include "kernels/matmul/orders.cuh"
#include "kernels/matmul/stream_mma_copies.cuh"
#include "kernels/matmul/stream_mma_strip.cuh"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace heddle::kernels::matmul {

/// The tiles that blocks go through. Down C, tiles of B stay, and those of A move; across C, it is the other way.
struct mma_march {
    streamed_operand a, b;
    int chunks;            ///< tiles that stay in a block
    int staying_bytes;     ///< of all of them in shared memory
    int moving_bytes;      ///< of a tile that moves
    int buffers;           ///< such tiles in shared memory
    int staying;           ///< groups of so many chunks
    int moving;            ///< tiles that move, in each product
    std::int64_t batches;  ///< products that a block goes through
    int word_shift;        ///< log2 of the words of 4 bytes for which a row of C has lanes
};

template <std::size_t row>
struct stream_mma_tile {
    static constexpr stream_mma_kernel config = stream_mma_kernels[row];
    static constexpr bool goes_across = config.goes_across;
    static constexpr int threads = config.warps * 32;
    static constexpr int m = config.m(), n = config.n();
    static constexpr int staged_bytes = config.staged_bytes();
    static constexpr int warp_m = config.warp_m, warp_n = config.warp_n;
};

template <class Tile, class In, class Out>
__global__ void __launch_bounds__(Tile::threads, Tile::config.blocks_per_sm)
    stream_mma(const __grid_constant__ product<In, Out> p, const __grid_constant__ mma_march march) {
    constexpr bool across = Tile::goes_across;
    constexpr int step = 32 / static_cast<int>(sizeof(In)), threads = Tile::threads;
    extern __shared__ uint4 stream_mma_storage[];
    const auto thread = static_cast<int>(threadIdx.x), warp = thread / 32;
    const auto depth = static_cast<int>(p.a.cols), padded = (depth + step - 1) / step * step;
    float* const staged =
        reinterpret_cast<float*>(stream_mma_storage) + warp * stream_mma_kernel::staged_size;
    auto* const operands = reinterpret_cast<unsigned char*>(stream_mma_storage) + Tile::staged_bytes;
    In* const stays = reinterpret_cast<In*>(operands);
    const auto moves = [&](int buffer) {
        return reinterpret_cast<In*>(operands + march.staying_bytes + buffer * march.moving_bytes);
    };
    const auto load_a = [&](In* to, std::int64_t batch, std::int64_t first, int extent) {
        const auto inside = static_cast<int>(min(std::int64_t{extent}, p.a.rows - first));
        copy_operand<threads>(march.a, to, p.a.data + batch * p.batch.a + first * p.a.row_stride,
                              p.a.row_stride, p.a.col_stride, inside, depth);
    };
    const auto load_b = [&](In* to, std::int64_t batch, std::int64_t first, int extent) {
        const auto inside = static_cast<int>(min(std::int64_t{extent}, p.b.cols - first));
        copy_operand<threads>(march.b, to, p.b.data + batch * p.batch.b + first * p.b.col_stride,
                              p.b.col_stride, p.b.row_stride, inside, depth);
    };

    // locate
    const int group = static_cast<int>(blockIdx.x) % march.staying,
              first = static_cast<int>(blockIdx.x) / march.staying,
              workers = static_cast<int>(gridDim.x) / march.staying;
    const int more = workers % march.moving, more_batches = workers / march.moving;
    const std::int64_t end = blockIdx.z + march.batches;
    std::int64_t batch = blockIdx.z + first / march.moving;
    int tile = first % march.moving;
    const std::int64_t stays_from = std::int64_t{group} * march.chunks * (across ? Tile::m : Tile::n);
    const int warp_at = warp * (across ? Tile::warp_n : Tile::warp_m);
    const bool is_plain = p.beta == 0 && p.epilogue.is_identity;
    // Calls function(row, col, chunk) for the warp's strips of a tile, each of which has elements of C.
    const auto each_strip = [&](int of_tile, auto function) {
        const std::int64_t moved = std::int64_t{of_tile} * (across ? Tile::n : Tile::m) + warp_at;
#pragma unroll 1
        for (int chunk = 0; chunk < march.chunks; ++chunk) {
            const std::int64_t stayed = stays_from + chunk * (across ? Tile::m : Tile::n);
            const std::int64_t row = across ? stayed : moved, col = across ? moved : stayed;
            if (row >= p.c.rows || col >= p.c.cols) break;
            function(row, col, chunk);
        }
    };
    const auto load_moving = [&](int buffer) {
        if constexpr (across)
            load_b(moves(buffer), batch, std::int64_t{tile} * Tile::n, Tile::n);
        else
            load_a(moves(buffer), batch, std::int64_t{tile} * Tile::m, Tile::m);
        ptx::cp_async_commit_group();
        each_strip(tile, [&](std::int64_t row, std::int64_t col, int) {
            const auto& e = p.epilogue;
            if (p.beta != 0)
                prefetch_strip<Out>(
                    {p.c.data + batch * p.batch.c, p.c.rows, p.c.cols, p.c.row_stride, p.c.col_stride}, row,
                    col);
            if (e.residual != nullptr)
                prefetch_strip<Out>(
                    {e.residual, p.c.rows, p.c.cols, e.residual_row_stride, e.residual_col_stride}, row, col);
        });
    };

    // Elements of a step beyond k are zeros, which no copy overwrites: the memory might hold NaN.
    if (padded != depth) {
        const int packets = (march.staying_bytes + march.buffers * march.moving_bytes) / 16;
        for (int i = thread; i < packets; i += threads) reinterpret_cast<uint4*>(operands)[i] = uint4{};
        ptx::sync_threads();
    }
    if constexpr (across)
        load_a(stays, blockIdx.z, stays_from, march.chunks * Tile::m);
    else
        load_b(stays, blockIdx.z, stays_from, march.chunks * Tile::n);
    load_moving(0);
#pragma unroll 1
    for (int buffer = 0; batch < end; buffer ^= 1) {
        const int here = tile;
        Out* const c = p.c.data + batch * p.batch.c;

        // load the next tile, where all have read the one before this
        ptx::cp_async_wait_group<0>();
        ptx::sync_threads();
        batch += more_batches, tile += more;
        if (tile >= march.moving) ++batch, tile -= march.moving;
        if (batch < end) load_moving(buffer ^ 1);

        each_strip(here, [&](std::int64_t row, std::int64_t col, int chunk) {
            const std::int64_t rows = p.c.rows - row, cols = p.c.cols - col;
            const auto columns = static_cast<int>(min(std::int64_t{64}, cols));
            const In* const moved = moves(buffer);
            const int in_stays = chunk * (across ? Tile::m : Tile::n);
            strip_sums sums = {};
            with_orders(march.a.by_k, march.b.by_k, [&]<bool a_by_k, bool b_by_k>() {
                multiply_strip<a_by_k, b_by_k>(sums, across ? stays : moved, march.a.stride,
                                               across ? in_stays : warp_at, across ? moved : stays,
                                               march.b.stride, across ? warp_at : in_stays, padded, rows,
                                               columns);
            });
#pragma unroll 1
            for (int down = 0; down < 32 && down < rows; down += 16) {
                ptx::sync_warp();  // all have read the rows before
                stage_sums(sums[0], staged);
                ptx::sync_warp();
                const auto rows_here = static_cast<int>(min(std::int64_t{16}, rows - down));
                if (is_plain)
                    store_strip<true>(p, staged, c, row + down, col, rows_here, columns, march.word_shift);
                else
                    finish_strip(p, staged, c, row + down, col, rows_here, columns, march.word_shift);
#pragma unroll
                for (int j = 0; j < 8; ++j)
#pragma unroll
                    for (int i = 0; i < 4; ++i) sums[0][j][i] = sums[1][j][i];
            }
        });
    }
}

/// The most bytes that copies of an operand have: 16, 4, or those of an element.
template <class In>
int width_of_copies(const matrix_view<const In>& m, bool by_rows, std::int64_t batch_stride) {
    const matrix_view<const In> lines = by_rows ? m : transposed(m);
    constexpr int size = sizeof(In);
    if (lines.cols > 1 && lines.col_stride != 1) return size;
    const std::int64_t steps = (lines.rows > 1 ? lines.row_stride : 0) | batch_stride;
    const int alignment = common_alignment(reinterpret_cast<std::uintptr_t>(m.data), steps * size);
    return alignment == 16 ? 16 : alignment >= 4 ? 4 : size;
}

template <class Tile, class In, class Out>
void launch_stream_mma_tile(const plan& plan, const product<In, Out>& all, cudaStream_t stream) {
    static_cast<void>(tile_count(all, Tile::m, Tile::n));  // throws if they are too many for an int
    constexpr stream_mma_kernel config = Tile::config;
    constexpr bool across = Tile::goes_across;
    constexpr int size = sizeof(In), per_word = 4 / sizeof(Out);
    const auto k = static_cast<int>(all.a.cols);
    const int chunks = plan.chunks, stays = chunks * config.chunk(), moves = config.moving();
    const bool a_by_k = lies_by_rows(all.a), b_by_k = !lies_by_rows(all.b);
    const auto described = [&](bool by_k, int width, int extent) {
        return streamed_operand{by_k, width, config.line_bytes(by_k, extent, k, size) / size};
    };
    const auto words =
        static_cast<unsigned>(divide_up(std::min<std::int64_t>(config.warp_n, all.c.cols), per_word));
    const std::int64_t down = divide_up(all.c.rows, Tile::m), beside = divide_up(all.c.cols, Tile::n);
    const mma_march march{
        .a = described(a_by_k, width_of_copies(all.a, a_by_k, all.batch.a), across ? stays : moves),
        .b = described(b_by_k, width_of_copies(all.b, !b_by_k, all.batch.b), across ? moves : stays),
        .chunks = chunks,
        .staying_bytes = config.tile_bytes(stays, k, size),
        .moving_bytes = config.tile_bytes(moves, k, size),
        .buffers = plan.buffers,
        .staying = static_cast<int>(divide_up(across ? down : beside, chunks)),
        .moving = static_cast<int>(across ? beside : down),
        .batches = plan.batches,
        .word_shift = std::countr_zero(std::bit_ceil(words))};
    product<In, Out> together = all;
    if (plan.batches > 1) together.batch.count = 1;
    for_each_grid(together, {plan.workers}, [&](const launch_extents& grid, const product<In, Out>& p) {
        kernels::launch(
            {.blocks = grid,
             .threads = {Tile::threads},
             .shared_bytes = static_cast<std::size_t>(config.shared_bytes(k, size, chunks, plan.buffers)),
             .shared_limit = static_cast<std::size_t>(config.most_shared_bytes()),
             .stream = stream},
            stream_mma<Tile, In, Out>, p, march);
    });
}

template <class In, class Out>
void launch_stream_mma(const plan& plan, const product<In, Out>& arguments, cudaStream_t stream) {
    frame::with_row<stream_mma_kernels>(plan.kernel, [&]<std::size_t row>() {
        launch_stream_mma_tile<stream_mma_tile<row>>(plan, arguments, stream);
    });
}

}  // namespace heddle::kernels::matmul
