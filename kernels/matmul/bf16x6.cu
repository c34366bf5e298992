// bf16x6: a float32 product as six bfloat16 products on the tensor cores.
//
//   x = x0 + x1 + x2, each what is left rounded to eight bits: exact, as x has 24
//   a b = a0 b0 + (a0 b1 + a1 b0) + (a0 b2 + a1 b1 + a2 b0), and less than 2^-22.9 |a b| that is left out
//
//   producer     | split B of step 0 | of step 1 | waits until step 0 is multiplied ...
//   consumer 0              | multiply rows  0 ..  63 of step 0, split A of step 1 behind it | step 1 | ...
//   consumer 1              | multiply rows 64 .. 127 of step 0, split A of step 1 behind it | step 1 | ...
//
// By the datasheet the tensor cores multiply bfloat16 fifteen times as fast as FFMA units multiply float32. A consumer splits
// its rows of A in registers, from where wgmma takes them. Both need B, which a third warpgroup splits into shared memory; of
// two blocks, one below the other, each splits half of B and copies its pieces to the other. The tensor cores cut sums off
// rather than round them, so a0 b0 is summed apart from the five small products, and both sums go to a total by FADD, which
// rounds. Tiles that fill no round are shared out along k, as stream_k's. Needs compute capability 9.0; what its tensor memory
// accelerator cannot address comes by cp.async. What limits it: splitting and FADD wait for registers' ports.

#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/bulk_copy.cuh"
#include "kernels/device/ptx/cluster.cuh"
#include "kernels/device/ptx/grid_dependency.cuh"
#include "kernels/device/ptx/mbarrier.cuh"
#include "kernels/device/ptx/tensor_copy.cuh"
#include "kernels/device/ptx/warpgroup.cuh"
#include "kernels/device/ptx/wgmma.cuh"
#include "kernels/device/tile_scheduler.hpp"
#include "kernels/device/warpgroup_tile.cuh"
#include "kernels/matmul/bf16x6.cuh"
#include "kernels/matmul/float_tile.cuh"
#include "kernels/matmul/launch.hpp"
#include "kernels/matmul/schedule.hpp"
#include "kernels/matmul/shared_sums.cuh"
#include "kernels/matmul/warpgroup.cuh"
#include "kernels/matmul/warpgroup_sums.cuh"
#include <heddle/types.hpp>

#include <cstddef>
#include <cstdint>

namespace heddle::kernels::matmul {
namespace {

constexpr int warp = 32;

struct tile {
    static constexpr int m = bf16x6_tiles[0].m;
    static constexpr int n = bf16x6_tiles[0].n;
    static constexpr int k = 64;
    static constexpr int consumer_m = 64;
    static constexpr int consumers = m / consumer_m;
    static constexpr int producers = 1;
    static constexpr int producer_threads = producers * warpgroup_threads;
    static constexpr int threads = producer_threads + consumers * warpgroup_threads;
    static constexpr int producer_registers = 72;
    static constexpr int consumer_registers = 216;
    static constexpr int sums = n / 2;  ///< of a thread
    static constexpr int instruction_k = 16;
    static constexpr int instructions = k / instruction_k;
};

constexpr int stages = 2;
constexpr int steps_known = 2 * stages;  ///< those that are multiplied, and those that are loaded

struct float_product {
    operand a;
    operand b;
    result<float> c;
};

/// The producer finds it out, the consumers have no registers for that.
struct step_info {
    int row;  ///< of the tile, in tiles
    int col;
    int k;            ///< in steps
    int shared_tile;  ///< -1: no other worker has a part of the tile
    bool is_last_of_tile;
    bool exists;  ///< else the step before was the last
};

/// A block splits a share of B for all blocks of its cluster.
template <bool a_k_major, bool b_k_major, int cluster>
struct shared_storage {
    static_assert(cluster <= 2, "a block has one other to send to");
    static constexpr int share_n = tile::n / cluster;
    using a_tile = float_tile<tile::m, tile::k, a_k_major>;
    using b_tile = float_tile<share_n, tile::k, b_k_major>;
    using piece_tile = warpgroup_tile<bfloat16, tile::n, b_k_major>;
    using piece_share = warpgroup_tile<bfloat16, share_n, b_k_major>;
    unsigned char a[stages][a_tile::bytes];
    unsigned char b[stages][b_tile::bytes];
    unsigned char b_pieces[stages][pieces][piece_tile::bytes];
    ptx::mbarrier a_full[stages];
    ptx::mbarrier a_empty[stages];
    ptx::mbarrier b_full[stages];
    ptx::mbarrier pieces_full[stages];
    ptx::mbarrier pieces_empty[stages];
    step_info steps[steps_known];
    bool flags[tile::consumers];
};

__device__ int stage_of(int step) {
    return step % stages;
}
/// The parity of the phase that ends when what `step` needs has come. A stage is free when the phase before it has ended.
__device__ unsigned parity_of(int step) {
    return static_cast<unsigned>(step / stages % 2);
}

/// Goes through the steps of a worker, of all its tiles.
class step_walker {
  public:
    __device__ step_walker(const tile_schedule& schedule, int worker) : tiles_(schedule, worker) {
        next_tile();
    }

