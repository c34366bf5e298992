#pragma once

#include "kernels/device/ptx/cluster.cuh"
#include "kernels/device/warpgroup_tile.cuh"

/// How the blocks of a cluster that divide the steps of a tile add up their sums.
namespace heddle::kernels::frame {

/// Called once by all consumers of the cluster; this is consumer `group` of block `rank`. Each block gets n / blocks
/// columns, in the order of the ranks. It starts with its own sums of them and adds what the others leave in its stages, in
/// the order of the ranks. No one may fill or read these stages any more.
template <int blocks, int consumers, int n, class Stages>
__device__ void share_sums_in_cluster(Stages& stages, int rank, int group, const float (&sums)[n / 2],
                                      float (&share)[n / 2 / blocks]) {
    constexpr int packets = n / 8 / blocks;  // each has four sums of a thread
    static_assert(packets * 8 * blocks == n);
    static_assert(sizeof(Stages) >= sizeof(float4) * blocks * consumers * packets * warpgroup_threads);
    const int thread = static_cast<int>(threadIdx.x) % warpgroup_threads;
    const auto place = [&](int from, int packet) {
        return reinterpret_cast<float4*>(&stages) +
               ((from * consumers + group) * packets + packet) * warpgroup_threads + thread;
    };
    ptx::cluster_arrive();
    ptx::cluster_wait();
#pragma unroll
    for (int to = 0; to < blocks; ++to) {
        const float* const block_sums = sums + 4 * packets * to;
#pragma unroll
        for (int i = 0; i < packets; ++i)
            if (to != rank)
                ptx::store_at_block(
                    ptx::address_at_block(place(rank, i), to),
                    {block_sums[4 * i], block_sums[4 * i + 1], block_sums[4 * i + 2], block_sums[4 * i + 3]});
            else
#pragma unroll
                for (int part = 0; part < 4; ++part) share[4 * i + part] = block_sums[4 * i + part];
    }
    ptx::cluster_arrive();
    ptx::cluster_wait();
#pragma unroll
    for (int from = 0; from < blocks; ++from)
        if (from != rank)
#pragma unroll
            for (int i = 0; i < packets; ++i) {
                const float4 added = *place(from, i);
                share[4 * i] += added.x;
                share[4 * i + 1] += added.y;
                share[4 * i + 2] += added.z;
                share[4 * i + 3] += added.w;
            }
}

}  // namespace heddle::kernels::frame
