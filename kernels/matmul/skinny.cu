// skinny: for a C with a short side, where the product is a read of the other operand.
//
//   C (16 x 4096) = A (16 x 4096) B:  as C^T = B^T A^T, in 64 tiles of 64 x 16
//   a tile:  | k 0..2047 | 2048..4095 |   one block each, the two of a cluster
//            each sends the other its sums of half of the tile, and adds up the other half
//
// A wgmma has 64 rows: a C of 16 rows wastes most of it, and 4096 / 256 tiles leave most multiprocessors idle. In the
// transposed product the long side fills the rows, and the short one is n. Then bytes are the limit, so all
// multiprocessors must read. So a tile is divided along k. The workers of stream_k leave sums in memory, with a fence and
// a ticket. Here the blocks of a cluster send them to one another's shared memory, in messages that are data and signal.
// Only a C of few tiles and a long k takes several clusters per tile, and the workspace. What limits it: memory.

#include "kernels/device/launch.hpp"
#include "kernels/device/launchers.hpp"
#include "kernels/device/pipeline.cuh"
#include "kernels/device/ptx/grid_dependency.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/matmul/skinny.cuh"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace heddle::kernels::matmul {
namespace {

template <class In, class Tile>
struct skinny_storage {
    template <bool k_major>
    using a_tile = warpgroup_tile<In, Tile::m, k_major>;
    template <bool k_major>
    using b_tile = warpgroup_tile<In, Tile::n, k_major>;
    /// If rows of B lie along n, its boxes are 64 wide.
    static constexpr bool takes_rows_of_b = Tile::n % warpgroup_m == 0;
    unsigned char a[Tile::stages][std::max(a_tile<true>::bytes, a_tile<false>::bytes)];
    unsigned char b[Tile::stages][b_tile<true>::bytes];
    /// Each block of the cluster sends its part of the packets that this block adds up.
    float4 received[Tile::received][Tile::consumers];
    stage_barriers<Tile::stages> barriers;
    ptx::mbarrier all_received;
    bool is_last;
};

/// Calls function.operator()<a_k_major, b_k_major>() for an order that the tile takes.
template <class Storage, class Product, class Function>
__device__ void in_skinny_order_of(const Product& p, Function function) {
    in_order_of(p, [&]<bool a_k_major, bool b_k_major>() {
        if constexpr (b_k_major || Storage::takes_rows_of_b)
            function.template operator()<a_k_major, b_k_major>();
    });
}

template <class In, class Out, class Tile>
__global__ void __launch_bounds__(Tile::threads, skinny_blocks_per_sm)
    skinny(const __grid_constant__ tensor_product<Out> p, const __grid_constant__ skinny_split s) {
    using storage = skinny_storage<In, Tile>;
    extern __shared__ __align__(1024) unsigned char bytes[];
    auto& shared = *reinterpret_cast<storage*>(bytes);
    if (threadIdx.x == Tile::consumers) {
        ptx::prefetch(p.a);
        ptx::prefetch(p.b);
    }
    const skinny_cluster<Tile> cluster;
    if (threadIdx.x == 0) {
        shared.barriers.init(1, 1);
        cluster.expect(&shared.all_received);
    }
    if (cluster.blocks > 1) ptx::cluster_arrive_relaxed();  // waited for before the first message
    // Computed here, because its constants take long to load.
    const bool is_plain = ptx::sync_threads_and(p.beta == 0 && p.epilogue.is_identity);
    ptx::let_next_grid_begin();
    ptx::wait_for_grids_before();

    const skinny_share<Tile> share(s, cluster);
    stage_position<Tile::stages> at{};

    const auto thread = static_cast<int>(threadIdx.x);
    if (thread >= Tile::consumers) {
        if (thread == Tile::consumers)
#pragma unroll 1
            for (int step = share.first; step < share.last; ++step, at.advance()) {
                ptx::mbarrier* const full = &shared.barriers.full[at.stage];
                ptx::wait(&shared.barriers.empty[at.stage], at.parity ^ 1);
                ptx::arrive_and_expect(full, sizeof(shared.a[0]) + sizeof(shared.b[0]));
                in_order(p.a_k_major, [&]<bool k_major>() {
                    using tile = storage::template a_tile<k_major>;
                    static_assert(tile::bytes == sizeof(shared.a[0]));
                    tile::template load<1>(shared.a[at.stage], p.a, share.row, step * Tile::k, 0, 0, full);
                });
                in_order(p.b_k_major || !storage::takes_rows_of_b, [&]<bool k_major>() {
                    using tile = storage::template b_tile<k_major>;
                    if constexpr (k_major || storage::takes_rows_of_b) {
                        static_assert(tile::bytes == sizeof(shared.b[0]));
                        tile::template load<1>(shared.b[at.stage], p.b, share.col, step * Tile::k, 0, 0,
                                               full);
                    }
                });
            }
        ptx::sync_warp();
        if (cluster.blocks > 1) ptx::cluster_wait();
    } else {
        const thread_place<Out> place_in_c(p, share.row + thread / 32 * 16 + thread % 32 / 4,
                                           share.col + thread % 4 * 2);
        place_in_c.prefetch(p, cluster);
        float sums[Tile::n / 2];
        in_skinny_order_of<storage>(p, [&]<bool a_k_major, bool b_k_major>() {
            using a_tile = storage::template a_tile<a_k_major>;
            using b_tile = storage::template b_tile<b_k_major>;
#pragma unroll
            for (float& sum : sums) sum = 0;
            int stage_before = 0;
#pragma unroll 1
            for (int step = 0; step < share.last - share.first; ++step) {
                ptx::wait(&shared.barriers.full[at.stage], at.parity);
                const std::uint64_t a = a_tile::descriptor(shared.a[at.stage], 0);
                const std::uint64_t b = b_tile::descriptor(shared.b[at.stage], 0);
                ptx::wgmma_fence();
#pragma unroll
                for (int i = 0; i < Tile::k / a_tile::step; ++i)
                    ptx::wgmma<In, Tile::n, a_k_major, b_k_major>(sums, a + i * a_tile::advance,
                                                                  b + i * b_tile::advance, true);
                ptx::wgmma_commit();
                if (step > 0) {  // the products of the previous step are done, those of this step run
                    ptx::wgmma_wait<1>();
                    if (thread == 0) ptx::arrive(&shared.barriers.empty[stage_before]);
                }
                stage_before = at.stage;
                at.advance();
            }
            ptx::wgmma_wait<0>();
            ptx::wgmma_results(sums);
        });
        if (cluster.blocks > 1) ptx::cluster_wait();
        add_up<Tile>(p, s, cluster, share, place_in_c, is_plain, sums, shared.received, &shared.all_received,
                     shared.is_last);
    }
}

template <std::size_t row, class In, class Out>
void launch_row(const plan& plan, const product<In, Out>& arguments, cudaStream_t stream) {
    constexpr skinny_kernel config = skinny_kernels[row];
    using tile = skinny_tile<config.n, config.k, config.stages>;
    using storage = skinny_storage<In, tile>;
    tensor_product<Out> p = make_product(arguments);
    if (!p.b_k_major && !storage::takes_rows_of_b)
        throw std::logic_error("matmul: a skinny kernel that needs B along k was chosen for another");
    add_operand_maps(p, arguments, tile::m, tile::n);
    launch({.blocks = {plan.down * plan.across * plan.clusters * plan.cluster},
            .threads = {tile::threads},
            .shared_bytes = sizeof(storage),
            .shared_limit = sizeof(storage),
            .stream = stream,
            .cluster = plan.cluster,
            .begins_early = true},
           skinny<In, Out, tile>, p, skinny_split_of(plan, arguments.workspace));
}

}  // namespace

template <class In, class Out>
void launch_skinny(const plan& plan, const product<In, Out>& arguments, cudaStream_t stream) {
    frame::with_row<skinny_kernels>(plan.kernel,
                                    [&]<std::size_t row>() { launch_row<row>(plan, arguments, stream); });
}

HEDDLE_LAUNCHES_OF_16_BITS(launch_skinny, plan, product)

}  // namespace heddle::kernels::matmul