    __device__ step_info step() const {
        return {work_.row, work_.col, k_step_, work_.tile, k_step_ + 1 == work_.last, exists_};
    }
    __device__ void advance() {
        if (++k_step_ == work_.last) next_tile();
    }

  private:
    __device__ void next_tile() {
        exists_ = tiles_.next(work_);
        k_step_ = work_.first;
    }

    tile_worker tiles_;
    tile_work work_{};
    int k_step_ = 0;
    bool exists_ = true;
};

template <bool a_k_major, bool b_k_major, bool by_boxes, int cluster>
struct bf16x6_kernel {
    using storage = shared_storage<a_k_major, b_k_major, cluster>;
    using a_tile = typename storage::a_tile;
    using b_tile = typename storage::b_tile;
    using piece_tile = typename storage::piece_tile;
    using piece_share = typename storage::piece_share;

    const float_product& p;
    const tile_schedule& schedule;
    const shared_sums& partial;
    storage& shared;
    int thread = static_cast<int>(threadIdx.x) % warpgroup_threads;
    int lane = static_cast<int>(threadIdx.x) % warp;
    int worker = static_cast<int>(blockIdx.x) / cluster;
    int rank = cluster == 1 ? 0 : static_cast<int>(ptx::cluster_rank());

    template <class Tile>
    __device__ void load(unsigned char* to, const operand& from, int position, int k_step,
                         ptx::mbarrier* full) const {
        if constexpr (!by_boxes)
            Tile::template load_elements<tile::producer_threads>(to, from, position, k_step * tile::k, full);
        else if (threadIdx.x == 0)
            Tile::load_boxes(to, from, position, k_step * tile::k, full);
    }

    __device__ step_info& info_of(int step) const { return shared.steps[step % steps_known]; }
    __device__ int row_of(const step_info& at) const { return (at.row * cluster + rank) * tile::m; }

    __device__ void load_a(int step) const {
        const step_info at = info_of(step);
        if (!at.exists) return;
        const int stage = stage_of(step);
        if (!by_boxes || threadIdx.x == 0) ptx::wait(&shared.a_empty[stage], parity_of(step) ^ 1);
        load<a_tile>(shared.a[stage], p.a, row_of(at), at.k, &shared.a_full[stage]);
    }

    /// Into a stage that has been split.
    __device__ void load_b(int step) const {
        const step_info at = info_of(step);
        if (!at.exists) return;
        const int stage = stage_of(step);
        load<b_tile>(shared.b[stage], p.b, at.col * tile::n + rank * storage::share_n, at.k,
                     &shared.b_full[stage]);
    }

