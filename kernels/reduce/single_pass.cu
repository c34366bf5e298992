// single_pass: one launch for any size. Blocks exchange their states in the fastest way there is.
//
//   up to 64 KB:   one block             packets -> registers -> shuffles -> shared memory -> result
//   up to 512 KB:  a cluster of 8        every warp sends its state into the first block's shared memory
//   up to 8 MB:    16 clusters           15 then send theirs to the one that read its share last, which waits
//   more:          many blocks           partials[block], then a ticket: the block that draws the last one combines them
//   over 17 MB:    two blocks an SM      the same; x comes through rings in shared memory
//
// A message is data and signal at once. In a cluster, its store counts at a barrier in the receiver's shared memory.
// Between clusters, it has 16 bytes whose second half is not zero. So there is no fence and no reload. One thread starts
// the bulk copies that fill a ring: 192 KB are under way in an SM, at no cost in registers or instructions. Without
// clusters or bulk copies, more blocks share the data (README.md), and load it as `vectorized` does. Which block comes
// last varies, but partials are combined in the order of their blocks, so the same call gives the same bits. Tickets and
// messages are zero again at the end. It takes any stride, with 16-byte loads for stride 1. The limit is the launch up to
// about 1 MB, then L2 or DRAM.

#include "kernels/device/block_reduce.cuh"
#include "kernels/device/clusters.hpp"
#include "kernels/reduce/single_pass.cuh"

#include <algorithm>
#include <cstdint>

namespace heddle::kernels::reduce {
namespace {

struct grid {
    std::int64_t blocks;
    std::int64_t threads;  ///< per block
    std::int64_t cluster;  ///< blocks per cluster, a divisor of all blocks
    bool has_rings = false;
};

/// The grid for so many packets (elements where they are strided). `may_ring` says that bulk copies can read them. Without
/// scratch memory one cluster does all the work, or one block where there are no clusters.
grid grid_of(std::int64_t packets, const device_traits& device, bool may_ring, bool has_scratch) {
    // One round of packets per thread, while there are threads.
    const auto threads_for = [](std::int64_t shared) {
        const std::int64_t warps = blocks_for(shared, tile::unroll * warp_size);
        return std::min<std::int64_t>(warps * warp_size, tile::lone_threads);
    };
    if (packets <= tile::lone_packets) return {1, threads_for(packets), 1};
    const bool clusters_run = has_clusters(device.compute_capability_major, device.compute_capability_minor);
    if (packets <= (has_scratch ? tile::cluster_packets : tile::most_cluster_packets) && clusters_run)
        return {tile::cluster, threads_for(blocks_for(packets, tile::cluster)), tile::cluster};
    if (!has_scratch) return {1, threads_for(packets), 1};

    const std::int64_t clusters = std::min(device.sm_count / tile::cluster, single_pass_sharing::clusters);
    if (packets <= clusters * tile::cluster_packets && clusters_run) {
        const std::int64_t blocks = clusters * tile::cluster;
        return {blocks, threads_for(blocks_for(packets, blocks)), tile::cluster};
    }

    const std::int64_t tiles = blocks_for(packets, tile::packets);
    const std::int64_t places = std::int64_t{device.sm_count} * tile::blocks_per_sm;
    if (tiles > places && may_ring && clusters_run)
        return {std::int64_t{device.sm_count} * ring_tile::blocks_per_sm, tile::threads, 1, true};
    if (tiles > places)
        return {std::clamp(tiles / single_pass_sharing::tiles_to_share, places,
                           places * single_pass_sharing::waves),
                tile::threads, 1};
    const std::int64_t one_per_sm =
        std::min<std::int64_t>(blocks_for(packets, tile::threads), device.sm_count);
    return {std::max(tiles, one_per_sm), tile::threads, 1};
}

/// Partials and depth of a grid.
plan cost_of(const grid& grid, std::int64_t packets, std::int64_t width) {
    const auto [blocks, threads, cluster, has_rings] = grid;
    // The grid's partials are taken four at a time.
    const std::int64_t last = 2 + blocks_for(blocks, tile::unroll * threads) + block_reduce_depth;
    if (has_rings) {
        const std::int64_t rounds = blocks_for(packets, ring_tile::packets * blocks);
        const std::int64_t share = round_depth(width, ring_tile::unroll) +
                                   std::min<std::int64_t>(rounds, single_pass_sharing::rounds_to_cut) +
                                   blocks_for(rounds, single_pass_sharing::rounds_to_cut) + 2;
        return {.partials = blocks, .depth = share + block_reduce_depth + last};
    }
    const std::int64_t share = accumulate_depth(packets, width, tile::unroll, blocks * threads);
    if (cluster > 1) {
        // Two warp_reduce(): a lane of the second takes as many warps as a cluster has blocks.
        const std::int64_t depth = share + 2 * warp_reduce_depth + tile::cluster;
        if (blocks == cluster) return {.partials = 0, .depth = depth};
        return {.partials = blocks / cluster, .depth = depth + warp_reduce_depth};
    }
    const std::int64_t depth = share + block_reduce_depth;
    if (blocks == 1) return {.partials = 0, .depth = depth};
    return {.partials = blocks, .depth = depth + last};
}

}  // namespace

plan plan_single_pass(const reduce_facts& problem, const device_traits& device) {
    const bool in_packets = problem.stride == 1;
    const int width = in_packets ? max_vector_bytes / static_cast<int>(problem.element_bytes) : 1;
    const std::int64_t packets = problem.size / width;
    const grid without_rings = grid_of(packets, device, false, problem.has_scratch);
    const grid with_rings = grid_of(packets, device, in_packets, problem.has_scratch);
    // Only kernels of one vector have rings.
    const grid& grid = problem.has_y ? without_rings : with_rings;
    const plan a = cost_of(without_rings, packets, width), b = cost_of(with_rings, packets, width);

    plan result;
    result.blocks[0] = grid.blocks;
    result.threads = grid.threads;
    result.cluster = grid.cluster;
    result.has_rings = grid.has_rings;
    result.width = width;
    result.y_is_alike = problem.y_is_alike;
    result.partials = std::max(a.partials, b.partials);
    result.depth = std::max(a.depth, b.depth);
    return result;
}

}  // namespace heddle::kernels::reduce
