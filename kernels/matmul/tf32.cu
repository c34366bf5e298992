// tf32: float32 operands rounded to the eleven bits of TF32, which the tensor cores multiply at half the rate of bfloat16.
//
//   wgmma takes of TF32 from shared memory only what lies along k, and from registers anything:
//   B, along k:       global --TMA--> shared ------------------------> wgmma
//   A, in any order:  global --TMA--> shared --> a warp's registers -> wgmma
//
//   producer    | load A and B of step 0 | of step 1 | ...
//   consumers   | multiply the first half of a step, read A of the second | multiply that, read A of the next step | ...
//
// One of A and B has to lie along k. Where that is A alone, C^T = B^T A^T is computed, so that row-major operands need no
// copy; where neither does, or rows are odd, copies.cu copies before. The tensor memory accelerator rounds to TF32 on its
// way, where wgmma itself would cut off. Which rows of A are a thread's is free: those that lie along m are dealt out such
// that a thread reads two neighbours at once, half a warp reads from all banks, and four threads fill a sector of C. With a
// workspace, tiles are shared out along k. What limits it: power, as in the rungs for 16 bits.

#include "kernels/device/launch.hpp"
#include "kernels/device/pipeline.cuh"
#include "kernels/device/ptx/cluster.cuh"
#include "kernels/device/ptx/grid_dependency.cuh"
#include "kernels/device/tile_scheduler.hpp"
#include "kernels/matmul/launch.hpp"
#include "kernels/matmul/schedule.hpp"
#include "kernels/matmul/shared_sums.cuh"
#include "kernels/matmul/store.cuh"
#include "kernels/matmul/tf32.cuh"
#include "kernels/matmul/warpgroup.cuh"
#include "kernels/matmul/warpgroup_sums.cuh"

#include <algorithm>
#include <array>
#include <cstdint>

namespace heddle::kernels::matmul {
namespace {

constexpr int warp = 32;

/// Blocks of a cluster lie one below the other and share their tiles of B.
template <int consumers_, int n_, int stages_, int cluster_ = 1>
struct tf32_tile {
    static constexpr int consumers = consumers_;
    static constexpr int m = consumers * warpgroup_m;
    static constexpr int n = n_;
    static constexpr int k = swizzle_bytes / static_cast<int>(sizeof(float));
    static constexpr int stages = stages_;
    static constexpr int cluster = cluster_;
    static constexpr int threads = (consumers + 1) * warpgroup_threads;
    static constexpr int producer_registers = 40;
    static constexpr int consumer_registers = 232;
};

struct tf32_product {
    CUtensorMap a;
    CUtensorMap b;
    result<float> c;
};

template <class Tile, bool a_k_major>
struct tf32_kernel {
    using a_tile = warpgroup_tile<float, Tile::m, a_k_major>;
    using b_tile = warpgroup_tile<float, Tile::n, true>;
    using a_elements = a_of_thread<Tile::m, a_k_major>;
    static_assert(a_tile::depth == Tile::k && b_tile::depth == Tile::k);
    /// C is staged in chunks of 64 x 32, which is in lines of either, at pitches for which threads write to different banks.
    static constexpr int long_pitch = warpgroup_m + 2, short_pitch = chunk_cols + 8;
    static constexpr int staged_floats = warpgroup_m * short_pitch;
    static_assert(chunk_cols * long_pitch <= staged_floats);

    struct shared_storage {
        unsigned char a[Tile::stages][a_tile::bytes];
        unsigned char b[Tile::stages][b_tile::bytes];
        stage_barriers<Tile::stages> barriers;
        float staged[Tile::consumers][staged_floats];
        bool is_last[Tile::consumers];
    };

    const tf32_product& p;
    const tile_schedule& schedule;
    const shared_sums& partial;
    shared_storage& shared;
    int worker = static_cast<int>(blockIdx.x) / Tile::cluster;
    int rank = Tile::cluster == 1 ? 0 : static_cast<int>(ptx::cluster_rank());
    int group = static_cast<int>(threadIdx.x) / warpgroup_threads - 1;  ///< of the consumers
    int thread = static_cast<int>(threadIdx.x) % warpgroup_threads;
    stage_position<Tile::stages> at{};

    __device__ int row_of(const tile_work& work) const { return (work.row * Tile::cluster + rank) * Tile::m; }
    __device__ int col_of(const tile_work& work) const { return work.col * Tile::n; }

    /// By one thread.
    __device__ void produce() {
        tile_worker tiles(schedule, worker);
        for (tile_work work{}; tiles.next(work);)
            for (int step = work.first; step < work.last; ++step, at.advance()) {
                ptx::mbarrier* const full = &shared.barriers.full[at.stage];
                ptx::wait(&shared.barriers.empty[at.stage], at.parity ^ 1);
                ptx::arrive_and_expect(full, a_tile::bytes + b_tile::bytes);
                const int k = step * Tile::k;
                a_tile::template load<1>(shared.a[at.stage], p.a, row_of(work), k, 0, 0, full);
                b_tile::template load<Tile::cluster>(shared.b[at.stage], p.b, col_of(work), k, 0, rank, full);
            }
        if constexpr (Tile::cluster > 1)  // a block that has ended cannot be arrived at
            for (int stage = 0; stage < Tile::stages; ++stage, at.advance())
                ptx::wait(&shared.barriers.empty[at.stage], at.parity ^ 1);
    }

