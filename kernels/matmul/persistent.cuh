#pragma once

#include "kernels/device/pipeline.cuh"
#include "kernels/device/ptx/cluster.cuh"
#include "kernels/device/ptx/grid_dependency.cuh"
#include "kernels/matmul/warpgroup.cuh"

#include <algorithm>
#include <array>

/// The kernel of the rungs `persistent` and `cluster_multicast`.
namespace heddle::kernels::matmul {

/// `consumers` warpgroups multiply 64 x n each. Blocks of a cluster lie one below the other and share their tiles of B.
template <int consumers_, int n_, int stages_, int cluster_>
struct persistent_tile {
    static constexpr int consumers = consumers_;
    static constexpr int m = consumers * warpgroup_m;
    static constexpr int n = n_;
    static constexpr int k = 64;
    static constexpr int stages = stages_;
    static constexpr int cluster = cluster_;
    static constexpr int threads = (consumers + 1) * warpgroup_threads;
    static constexpr int producer_registers = 40;
    static constexpr int consumer_registers = 232;
    static constexpr int group = 8;  ///< rows of clusters that are worked on together, to share A and B in L2
};

struct tile_at {
    int row;
    int col;
};

/// In groups of rows, column by column.
__device__ inline tile_at grouped(unsigned index, unsigned down, unsigned across, unsigned group) {
    const unsigned first = index / (group * across) * group;
    const unsigned height = min(group, down - first);
    const unsigned within = index % (group * across);
    return {static_cast<int>(first + within % height), static_cast<int>(within / height)};
}

template <class In, class Out, class Tile, bool a_k_major, bool b_k_major>
struct persistent_kernel {
    using a_tile = warpgroup_tile<In, Tile::m, a_k_major>;
    using b_tile = warpgroup_tile<In, Tile::n, b_k_major>;
    static_assert(a_tile::depth == Tile::k);
    static constexpr int out_cols = swizzle_bytes / sizeof(Out);
    static constexpr int out_buffers = 2;

    struct shared_storage {
        unsigned char a[Tile::stages][a_tile::bytes];
        unsigned char b[Tile::stages][b_tile::bytes];
        unsigned char out[Tile::consumers][out_buffers][warpgroup_m * swizzle_bytes];
        stage_barriers<Tile::stages> barriers;
    };

    const tensor_product<Out>& p;
    shared_storage& shared;
    unsigned rank = Tile::cluster == 1 ? 0 : ptx::cluster_rank();
    int steps = (p.k + Tile::k - 1) / Tile::k;
    stage_position<Tile::stages> at{};

    /// Calls function(row, col) for each tile of this block.
    template <class Function>
    __device__ void for_each_tile(Function function) {
        const unsigned down = (p.m - 1) / (Tile::m * Tile::cluster) + 1;
        const unsigned across = (p.n - 1) / Tile::n + 1;
        for (unsigned i = blockIdx.x / Tile::cluster; i < down * across; i += gridDim.x / Tile::cluster) {
            const tile_at tile = grouped(i, down, across, Tile::group);
            function((tile.row * Tile::cluster + static_cast<int>(rank)) * Tile::m, tile.col * Tile::n);
        }
    }

    /// By one thread.
    __device__ void produce() {
        for_each_tile([&](int row, int col) {
            for (int step = 0; step < steps; ++step, at.advance()) {
                ptx::mbarrier* const full = &shared.barriers.full[at.stage];
                ptx::wait(&shared.barriers.empty[at.stage], at.parity ^ 1);
                ptx::arrive_and_expect(full, a_tile::bytes + b_tile::bytes);
                a_tile::template load<1>(shared.a[at.stage], p.a, row, step * Tile::k, 0, full);
                b_tile::template load<Tile::cluster>(shared.b[at.stage], p.b, col, step * Tile::k, rank, full);
            }
        });
    }

    /// Every block that fills the stage here must know.
    __device__ void release(int stage) {
        const unsigned thread = threadIdx.x % warpgroup_threads;
        if constexpr (Tile::cluster == 1) {
            if (thread == 0) ptx::arrive(&shared.barriers.empty[stage]);
        } else {
            if (thread < Tile::cluster) ptx::arrive_at_block(&shared.barriers.empty[stage], thread);
        }
    }

    __device__ void multiply(int group, float (&sums)[Tile::n / 2]) {
        int stage_before = 0;
        for (int step = 0; step < steps; ++step) {
            ptx::wait(&shared.barriers.full[at.stage], at.parity);
            const std::uint64_t a = a_tile::descriptor(shared.a[at.stage], group * warpgroup_m);
            const std::uint64_t b = b_tile::descriptor(shared.b[at.stage], 0);
            ptx::wgmma_fence();
#pragma unroll
            for (int i = 0; i < Tile::k / a_tile::step; ++i)
                ptx::wgmma<In, Tile::n, a_k_major, b_k_major>(sums, a + i * a_tile::advance, b + i * b_tile::advance,
                                                              step > 0 || i > 0);
            ptx::wgmma_commit();
            if (step > 0) {  // the products of the step before are done, those of this one run
                ptx::wgmma_wait<1>();
                release(stage_before);
            }
            stage_before = at.stage;
            at.advance();
        }
        ptx::wgmma_wait<0>();
        release(stage_before);
    }

