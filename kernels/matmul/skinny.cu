// skinny: one side of C is short, and the product is a read of the other operand.
//
//   C (16 x 4096) = A (16 x 4096) B:  as C^T = B^T A^T, in 64 tiles of 64 x 16
//   a tile:  | k 0..2047 | 2048..4095 |   a block each, the two of a cluster
//            each sends the other its sums of half of the tile, and adds up the other half
//
// A wgmma has 64 rows, so a C of 16 rows wastes most of it, and 4096 / 256 tiles leave most multiprocessors idle. Turned
// around, the long side fills the rows and the short one is n. Now bytes are the limit: all multiprocessors have to read,
// so a tile is shared out along k. stream_k's workers leave their sums in memory, behind a fence and a ticket; blocks of
// a cluster send them to one another's shared memory, in messages that are data and signal at once. (To read the other's
// shared memory after a barrier takes several times as long: README.md.) Only a C of few tiles and a long k still takes
// several clusters a tile, and the workspace.

#include "kernels/device/pipeline.cuh"
#include "kernels/device/ptx/atomic_increment.cuh"
#include "kernels/device/ptx/cluster.cuh"
#include "kernels/device/ptx/cluster_message.cuh"
#include "kernels/device/ptx/grid_dependency.cuh"
#include "kernels/device/ptx/in_register.cuh"
#include "kernels/matmul/epilogue.cuh"
#include "kernels/matmul/warpgroup.cuh"

#include <algorithm>
#include <cstddef>

namespace heddle::kernels::matmul {
namespace {

/// With two, all clusters find room at once: a group of multiprocessors that has 17 takes four clusters of four blocks
/// of one each, but eight of two.
constexpr int blocks_per_sm = 2;

template <int n_, int stages_>
struct skinny_tile {
    static constexpr int m = skinny_height;
    static constexpr int n = n_;
    static constexpr int k = step_k;
    static constexpr int stages = stages_;
    static constexpr int consumers = warpgroup_threads;
    static constexpr int threads = consumers + 32;  ///< a warp loads
    static constexpr int packets = n / 8;           ///< of four sums that a thread has
    static_assert(m == warpgroup_m);
};

/// The clusters that share a tile, and what they leave for one another.
struct split {
    int down;      ///< tiles of C
    int steps;     ///< along k, of each block
    int longer;    ///< blocks of a tile that have one more
    int clusters;  ///< that share a tile
    float4* sums;
    unsigned* tickets;  ///< zero between calls
};

template <class In, class Tile, bool a_k_major, bool b_k_major>
struct skinny_storage {
    using a_tile = warpgroup_tile<In, Tile::m, a_k_major>;
    using b_tile = warpgroup_tile<In, Tile::n, b_k_major>;
    unsigned char a[Tile::stages][a_tile::bytes];
    unsigned char b[Tile::stages][b_tile::bytes];
    /// From each block of the cluster its part of the packets that this block adds up.
    float4 received[std::max(Tile::packets, max_cluster)][Tile::consumers];
    stage_barriers<Tile::stages> barriers;
    ptx::mbarrier all_received;
    bool is_last;
};

/// Apart, so that what is seldom needed is in nobody's way.
template <class Out>
__device__ __noinline__ float finished(const tensor_product<Out>& p, float scaled, const Out& c, int row,
                                       int col) {
    if (p.beta != 0) scaled += p.beta * static_cast<float>(c);
    return p.epilogue.is_identity ? scaled : applied(p.epilogue, scaled, row, col);
}

/// Where a thread stores its packets: two neighbours of a row each, and the two eight rows below.
template <class Out>
struct thread_place {
    Out* first;
    std::int64_t down;  ///< eight rows
    std::int64_t right;
    int row;
    int col;
    int rows_left;
    int cols_left;
    float alpha;

    /// Constants come from far, and the compiler would fetch them anew for each packet.
    __device__ thread_place(const tensor_product<Out>& p, int row, int col)
        : first(ptx::in_register(p.c_data + row * p.c_row_stride + col * p.c_col_stride)),
          down(ptx::in_register(8 * p.c_row_stride)),
          right(ptx::in_register(p.c_col_stride)),
          row(row),
          col(col),
          rows_left(ptx::in_register(p.m - row)),
          cols_left(ptx::in_register(p.n - col)),
          alpha(ptx::in_register(p.alpha)) {}

