#pragma once

#include "kernels/device/pipeline.cuh"
#include "kernels/device/ptx/cluster.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/ptx/warpgroup.cuh"
#include "kernels/device/warp_reduce.cuh"
#include "kernels/device/warpgroup_tile.cuh"
#include "kernels/frame/cluster_sums.cuh"
#include "kernels/frame/parts.cuh"
#include "kernels/frame/sum_exchange.cuh"
#include "kernels/frame/tile_loop.cuh"
#include "kernels/frame/tile_scheduler.hpp"
#include "kernels/frame/work.cuh"

#include <algorithm>
#include <cstdint>

/// A frame for kernels that multiply on Hopper's tensor cores. In a block one warpgroup loads and others multiply, with a
/// ring of stages in shared memory between them. The block goes from tile to tile of C.
///
///   producer   | load tile 0 | load tile 1 ...
///   consumers        | multiply 0 | store 0 | multiply 1 ...
///
/// tile_kernel combines three parts, and has the common code: barriers, clusters, and tiles that several workers share.
///
///   Mainloop   tile                  extents m and n, stages and consumers, and tile_defaults
///              storage               what the stages hold in shared memory
///              prefetch(p)           prefetches the product's tensor maps
///              load(...)             one load into a stage, by the producer
///              multiply<n>(...)      computes a consumer's sums for the first n columns of a tile
///              rows_of_thread(p)     the rows of a thread's sums among the 64 of its consumer
///              end()                 after a consumer's last tile; there are mainloop_defaults
///   Epilogue   storage, prefetch(p)  as above
///              init(storage)         one thread initialises its barriers
///              fetch(half, place)    fetches what is added to the sums, before the products
///              store<n>(...)         stores a consumer's sums to C
///              end(thread)           after a consumer's last tile
///   Work       the products and their tiles: one_product or product_group
///
/// Named barriers: 0 is sync_threads()'s, then each consumer has one of its own, and the set-up uses the next one.
namespace heddle::kernels::frame {

/// Defaults for a Mainloop's tile.
struct tile_defaults {
    static constexpr int cluster = 1;  ///< blocks, one below the other, that share their tiles of B
    static constexpr int halves = 1;   ///< of a consumer, 64 rows each
    /// Whether each consumer has a tile of its own, so that one multiplies while the other stores.
    static constexpr bool take_turns = false;
    static constexpr bool streams = true;        ///< workers may share a tile, and the last one adds it up
    static constexpr bool leaves_parts = false;  ///< workers may share a tile that another kernel adds up
    /// Whether the blocks of a cluster work on one tile together instead. Each has a share of its steps, and then of its
    /// columns, which is the tile of the Epilogue. A worker then has at most one tile.
    static constexpr bool divides_k = false;
};

/// Defaults for a Mainloop.
struct mainloop_defaults {
    static constexpr int producer_registers = 40;  ///< of a thread
    static constexpr int loads = 1;                ///< loads of a step along k, each into a stage of its own
    /// Whether each warp of a consumer signals that it has read a stage; else one thread of the consumer does.
    static constexpr bool warps_release = true;
    /// If not 0, a tile in which C has at most this many columns multiplies no more columns. A consumer without rows of C then
    /// multiplies nothing.
    static constexpr int narrow = 0;
    static __device__ thread_rows rows_of_thread(const auto&) { return {row_of_thread(0), 8}; }
};

/// What the producer loads, and for which tile.
struct tile_place {
    int row;  ///< element of C where the block's tile begins
    int col;
    int load;  ///< number along k: step * loads, plus the load of the step
    int batch;
    int rank;  ///< of the block in its cluster
};

/// The 64 rows of a tile whose sums a consumer has.
struct sums_place {
    int row;  ///< first element of C
    int col;
    int batch;
    bool is_whole;  ///< whether no other worker has a part of the sums
};

/// The first named barrier that the frame does not use.
template <class Tile>
inline constexpr int first_free_barrier = Tile::consumers + 2;

template <class Mainloop, class Epilogue, class Work_>
struct tile_kernel {
    using Work = Work_;
    using Product = typename Work::Product;
    using tile = typename Mainloop::tile;
    static constexpr int threads = (tile::consumers + 1) * warpgroup_threads;
    static constexpr int cluster = tile::cluster;
    /// The number of blocks of a cluster that fill one another's stages.
    static constexpr int fillers = tile::divides_k ? 1 : cluster;
    static constexpr int producer_threads = 1;
    static constexpr int producer_registers = Mainloop::producer_registers;
    /// Each consumer thread's share of the registers that the producer leaves, a multiple of 8. No thread needs more than 232.
    static constexpr int consumer_registers =
        std::min(232, (512 - producer_registers) / tile::consumers / 8 * 8);
    static_assert(!tile::streams || tile::halves == 1, "the sums of one half are exchanged");
    static_assert(!tile::divides_k || (!tile::streams && !tile::take_turns && tile::halves == 1));
    static_assert(!tile::leaves_parts || (!tile::divides_k && !Work::is_group));
    static_assert(Mainloop::narrow == 0 || !tile::take_turns, "a consumer's rows are those of its number");