    /// Each warp has read A for itself. Every block that fills the stage here must know.
    __device__ void release(int stage) const {
        const int lane = thread % warp;
        __syncwarp();
        if constexpr (Tile::cluster == 1) {
            if (lane == 0) ptx::arrive(&shared.barriers.empty[stage]);
        } else {
            if (lane < Tile::cluster) ptx::arrive_at_block(&shared.barriers.empty[stage], lane);
        }
    }

    template <int n>
    __device__ void multiply_and_store(const a_elements& mine, const tile_work& work) {
        float sums[n / 2];
        multiply_tf32<n, b_tile>(mine, shared, at, work.last - work.first, sums,
                                 [&](int stage) { release(stage); });
        const sum_exchange<n, Tile::n> exchange(schedule, partial, worker, Tile::cluster * Tile::consumers,
                                                rank * Tile::consumers + group, 1 + group,
                                                shared.is_last[group]);
        if (work.tile >= 0 && !exchange.combine(work.tile, sums)) return;
        store<n>(mine, row_of(work) + group * warpgroup_m, col_of(work), sums);
    }

    /// Of 64 rows from `row` on.
    template <int n>
    __device__ void store(const a_elements& mine, int row, int col, const float (&sums)[n / 2]) const {
        const result<float>& c = p.c;
        const bool down = c.row_stride == 1;
        const bool neighbours = (down && a_elements::apart == 1) || c.col_stride == 1;
        const std::int64_t line_stride = down ? c.col_stride : c.row_stride;
        const bool in_pairs = neighbours && line_stride % 2 == 0 &&
                              reinterpret_cast<std::uintptr_t>(c.data) % sizeof(float2) == 0;
        const bool is_inside = row + warpgroup_m <= c.rows && col + n <= c.cols;
        if (in_pairs && is_inside && c.beta == 0)
            store_pairs<n>(row + mine.row(), col + thread % 4 * 2, down, sums);
        else if (down)
            store_staged<n, true>(mine.row(), row, col, sums);
        else
            store_staged<n, false>(mine.row(), row, col, sums);
    }

    /// Two elements of a thread that are neighbours in C; in a C that lies in columns, those of two rows.
    template <int n>
    __device__ void store_pairs(int row, int col, bool down, const float (&sums)[n / 2]) const {
        const result<float>& c = p.c;
        float* const begin = c.data + row * c.row_stride + col * c.col_stride;
        float* const second = begin + (down ? c.col_stride : a_elements::apart * c.row_stride);
#pragma unroll
        for (int j = 0; j < n / 8; ++j) {
            const float right = c.alpha * sums[4 * j + 1], below = c.alpha * sums[4 * j + 2];
            const std::int64_t at = 8 * j * c.col_stride;
            *reinterpret_cast<float2*>(begin + at) = make_float2(c.alpha * sums[4 * j], down ? below : right);
            *reinterpret_cast<float2*>(second + at) =
                make_float2(down ? right : below, c.alpha * sums[4 * j + 3]);
        }
    }

    /// To any C, in whole lines of it: by way of shared memory. All unrolled, as sums have no addresses; no more at once,
    /// as registers spill then.
    template <int n, bool down>
    __device__ void store_staged(int thread_row, int row, int col, const float (&sums)[n / 2]) const {
        constexpr int length = down ? warpgroup_m : chunk_cols, lines = warpgroup_threads / length;
        constexpr int to_row = down ? 1 : short_pitch, to_col = down ? long_pitch : 1;
        constexpr int to_line = lines * (down ? to_col : to_row);
        constexpr int of_thread = warpgroup_m * chunk_cols / warpgroup_threads, at_once = 4;
        const result<float>& c = p.c;
        float* const staged = shared.staged[group];
        const int line = thread / length, at = thread % length;
        const float* const mine = staged + line * (down ? to_col : to_row) + at;
        const std::int64_t line_stride = lines * (down ? c.col_stride : c.row_stride);
#pragma unroll
        for (int first = 0; first < n; first += chunk_cols) {
            sync_group();
#pragma unroll
            for (int i = 0; i < chunk_sums; ++i) {
                const int r = thread_row + i % 4 / 2 * a_elements::apart;
                const int s = i / 4 * 8 + thread % 4 * 2 + i % 2;
                staged[r * to_row + s * to_col] = sums[first / 2 + i];
            }
            sync_group();
            const int r = row + (down ? at : line), s = col + first + (down ? line : at);
            if (down ? r >= c.rows : s >= c.cols) continue;
            const int left = down ? c.cols - s : c.rows - r;
            float* to = c.data + r * c.row_stride + s * c.col_stride;
#pragma unroll
            for (int i = 0; i < of_thread; i += at_once, to += at_once * line_stride) {
                const auto is_inside = [&](int j) { return (i + j) * lines < left; };
                float values[at_once];
#pragma unroll
                for (int j = 0; j < at_once; ++j) values[j] = c.alpha * mine[(i + j) * to_line];
                if (c.beta != 0) {
                    float before[at_once];
#pragma unroll
                    for (int j = 0; j < at_once; ++j) before[j] = is_inside(j) ? to[j * line_stride] : 0;
#pragma unroll
                    for (int j = 0; j < at_once; ++j) values[j] += c.beta * before[j];
                }
#pragma unroll
                for (int j = 0; j < at_once; ++j)
                    if (is_inside(j)) to[j * line_stride] = values[j];
            }
        }
    }

