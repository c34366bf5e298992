// skinny_tf32: tf32 for a C with a short side, where the product is a read of the other operand.
//
//   C (16 x 4096) = A (16 x 4096) B:  as C^T = B^T A^T, in 64 tiles of 64 x 16
//
//   A' = B^T, in any order:  global --TMA--> shared --> a warp's registers -> wgmma
//   B' = A^T, along k:       global --TMA--> shared ------------------------> wgmma
//
// This combines skinny and tf32. The blocks of a cluster share a tile along k, and a warp reads A through its registers.
// The sums that blocks send one another use the memory of the stages, because two blocks of a multiprocessor have no room
// for both. So a cluster waits for its last block before it sends. If only the long operand lies along k, the short one is
// A. Then only boxes that hold some of A are loaded. What limits it: memory, and the beginning and the end of the launch.

#include "kernels/device/launch.hpp"
#include "kernels/device/pipeline.cuh"
#include "kernels/device/ptx/grid_dependency.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/matmul/launch.hpp"
#include "kernels/matmul/skinny.cuh"
#include "kernels/matmul/tf32.cuh"

#include <array>
#include <cstddef>
#include <cstdint>

namespace heddle::kernels::matmul {
namespace {

constexpr int warp = 32;

template <class Tile, bool a_k_major>
struct skinny_tf32_storage {
    using a_tile = warpgroup_tile<float, Tile::m, a_k_major>;
    using b_tile = warpgroup_tile<float, Tile::n, true>;
    static_assert(a_tile::depth == Tile::k && b_tile::depth == Tile::k);
    using received_packets = float4[Tile::received][Tile::consumers];
    unsigned char a[Tile::stages][a_tile::bytes];
    unsigned char b[Tile::stages][b_tile::bytes];
    stage_barriers<Tile::stages> barriers;
    ptx::mbarrier all_received;
    bool is_last;
    static_assert(sizeof(received_packets) <= sizeof(a) + sizeof(b));
};

__device__ inline void meet_cluster() {
    ptx::cluster_arrive();
    ptx::cluster_wait();
}

template <class Tile, bool a_k_major>
__global__ void __launch_bounds__(Tile::threads, skinny_blocks_per_sm)
    skinny_tf32(const __grid_constant__ tensor_product<float> p, const __grid_constant__ skinny_split s) {
    using storage = skinny_tf32_storage<Tile, a_k_major>;
    using a_tile = typename storage::a_tile;
    using b_tile = typename storage::b_tile;
    using a_elements = a_of_thread<Tile::m, a_k_major>;
    extern __shared__ __align__(1024) unsigned char bytes[];
    auto& shared = *reinterpret_cast<storage*>(bytes);
    const skinny_cluster<Tile> cluster;
    const auto thread = static_cast<int>(threadIdx.x);
    if (thread == Tile::consumers) {
        ptx::prefetch(p.a);
        ptx::prefetch(p.b);
    }
    if (thread == 0) {
        shared.barriers.init(1, warpgroup_threads / warp);
        cluster.expect(&shared.all_received);
    }
    ptx::sync_threads();
    ptx::let_next_grid_begin();
    ptx::wait_for_grids_before();

    const skinny_share<Tile> share(s, cluster);
    stage_position<Tile::stages> at{};
    if (thread >= Tile::consumers) {
        // Boxes outside of A would take longer than others. Stale data in their place is multiplied, but not stored.
        const int a_boxes =
            a_k_major ? 1 : min(a_tile::boxes, (p.m - share.row + a_tile::row - 1) / a_tile::row);
        const auto bytes_of_step = static_cast<unsigned>(a_boxes * a_tile::box_bytes + b_tile::bytes);
        if (thread == Tile::consumers)
            for (int step = share.first; step < share.last; ++step, at.advance()) {
                ptx::mbarrier* const full = &shared.barriers.full[at.stage];
                ptx::wait(&shared.barriers.empty[at.stage], at.parity ^ 1);
                ptx::arrive_and_expect(full, bytes_of_step);
                const int k = step * Tile::k;
                a_tile::template load<1>(shared.a[at.stage], p.a, share.row, k, 0, 0, full, a_boxes);
                b_tile::template load<1>(shared.b[at.stage], p.b, share.col, k, 0, 0, full);
            }
        ptx::sync_warp();
        if (cluster.blocks > 1) meet_cluster();
        return;
    }
    const a_elements mine(0, thread);
    const thread_place<float, a_elements::apart> place_in_c(p, share.row + mine.row(),
                                                            share.col + thread % 4 * 2);
    place_in_c.prefetch(p, cluster);
    float sums[Tile::n / 2];
    multiply_tf32<Tile::n, b_tile, false>(
        mine, shared, at, share.last - share.first, sums,
        [&] { ptx::wait(&shared.barriers.full[at.stage], at.parity); },
        [&](int stage) {
            ptx::sync_warp();  // each warp has finished reading A
            if (thread % warp == 0) ptx::arrive(&shared.barriers.empty[stage]);
        });
    // Now the stages are free in every block. A block alone does not wait for its loading warp.
    if (cluster.blocks > 1)
        meet_cluster();
    else
        ptx::sync_threads(1, Tile::consumers);
    auto& received = *reinterpret_cast<typename storage::received_packets*>(shared.a);
    const bool is_plain = p.beta == 0 && p.epilogue.is_identity;
    add_up<Tile>(p, s, cluster, share, place_in_c, is_plain, sums, received, &shared.all_received,
                 shared.is_last);
}

template <class Tile, bool a_k_major>
void launch_order(const plan& plan, const arguments& arguments, cudaStream_t stream) {
    using storage = skinny_tf32_storage<Tile, a_k_major>;
    const auto p = make_tf32_product(arguments, Tile::m, Tile::n);
    launch({.blocks = {plan.down * plan.across * plan.clusters * plan.cluster},
            .threads = {Tile::threads},
            .shared_bytes = sizeof(storage),
            .shared_limit = sizeof(storage),
            .stream = stream,
            .cluster = plan.cluster,
            .begins_early = true},
           skinny_tf32<Tile, a_k_major>, p, skinny_split_of(plan, arguments.workspace));
}

template <std::size_t row>
void launch_row(const plan& plan, const arguments& arguments, cudaStream_t stream) {
    constexpr skinny_kernel config = skinny_tf32_kernels[row];
    using tile = skinny_tile<config.n, config.k, config.stages>;
    has_tensor_rows(arguments.a) ? launch_order<tile, true>(plan, arguments, stream)
                                 : launch_order<tile, false>(plan, arguments, stream);
}

}  // namespace

void launch_skinny_tf32(const plan& plan, const arguments& arguments, cudaStream_t stream) {
    frame::with_row<skinny_tf32_kernels>(
        plan.kernel, [&]<std::size_t row>() { launch_row<row>(plan, arguments, stream); });
}

}  // namespace heddle::kernels::matmul
