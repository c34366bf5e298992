// pipelined: copies the next tiles while the current one is multiplied.
//
//   shared memory,   A  k rows of m    whatever the order in global memory: operands along k
//   per stage:       B  k rows of n    are transposed on the way
//   a warp: 4 x 8 threads, each with 16 x 8 elements of C (8 x 8 or 8 x 4 in small tiles)
//   a tile of few warps: several sets of warps, each with a slice of every stage along k
//   tiles of 64 x 64, four to a multiprocessor: batches of small matrices
//
// cp.async copies several stages ahead without registers, so a stage has one barrier, and no thread waits for DRAM. It
// copies 4 bytes at a time if rows lie along k or are not aligned. So all fragments are read 16 bytes at a time, along m
// or n. An FFMA reads one register a clock from each of two banks, of even and odd numbers. So one of its three operands
// must stay from the FFMA before. Therefore products go along a row of the thread's tile and back along the next. Even
// columns of B are in even registers, and `swapped` puts their sums into odd ones. Needs a unit stride along one dimension
// of A and of B. What limits it: bank conflicts that the compiler leaves, and reads of fragments.

#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/grid_dependency.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/matmul/fragment.cuh"
#include "kernels/matmul/orders.cuh"
#include "kernels/matmul/tile_loader.cuh"
#include "kernels/matmul/tile_split.cuh"

#include <algorithm>
#include <cstddef>