    /// Eight elements at a time. Lanes side by side take rows side by side, whose packets are in different banks.
    __device__ void split_b(int stage) const {
        constexpr int rows = b_tile::rows, elements = 8, packets = swizzle_bytes / 16;
        constexpr int across = tile::producer_threads / rows;
        const int r = static_cast<int>(threadIdx.x) % rows, first = static_cast<int>(threadIdx.x) / rows;
#pragma unroll
        for (int i = 0; i < storage::share_n * tile::k / elements / tile::producer_threads; ++i) {
            const int at = first + i * across;  // in the row, through the boxes
            unsigned pairs[elements / 2][pieces];
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const float4 x =
                    *reinterpret_cast<const float4*>(b_tile::packet(shared.b[stage], r, 2 * at + half));
                split({x.x, x.y}, pairs[2 * half]);
                split({x.z, x.w}, pairs[2 * half + 1]);
            }
            const int place = rank * piece_share::bytes + at / packets * piece_share::box_bytes +
                              r * swizzle_bytes + (at % packets ^ r % 8) * 16;
#pragma unroll
            for (int piece = 0; piece < pieces; ++piece)
                *reinterpret_cast<uint4*>(shared.b_pieces[stage][piece] + place) =
                    make_uint4(pairs[0][piece], pairs[1][piece], pairs[2][piece], pairs[3][piece]);
        }
    }

    /// What this block has split of B is there for its consumers and, after a copy, for those of the cluster's other block.
    __device__ void publish_pieces(int stage) const {
        ptx::fence_before_copies();
        if constexpr (cluster == 1) arrive_by_warp(&shared.pieces_full[stage]);
        ptx::sync_threads(1, tile::producer_threads);
        if (cluster == 1 || threadIdx.x != 0) return;
        ptx::arrive_and_expect(&shared.pieces_full[stage], pieces * piece_share::bytes);
        for (int piece = 0; piece < pieces; ++piece)
            ptx::bulk_copy_to_block(shared.b_pieces[stage][piece] + rank * piece_share::bytes,
                                    piece_share::bytes, &shared.pieces_full[stage], rank ^ 1);
    }

    /// The other block's copies write to the stage, too. Here each lane arrives, as each has read what is known of the step:
    /// as fast, and racecheck can follow it.
    __device__ void release_pieces(int stage) const {
        __syncwarp();
        ptx::arrive(&shared.pieces_empty[stage]);
        if (cluster > 1 && lane == 0) ptx::arrive_at_block(&shared.pieces_empty[stage], rank ^ 1);
    }

    /// B is loaded two steps ahead of its splitting, A one: with two, splitting would wait for consumers that are behind.
    __device__ void produce() const {
        step_walker ahead(schedule, worker);
        const auto announce = [&](int step) {
            if (threadIdx.x == 0) info_of(step) = ahead.step();
            ahead.advance();
        };
        for (int step = 0; step < stages; ++step) announce(step);
        ptx::sync_threads(1, tile::producer_threads);
        load_a(0);
        for (int step = 0; step < stages; ++step) load_b(step);
        int step = 0;
        for (; info_of(step).exists; ++step) {
            const int stage = stage_of(step);
            ptx::wait(&shared.b_full[stage], parity_of(step));
            ptx::wait(&shared.pieces_empty[stage], parity_of(step) ^ 1);
            announce(step + stages);
            split_b(stage);
            publish_pieces(stage);
            load_b(step + stages);
            load_a(step + 1);
        }
        if constexpr (cluster > 1)  // a block that has ended cannot be arrived at
            for (int stage = 0; stage < stages; ++stage, ++step)
                ptx::wait(&shared.pieces_empty[stage_of(step)], parity_of(step) ^ 1);
    }

    __device__ void arrive_by_warp(ptx::mbarrier* barrier) const {
        __syncwarp();
        if (lane == 0) ptx::arrive(barrier);
    }

    /// Of a consumer's rows, which is this thread's first; the other is eight below. wgmma's rows are A's in another order, in
    /// which those that half a warp reads at once are in different banks.
    __device__ int row_of_thread(int consumer) const {
        const int row = lane / 4;
        return consumer * tile::consumer_m + thread / warp * 16 + row % 4 * 2 + row / 4;
    }

