#pragma once

#include "kernels/device/ptx/bulk_copy.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/ptx/warpgroup.cuh"
#include "kernels/device/warp_reduce.cuh"
#include "kernels/frame/sum_exchange.cuh"
#include "kernels/frame/tile_loop.cuh"
#include "kernels/frame/work.cuh"
#include "kernels/matmul/bf16x6.cuh"
#include "kernels/matmul/float_tile.cuh"

/// The producer of bf16x6, a warpgroup: it loads A and B, and splits B for the consumers.
namespace heddle::kernels::matmul::bf16x6 {

template <bool a_k_major, bool b_k_major, int cluster_>
struct producer {
    using Work = frame::one_product<float_product, true>;
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

    const Work& all;
    shared_storage& shared;
    const float_product& p = all.product;
    int thread = static_cast<int>(threadIdx.x) % warpgroup_threads;
    int lane = static_cast<int>(threadIdx.x) % warp_size;
    int worker = ptx::block_index() / cluster;
    int rank = cluster == 1 ? 0 : static_cast<int>(ptx::cluster_rank());

    static __device__ void prefetch(const Work& all) {
        ptx::prefetch(all.product.a.map);
        ptx::prefetch(all.product.b.map);
    }

    static __device__ void init(shared_storage& shared) {
        constexpr int publishers = cluster == 1 ? producer_threads / warp_size : 1;
        constexpr int consumers = tile::consumers * warpgroup_threads;
        constexpr int consumer_warps = consumers / warp_size;
        for (int stage = 0; stage < stages; ++stage) {
            ptx::init(&shared.a_full[stage], 1);
            ptx::init(&shared.a_empty[stage], consumer_warps);
            ptx::init(&shared.b_full[stage], 1);
            ptx::init(&shared.pieces_full[stage], publishers);
            ptx::init(&shared.pieces_empty[stage], consumers + consumer_warps * (cluster - 1));
        }
        ptx::fence_mbarrier_init();
    }

    __device__ step_info& info_of(int step) const { return shared.steps[step % steps_known]; }
    __device__ int row_of(const step_info& at) const { return (at.row * cluster + rank) * tile::m; }

    __device__ void load_a(int step) const {
        const step_info at = info_of(step);
        if (!at.exists || threadIdx.x != 0) return;
        const int stage = stage_of(step);
        ptx::wait(&shared.a_empty[stage], parity_of(step) ^ 1);
        a_tile::load_boxes(shared.a[stage], p.a, row_of(at), at.k * tile::k, at.batch, &shared.a_full[stage]);
    }

    /// Into a stage that has been split.
    __device__ void load_b(int step) const {
        const step_info at = info_of(step);
        if (!at.exists || threadIdx.x != 0) return;
        const int stage = stage_of(step);
        b_tile::load_boxes(shared.b[stage], p.b, at.col * tile::n + rank * shared_storage::share_n,
                           at.k * tile::k, at.batch, &shared.b_full[stage]);
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

    __device__ void arrive_by_warp(ptx::mbarrier* barrier) const {
        ptx::sync_warp();
        if (lane == 0) ptx::arrive(barrier);
    }

    /// What this block has split of B is there for its consumers and, after a copy, for those of the cluster's other block.
    __device__ void publish_pieces(int stage) const {
        const auto ordered = ptx::fence_before_copies();
        if constexpr (cluster == 1) arrive_by_warp(&shared.pieces_full[stage]);
        ptx::sync_threads(1, producer_threads);
        if (cluster == 1 || threadIdx.x != 0) return;
        ptx::arrive_and_expect(&shared.pieces_full[stage], pieces * piece_share::bytes);
        for (int piece = 0; piece < pieces; ++piece)
            ptx::bulk_copy_to_block(shared.b_pieces[stage][piece] + rank * piece_share::bytes,
                                    piece_share::bytes, &shared.pieces_full[stage], rank ^ 1, ordered);
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
};

}  // namespace heddle::kernels::matmul::bf16x6
