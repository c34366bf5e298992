#pragma once

#include "kernels/device/launch.hpp"
#include "kernels/device/pipeline.cuh"
#include "kernels/device/ptx/cluster.cuh"
#include "kernels/device/ptx/grid_dependency.cuh"
#include "kernels/device/tile_scheduler.hpp"
#include "kernels/matmul/schedule.hpp"
#include "kernels/matmul/shared_sums.cuh"
#include "kernels/matmul/store.cuh"
#include "kernels/matmul/warpgroup.cuh"
#include <heddle/error.hpp>

#include <array>
#include <cstddef>
#include <limits>

/// The kernel of the rungs `persistent`, `cluster_multicast`, `stream_k` and `fused`; `grouped` has its parts.
namespace heddle::kernels::matmul {

/// What kernels can do beside whole products that are stored as they are: each costs code.
enum class extra { nothing, streams, epilogue };

/// Whether the consumers have 64 rows of one tile each, or take turns, with a tile each: then one multiplies while the other
/// stores.
enum class consumers_have { one_tile, turns };

/// `consumers` warpgroups multiply `halves` x 64 rows of n columns. Blocks of a cluster lie one below the other and share
/// their tiles of B.
template <int consumers_, int n_, int stages_, int cluster_, extra extra_ = extra::nothing,
          consumers_have have = consumers_have::one_tile>
struct persistent_tile {
    static constexpr int consumers = consumers_;
    static constexpr bool take_turns = have == consumers_have::turns;
    static constexpr int halves = take_turns ? 2 : 1;
    static constexpr int consumers_of_tile = take_turns ? 1 : consumers;
    static constexpr int m = consumers_of_tile * halves * warpgroup_m;
    static constexpr int n = n_;
    static constexpr int k = 64;
    static constexpr int stages = stages_;
    static constexpr int cluster = cluster_;
    static constexpr bool streams = extra_ == extra::streams;  ///< workers may share a tile
    static constexpr bool has_epilogue = extra_ == extra::epilogue;
    static constexpr int threads = (consumers + 1) * warpgroup_threads;
    static constexpr int producer_registers = 40;
    static constexpr int consumer_registers = 232;
    static constexpr int sums = n / 2;  ///< of a thread and a half
    static_assert(!streams || !take_turns);
};

template <class In, class Out, class Tile, bool a_k_major, bool b_k_major,
          class Activation = matmul_activation>
struct persistent_kernel {
    using a_tile = warpgroup_tile<In, Tile::m, a_k_major>;
    using b_tile = warpgroup_tile<In, Tile::n, b_k_major>;
    static_assert(a_tile::depth == Tile::k);
    /// C is staged in boxes of 64 rows of 128 bytes, or of 64 where those do not divide the tile.
    static constexpr int out_row = swizzle_bytes / static_cast<int>(sizeof(Out));
    static constexpr int out_cols = Tile::n % out_row == 0 ? out_row : out_row / 2;
    static constexpr int box_bytes = warpgroup_m * out_cols * static_cast<int>(sizeof(Out));
    static constexpr int out_boxes = 2 * out_row / out_cols;  ///< of a warpgroup
    static constexpr float infinity = std::numeric_limits<float>::infinity();

    struct shared_storage {
        unsigned char a[Tile::stages][a_tile::bytes];
        unsigned char b[Tile::stages][b_tile::bytes];
        unsigned char out[Tile::consumers][out_boxes][box_bytes];
        float column_biases[Tile::consumers][Tile::has_epilogue ? Tile::n : 1];
        stage_barriers<Tile::stages> barriers;
        ptx::mbarrier turns[Tile::consumers];
        bool is_last[Tile::consumers];
    };

    const tensor_product<Out, Activation>& p;
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
    __device__ void sync_group() const { ptx::sync_threads(1 + group, warpgroup_threads); }

    /// By one thread.
    __device__ void produce() {
        tile_worker tiles(schedule, worker);
        for (tile_work work{}; tiles.next(work);) load(work);
        if constexpr (Tile::cluster > 1)  // a block that has ended cannot be arrived at
            for (int stage = 0; stage < Tile::stages; ++stage, at.advance())
                ptx::wait(&shared.barriers.empty[at.stage], at.parity ^ 1);
    }