namespace heddle::kernels::matmul {
namespace {

template <std::size_t row>
struct tile_of {
    static constexpr pipelined_kernel config = pipelined_kernels[row];
    static constexpr int lanes_m = 4;
    static constexpr int lanes_n = 8;
    static constexpr int thread_m = config.thread_m;
    static constexpr int thread_n = config.thread_n;
    static constexpr int warp_m = lanes_m * thread_m;
    static constexpr int warp_n = lanes_n * thread_n;
    static constexpr int warps_n = config.warps_n;
    static constexpr int slices = config.slices;  ///< of a stage along k, each for other warps
    static constexpr int slice_threads = config.warps_m * warps_n * 32;
    static constexpr int threads = slices * slice_threads;
    static constexpr int m = config.m();
    static constexpr int n = config.n();
    static constexpr int k = config.k;
    static constexpr int slice_k = k / slices;
    static constexpr int unrolled = config.unrolled;
    static constexpr int turns = slice_k / unrolled;  ///< of the loop for one stage
    static constexpr int kept_m = thread_m / slices;  ///< of a thread's rows, when slices are added up
    static constexpr int stages = config.stages;
    static constexpr int blocks_per_sm = config.blocks_per_sm;
    static_assert(thread_m % 4 == 0 && thread_n % 4 == 0, "fragments are read four elements at a time");
    static_assert(thread_m % slices == 0 && k % slices == 0 && slice_k % unrolled == 0);
    static_assert(unrolled % 2 == 0, "two fragments take turns");
    static_assert(stages >= 3, "one stage is computed, one is filled, one has arrived");
};

/// Adds up the sums of the slices. Each slice keeps the totals of some of its rows.
template <class Tile>
__device__ void add_slices(const float (&sums)[Tile::thread_m][Tile::thread_n],
                           float (&kept)[Tile::kept_m][Tile::thread_n], packet* exchange, int slice) {
    constexpr int packets = Tile::thread_n / 4;
    exchange += threadIdx.x % Tile::slice_threads;
    const auto place = [](int from_slice, int i, int j) {
        return ((from_slice * Tile::thread_m + i) * packets + j) * Tile::slice_threads;
    };
#pragma unroll
    for (int i = 0; i < Tile::thread_m; ++i)
#pragma unroll
        for (int j = 0; j < packets; ++j)
            exchange[place(slice, i, j)] =
                swapped({sums[i][4 * j], sums[i][4 * j + 1], sums[i][4 * j + 2], sums[i][4 * j + 3]});
    ptx::sync_threads();
#pragma unroll
    for (int i = 0; i < Tile::kept_m; ++i)
#pragma unroll
        for (int j = 0; j < packets; ++j) {
            packet total = exchange[place(0, slice * Tile::kept_m + i, j)];
#pragma unroll
            for (int from_slice = 1; from_slice < Tile::slices; ++from_slice) {
                const packet read = exchange[place(from_slice, slice * Tile::kept_m + i, j)];
#pragma unroll
                for (int e = 0; e < 4; ++e) total[e] += read[e];
            }
            total = swapped(total);
#pragma unroll
            for (int e = 0; e < 4; ++e) kept[i][4 * j + e] = total[e];
        }
}

/// A is m x k, and B is n x k.
template <class Tile, bool a_k_major, bool b_k_major, int width>
__global__ void __launch_bounds__(Tile::threads, Tile::blocks_per_sm)
    pipelined(arguments p, matrix_view<const float> a, matrix_view<const float> b, tile_split tiles,
              bool vector_store) {
    using a_tile = staged_operand<Tile, Tile::m>;
    using b_tile = staged_operand<Tile, Tile::n>;
    extern __shared__ float4 storage[];
    float* const a_stages = reinterpret_cast<float*>(storage);
    float* const b_stages = a_stages + Tile::stages * a_tile::size;
    ptx::let_next_grid_begin();

    // locate
    take_batch(p, blockIdx.z);
    a.data = p.a.data;
    b.data = p.b.data;
    const int thread = static_cast<int>(threadIdx.x);
    const tile_part part(tiles, static_cast<int>(blockIdx.x),
                         static_cast<int>((a.cols + Tile::k - 1) / Tile::k));
    const std::int64_t row = part.at.row * Tile::m, col = part.at.col * Tile::n;
    const std::int64_t first_k = std::int64_t{part.first_step} * Tile::k;
    const int steps = part.steps;
    const int slice = thread / Tile::slice_threads;
    const int warp = thread % Tile::slice_threads / 32;
    const int lane = thread % 32;
    const int lane_m = lane_of_four(lane);
    const int lane_n = lane_of_eight(lane);
    const int warp_row = warp / Tile::warps_n * Tile::warp_m;
    const int warp_col = warp % Tile::warps_n * Tile::warp_n;

    // load; a stage is loaded in several turns, so that reads of fragments do not queue behind many copies
    typename a_tile::template loader<a_k_major, width> a_loader(a, row, first_k);
    typename b_tile::template loader<b_k_major, width> b_loader(b, col, first_k);
    const bool is_inside = row + Tile::m <= a.rows && col + Tile::n <= b.rows;
    const std::int64_t depth = a.cols - first_k;
    const auto steps_inside = is_inside ? static_cast<int>(min(std::int64_t{steps}, depth / Tile::k)) : 0;
    int loaded = 0;
    const auto load = [&](int stage, int turn) {
        float* const a_to = a_stages + stage * a_tile::size;
        float* const b_to = b_stages + stage * b_tile::size;
        if (loaded < steps_inside) {
            a_loader.template copy_async<true>(a_to, turn, Tile::k);
            b_loader.template copy_async<true>(b_to, turn, Tile::k);
        } else if (loaded < steps) {
            const auto k_left =
                static_cast<int>(min(std::int64_t{Tile::k}, depth - std::int64_t{loaded} * Tile::k));
            a_loader.template copy_async<false>(a_to, turn, k_left);
            b_loader.template copy_async<false>(b_to, turn, k_left);
        }
    };
    const auto end_stage = [&] {
        ++loaded;
        ptx::cp_async_commit_group();
    };
#pragma unroll 1
    for (int stage = 0; stage < Tile::stages - 1; ++stage) {
#pragma unroll
        for (int turn = 0; turn < Tile::turns; ++turn) load(stage, turn);
        end_stage();
    }
    ptx::cp_async_wait_group<Tile::stages - 2>();
    ptx::sync_threads();

    // compute; fragments of the next k are read before those of this k are multiplied
    float sums[Tile::thread_m][Tile::thread_n] = {};
    float as[2][Tile::thread_m], bs[2][Tile::thread_n];
    const float* const a_begin = a_stages + slice * Tile::slice_k * a_tile::row_stride + warp_row;
    const float* const b_begin = b_stages + slice * Tile::slice_k * b_tile::row_stride + warp_col;
    const float *a_now = a_begin, *b_now = b_begin;
    const auto read = [&](int k) {
        const int down = k % Tile::unrolled;
        load_fragment<Tile::lanes_m>(as[k % 2], a_now + down * a_tile::row_stride, lane_m);
        load_fragment<Tile::lanes_n>(bs[k % 2], b_now + down * b_tile::row_stride, lane_n);
    };
    read(0);
    int stage = 0, turn = 0;
    const unsigned all_turns = static_cast<unsigned>(steps) * Tile::turns;
#pragma unroll 1
    for (unsigned done = 0; done < all_turns; ++done) {
#pragma unroll
        for (int k = 0; k < Tile::unrolled; ++k) {
            if (k + 1 == Tile::unrolled) {
                load(stage == 0 ? Tile::stages - 1 : stage - 1, turn);
                if (++turn < Tile::turns) {
                    a_now += Tile::unrolled * a_tile::row_stride;
                    b_now += Tile::unrolled * b_tile::row_stride;
                } else {
                    turn = 0;
                    end_stage();
                    ptx::cp_async_wait_group<Tile::stages - 2>();
                    ptx::sync_threads();  // the next stage has arrived for all, and all have read this one
                    stage = stage + 1 == Tile::stages ? 0 : stage + 1;
                    a_now = a_begin + stage * a_tile::size;
                    b_now = b_begin + stage * b_tile::size;
                }
            }
            read(k + 1);
            multiply(sums, as[k % 2], bs[k % 2]);
        }
    }

    // store
    float kept[Tile::kept_m][Tile::thread_n];
    if constexpr (Tile::slices == 1) {
#pragma unroll
        for (int i = 0; i < Tile::thread_m; ++i)
#pragma unroll
            for (int j = 0; j < Tile::thread_n; ++j) kept[i][j] = sums[i][j];
    } else {
        ptx::cp_async_wait_group<0>();
        ptx::sync_threads();
        add_slices<Tile>(sums, kept, reinterpret_cast<packet*>(storage), slice);
    }
    const auto down_of = [&](int i) {
        return warp_row + position<Tile::lanes_m>(lane_m, slice * Tile::kept_m + i);
    };
    const auto across_of = [&](int j) { return warp_col + position<Tile::lanes_n>(lane_n, j); };
    if (!part.is_part) {
        const auto row_of = [&](int i) { return row + down_of(i); };
        const auto col_of = [&](int j) { return col + across_of(j); };
        return p.epilogue.is_identity ? store_fragment(p, kept, row_of, col_of, vector_store)
                                      : finish_fragment(p, kept, row_of, col_of);
    }
    const std::int64_t index = std::int64_t{blockIdx.z} * tiles.all_parts() + part.index;
    float* const left = tiles.sums + index * (Tile::m * Tile::n);
#pragma unroll
    for (int i = 0; i < Tile::kept_m; ++i)
#pragma unroll
        for (int j = 0; j < Tile::thread_n; j += 4)
            *reinterpret_cast<packet*>(left + down_of(i) * Tile::n + across_of(j)) =
                swapped({kept[i][j], kept[i][j + 1], kept[i][j + 2], kept[i][j + 3]});
}

template <class Tile, bool a_k_major, bool b_k_major, int width>
void launch(const arguments& all, const matrix_view<const float>& a, const matrix_view<const float>& b,
            const tile_split& tiles, bool vector_store, cudaStream_t stream) {
    constexpr int bytes = Tile::config.shared_bytes();
    constexpr int stage_floats =
        Tile::stages * (staged_operand<Tile, Tile::m>::size + staged_operand<Tile, Tile::n>::size);
    static_assert(Tile::slices > 1 || bytes == stage_floats * static_cast<int>(sizeof(float)));
    const std::int64_t blocks =
        tiles.whole + (std::int64_t{tiles.down} * tiles.across - tiles.whole) * tiles.parts;
    for_each_grid(all, {blocks}, [&](const launch_extents& grid, const arguments& p) {
        kernels::launch({.blocks = grid,
                         .threads = {Tile::threads},
                         .shared_bytes = bytes,
                         .shared_limit = bytes,
                         .stream = stream},
                        pipelined<Tile, a_k_major, b_k_major, width>, p, a, b, tiles, vector_store);
    });
}

template <class Tile>
void launch_tile(const arguments& p, const tile_split& tiles, cudaStream_t stream) {
    const bool a_k_major = has_contiguous_rows(p.a);
    const bool b_k_major = !has_contiguous_rows(p.b);
    const matrix_view<const float> a = p.a, b = transposed(p.b);
    const bool is_aligned = (a_k_major || is_vector_aligned(a.data, a.cols, a.col_stride, p.batch.a)) &&
                            (b_k_major || is_vector_aligned(b.data, b.cols, b.col_stride, p.batch.b));
    const bool vector_store = has_packets(p.c, p.batch.c);

    with_orders(a_k_major, b_k_major, [&]<bool a_major, bool b_major>() {
        constexpr int packet = a_major && b_major ? 1 : 4;
        is_aligned ? launch<Tile, a_major, b_major, packet>(p, a, b, tiles, vector_store, stream)
                   : launch<Tile, a_major, b_major, 1>(p, a, b, tiles, vector_store, stream);
    });
}

}  // namespace

void launch_pipelined(const plan& plan, const arguments& arguments, cudaStream_t stream) {
    const tile_split tiles = split_of(plan, arguments.workspace);
    frame::with_row<pipelined_kernels>(
        plan.kernel, [&]<std::size_t row>() { launch_tile<tile_of<row>>(arguments, tiles, stream); });
}

}  // namespace heddle::kernels::matmul
