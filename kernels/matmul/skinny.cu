// skinny: one side of C is short, and the product is a read of the other operand.
//
//   C (16 x 4096) = A (16 x 4096) B:  as C^T = B^T A^T, in 32 tiles of 128 x 16
//   a tile:  | k 0..1023 | 1024..2047 | 2048..3071 | 3072..4095 |   a block each, the four of a cluster
//            each adds up a quarter of the tile, out of the others' shared memory
//
// A wgmma has 64 rows, so a C of 16 rows wastes most of it, and 4096 / 256 tiles leave most multiprocessors idle. Turned
// around, the long side fills the rows and the short one is n. Now bytes are the limit: all multiprocessors have to read,
// so a tile is shared out along k. stream_k's workers leave their sums in memory, behind a fence and a ticket; blocks of
// a cluster read one another's shared memory after one barrier. Only a C of few tiles and a long k still takes several
// clusters a tile, and the workspace.

#include "kernels/device/pipeline.cuh"
#include "kernels/device/ptx/atomic_increment.cuh"
#include "kernels/device/ptx/cluster.cuh"
#include "kernels/device/ptx/grid_dependency.cuh"
#include "kernels/matmul/epilogue.cuh"
#include "kernels/matmul/warpgroup.cuh"

#include <array>
#include <cstddef>

