#pragma once

#include "kernels/device/last_block.cuh"
#include "kernels/device/ptx/cluster.cuh"
#include "kernels/device/ptx/cluster_message.cuh"
#include "kernels/device/ptx/in_register.cuh"
#include "kernels/device/ptx/prefetch.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/frame/epilogue.cuh"
#include "kernels/matmul/warpgroup.cuh"

#include <algorithm>
#include <cstddef>
#include <cstdint>

/// Tiles of C that are divided along k among the blocks of a cluster, and among several clusters. Each block of a cluster
/// then adds up a part of the tile.
namespace heddle::kernels::matmul {

/// With two blocks, all clusters find room at once. A group of 17 multiprocessors takes four clusters of four blocks at one
/// block each, but eight clusters at two.
inline constexpr int skinny_blocks_per_sm = 2;

template <int n_, int k_, int stages_>
struct skinny_tile {
    static constexpr int m = skinny_height;
    static constexpr int n = n_;
    static constexpr int k = k_;
    static constexpr int stages = stages_;
    static constexpr int consumers = warpgroup_threads;
    static constexpr int threads = consumers + 32;                   ///< one more warp loads
    static constexpr int packets = n / 8;                            ///< of four sums, that a thread has
    static constexpr int received = std::max(packets, max_cluster);  ///< packets that a block has room for
    static_assert(m == warpgroup_m);
};

/// How clusters share a tile, and the sums that they leave for one another.
struct skinny_split {
    int down;      ///< tiles of C
    int steps;     ///< along k, of each block
    int longer;    ///< blocks of a tile that have one step more
    int clusters;  ///< clusters that share a tile
    float4* sums;
    unsigned* tickets;  ///< zero between calls
};

inline skinny_split skinny_split_of(const plan& plan, const product_workspace& workspace) {
    const int parts = plan.cluster * plan.clusters;
    const auto steps = static_cast<int>(plan.steps);
    skinny_split result{
        static_cast<int>(plan.down), steps / parts, steps % parts, plan.clusters, nullptr, nullptr};
    if (plan.clusters > 1) {
        result.tickets = workspace.tickets;
        result.sums = reinterpret_cast<float4*>(workspace.scratch);
    }
    return result;
}

/// A block's cluster. Block i % blocks adds up packet i. A cluster has 1, 2, 4 or 8 blocks, which avoids slow divisions.
template <class Tile>
struct skinny_cluster {
    int blocks = static_cast<int>(ptx::cluster_blocks());
    int rank = static_cast<int>(ptx::cluster_rank());
    int shift = (blocks > 1) + (blocks > 2) + (blocks > 4);  ///< log2 of `blocks`

    __device__ int packets_of(int block) const { return (Tile::packets - block + blocks - 1) >> shift; }

    /// One thread calls this before the other blocks are told that they may send.
    __device__ void expect(ptx::mbarrier* all_received) const {
        ptx::expect_messages(all_received, static_cast<unsigned>((blocks - 1) * packets_of(rank) *
                                                                 Tile::consumers * sizeof(float4)));
    }
};

/// The part of C and of k that a block has.
template <class Tile>
struct skinny_share {
    int tile;
    int cluster_of_tile;  ///< number of the cluster among those of the tile
    int row;
    int col;
    int first;  ///< first step
    int last;

    __device__ skinny_share(const skinny_split& s, const skinny_cluster<Tile>& cluster)
        : tile(static_cast<int>(ptx::cluster_id()) / s.clusters),
          cluster_of_tile(static_cast<int>(ptx::cluster_id()) % s.clusters),
          row(tile % s.down * Tile::m),
          col(tile / s.down * Tile::n) {
        const int part = cluster_of_tile * cluster.blocks + cluster.rank;
        first = part * s.steps + min(part, s.longer);
        last = first + s.steps + (part < s.longer ? 1 : 0);
    }
};

/// Finishes a packet of alpha times the sums, whose first element is at `c`. All values are requested at once. Not inlined,
/// because it is seldom needed.
template <int apart, class Out>
__device__ __noinline__ float4 finished(const tensor_product<Out>& p, float4 scaled, const Out* c, int row,
                                        int col) {
    float values[] = {scaled.x, scaled.y, scaled.z, scaled.w};
    const auto place = [&](int i) {
        const int down = i / 2 * apart, right = i % 2;
        return element_place{row + down, col + right, row + down < p.m && col + right < p.n};
    };
    if (p.beta != 0)
#pragma unroll
        for (int i = 0; i < 4; ++i)
            if (place(i).is_inside)
                values[i] +=
                    p.beta * static_cast<float>(c[i / 2 * apart * p.c_row_stride + i % 2 * p.c_col_stride]);
    if (!p.epilogue.is_identity) apply_to_elements(p.epilogue, values, place);
    return {values[0], values[1], values[2], values[3]};
}

/// The place where a thread stores its packets: each has two neighbours of a row, and the two `apart` rows below.
template <class Out, int apart = 8>
struct thread_place {
    Out* first;
    std::int64_t down;  ///< from the first row to the second
    std::int64_t right;
    int row;
    int col;
    int rows_left;
    int cols_left;
    float alpha;

