// wgmma_tma: a warpgroup multiplies directly from shared memory, which one thread fills.
//
//   | load 128 x 64 of A, 64 x 128 of B | multiply 128 x 128 x 64 | load | multiply ...
//
// mma_sync spends most instructions on moving fragments: addresses, copies, ldmatrix. Here one instruction of the tensor
// memory accelerator copies a swizzled box of the matrix. One wgmma multiplies 64 x 128 x 16: it reads both operands from
// shared memory, and only the sums are in registers. What limits it: loading and multiplying still alternate, and only up
// to three other blocks of the multiprocessor fill the gaps.

#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/matmul/element.cuh"
#include "kernels/matmul/warpgroup.cuh"

namespace heddle::kernels::matmul {
namespace {

struct tile {
    static constexpr int parts = 2;
    static constexpr int m = parts * warpgroup_m;
    static constexpr int n = 128;
    static constexpr int k = 64;
};

struct shared_storage {
    unsigned char a[tile::m * swizzle_bytes];
    unsigned char b[tile::n * swizzle_bytes];
    ptx::mbarrier full;
};

template <class In, class Out>
__global__ void __launch_bounds__(warpgroup_threads)
    wgmma_tma(const __grid_constant__ tensor_product<Out> p) {
    extern __shared__ __align__(1024) unsigned char storage[];
    auto& shared = *reinterpret_cast<shared_storage*>(storage);
    if (threadIdx.x == 0) {
        ptx::init(&shared.full, 1);
        ptx::fence_mbarrier_init();
    }
    ptx::sync_threads();

    // locate
    const unsigned across = (p.n - 1) / tile::n + 1;
    const int row = static_cast<int>(blockIdx.x / across) * tile::m;
    const int col = static_cast<int>(blockIdx.x % across) * tile::n;

    float sums[tile::parts][tile::n / 2] = {};
    const int steps = (p.k + tile::k - 1) / tile::k;
    in_order_of(p, [&]<bool a_k_major, bool b_k_major>() {
        using a_tile = warpgroup_tile<In, tile::m, a_k_major>;
        using b_tile = warpgroup_tile<In, tile::n, b_k_major>;
        static_assert(a_tile::bytes == sizeof(shared.a) && b_tile::bytes == sizeof(shared.b));
        for (int step = 0; step < steps; ++step) {
            // load
            if (threadIdx.x == 0) {
                ptx::arrive_and_expect(&shared.full, a_tile::bytes + b_tile::bytes);
                a_tile::template load<1>(shared.a, p.a, row, step * tile::k, 0, 0, &shared.full);
                b_tile::template load<1>(shared.b, p.b, col, step * tile::k, 0, 0, &shared.full);
            }
            ptx::wait(&shared.full, step % 2);

            // compute
            const std::uint64_t b = b_tile::descriptor(shared.b, 0);
            ptx::wgmma_fence();
#pragma unroll
            for (int part = 0; part < tile::parts; ++part) {
                const std::uint64_t a = a_tile::descriptor(shared.a, part * warpgroup_m);
#pragma unroll
                for (int i = 0; i < tile::k / a_tile::step; ++i)
                    ptx::wgmma<In, tile::n, a_k_major, b_k_major>(sums[part], a + i * a_tile::advance,
                                                                  b + i * b_tile::advance, true);
            }
            ptx::wgmma_commit();
            ptx::wgmma_wait<0>();
            ptx::sync_threads();  // all have multiplied before the tiles are overwritten
        }
    });

#pragma unroll
    for (auto& part_sums : sums) ptx::wgmma_results(part_sums);

        // store
#pragma unroll
    for (int part = 0; part < tile::parts; ++part)
        store_from_registers<tile::n>(p, row + part * warpgroup_m, col, sums[part]);
}

}  // namespace

template <class T>
void launch_wgmma_tma(const plan&, const product<T, T>& arguments, cudaStream_t stream) {
    tensor_product<T> p = make_product(arguments);
    add_operand_maps(p, arguments, tile::m, tile::n);
    launch({.blocks = {tile_count(arguments, tile::m, tile::n)},
            .threads = {warpgroup_threads},
            .shared_bytes = sizeof(shared_storage),
            .shared_limit = sizeof(shared_storage),
            .stream = stream},
           wgmma_tma<T, T>, p);
}

template void launch_wgmma_tma(const plan&, const product<half, half>&, cudaStream_t);
template void launch_wgmma_tma(const plan&, const product<bfloat16, bfloat16>&, cudaStream_t);

}  // namespace heddle::kernels::matmul