    __device__ void load(const tile_work& work) {
        for (int step = work.first; step < work.last; ++step, at.advance()) {
            ptx::mbarrier* const full = &shared.barriers.full[at.stage];
            ptx::wait(&shared.barriers.empty[at.stage], at.parity ^ 1);
            ptx::arrive_and_expect(full, a_tile::bytes + b_tile::bytes);
            const int k = step * Tile::k;
            a_tile::template load<1>(shared.a[at.stage], p.a, row_of(work), k, work.batch * p.a_batch_step, 0,
                                     full);
            b_tile::template load<Tile::cluster>(shared.b[at.stage], p.b, col_of(work), k,
                                                 work.batch * p.b_batch_step, rank, full);
        }
    }

    /// Every block that fills the stage here must know.
    __device__ void release(int stage) {
        if constexpr (Tile::cluster == 1) {
            if (thread == 0) ptx::arrive(&shared.barriers.empty[stage]);
        } else {
            if (thread < Tile::cluster) ptx::arrive_at_block(&shared.barriers.empty[stage], thread);
        }
    }

    /// Of the tile's rows, this warpgroup's.
    __device__ int row_of_half(int half) const { return (Tile::take_turns ? half : group) * warpgroup_m; }

    __device__ void multiply(int steps, float (&sums)[Tile::halves][Tile::sums]) {
        int stage_before = 0;
        for (int step = 0; step < steps; ++step) {
            ptx::wait(&shared.barriers.full[at.stage], at.parity);
            const std::uint64_t b = b_tile::descriptor(shared.b[at.stage], 0);
            ptx::wgmma_fence();
#pragma unroll
            for (int i = 0; i < Tile::k / a_tile::step; ++i)
#pragma unroll
                for (int half = 0; half < Tile::halves; ++half) {
                    const std::uint64_t a = a_tile::descriptor(shared.a[at.stage], row_of_half(half));
                    ptx::wgmma<In, Tile::n, a_k_major, b_k_major>(sums[half], a + i * a_tile::advance,
                                                                  b + i * b_tile::advance, step > 0 || i > 0);
                }
            ptx::wgmma_commit();
            if (step > 0) {  // the products of the step before are done, those of this one run
                ptx::wgmma_wait<1>();
                release(stage_before);
            }
            stage_before = at.stage;
            at.advance();
        }
        if constexpr (Tile::take_turns) ptx::arrive(&shared.turns[(group + 1) % Tile::consumers]);
        ptx::wgmma_wait<0>();
#pragma unroll
        for (auto& of_half : sums) ptx::wgmma_results(of_half);
        release(stage_before);
    }

    /// Whether this warpgroup has the tile's sums now.
    __device__ bool combine(int tile, float (&sums)[Tile::sums]) {
        const sum_exchange<Tile::n> exchange(schedule, partial, worker, Tile::cluster * Tile::consumers,
                                             rank * Tile::consumers + group, 1 + group,
                                             shared.is_last[group]);
        return exchange.combine(tile, sums);
    }

    /// Buffers that no store reads any more.
    __device__ void wait_for_buffers() {
        if (thread == 0) ptx::wait_for_reads_of_stores<0>();
        sync_group();
    }

    /// Of a tile's boxes, as many together as there is room for: a fence and two barriers take longer than to fill
    /// a box.
    static constexpr int cols_together = out_boxes * out_cols;

    /// Stores the boxes that are filled: columns [begin, end) of the tile.
    __device__ void store_boxes(int row, int col, int batch, int begin, int end) {
        ptx::fence_before_copies();
        sync_group();
        if (thread != 0) return;
        for (int first = begin; first < end; first += out_cols)
            if (row < p.m && col + first < p.n)
                ptx::store_box(p.c, shared.out[group][(first - begin) / out_cols], col + first, row, batch);
        ptx::commit_stores();
    }

    /// By the tensor memory accelerator. `finish` takes a thread's part of a chunk, and which column of the tile it begins at.
    template <class Finish>
    __device__ void store_in_boxes(int row, int col, int batch, const float (&sums)[Tile::sums],
                                   Finish finish) {
#pragma unroll
        for (int begin = 0; begin < Tile::n; begin += cols_together) {
            constexpr int tile_n = Tile::n;
            const int end = ::min(begin + cols_together, tile_n);
            wait_for_buffers();
#pragma unroll
            for (int first = begin; first < end; first += chunk_cols) {
                float values[chunk_sums];
                pick<Tile::n>(sums, first, values);
                finish(values, first);
                stage_in_box<Out, out_cols>(shared.out[group][(first - begin) / out_cols], first % out_cols,
                                            values);
            }
            store_boxes(row, col, batch, begin, end);
        }
    }