    __device__ void store(const tensor_product<Out>& p, bool is_plain, int packet, const float4& sums) const {
        const float values[2][2] = {{sums.x, sums.y}, {sums.z, sums.w}};
        Out* const from = first + 8 * packet * right;
        const auto for_each = [&](auto function) {
#pragma unroll
            for (int i = 0; i < 2; ++i)
#pragma unroll
                for (int j = 0; j < 2; ++j)
                    if (8 * i < rows_left && 8 * packet + j < cols_left)
                        function(from[i * down + j * right], alpha * values[i][j], i, j);
        };
        if (is_plain)
            for_each([](Out& out, float scaled, int, int) { out = static_cast<Out>(scaled); });
        else
            for_each([&](Out& out, float scaled, int i, int j) {
                out = static_cast<Out>(finished(p, scaled, out, row + 8 * i, col + 8 * packet + j));
            });
    }
};

__device__ float4 operator+(const float4& a, const float4& b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
}

template <class In, class Out, class Tile, bool a_k_major, bool b_k_major>
__global__ void __launch_bounds__(Tile::threads, blocks_per_sm)
    skinny(const __grid_constant__ tensor_product<Out> p, const __grid_constant__ split s) {
    using storage = skinny_storage<In, Tile, a_k_major, b_k_major>;
    using a_tile = typename storage::a_tile;
    using b_tile = typename storage::b_tile;
    extern __shared__ __align__(1024) unsigned char bytes[];
    auto& shared = *reinterpret_cast<storage*>(bytes);
    if (threadIdx.x == Tile::consumers) {
        ptx::prefetch(p.a);
        ptx::prefetch(p.b);
    }
    const int cluster = static_cast<int>(ptx::cluster_blocks());
    const int rank = static_cast<int>(ptx::cluster_rank());
    // Packet i is added up by block i % cluster. A cluster has 1, 2, 4 or 8 blocks: a division takes 100 clocks.
    const int shift = 31 - __clz(cluster);
    const auto packets_of = [&](int block) { return (Tile::packets - block + cluster - 1) >> shift; };
    const int own_packets = packets_of(rank);
    if (threadIdx.x == 0) {
        shared.barriers.init(1, 1);
        ptx::expect_messages(&shared.all_received, static_cast<unsigned>((cluster - 1) * own_packets *
                                                                         Tile::consumers * sizeof(float4)));
    }
    if (cluster > 1) ptx::cluster_arrive_relaxed();  // awaited before the first message
    // Here, as the constants that it takes come from far.
    const bool is_plain = __syncthreads_and(p.beta == 0 && p.epilogue.is_identity);
    ptx::let_next_grid_begin();
    ptx::wait_for_grids_before();

    const int tile = static_cast<int>(ptx::cluster_id()) / s.clusters;
    const int of_tile = static_cast<int>(ptx::cluster_id()) % s.clusters;
    const int row = tile % s.down * Tile::m;
    const int col = tile / s.down * Tile::n;
    const int part = of_tile * cluster + rank;
    const int first = part * s.steps + min(part, s.longer);
    const int last = first + s.steps + (part < s.longer ? 1 : 0);
    stage_position<Tile::stages> at{};

    const bool loads = threadIdx.x >= Tile::consumers;
    const int thread = static_cast<int>(threadIdx.x);
    if (loads) {
        if (threadIdx.x == Tile::consumers)
            for (int step = first; step < last; ++step, at.advance()) {
                ptx::mbarrier* const full = &shared.barriers.full[at.stage];
                ptx::wait(&shared.barriers.empty[at.stage], at.parity ^ 1);
                ptx::arrive_and_expect(full, a_tile::bytes + b_tile::bytes);
                a_tile::template load<1>(shared.a[at.stage], p.a, row, step * Tile::k, 0, 0, full);
                b_tile::template load<1>(shared.b[at.stage], p.b, col, step * Tile::k, 0, 0, full);
            }
        __syncwarp();
        if (cluster > 1) ptx::cluster_wait();
    } else {
        const thread_place<Out> place_in_c(p, row + thread / 32 * 16 + thread % 32 / 4, col + thread % 4 * 2);
        float sums[Tile::n / 2];
        int stage_before = 0;
        for (int step = 0; step < last - first; ++step) {
            ptx::wait(&shared.barriers.full[at.stage], at.parity);
            const std::uint64_t a = a_tile::descriptor(shared.a[at.stage], 0);
            const std::uint64_t b = b_tile::descriptor(shared.b[at.stage], 0);
            ptx::wgmma_fence();
#pragma unroll
            for (int i = 0; i < Tile::k / a_tile::step; ++i)
                ptx::wgmma<In, Tile::n, a_k_major, b_k_major>(sums, a + i * a_tile::advance,
                                                              b + i * b_tile::advance, step > 0 || i > 0);
            ptx::wgmma_commit();
            if (step > 0) {  // the products of the step before are done, those of this one run
                ptx::wgmma_wait<1>();
                if (thread == 0) ptx::arrive(&shared.barriers.empty[stage_before]);
            }
            stage_before = at.stage;
            at.advance();
        }
        ptx::wgmma_wait<0>();
        ptx::wgmma_results(sums);
        if (cluster > 1) ptx::cluster_wait();
        const auto place = [&](int sender, int i, int owners_packets) {
            return &shared.received[sender * owners_packets + (i >> shift)][thread];
        };
#pragma unroll
        for (int i = 0; i < Tile::packets; ++i) {
            const int owner = i & (cluster - 1);
            const float4 packet = make_float4(sums[4 * i], sums[4 * i + 1], sums[4 * i + 2], sums[4 * i + 3]);
            float4* const to = place(rank, i, packets_of(owner));
            if (owner == rank)
                *to = packet;
            else
                ptx::send_message(to, static_cast<unsigned>(owner), packet, &shared.all_received);
        }
        if (cluster > 1) ptx::wait_for_messages(&shared.all_received);

        const auto left = [&](int other, int i) {
            return s.sums +
                   ((std::int64_t{tile} * s.clusters + other) * Tile::packets + i) * Tile::consumers + thread;
        };
        for (int i = rank; i < Tile::packets; i += cluster) {
            float4 total{};
#pragma unroll 4
            for (int sender = 0; sender < cluster; ++sender)  // in one order, whoever adds
                total = total + *place(sender, i, own_packets);
            if (s.clusters == 1)
                place_in_c.store(p, is_plain, i, total);
            else
                *left(of_tile, i) = total;
        }
        if (s.clusters > 1) {
            __threadfence();
            ptx::sync_threads(1, Tile::consumers);
            if (thread == 0)
                shared.is_last = ptx::atomic_increment(s.tickets + tile * cluster + rank, s.clusters - 1) ==
                                 static_cast<unsigned>(s.clusters - 1);
            ptx::sync_threads(1, Tile::consumers);
            if (shared.is_last) {
                __threadfence();
                for (int i = rank; i < Tile::packets; i += cluster) {
                    float4 total{};
#pragma unroll 8
                    for (int other = 0; other < s.clusters; ++other) total = total + __ldcg(left(other, i));
                    place_in_c.store(p, is_plain, i, total);
                }
            }
        }
    }
}

template <class Tile, class In, class Out>
void launch_tile(const product<In, Out>& arguments, const skinny_layout& layout, std::byte* workspace,
                 cudaStream_t stream) {
    const int parts = layout.cluster * layout.clusters;
    const auto steps = static_cast<int>(layout.steps);
    split s{static_cast<int>(layout.down), steps / parts, steps % parts, layout.clusters, nullptr, nullptr};
    if (layout.clusters > 1) {
        s.tickets = reinterpret_cast<unsigned*>(workspace);
        s.sums = reinterpret_cast<float4*>(workspace + workspace_ticket_bytes);
    }
    with_orders(arguments, [&]<bool a_k_major, bool b_k_major>() {
        // Boxes of B are 64 wide where its rows lie along n.
        if constexpr (b_k_major || Tile::n % warpgroup_m == 0) {
            using storage = skinny_storage<In, Tile, a_k_major, b_k_major>;
            const auto p =
                make_tensor_product<typename storage::a_tile, typename storage::b_tile, a_k_major, b_k_major>(
                    arguments);
            launch(skinny<In, Out, Tile, a_k_major, b_k_major>,
                   static_cast<unsigned>(layout.tiles * layout.clusters * layout.cluster),
                   static_cast<unsigned>(layout.cluster), Tile::threads, sizeof(storage), true, stream, p, s);
        }
    });
}

}  // namespace

template <class In, class Out>
void launch_skinny(const product<In, Out>& arguments, std::byte* workspace, const device_traits& device,
                   cudaStream_t stream) {
    const product<In, Out> turned = arguments.c.rows < arguments.c.cols ? transposed(arguments) : arguments;
    const skinny_layout layout = lay_out_skinny(turned.c.rows, turned.c.cols, turned.a.cols, device.sm_count,
                                                workspace != nullptr, !has_tensor_rows(turned.b));
    if (layout.width == 0)
        launch_tile<skinny_tile<skinny_widths[0], 9>>(turned, layout, workspace, stream);
    else
        launch_tile<skinny_tile<skinny_widths[1], 6>>(turned, layout, workspace, stream);
}

template void launch_skinny(const product<half, half>&, std::byte*, const device_traits&, cudaStream_t);
template void launch_skinny(const product<half, float>&, std::byte*, const device_traits&, cudaStream_t);
template void launch_skinny(const product<bfloat16, bfloat16>&, std::byte*, const device_traits&,
                            cudaStream_t);
template void launch_skinny(const product<bfloat16, float>&, std::byte*, const device_traits&, cudaStream_t);

}  // namespace heddle::kernels::matmul
