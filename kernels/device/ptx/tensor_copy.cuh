#pragma once

#include "kernels/device/ptx/bulk_copy.cuh"
#include "kernels/device/ptx/delay.cuh"
#include "kernels/device/ptx/mbarrier.cuh"
#include "kernels/device/ptx/shared_address.cuh"

#include <cuda.h>

/// Copies of boxes between a tensor in global memory and shared memory, by the tensor memory accelerator (compute
/// capability 9.0). Tensors have three dimensions, except those of windows. One thread starts a copy. Coordinates are those
/// of the box's first element, innermost first. Elements outside of the tensor are read as zeros and not written.
namespace heddle::kernels::ptx {

__device__ inline void prefetch(const CUtensorMap& map) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

/// `barrier` counts all bytes of the box, also those outside of the tensor.
__device__ inline void load_box(void* shared, const CUtensorMap& map, int x, int y, int z,
                                mbarrier* barrier) {
    delay();
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, "
        "%4}], [%5];" ::"r"(shared_address(shared)),
        "l"(&map), "r"(x), "r"(y), "r"(z), "r"(shared_address(barrier))
        : "memory");
}

/// Loads from the map's `pixels` windows (tensor_map.hpp) from (x, y) of `image` on, along rows and on to the next image. Each
/// window gives a line: the channels from `channel` on of its pixel (right, down). The map has four dimensions.
__device__ inline void load_windows(void* shared, const CUtensorMap& map, int channel, int x, int y,
                                    int image, int right, int down, mbarrier* barrier) {
    delay();
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%2, "
        "%3, %4, %5}], [%6], {%7, %8};" ::"r"(shared_address(shared)),
        "l"(&map), "r"(channel), "r"(x), "r"(y), "r"(image), "r"(shared_address(barrier)),
        "h"(static_cast<std::uint16_t>(right)), "h"(static_cast<std::uint16_t>(down))
        : "memory");
}

/// Fetches the box into L2 without waiting.
__device__ inline void prefetch_box_to_l2(const CUtensorMap& map, int x, int y, int z) {
    asm volatile("cp.async.bulk.prefetch.tensor.3d.L2.global [%0, {%1, %2, %3}];" ::"l"(&map), "r"(x), "r"(y),
                 "r"(z)
                 : "memory");
}

/// Copies to the same place in each block of the cluster that `blocks` has a bit for. Each block's barrier counts its bytes.
__device__ inline void load_box_multicast(void* shared, const CUtensorMap& map, int x, int y, int z,
                                          mbarrier* barrier, std::uint16_t blocks) {
    delay();
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1, "
        "{%2, %3, %4}], [%5], %6;" ::"r"(shared_address(shared)),
        "l"(&map), "r"(x), "r"(y), "r"(z), "r"(shared_address(barrier)), "h"(blocks)
        : "memory");
}

__device__ inline void store_box(const CUtensorMap& map, const void* shared, int x, int y, int z,
                                 ordered_before_copies) {
    delay();
    asm volatile(
        "cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(&map), "r"(x),
        "r"(y), "r"(z), "r"(shared_address(shared))
        : "memory");
}

/// Makes the stores that this thread started since the last call a group.
__device__ inline void commit_stores() {
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/// Waits until all but the last `pending` groups of this thread have read their shared memory.
template <int pending>
__device__ inline void wait_for_reads_of_stores() {
    delay();
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(pending) : "memory");
    delay();
}

}  // namespace heddle::kernels::ptx