    /// The pieces of a thread's A for one instruction (wgmma.cuh).
    __device__ void split_a(const unsigned char* a, const typename a_tile::pairs& of_thread, int instruction,
                            unsigned (&to)[pieces][4]) const {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            unsigned pair[pieces];
            split(of_thread.read(a, i % 2, 2 * instruction + i / 2), pair);
#pragma unroll
            for (int piece = 0; piece < pieces; ++piece) to[piece][i] = pair[piece];
        }
    }

    __device__ sum_exchange<tile::n> exchange(int consumer) const {
        return {schedule,
                partial,
                worker,
                cluster * tile::consumers,
                rank * tile::consumers + consumer,
                2 + consumer,
                shared.flags[consumer]};
    }

    /// The pieces of A of the next step are split while the tensor cores multiply those of this one, behind the products
    /// that have read theirs.
    __device__ void consume() const {
        const int consumer = static_cast<int>(threadIdx.x) / warpgroup_threads - tile::producers;
        const int row = row_of_thread(consumer);
        const typename a_tile::pairs of_thread(row, lane % 4 * 2);
        unsigned a[tile::instructions][pieces][4];
        const auto split_for = [&](int step, int i) {
            const int stage = stage_of(step);
            if (i == 0) ptx::wait(&shared.a_full[stage], parity_of(step));
            split_a(shared.a[stage], of_thread, i, a[i]);
            if (i + 1 == tile::instructions) arrive_by_warp(&shared.a_empty[stage]);
        };
#pragma unroll
        for (int i = 0; i < tile::instructions; ++i) split_for(0, i);

        float total[tile::sums] = {};
        for (int step = 0, more = true; more; ++step) {
            const int stage = stage_of(step);
            float sums[tile::sums];
            std::uint64_t b[pieces];
#pragma unroll
            for (int piece = 0; piece < pieces; ++piece)
                b[piece] = piece_tile::descriptor(shared.b_pieces[stage][piece], 0);
            const auto multiply = [&](int of_a, int of_b, int i, bool accumulate) {
                ptx::wgmma_of_registers<b_k_major>(sums, a[i][of_a], b[of_b] + i * piece_tile::advance,
                                                   accumulate);
            };
            const auto add = [&] {
                ptx::wgmma_wait<0>();
                ptx::wgmma_results(sums);
#pragma unroll
                for (int i = 0; i < tile::sums; ++i) total[i] += sums[i];
            };

            ptx::wait(&shared.pieces_full[stage], parity_of(step));
            const step_info at = info_of(step);
            more = info_of(step + 1).exists;
            if (row_of(at) + consumer * tile::consumer_m >= p.c.rows) {  // C ends above
                release_pieces(stage);
                if (!more) break;
#pragma unroll
                for (int i = 0; i < tile::instructions; ++i) split_for(step + 1, i);
                continue;
            }
            ptx::wgmma_fence();
#pragma unroll
            for (int i = 0; i < tile::instructions; ++i) multiply(0, 0, i, i > 0);
            ptx::wgmma_commit();
            add();

            ptx::wgmma_fence();
#pragma unroll
            for (int i = 0; i < tile::instructions; ++i) {
                multiply(2, 0, i, i > 0);
                multiply(1, 1, i, true);
                multiply(0, 2, i, true);
                multiply(1, 0, i, true);
                multiply(0, 1, i, true);
                ptx::wgmma_commit();
            }
            if (more) {
                ptx::wgmma_wait<tile::instructions - 1>();
                split_for(step + 1, 0);
                ptx::wgmma_wait<tile::instructions - 2>();
                split_for(step + 1, 1);
                ptx::wgmma_wait<tile::instructions - 3>();
                split_for(step + 1, 2);
            }
            ptx::wgmma_wait<0>();
            release_pieces(stage);
            if (more) split_for(step + 1, 3);
            add();
            if (!at.is_last_of_tile) continue;
            if (at.shared_tile < 0 || exchange(consumer).combine(at.shared_tile, total))
                store<tile::n>(p.c, row_of(at) + row, at.col * tile::n + lane % 4 * 2, total);
#pragma unroll
            for (float& sum : total) sum = 0;
        }
    }
};