    /// Constants take long to load, and the compiler would load them again for each packet.
    __device__ thread_place(const tensor_product<Out>& p, int row, int col)
        : first(ptx::in_register(p.c_data + row * p.c_row_stride + col * p.c_col_stride)),
          down(ptx::in_register(apart * p.c_row_stride)),
          right(ptx::in_register(p.c_col_stride)),
          row(row),
          col(col),
          rows_left(ptx::in_register(p.m - row)),
          cols_left(ptx::in_register(p.n - col)),
          alpha(ptx::in_register(p.alpha)) {}

    __device__ void store(const tensor_product<Out>& p, bool is_plain, int packet, const float4& sums) const {
        Out* const to = first + 8 * packet * right;
        float4 scaled{alpha * sums.x, alpha * sums.y, alpha * sums.z, alpha * sums.w};
        if (!is_plain) scaled = finished<apart>(p, scaled, to, row, col + 8 * packet);
        const float values[2][2] = {{scaled.x, scaled.y}, {scaled.z, scaled.w}};
#pragma unroll
        for (int i = 0; i < 2; ++i)
#pragma unroll
            for (int j = 0; j < 2; ++j)
                if (apart * i < rows_left && 8 * packet + j < cols_left)
                    to[i * down + j * right] = static_cast<Out>(values[i][j]);
    }

    /// Prefetches into L2 the old C of the packets that this block adds up.
    template <class Tile>
    __device__ void prefetch(const tensor_product<Out>& p, const skinny_cluster<Tile>& cluster) const {
        if (p.beta == 0) return;
        for (int packet = cluster.rank; packet < Tile::packets; packet += cluster.blocks)
#pragma unroll
            for (int i = 0; i < 2; ++i)
                if (apart * i < rows_left && 8 * packet < cols_left)
                    ptx::prefetch_to_l2(first + i * down + 8 * packet * right);
    }
};

__device__ inline float4 operator+(const float4& a, const float4& b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
}

/// All consumers of all blocks of a tile call this: it adds up their sums, always in the same order, and stores them.
/// `received` and `all_received` are shared memory that every block of the cluster has prepared for the others.
template <class Tile, class Out, int apart>
__device__ void add_up(const tensor_product<Out>& p, const skinny_split& s,
                       const skinny_cluster<Tile>& cluster, const skinny_share<Tile>& share,
                       const thread_place<Out, apart>& place_in_c, bool is_plain,
                       const float (&sums)[Tile::n / 2], float4 (*received)[Tile::consumers],
                       ptx::mbarrier* all_received, bool& is_last) {
    const auto thread = static_cast<int>(threadIdx.x);
    const int rank = cluster.rank, own_packets = cluster.packets_of(rank);
    const auto place = [&](int sender, int i, int owners_packets) {
        return &received[sender * owners_packets + (i >> cluster.shift)][thread];
    };
#pragma unroll
    for (int i = 0; i < Tile::packets; ++i) {
        const int owner = i & (cluster.blocks - 1);
        const float4 packet = make_float4(sums[4 * i], sums[4 * i + 1], sums[4 * i + 2], sums[4 * i + 3]);
        float4* const to = place(rank, i, cluster.packets_of(owner));
        if (owner == rank)
            *to = packet;
        else
            ptx::send_message(to, static_cast<unsigned>(owner), packet, all_received);
    }
    if (cluster.blocks > 1) ptx::wait_for_messages(all_received);

    const auto left = [&](int other, int i) {
        return s.sums +
               ((std::int64_t{share.tile} * s.clusters + other) * Tile::packets + i) * Tile::consumers +
               thread;
    };
    const partials_left all_left = leave([&] {
        for (int i = rank; i < Tile::packets; i += cluster.blocks) {
            float4 total{};
#pragma unroll 4
            for (int sender = 0; sender < cluster.blocks; ++sender)
                total = total + *place(sender, i, own_packets);
            if (s.clusters == 1)
                place_in_c.store(p, is_plain, i, total);
            else
                *left(share.cluster_of_tile, i) = total;
        }
    });
    if (s.clusters == 1) return;
    ptx::fence_device();
    ptx::sync_threads(1, Tile::consumers);
    if (thread == 0)
        is_last = draws_last(s.tickets + share.tile * cluster.blocks + rank,
                             static_cast<unsigned>(s.clusters - 1), all_left);
    ptx::sync_threads(1, Tile::consumers);
    if (!is_last) return;
    ptx::fence_device();
    for (int i = rank; i < Tile::packets; i += cluster.blocks) {
        float4 total{};
#pragma unroll 8
        for (int other = 0; other < s.clusters; ++other) total = total + __ldcg(left(other, i));
        place_in_c.store(p, is_plain, i, total);
    }
}

}  // namespace heddle::kernels::matmul
