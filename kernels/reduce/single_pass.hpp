#pragma once

#include "kernels/device/clusters.hpp"
#include "kernels/reduce/launch.hpp"
#include "kernels/reduce/levels.hpp"

#include <algorithm>
#include <cstdint>

namespace heddle::kernels::reduce {

struct single_pass_tile {
    static constexpr int unroll = 4;
    static constexpr int threads = 512;  ///< of one block among many
    static constexpr int blocks_per_sm = 4;
    static constexpr int lone_threads = 1024;  ///< at most, of a lone block or one of a lone cluster
    static constexpr int lone_packets = lone_threads * unroll;
    static constexpr int cluster = 8;  ///< blocks, on any device that has clusters
    static constexpr int cluster_packets = cluster * lone_packets;
    static constexpr int clusters = 16;  ///< that exchange mail, at most
    static constexpr int packets = threads * unroll;
    /// Blocks for each place on the device, and the tiles that each must have for more than one to pay.
    static constexpr int waves = 4;
    static constexpr int tiles_to_share = 8;

    static constexpr int warp = 32;
    static constexpr int most_warps = cluster * lone_threads / warp;
    static constexpr int registers_per_sm = 65536;
};

/// A ring in shared memory feeds a block. More is under way than the loads of a full SM are, at no cost in
/// registers, threads or instructions.
struct ring_tile {
    static constexpr int unroll = 4;
    static constexpr int packets = single_pass_tile::threads * unroll;
    static constexpr int stages = 3;
    static constexpr int blocks_per_sm = 2;
    /// So few threads have long chains of rounds: they are cut after so many.
    static constexpr int rounds_to_cut = 16;
};

/// Each `cluster` blocks, a divisor of `blocks`, are a cluster; of 1, there are none.
struct single_pass_grid {
    std::int64_t blocks;
    std::int64_t threads;  ///< of a block
    std::int64_t cluster;
    bool is_ring = false;
};

/// The grid, from the packets (elements, where they are strided) that there are, and whether bulk copies can fetch
/// them. Pure.
inline single_pass_grid plan_single_pass_grid(std::int64_t packets, const device_traits& device,
                                              bool may_ring) {
    using tile = single_pass_tile;
    // A round of packets a thread as far as there are threads.
    const auto threads_for = [](std::int64_t shared) {
        const std::int64_t warps = blocks_for(shared, tile::unroll * tile::warp);
        return std::min<std::int64_t>(warps * tile::warp, tile::lone_threads);
    };
    if (packets <= tile::lone_packets) return {1, threads_for(packets), 1};
    const bool clusters_run = has_clusters(device.compute_capability_major, device.compute_capability_minor);
    if (packets <= tile::cluster_packets && clusters_run)
        return {tile::cluster, threads_for(blocks_for(packets, tile::cluster)), tile::cluster};

    const std::int64_t clusters = std::min(device.sm_count / tile::cluster, tile::clusters);
    if (packets <= clusters * tile::cluster_packets && clusters_run) {
        const std::int64_t blocks = clusters * tile::cluster;
        return {blocks, threads_for(blocks_for(packets, blocks)), tile::cluster};
    }

    const std::int64_t tiles = blocks_for(packets, tile::packets);
    const std::int64_t places = std::int64_t{device.sm_count} * tile::blocks_per_sm;
    if (tiles > places && may_ring && clusters_run)
        return {std::int64_t{device.sm_count} * ring_tile::blocks_per_sm, tile::threads, 1, true};
    if (tiles > places)
        return {std::clamp(tiles / tile::tiles_to_share, places, places * tile::waves), tile::threads, 1};
    const std::int64_t one_per_sm =
        std::min<std::int64_t>(blocks_for(packets, tile::threads), device.sm_count);
    return {std::max(tiles, one_per_sm), tile::threads, 1};
}

}  // namespace heddle::kernels::reduce