    struct shared_storage {
        typename Mainloop::storage stages;
        typename Epilogue::storage epilogue;
        stage_barriers<tile::stages> barriers;
        ptx::mbarrier tile_turns[tile::consumers];  ///< where consumers take turns
        bool is_last[tile::consumers];              ///< where workers share tiles
    };

    const Work& all;
    shared_storage& shared;
    int worker = ptx::block_index() / cluster;
    int rank = cluster == 1 ? 0 : static_cast<int>(ptx::cluster_rank());
    int group = static_cast<int>(threadIdx.x) / warpgroup_threads - 1;  ///< number of the consumer
    int thread = static_cast<int>(threadIdx.x) % warpgroup_threads;
    stage_position<tile::stages> at{};

    static __device__ void prefetch(const Work& all) {
        if constexpr (!Work::is_group) {
            Mainloop::prefetch(all.product);
            Epilogue::prefetch(all.product);
        }
    }

    /// One thread calls this before a barrier of the block or cluster.
    static __device__ void init(shared_storage& shared) {
        constexpr int emptiers = tile::take_turns ? 1 : tile::consumers;
        constexpr int arrivals = Mainloop::warps_release ? warpgroup_threads / warp_size : 1;
        if constexpr (tile::take_turns)
            for (ptx::mbarrier& turn : shared.tile_turns) ptx::init(&turn, warpgroup_threads);
        Epilogue::init(shared.epilogue);
        shared.barriers.init(1, emptiers * arrivals * fillers);  // includes the fence for all barriers
    }

    __device__ int row_of(const tile_work& work) const {
        return (work.row * fillers + (tile::divides_k ? 0 : rank)) * tile::m;
    }
    __device__ int col_of(const tile_work& work) const { return work.col * tile::n; }
    /// The steps of a tile that this block multiplies.
    __device__ tile_work part_of(tile_work work) const {
        if constexpr (tile::divides_k) {
            const int steps = work.last;
            work.first = steps * rank / cluster;
            work.last = steps * (rank + 1) / cluster;
        }
        return work;
    }
    /// The tile's row where this half of the consumer begins.
    __device__ int row_of_half(int half) const {
        return (half + (tile::take_turns ? 0 : group * tile::halves)) * warpgroup_m;
    }

    __device__ void produce() {
        typename Work::walker tiles(all, worker);
        for (tile_work whole{}; tiles.next(whole);) {
            const tile_work work = part_of(whole);
            const Product& p = tiles.product();
            if constexpr (Work::is_group) Epilogue::prefetch(p);  // its loads come soon, its stores later
#pragma unroll 1                                                  // code that runs once comes from memory
            for (int load = work.first * Mainloop::loads; load < work.last * Mainloop::loads;
                 ++load, at.advance()) {
                ptx::wait(&shared.barriers.empty[at.stage], at.parity ^ 1);
                Mainloop::load(shared.stages, at.stage, p,
                               {row_of(work), col_of(work), load, work.batch, rank},
                               &shared.barriers.full[at.stage]);
            }
        }
        if constexpr (fillers > 1)  // no block can arrive at one that ended
            for (int stage = 0; stage < tile::stages; ++stage, at.advance())
                ptx::wait(&shared.barriers.empty[at.stage], at.parity ^ 1);
    }

    __device__ void wait() {
        ptx::wait(&shared.barriers.full[at.stage], at.parity);
    }

    /// Signals that this consumer has read a stage, to all blocks where blocks of a cluster fill one another's stages.
    __device__ void release(int stage) {
        int arriver = thread;
        if constexpr (Mainloop::warps_release) {
            ptx::sync_warp();
            arriver %= warp_size;
        }
        if constexpr (fillers == 1) {
            if (arriver == 0) ptx::arrive(&shared.barriers.empty[stage]);
        } else {
            if (arriver < cluster) ptx::arrive_at_block(&shared.barriers.empty[stage], arriver);
        }
    }