    __device__ void sync_group() const {
        ptx::sync_threads(1 + group, warpgroup_threads);
    }

    __device__ void pass(int steps) {
        for (int step = 0; step < steps; ++step, at.advance()) {
            ptx::wait(&shared.barriers.full[at.stage], at.parity);
            release(at.stage);
        }
    }

    /// Where C ends in the tile, what is outside is not multiplied, as far as that is simple.
    __device__ void consume() {
        const a_elements mine(group, thread);
        tile_worker tiles(schedule, worker);
        for (tile_work work{}; tiles.next(work);)
            if (row_of(work) + group * warpgroup_m >= p.c.rows)
                pass(work.last - work.first);
            else if (col_of(work) + tf32_narrow >= p.c.cols)
                multiply_and_store<tf32_narrow>(mine, work);
            else
                multiply_and_store<Tile::n>(mine, work);
    }
};

template <class Tile, bool a_k_major>
__global__ void __launch_bounds__(Tile::threads, 1)
    tf32(const __grid_constant__ tf32_product p, const __grid_constant__ tile_schedule schedule,
         const __grid_constant__ shared_sums partial) {
    using kernel = tf32_kernel<Tile, a_k_major>;
    extern __shared__ __align__(1024) unsigned char storage[];
    auto& shared = *reinterpret_cast<typename kernel::shared_storage*>(storage);
    if (threadIdx.x == 0) {
        ptx::prefetch(p.a);
        ptx::prefetch(p.b);
        shared.barriers.init(1, Tile::consumers * (warpgroup_threads / warp) * Tile::cluster);
    }
    ptx::sync_cluster<Tile::cluster>();
    ptx::let_next_grid_begin();
    ptx::wait_for_grids_before();

    kernel self{p, schedule, partial, shared};
    if (threadIdx.x < warpgroup_threads) {
        ptx::release_registers<Tile::producer_registers>();
        if (threadIdx.x == 0) self.produce();
        __syncwarp();
    } else {
        ptx::claim_registers<Tile::consumer_registers>();
        self.consume();
    }
}

template <class Tile, bool a_k_major>
void launch_order(const arguments& p, const tile_schedule& schedule, const shared_sums& partial,
                  cudaStream_t stream) {
    using kernel = tf32_kernel<Tile, a_k_major>;
    constexpr auto rounded = CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
    const tf32_product product{
        .a = make_tensor_map(a_k_major ? p.a : transposed(p.a), kernel::a_tile::box_rows, kernel::a_tile::row,
                             1, 0, rounded),
        .b = make_tensor_map(transposed(p.b), kernel::b_tile::box_rows / Tile::cluster, kernel::b_tile::row,
                             1, 0, rounded),
        .c = make_result(p)};
    launch({.blocks = {schedule.workers * Tile::cluster},
            .threads = {Tile::threads},
            .shared_bytes = sizeof(typename kernel::shared_storage),
            .shared_limit = sizeof(typename kernel::shared_storage),
            .stream = stream,
            .cluster = Tile::cluster,
            .begins_early = true},
           tf32<Tile, a_k_major>, product, schedule, partial);
}

template <class Tile>
void launch_tile(const plan& plan, const arguments& p, cudaStream_t stream) {
    require_tile_of<Tile>(tf32_tiles[plan.tile]);
    tile_schedule schedule = schedule_of(plan);
    schedule.steps = static_cast<int>(divide_up(p.a.cols, Tile::k));
    const shared_sums partial = shared_sums_in(p.workspace);
    has_tensor_rows(p.a) ? launch_order<Tile, true>(p, schedule, partial, stream)
                         : launch_order<Tile, false>(p, schedule, partial, stream);
}

}  // namespace

void launch_tf32(const plan& plan, const arguments& arguments, cudaStream_t stream) {
    constexpr std::array launchers = {
        launch_tile<tf32_tile<2, 256, 4>>,    launch_tile<tf32_tile<2, 192, 5>>,
        launch_tile<tf32_tile<2, 128, 6>>,    launch_tile<tf32_tile<1, 128, 8>>,
        launch_tile<tf32_tile<1, 128, 8, 2>>, launch_tile<tf32_tile<1, 64, 12>>};
    static_assert(launchers.size() == tf32_tiles.size());
    launchers[plan.tile](plan, arguments, stream);
}

}  // namespace heddle::kernels::matmul