    __device__ void store(int row, int col, int batch, const float (&sums)[Tile::sums]) {
        if (col + Tile::n <= p.c_map_cols) {
            store_in_boxes(row, col, batch, sums, [&](float(&values)[chunk_sums], int) {
#pragma unroll
                for (float& value : values) value *= p.alpha;
            });
            return;
        }
        unsigned char* const staged = shared.out[group][0];
        wait_for_buffers();
#pragma unroll 1
        for (int first = 0; first < Tile::n; first += chunk_cols) {
            float values[chunk_sums];
            pick<Tile::n>(sums, first, values);
            stage_in_box<float, chunk_cols>(staged, 0, values);
            sync_group();
            store_staged(p, row, col + first, batch, staged, p.alpha, p.beta);
            sync_group();
        }
    }

    /// The same. One copy of the epilogue's code serves all chunks, but for biases and relu, which are short.
    __device__ void store_with_epilogue(int row, int col, int batch, const float (&sums)[Tile::sums],
                                        const tile_biases<Tile::n>& biases) {
        const bool in_boxes = col + Tile::n <= p.c_map_cols;
        float* const columns = shared.column_biases[group];
        biases.share(columns);
        if constexpr (std::is_same_v<Activation, matmul_activation>) {
            const bool is_relu = p.epilogue.activation == matmul_activation::relu;
            const bool is_short = (is_relu || p.epilogue.activation == matmul_activation::none) &&
                                  p.beta == 0 && p.epilogue.residual == nullptr;
            if (in_boxes && is_short) {
                const float least = is_relu ? 0 : -infinity;
                store_in_boxes(row, col, batch, sums, [&](float(&values)[chunk_sums], int first) {
                    add_biases(p, columns + first, biases.of_rows, values);
#pragma unroll
                    for (float& value : values) value = p.epilogue.scale * (value < least ? least : value);
                });
                return;
            }
        }
        wait_for_buffers();
#pragma unroll 1
        for (int first = 0; first < Tile::n; first += chunk_cols) {
            float values[chunk_sums];
            pick<Tile::n>(sums, first, values);
            apply_epilogue(p, row, col + first, columns + first, biases.of_rows, values);
            if (in_boxes) {
                const int together = first % cols_together;
                if (together == 0 && first > 0) wait_for_buffers();
                stage_in_box<Out, out_cols>(shared.out[group][together / out_cols], first % out_cols, values);
                const int next = first + chunk_cols;
                if (next % cols_together == 0 || next == Tile::n)
                    store_boxes(row, col, batch, first - together, next);
            } else {
                unsigned char* const staged = shared.out[group][0];
                stage_in_box<float, chunk_cols>(staged, 0, values);
                sync_group();
                store_staged(p, row, col + first, batch, staged, 1, 0);
                sync_group();
            }
        }
    }