    /// Lets the next consumer begin its tile.
    __device__ void pass_turn() {
        if constexpr (tile::take_turns) ptx::arrive(&shared.tile_turns[(group + 1) % tile::consumers]);
    }

    /// Adds up the workers' sums of a shared tile. Returns whether this worker has all of them and must store the tile.
    template <int n>
    __device__ bool combine(int shared_tile, float (&sums)[n / 2]) {
        const sum_exchange<n, tile::n> exchange(all.schedule, all.sums, worker, cluster * tile::consumers,
                                                rank * tile::consumers + group, 1 + group,
                                                shared.is_last[group]);
        return exchange.combine(shared_tile, sums);
    }

    /// Leaves the sums of this worker's part of a tile, which has the rows of all its blocks.
    template <int n>
    __device__ void leave_part(const Product& p, int half, const float (&sums)[n / 2]) const {
        constexpr int height = cluster * tile::m;
        thread_rows rows = Mainloop::rows_of_thread(p);
        rows.first += rank * tile::m + row_of_half(half);
        leave_sums<n, height, tile::n>(all.sums.slots + std::int64_t{worker} * height * tile::n,
                                       lies_by_columns(p), rows, sums);
    }

    /// Multiplies and stores the first n columns of a tile.
    template <int n>
    __device__ void consume_tile(const Mainloop& mainloop, const Product& p, const tile_work& work) {
        const auto place_of = [&](int half) {
            const int col = col_of(work) + (tile::divides_k ? rank * (n / cluster) : 0);
            return sums_place{row_of(work) + row_of_half(half), col, work.batch, work.tile < 0};
        };
        Epilogue epilogue(p, shared.epilogue, group);
#pragma unroll
        for (int half = 0; half < tile::halves; ++half) epilogue.fetch(half, place_of(half));
        float sums[tile::halves][n / 2];
        mainloop.template multiply<n>(*this, p, work.last - work.first, sums);
        if constexpr (tile::leaves_parts)
            if (work.tile >= 0 && all.sums.added_apart) {
#pragma unroll
                for (int half = 0; half < tile::halves; ++half) leave_part<n>(p, half, sums[half]);
                return;
            }
        if constexpr (tile::streams)
            if (work.tile >= 0 && !combine<n>(work.tile, sums[0])) return;
        if constexpr (tile::divides_k) {
            float share[n / 2 / cluster];
            share_sums_in_cluster<cluster, tile::consumers, n>(shared.stages, rank, group, sums[0], share);
            epilogue.template store<n / cluster>(0, place_of(0), share);
        } else {
#pragma unroll
            for (int half = 0; half < tile::halves; ++half)
                epilogue.template store<n>(half, place_of(half), sums[half]);
        }
    }

    /// Releases the stages of a tile that has no rows of C for this consumer.
    __device__ void skip_tile(int steps) {
        for (int load = 0; load < steps * Mainloop::loads; ++load, at.advance()) {
            wait();
            release(at.stage);
        }
    }

    __device__ void consume() {
        typename Work::walker tiles(all, worker);
        const Mainloop mainloop(group, thread);
        [[maybe_unused]] int turn = 0;
        for (tile_work whole{}; tiles.next(whole);) {
            const tile_work work = part_of(whole);
            const Product& p = tiles.product();
            if constexpr (tile::take_turns) {
                const int before = turn++;
                if (before % tile::consumers != group) {
                    at.skip((work.last - work.first) * Mainloop::loads);
                    continue;
                }
                // A barrier's parity is one bit, so a wait more than a round ahead would pass too early. So this consumer waits
                // until the other has waited for its last stage.
                if (before > 0) ptx::wait(&shared.tile_turns[group], (before - 1) / tile::consumers % 2);
            }
            if constexpr (Mainloop::narrow > 0) {
                if (row_of(work) + group * warpgroup_m >= p.m) {
                    skip_tile(work.last - work.first);
                    continue;
                }
                if (col_of(work) + Mainloop::narrow >= p.n) {
                    consume_tile<Mainloop::narrow>(mainloop, p, work);
                    continue;
                }
            }
            consume_tile<tile::n>(mainloop, p, work);
        }
        mainloop.end();
        Epilogue::end(thread);
    }
};

}  // namespace heddle::kernels::frame
