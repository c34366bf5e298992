#pragma once

#include "kernels/device/ptx/atomic.cuh"
#include "kernels/device/ptx/sync.cuh"

namespace heddle::kernels {

/// Whether this block is the last of `last + 1` to draw this ticket: then it sees what their threads 0 had written
/// before. The ticket is zero again after the last. All threads of the block call this; a barrier must come between
/// two calls.
__device__ inline bool is_last_block(unsigned* ticket, unsigned last) {
    __shared__ bool is_last;
    if (threadIdx.x == 0) is_last = ptx::atomic_increment(ticket, last) == last;
    ptx::sync_threads();
    return is_last;
}

}  // namespace heddle::kernels