    /// Through shared memory, in boxes of 64 rows of 128 bytes: one is filled while the other is stored.
    __device__ void store(int group, int row, int col, const float (&sums)[Tile::n / 2], int& buffer) {
        const int thread = threadIdx.x % warpgroup_threads;
        const int lane = thread % 32;
        const int barrier = 1 + group;
#pragma unroll
        for (int first = 0; first < Tile::n; first += out_cols) {
            unsigned char* const out = shared.out[group][buffer];
            if (thread == 0) ptx::wait_for_reads_of_stores<out_buffers - 1>();
            ptx::sync_threads(barrier, warpgroup_threads);
#pragma unroll
            for (int j = 0; j < out_cols / 8; ++j) {
                const float* const of_columns = sums + (first / 8 + j) * 4;
                if constexpr (sizeof(Out) == sizeof(float)) {
#pragma unroll
                    for (int half = 0; half < 2; ++half) {
                        const int r = thread / 32 * 16 + lane / 4 + half * 8;
                        const int packet = (2 * j + lane % 4 / 2) ^ (r % 8);
                        *reinterpret_cast<float2*>(out + r * swizzle_bytes + packet * 16 + lane % 2 * 8) =
                            make_float2(p.alpha * of_columns[2 * half], p.alpha * of_columns[2 * half + 1]);
                    }
                } else if (j % 2 == 0) {
                    const int r = thread / 32 * 16 + lane % 16;
                    const int packet = (j + lane / 16) ^ (r % 8);
                    unsigned bits[4];
#pragma unroll
                    for (int i = 0; i < 4; ++i) {
                        const auto pair = pair_of<Out>(p.alpha * of_columns[2 * i], p.alpha * of_columns[2 * i + 1]);
                        bits[i] = reinterpret_cast<const unsigned&>(pair);
                    }
                    ptx::store_matrices(out + r * swizzle_bytes + packet * 16, bits[0], bits[1], bits[2], bits[3]);
                }
            }
            ptx::fence_before_copies();
            ptx::sync_threads(barrier, warpgroup_threads);
            if (thread == 0) {
                if (row < p.m && col + first < p.n) ptx::store_box(p.c, out, col + first, row);
                ptx::commit_stores();
            }
            buffer ^= 1;
        }
    }

    __device__ void consume() {
        const int group = threadIdx.x / warpgroup_threads - 1;
        int buffer = 0;
        for_each_tile([&](int row, int col) {
            float sums[Tile::n / 2];
            multiply(group, sums);
            if (p.c_has_map)
                store(group, row + group * warpgroup_m, col, sums, buffer);
            else
                store_from_registers<Out, Tile::n>(p, row + group * warpgroup_m, col, sums);
        });
        if (threadIdx.x % warpgroup_threads == 0) ptx::wait_for_reads_of_stores<0>();
    }
};

template <class In, class Out, class Tile, bool a_k_major, bool b_k_major>
__global__ void __launch_bounds__(Tile::threads, 1) persistent(const __grid_constant__ tensor_product<Out> p) {
    using kernel = persistent_kernel<In, Out, Tile, a_k_major, b_k_major>;
    extern __shared__ __align__(1024) unsigned char storage[];
    auto& shared = *reinterpret_cast<typename kernel::shared_storage*>(storage);
    if (threadIdx.x == 0) {
        shared.barriers.init(1, Tile::consumers * Tile::cluster);
        ptx::fence_mbarrier_init();
        ptx::prefetch(p.a);
        ptx::prefetch(p.b);
        if (p.c_has_map) ptx::prefetch(p.c);
    }
    if constexpr (Tile::cluster == 1) {
        __syncthreads();
    } else {
        ptx::cluster_arrive_relaxed();
        ptx::cluster_wait();
    }
    ptx::let_next_grid_begin();
    ptx::wait_for_grids_before();

    kernel self{p, shared};
    if (threadIdx.x < warpgroup_threads) {
        ptx::release_registers<Tile::producer_registers>();
        if (threadIdx.x == 0) self.produce();
        __syncwarp();
    } else {
        ptx::claim_registers<Tile::consumer_registers>();
        self.consume();
    }
    if constexpr (Tile::cluster > 1) {  // a block that has ended can be neither copied to nor arrived at
        ptx::cluster_arrive_relaxed();
        ptx::cluster_wait();
    }
}

template <class Tile, class In, class Out>
void launch_persistent_tile(const product<In, Out>& arguments, const device_traits& device, cudaStream_t stream) {
    with_orders(arguments, [&]<bool a_k_major, bool b_k_major>() {
        using kernel = persistent_kernel<In, Out, Tile, a_k_major, b_k_major>;
        const auto p = make_tensor_product<typename kernel::a_tile, typename kernel::b_tile, a_k_major, b_k_major>(
            arguments, Tile::cluster);
        const std::int64_t down = (p.m - 1) / (Tile::m * Tile::cluster) + 1;
        const std::int64_t clusters = down * ((p.n - 1) / Tile::n + 1);
        const auto resident = std::max(1, device.sm_count / Tile::cluster);
        const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(clusters, resident)) * Tile::cluster;
        launch(persistent<In, Out, Tile, a_k_major, b_k_major>, blocks, Tile::cluster, Tile::threads,
               sizeof(typename kernel::shared_storage), true, stream, p);
    });
}

/// The tile that the plan finds cheapest for this problem.
template <class... Tiles, std::size_t count, class In, class Out>
void launch_cheapest(const std::array<tile_plan, count>& plans, const product<In, Out>& arguments,
                     const device_traits& device, cudaStream_t stream) {
    static_assert(sizeof...(Tiles) == count);
    const auto& c = arguments.c;
    const std::size_t chosen = cheapest(plans, c.rows, c.cols, arguments.a.cols, device.sm_count).index;
    std::size_t index = 0;
    ((index++ == chosen ? launch_persistent_tile<Tiles>(arguments, device, stream) : void()), ...);
}

}  // namespace heddle::kernels::matmul
