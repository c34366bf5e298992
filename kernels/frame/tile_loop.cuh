#pragma once

#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/cluster.cuh"
#include "kernels/device/ptx/grid_dependency.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/ptx/warpgroup.cuh"
#include "kernels/device/warp_reduce.cuh"
#include "kernels/device/warpgroup_tile.cuh"
#include <heddle/error.hpp>

/// The kernel of the frame and its launch: one warpgroup is the producer, and the others are consumers.
namespace heddle::kernels::frame {

// A user's file may also be compiled for architectures without wgmma. There the kernel is empty and has one thread, by
// which is_compiled() recognises it.
#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
template <class Kernel>
inline constexpr int launch_threads = Kernel::threads;
#else
template <class Kernel>
inline constexpr int launch_threads = 1;
#endif

/// `Kernel` is a tile_kernel, or a class that has the same members for this.
template <class Kernel>
__global__ void __launch_bounds__(launch_threads<Kernel>, 1)
    tile_loop(const __grid_constant__ typename Kernel::Work all) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    extern __shared__ __align__(1024) unsigned char storage[];
    auto& shared = *reinterpret_cast<typename Kernel::shared_storage*>(storage);
    if (threadIdx.x == warpgroup_threads) Kernel::prefetch(all);
    if (threadIdx.x == 0) Kernel::init(shared);
    const bool produces = threadIdx.x < warpgroup_threads;
    if constexpr (Kernel::cluster > 1 || Kernel::producer_threads > 1) {
        ptx::sync_cluster<Kernel::cluster>();
    } else {  // the producer set the barriers up itself, and waits for nobody
        constexpr int barrier = Kernel::threads / warpgroup_threads;  // after those of the consumers
        constexpr int threads = warp_size + Kernel::threads - warpgroup_threads;
        if (threadIdx.x < warp_size)
            ptx::arrive_threads(barrier, threads);
        else if (!produces)
            ptx::sync_threads(barrier, threads);
    }
    ptx::let_next_grid_begin();
    ptx::wait_for_grids_before();

    if (produces) {
        ptx::release_registers<Kernel::producer_registers>();
        if (threadIdx.x < Kernel::producer_threads) Kernel{all, shared}.produce();
        ptx::sync_warp();
    } else {
        ptx::claim_registers<Kernel::consumer_registers>();
        Kernel{all, shared}.consume();
    }
#endif
}

/// Whether the current device, of compute capability 9.0, has this kernel with its code.
template <class Kernel>
bool is_compiled() {
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, tile_loop<Kernel>));
    return attributes.maxThreadsPerBlock >= Kernel::threads;
}

template <class Kernel>
void launch(const typename Kernel::Work& all, int workers, cudaStream_t stream) {
    kernels::launch({.blocks = {workers * Kernel::cluster},
                     .threads = {Kernel::threads},
                     .shared_bytes = sizeof(typename Kernel::shared_storage),
                     .shared_limit = sizeof(typename Kernel::shared_storage),
                     .stream = stream,
                     .cluster = Kernel::cluster,
                     .begins_early = true},
                    tile_loop<Kernel>, all);
}

}  // namespace heddle::kernels::frame
