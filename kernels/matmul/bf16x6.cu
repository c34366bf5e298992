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

#include "kernels/device/ptx/bulk_copy.cuh"
#include "kernels/device/ptx/wgmma.cuh"
#include "kernels/device/warp_reduce.cuh"
#include "kernels/device/warpgroup_tile.cuh"
#include "kernels/frame/warp_specialized.cuh"
#include "kernels/matmul/bf16x6.cuh"
#include "kernels/matmul/float_tile.cuh"
#include "kernels/matmul/launch.hpp"
#include "kernels/matmul/schedule.hpp"
#include "kernels/matmul/warpgroup.cuh"
#include <heddle/types.hpp>

#include <cstddef>
#include <cstdint>

namespace heddle::kernels::matmul {
namespace {

using namespace bf16x6;

template <bool a_k_major, bool b_k_major, bool by_boxes, int cluster_>
struct bf16x6_kernel {
    using Schedule = frame::one_product<float_product>;
    static constexpr int cluster = cluster_;
    static constexpr int threads = (1 + tile::consumers) * warpgroup_threads;
    static constexpr int producer_threads = warpgroup_threads;
    static constexpr int producer_registers = 72;
    static constexpr int consumer_registers = 216;
    using shared_storage = split_storage<a_k_major, b_k_major, cluster>;
    using a_tile = typename shared_storage::a_tile;
    using b_tile = typename shared_storage::b_tile;
    using piece_tile = typename shared_storage::piece_tile;
    using piece_share = typename shared_storage::piece_share;

    const Schedule& all;
    shared_storage& shared;
    const float_product& p = all.product;
    int thread = static_cast<int>(threadIdx.x) % warpgroup_threads;
    int lane = static_cast<int>(threadIdx.x) % warp_size;
    int worker = static_cast<int>(blockIdx.x) / cluster;
    int rank = cluster == 1 ? 0 : static_cast<int>(ptx::cluster_rank());

    static __device__ void prefetch(const Schedule& all) {
        if constexpr (by_boxes) {
            ptx::prefetch(all.product.a.map);
            ptx::prefetch(all.product.b.map);
        }
    }

    static __device__ void init(shared_storage& shared) {
        constexpr int loads = by_boxes ? 1 : producer_threads;
        constexpr int publishers = cluster == 1 ? producer_threads / warp_size : 1;
        constexpr int consumers = tile::consumers * warpgroup_threads;
        constexpr int consumer_warps = consumers / warp_size;
        for (int stage = 0; stage < stages; ++stage) {
            ptx::init(&shared.a_full[stage], loads);
            ptx::init(&shared.a_empty[stage], consumer_warps);
            ptx::init(&shared.b_full[stage], loads);
            ptx::init(&shared.pieces_full[stage], publishers);
            ptx::init(&shared.pieces_empty[stage], consumers + consumer_warps * (cluster - 1));
        }
        ptx::fence_mbarrier_init();
    }

    template <class Tile>
    __device__ void load(unsigned char* to, const operand& from, int position, int k_step,
                         ptx::mbarrier* full) const {
        if constexpr (!by_boxes)
            Tile::template load_elements<producer_threads>(to, from, position, k_step * tile::k, full);
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
        load<b_tile>(shared.b[stage], p.b, at.col * tile::n + rank * shared_storage::share_n, at.k,
                     &shared.b_full[stage]);
    }

    /// Eight elements at a time. Lanes side by side take rows side by side, whose packets are in different banks.
    __device__ void split_b(int stage) const {
        constexpr int rows = b_tile::rows, elements = 8, packets = swizzle_bytes / 16;
        constexpr int across = producer_threads / rows;
        const int r = static_cast<int>(threadIdx.x) % rows, first = static_cast<int>(threadIdx.x) / rows;
#pragma unroll
        for (int i = 0; i < shared_storage::share_n * tile::k / elements / producer_threads; ++i) {
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
        ptx::sync_threads(1, producer_threads);
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
        step_walker ahead(all.schedule, worker);
        const auto announce = [&](int step) {
            if (threadIdx.x == 0) info_of(step) = ahead.step();
            ahead.advance();
        };
        for (int step = 0; step < stages; ++step) announce(step);
        ptx::sync_threads(1, producer_threads);
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
        return consumer * warpgroup_m + thread / warp_size * 16 + row % 4 * 2 + row / 4;
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

    __device__ frame::sum_exchange<tile::n> exchange(int consumer) const {
        return {all.schedule,
                all.sums,
                worker,
                cluster * tile::consumers,
                rank * tile::consumers + consumer,
                2 + consumer,
                shared.flags[consumer]};
    }

    /// The pieces of A of the next step are split while the tensor cores multiply those of this one, behind the products
    /// that have read theirs.
    __device__ void consume() const {
        const int consumer = static_cast<int>(threadIdx.x) / warpgroup_threads - 1;
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
            if (row_of(at) + consumer * warpgroup_m >= p.c.rows) {  // C ends above
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

template <bool by_boxes, int cluster>
void launch_cluster(const plan& plan, const arguments& arguments, bool a_k_major, bool b_k_major,
                    cudaStream_t stream) {
    const matrix_view<const float>&a = arguments.a, &b = arguments.b;
    const frame::tile_schedule schedule = schedule_of(plan);
    with_orders(a_k_major, b_k_major, [&]<bool a_along_k, bool b_along_k>() {
        using kernel = bf16x6_kernel<a_along_k, b_along_k, by_boxes, cluster>;
        const float_product p{
            .a = make_operand<typename kernel::a_tile, by_boxes>(a_along_k ? a : transposed(a)),
            .b = make_operand<typename kernel::b_tile, by_boxes>(b_along_k ? transposed(b) : b),
            .c = make_result(arguments)};
        frame::launch<kernel>({p, schedule, shared_sums_in(arguments.workspace)}, schedule.workers, stream);
    });
}

}  // namespace

void launch_bf16x6(const plan& plan, const arguments& arguments, cudaStream_t stream) {
    const matrix_view<const float>&a = arguments.a, &b = arguments.b;
    if (plan.tile == bf16x6_elements)
        launch_cluster<false, 1>(plan, arguments, a.col_stride == 1, b.row_stride == 1 && b.col_stride != 1,
                                 stream);
    else if (plan.tile == bf16x6_boxes)
        launch_cluster<true, 1>(plan, arguments, has_tensor_rows(a), !has_tensor_rows(b), stream);
    else
        launch_cluster<true, 2>(plan, arguments, has_tensor_rows(a), !has_tensor_rows(b), stream);
}

}  // namespace heddle::kernels::matmul