template <bool a_k_major, bool b_k_major, bool by_boxes, int cluster>
__global__ void __launch_bounds__(tile::threads, 1)
    bf16x6(const __grid_constant__ float_product p, const __grid_constant__ tile_schedule schedule,
           const __grid_constant__ shared_sums partial) {
    using kernel = bf16x6_kernel<a_k_major, b_k_major, by_boxes, cluster>;
    extern __shared__ __align__(1024) unsigned char bytes[];
    auto& shared = *reinterpret_cast<typename kernel::storage*>(bytes);
    if (threadIdx.x == 0) {
        constexpr int loads = by_boxes ? 1 : tile::producer_threads;
        constexpr int publishers = cluster == 1 ? tile::producer_threads / warp : 1;
        constexpr int consumers = tile::consumers * warpgroup_threads, consumer_warps = consumers / warp;
        for (int stage = 0; stage < stages; ++stage) {
            ptx::init(&shared.a_full[stage], loads);
            ptx::init(&shared.a_empty[stage], consumer_warps);
            ptx::init(&shared.b_full[stage], loads);
            ptx::init(&shared.pieces_full[stage], publishers);
            ptx::init(&shared.pieces_empty[stage], consumers + consumer_warps * (cluster - 1));
        }
        ptx::fence_mbarrier_init();
    }
    ptx::sync_cluster<cluster>();
    ptx::let_next_grid_begin();
    ptx::wait_for_grids_before();

    const kernel self{p, schedule, partial, shared};
    if (threadIdx.x < tile::producer_threads) {
        ptx::release_registers<tile::producer_registers>();
        self.produce();
    } else {
        ptx::claim_registers<tile::consumer_registers>();
        self.consume();
    }
}

template <bool by_boxes, int cluster>
void launch_cluster(const arguments& arguments, bool a_k_major, bool b_k_major, const tile_schedule& schedule,
                    const shared_sums& partial, cudaStream_t stream) {
    const matrix_view<const float>&a = arguments.a, &b = arguments.b;
    const auto launch_orders = [&]<bool a_along_k, bool b_along_k>() {
        using kernel = bf16x6_kernel<a_along_k, b_along_k, by_boxes, cluster>;
        const float_product p{
            .a = make_operand<typename kernel::a_tile, by_boxes>(a_along_k ? a : transposed(a)),
            .b = make_operand<typename kernel::b_tile, by_boxes>(b_along_k ? transposed(b) : b),
            .c = make_result(arguments)};
        launch({.blocks = {schedule.workers * cluster},
                .threads = {tile::threads},
                .shared_bytes = sizeof(typename kernel::storage),
                .shared_limit = sizeof(typename kernel::storage),
                .stream = stream,
                .cluster = cluster,
                .begins_early = true},
               bf16x6<a_along_k, b_along_k, by_boxes, cluster>, p, schedule, partial);
    };
    if (a_k_major)
        b_k_major ? launch_orders.template operator()<true, true>()
                  : launch_orders.template operator()<true, false>();
    else
        b_k_major ? launch_orders.template operator()<false, true>()
                  : launch_orders.template operator()<false, false>();
}

}  // namespace

void launch_bf16x6(const plan& plan, const arguments& arguments, cudaStream_t stream) {
    const matrix_view<const float>&a = arguments.a, &b = arguments.b;
    const tile_schedule schedule = schedule_of(plan);
    const shared_sums partial = shared_sums_in(arguments.workspace);
    if (plan.tile == bf16x6_elements)
        launch_cluster<false, 1>(arguments, a.col_stride == 1, b.row_stride == 1 && b.col_stride != 1,
                                 schedule, partial, stream);
    else if (plan.tile == bf16x6_boxes)
        launch_cluster<true, 1>(arguments, has_tensor_rows(a), !has_tensor_rows(b), schedule, partial,
                                stream);
    else
        launch_cluster<true, 2>(arguments, has_tensor_rows(a), !has_tensor_rows(b), schedule, partial,
                                stream);
}

}  // namespace heddle::kernels::matmul
