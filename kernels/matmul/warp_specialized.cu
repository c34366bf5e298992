// warp_specialized: one warp loads, two warpgroups multiply.
//
//   producer     | load 0 | load 1 | load 2 | load 3 |  waits for stage 0 ...
//   consumer 0        | rows  0 ..  63 of stage 0 | of stage 1 | ...
//   consumer 1        | rows 64 .. 127 of stage 0 | of stage 1 | ...
//
// In wgmma_tma loading and multiplying alternate. Here a ring of four stages decouples them. Barriers of bytes tell the
// consumers that a stage is full, and barriers of arrivals tell the producer that it is empty. 128 sums per thread need
// more registers than an equal share, so the producer gives away its own. A block has one tile of 128 x 256. What limits
// it: each tile begins with an empty ring and ends with stores.

#include "kernels/device/launch.hpp"
#include "kernels/device/pipeline.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/matmul/element.cuh"
#include "kernels/matmul/warpgroup.cuh"

namespace heddle::kernels::matmul {
namespace {

struct tile {
    static constexpr int consumers = 2;
    static constexpr int m = consumers * warpgroup_m;
    static constexpr int n = 256;
    static constexpr int k = 64;
    static constexpr int stages = 4;
    static constexpr int threads = (consumers + 1) * warpgroup_threads;
    static constexpr int producer_registers = 40;
    static constexpr int consumer_registers = 232;
};

struct shared_storage {
    unsigned char a[tile::stages][tile::m * swizzle_bytes];
    unsigned char b[tile::stages][tile::n * swizzle_bytes];
    stage_barriers<tile::stages> barriers;
};

template <class In, class Out>
__global__ void __launch_bounds__(tile::threads, 1)
    warp_specialized(const __grid_constant__ tensor_product<Out> p) {
    extern __shared__ __align__(1024) unsigned char storage[];
    auto& shared = *reinterpret_cast<shared_storage*>(storage);
    if (threadIdx.x == 0) shared.barriers.init(1, tile::consumers);
    ptx::sync_threads();

    // locate
    const unsigned across = (p.n - 1) / tile::n + 1;
    const int row = static_cast<int>(blockIdx.x / across) * tile::m;
    const int col = static_cast<int>(blockIdx.x % across) * tile::n;
    const int steps = (p.k + tile::k - 1) / tile::k;
    stage_position<tile::stages> at;

    if (threadIdx.x < warpgroup_threads) {  // load
        ptx::release_registers<tile::producer_registers>();
        if (threadIdx.x > 0) return;
        in_order_of(p, [&]<bool a_k_major, bool b_k_major>() {
            using a_tile = warpgroup_tile<In, tile::m, a_k_major>;
            using b_tile = warpgroup_tile<In, tile::n, b_k_major>;
            for (int step = 0; step < steps; ++step, at.advance()) {
                ptx::mbarrier* const full = &shared.barriers.full[at.stage];
                ptx::wait(&shared.barriers.empty[at.stage], at.parity ^ 1);
                ptx::arrive_and_expect(full, a_tile::bytes + b_tile::bytes);
                a_tile::template load<1>(shared.a[at.stage], p.a, row, step * tile::k, 0, 0, full);
                b_tile::template load<1>(shared.b[at.stage], p.b, col, step * tile::k, 0, 0, full);
            }
        });
        return;
    }

    // compute
    ptx::claim_registers<tile::consumer_registers>();
    const int group = threadIdx.x / warpgroup_threads - 1;
    float sums[tile::n / 2] = {};
    in_order_of(p, [&]<bool a_k_major, bool b_k_major>() {
        using a_tile = warpgroup_tile<In, tile::m, a_k_major>;
        using b_tile = warpgroup_tile<In, tile::n, b_k_major>;
        for (int step = 0; step < steps; ++step, at.advance()) {
            ptx::wait(&shared.barriers.full[at.stage], at.parity);
            const std::uint64_t a = a_tile::descriptor(shared.a[at.stage], group * warpgroup_m);
            const std::uint64_t b = b_tile::descriptor(shared.b[at.stage], 0);
            ptx::wgmma_fence();
#pragma unroll
            for (int i = 0; i < tile::k / a_tile::step; ++i)
                ptx::wgmma<In, tile::n, a_k_major, b_k_major>(sums, a + i * a_tile::advance,
                                                              b + i * b_tile::advance, true);
            ptx::wgmma_commit();
            ptx::wgmma_wait<0>();
            if (threadIdx.x % warpgroup_threads == 0) ptx::arrive(&shared.barriers.empty[at.stage]);
        }
    });

    ptx::wgmma_results(sums);

    // store
    store_from_registers<tile::n>(p, row + group * warpgroup_m, col, sums);
}

}  // namespace

template <class T>
void launch_warp_specialized(const plan&, const product<T, T>& arguments, cudaStream_t stream) {
    tensor_product<T> p = make_product(arguments);
    add_operand_maps(p, arguments, tile::m, tile::n);
    launch({.blocks = {tile_count(arguments, tile::m, tile::n)},
            .threads = {tile::threads},
            .shared_bytes = sizeof(shared_storage),
            .shared_limit = sizeof(shared_storage),
            .stream = stream},
           warp_specialized<T, T>, p);
}

template void launch_warp_specialized(const plan&, const product<half, half>&, cudaStream_t);
template void launch_warp_specialized(const plan&, const product<bfloat16, bfloat16>&, cudaStream_t);

}  // namespace heddle::kernels::matmul
