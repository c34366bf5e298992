#pragma once

#include "kernels/device/ptx/cluster.cuh"
#include "kernels/device/warpgroup_tile.cuh"

/// How the blocks of a cluster that have a tile together add up their sums.
namespace heddle::kernels::frame {

/// By all consumers of the cluster, of which this is `group` of `consumers` in block `rank`, once: all blocks leave their sums in the
/// stages of the first, which nobody fills or reads any more, and that adds them in the order of their ranks. Whether this is it.
template <int blocks, int consumers, int n, class Stages>
__device__ bool add_up_in_cluster(Stages& stages, int rank, int group, float (&sums)[n / 2]) {
    constexpr int packets = n / 8;  // of four sums of a thread
    static_assert(sizeof(Stages) >= sizeof(float4) * (blocks - 1) * consumers * packets * warpgroup_threads);
    const int thread = static_cast<int>(threadIdx.x) % warpgroup_threads;
    const auto place = [&](int from, int packet) {
        return reinterpret_cast<float4*>(&stages) +
               (((from - 1) * consumers + group) * packets + packet) * warpgroup_threads + thread;
    };
    ptx::cluster_arrive();
    ptx::cluster_wait();
    if (rank > 0)
#pragma unroll
        for (int i = 0; i < packets; ++i)
            ptx::store_at_block(ptx::address_at_block(place(rank, i), 0),
                                {sums[4 * i], sums[4 * i + 1], sums[4 * i + 2], sums[4 * i + 3]});
    ptx::cluster_arrive();
    ptx::cluster_wait();
    if (rank > 0) return false;
#pragma unroll 1
    for (int from = 1; from < blocks; ++from)
#pragma unroll
        for (int i = 0; i < packets; ++i) {
            const float4 added = *place(from, i);
            sums[4 * i] += added.x;
            sums[4 * i + 1] += added.y;
            sums[4 * i + 2] += added.z;
            sums[4 * i + 3] += added.w;
        }
    return true;
}

}  // namespace heddle::kernels::frame