    __device__ void consume() {
        tile_worker tiles(schedule, worker);
        [[maybe_unused]] int turn = 0;
        for (tile_work work{}; tiles.next(work);) {
            const int steps = work.last - work.first;
            if constexpr (Tile::take_turns) {
                const int before = turn++;
                if (before % Tile::consumers != group) {
                    at.skip(steps);
                    continue;
                }
                // The other has waited for its last stage: a barrier's parity tells no more than two rounds apart.
                if (before > 0) ptx::wait(&shared.turns[group], (before - 1) / Tile::consumers % 2);
            }
            const int row = row_of(work);
            const int col = col_of(work);
            float sums[Tile::halves][Tile::sums];
            [[maybe_unused]] tile_biases<Tile::has_epilogue ? Tile::n : warpgroup_threads>
                biases[Tile::halves];
            if constexpr (Tile::has_epilogue)
#pragma unroll
                for (int half = 0; half < Tile::halves; ++half)
                    biases[half].fetch(p, row + row_of_half(half), col);
            multiply(steps, sums);
            if constexpr (Tile::streams) {
                if (work.tile >= 0 && !combine(work.tile, sums[0])) continue;
            }
#pragma unroll
            for (int half = 0; half < Tile::halves; ++half) {
                const int first_row = row + row_of_half(half);
                if constexpr (Tile::has_epilogue)
                    store_with_epilogue(first_row, col, work.batch, sums[half], biases[half]);
                else
                    store(first_row, col, work.batch, sums[half]);
            }
        }
        if (thread == 0) ptx::wait_for_reads_of_stores<0>();
    }
};

// A user's file may be compiled for other architectures too. They have no wgmma: there the kernel is empty, and of one
// thread, by which is_compiled() knows it.
#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
template <class Tile>
inline constexpr int launch_threads = Tile::threads;
#else
template <class Tile>
inline constexpr int launch_threads = 1;
#endif

template <class In, class Out, class Tile, bool a_k_major, bool b_k_major,
          class Activation = matmul_activation>
__global__ void __launch_bounds__(launch_threads<Tile>, 1)
    persistent(const __grid_constant__ tensor_product<Out, Activation> p,
               const __grid_constant__ tile_schedule schedule, const __grid_constant__ shared_sums partial) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    using kernel = persistent_kernel<In, Out, Tile, a_k_major, b_k_major, Activation>;
    extern __shared__ __align__(1024) unsigned char storage[];
    auto& shared = *reinterpret_cast<typename kernel::shared_storage*>(storage);
    if (threadIdx.x == warpgroup_threads) {
        ptx::prefetch(p.a);
        ptx::prefetch(p.b);
        if (p.c_map_cols > 0) ptx::prefetch(p.c);
    }
    if (threadIdx.x == 0) {
        if constexpr (Tile::take_turns)
            for (ptx::mbarrier& turn : shared.turns) ptx::init(&turn, warpgroup_threads);
        shared.barriers.init(1, Tile::consumers_of_tile * Tile::cluster);
    }
    const bool produces = threadIdx.x < warpgroup_threads;
    if constexpr (Tile::cluster > 1) {
        ptx::cluster_arrive_relaxed();
        ptx::cluster_wait();
    } else {
        constexpr int set_up = 1 + Tile::consumers, warp = 32,
                      threads = warp + Tile::threads - warpgroup_threads;
        if (threadIdx.x < warp)  // of the producer, who set the barriers up and waits for nobody
            ptx::arrive_threads(set_up, threads);
        else if (!produces)
            ptx::sync_threads(set_up, threads);
    }
    ptx::let_next_grid_begin();
    ptx::wait_for_grids_before();

    kernel self{p, schedule, partial, shared};
    if (produces) {
        ptx::release_registers<Tile::producer_registers>();
        if (threadIdx.x == 0) self.produce();
        __syncwarp();
    } else {
        ptx::claim_registers<Tile::consumer_registers>();
        self.consume();
    }
#endif
}

/// Whether the current device, of compute capability 9.0, has this kernel with something in it.
template <class In, class Out, class Tile, class Activation>
bool is_compiled() {
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, persistent<In, Out, Tile, true, true, Activation>));
    return attributes.maxThreadsPerBlock >= Tile::threads;
}

template <class Tile, class In, class Out, class Activation>
void launch_persistent_tile(const plan& plan, const product<In, Out, Activation>& arguments,
                            cudaStream_t stream) {
    const tile_schedule schedule = schedule_of(plan);
    with_orders(arguments, [&]<bool a_k_major, bool b_k_major>() {
        using kernel = persistent_kernel<In, Out, Tile, a_k_major, b_k_major, Activation>;
        const auto p =
            make_tensor_product<typename kernel::a_tile, typename kernel::b_tile, a_k_major, b_k_major>(
                arguments, Tile::cluster, kernel::out_cols);
        kernels::launch({.blocks = {schedule.workers * Tile::cluster},
                         .threads = {Tile::threads},
                         .shared_bytes = sizeof(typename kernel::shared_storage),
                         .shared_limit = sizeof(typename kernel::shared_storage),
                         .stream = stream,
                         .cluster = Tile::cluster,
                         .begins_early = true},
                        persistent<In, Out, Tile, a_k_major, b_k_major, Activation>, p, schedule,
                        shared_sums_in(arguments.workspace));
    });
}

/// With the plan's tile, of those that the rung has.
template <class... Tiles, std::size_t count, class In, class Out, class Activation>
void launch_tile_of(const std::array<tile_shape, count>& shapes, const plan& plan,
                    const product<In, Out, Activation>& arguments, cudaStream_t stream) {
    static_assert(sizeof...(Tiles) == count);
    std::size_t index = 0;
    const auto launch_if_chosen = [&]<class Tile>() {
        const tile_shape& shape = shapes[index];
        if (index++ != plan.tile) return;
        require_tile_of<Tile>(shape);
        launch_persistent_tile<Tile>(plan, arguments, stream);
    };
    (launch_if_chosen.template operator()<Tiles>(), ...);
}

}  // namespace heddle::kernels::matmul