namespace heddle::kernels::matmul {
namespace {

template <int n_, int stages_>
struct skinny_tile {
    static constexpr int consumers = 2;
    static constexpr int m = consumers * warpgroup_m;
    static constexpr int n = n_;
    static constexpr int k = step_k;
    static constexpr int stages = stages_;
    static constexpr int consumer_threads = consumers * warpgroup_threads;
    static constexpr int threads = consumer_threads + 32;  ///< a warp loads
    static constexpr int packets = n / 8;                  ///< of four sums that a thread has
};

/// The clusters that share a tile, and what they leave for one another.
struct split {
    int down;      ///< tiles of C
    int steps;     ///< along k
    int clusters;  ///< that share a tile
    float4* sums;
    unsigned* tickets;  ///< zero between calls
};

template <class In, class Tile, bool a_k_major, bool b_k_major>
struct skinny_storage {
    using a_tile = warpgroup_tile<In, Tile::m, a_k_major>;
    using b_tile = warpgroup_tile<In, Tile::n, b_k_major>;
    /// First the stages, then this block's sums.
    union {
        struct {
            unsigned char a[Tile::stages][a_tile::bytes];
            unsigned char b[Tile::stages][b_tile::bytes];
        } stage;
        float4 sums[Tile::packets][Tile::consumer_threads];
    };
    stage_barriers<Tile::stages> barriers;
    bool is_last;
};

/// The four sums of one packet: two neighbours in each of two rows.
template <class Out>
__device__ void store_packet(const tensor_product<Out>& p, int row, int col, const float4& sums) {
    const float values[2][2] = {{sums.x, sums.y}, {sums.z, sums.w}};
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 2; ++j) {
            const int r = row + 8 * i, c = col + j;
            if (r >= p.m || c >= p.n) continue;
            Out& out = p.c_data[r * p.c_row_stride + c * p.c_col_stride];
            float result = p.alpha * values[i][j];
            if (p.beta != 0) result += p.beta * static_cast<float>(out);
            if (!p.epilogue.is_identity) result = applied(p.epilogue, result, r, c);
            out = static_cast<Out>(result);
        }
}

__device__ float4 operator+(const float4& a, const float4& b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
}

template <class In, class Out, class Tile, bool a_k_major, bool b_k_major>
__global__ void __launch_bounds__(Tile::threads, 1)
    skinny(const __grid_constant__ tensor_product<Out> p, const __grid_constant__ split s) {
    using storage = skinny_storage<In, Tile, a_k_major, b_k_major>;
    using a_tile = typename storage::a_tile;
    using b_tile = typename storage::b_tile;
    extern __shared__ __align__(1024) unsigned char bytes[];
    auto& shared = *reinterpret_cast<storage*>(bytes);
    if (threadIdx.x == 0) {
        shared.barriers.init(1, Tile::consumers);
        ptx::fence_mbarrier_init();
        ptx::prefetch(p.a);
        ptx::prefetch(p.b);
    }
    __syncthreads();
    ptx::let_next_grid_begin();
    ptx::wait_for_grids_before();

    const int cluster = static_cast<int>(ptx::cluster_blocks());
    const int rank = static_cast<int>(ptx::cluster_rank());
    const int tile = static_cast<int>(ptx::cluster_id()) / s.clusters;
    const int of_tile = static_cast<int>(ptx::cluster_id()) % s.clusters;
    const int row = tile % s.down * Tile::m;
    const int col = tile / s.down * Tile::n;
    const std::int64_t part = of_tile * cluster + rank;
    const std::int64_t parts = s.clusters * cluster;
    const int first = static_cast<int>(s.steps * part / parts);
    const int last = static_cast<int>(s.steps * (part + 1) / parts);
    stage_position<Tile::stages> at{};

    const bool loads = threadIdx.x >= Tile::consumer_threads;
    const int thread = static_cast<int>(threadIdx.x) % warpgroup_threads;
    const int group = static_cast<int>(threadIdx.x) / warpgroup_threads;
    if (loads) {
        if (threadIdx.x == Tile::consumer_threads)
            for (int step = first; step < last; ++step, at.advance()) {
                ptx::mbarrier* const full = &shared.barriers.full[at.stage];
                ptx::wait(&shared.barriers.empty[at.stage], at.parity ^ 1);
                ptx::arrive_and_expect(full, a_tile::bytes + b_tile::bytes);
                a_tile::template load<1>(shared.stage.a[at.stage], p.a, row, step * Tile::k, 0, 0, full);
                b_tile::template load<1>(shared.stage.b[at.stage], p.b, col, step * Tile::k, 0, 0, full);
            }
        __syncwarp();
    } else {
        float sums[Tile::n / 2];
#pragma unroll
        for (float& sum : sums) sum = 0;
        for (int step = first; step < last; ++step, at.advance()) {
            ptx::wait(&shared.barriers.full[at.stage], at.parity);
            const std::uint64_t a = a_tile::descriptor(shared.stage.a[at.stage], group * warpgroup_m);
            const std::uint64_t b = b_tile::descriptor(shared.stage.b[at.stage], 0);
            ptx::wgmma_fence();
#pragma unroll
            for (int i = 0; i < Tile::k / a_tile::step; ++i)
                ptx::wgmma<In, Tile::n, a_k_major, b_k_major>(sums, a + i * a_tile::advance,
                                                              b + i * b_tile::advance, true);
            ptx::wgmma_commit();
            ptx::wgmma_wait<0>();
            if (thread == 0) ptx::arrive(&shared.barriers.empty[at.stage]);
        }
        ptx::sync_threads(1, Tile::consumer_threads);  // nobody reads the stages any more
#pragma unroll
        for (int i = 0; i < Tile::packets; ++i)
            shared.sums[i][threadIdx.x] =
                make_float4(sums[4 * i], sums[4 * i + 1], sums[4 * i + 2], sums[4 * i + 3]);
    }
    ptx::cluster_arrive();
    ptx::cluster_wait();

    if (!loads) {
        // Of the tile's packets, this block adds up every cluster'th.
        const int thread_row = row + group * warpgroup_m + thread / 32 * 16 + thread % 32 / 4;
        const int thread_col = col + thread % 4 * 2;
        const auto slot = [&](int cluster_of_tile, int packet) {
            return s.sums +
                   ((std::int64_t{tile} * s.clusters + cluster_of_tile) * Tile::packets + packet) *
                       Tile::consumer_threads +
                   threadIdx.x;
        };
        for (int i = rank; i < Tile::packets; i += cluster) {
            float4 total = ptx::load_cluster(&shared.sums[i][threadIdx.x], 0);
#pragma unroll 4
            for (int block = 1; block < cluster; ++block)
                total = total + ptx::load_cluster(&shared.sums[i][threadIdx.x], block);
            if (s.clusters == 1)
                store_packet(p, thread_row, thread_col + 8 * i, total);
            else
                *slot(of_tile, i) = total;
        }
        if (s.clusters > 1) {
            __threadfence();
            ptx::sync_threads(1, Tile::consumer_threads);
            if (threadIdx.x == 0)
                shared.is_last = ptx::atomic_increment(s.tickets + tile * cluster + rank, s.clusters - 1) ==
                                 static_cast<unsigned>(s.clusters - 1);
            ptx::sync_threads(1, Tile::consumer_threads);
            if (shared.is_last) {
                __threadfence();
                for (int i = rank; i < Tile::packets; i += cluster) {
                    float4 total = __ldcg(slot(0, i));
#pragma unroll 4
                    for (int other = 1; other < s.clusters; ++other) total = total + __ldcg(slot(other, i));
                    store_packet(p, thread_row, thread_col + 8 * i, total);
                }
            }
        }
    }
    ptx::cluster_arrive_relaxed();  // its shared memory is read until all are here
    ptx::cluster_wait();
}

template <class Tile, class In, class Out>
void launch_tile(const product<In, Out>& arguments, const skinny_layout& layout, std::byte* workspace,
                 cudaStream_t stream) {
    split s{static_cast<int>(layout.down), static_cast<int>(layout.steps), layout.clusters, nullptr, nullptr};
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
    switch (skinny_widths[layout.width]) {
        case 16:
            return launch_tile<skinny_tile<16, 12>>(turned, layout, workspace, stream);
        case 64:
            return launch_tile<skinny_tile<64, 9>>(turned, layout, workspace, stream);
        default:
            return launch_tile<skinny_tile<128, 7>>(turned, layout, workspace, stream);
    }
}

template void launch_skinny(const product<half, half>&, std::byte*, const device_traits&, cudaStream_t);
template void launch_skinny(const product<half, float>&, std::byte*, const device_traits&, cudaStream_t);
template void launch_skinny(const product<bfloat16, bfloat16>&, std::byte*, const device_traits&,
                            cudaStream_t);
template void launch_skinny(const product<bfloat16, float>&, std::byte*, const device_traits&, cudaStream_t);

}  // namespace heddle::kernels::matmul
