#pragma once

#include "kernels/device/ptx/atomic.cuh"
#include "kernels/device/ptx/sync.cuh"

/// Blocks leave partial results in memory, and whoever draws the last ticket combines them.
namespace heddle::kernels {

/// That partials were stored: what draws a ticket asks for it, and only leave() has it.
class partials_left {
    __device__ partials_left() {}
    template <class Store>
    friend __device__ partials_left leave(const Store& store);
};

/// Calls store(), which stores a thread's partials, if it has any.
template <class Store>
__device__ partials_left leave(const Store& store) {
    store();
    return {};
}

/// Whether this is the last of `last + 1` draws of this ticket: then the thread sees what was left before the others. The
/// ticket is zero again after the last.
__device__ inline bool draws_last(unsigned* ticket, unsigned last, partials_left) {
    return ptx::atomic_increment(ticket, last) == last;
}

/// Whether this block is the last of `last + 1` to draw this ticket: then it sees what their threads 0 had left, and the others
/// before a barrier that came between. All threads of the block call this; a barrier must come between two calls.
__device__ inline bool is_last_block(unsigned* ticket, unsigned last, partials_left left) {
    __shared__ bool is_last;
    if (threadIdx.x == 0) is_last = draws_last(ticket, last, left);
    ptx::sync_threads();
    return is_last;
}

}  // namespace heddle::kernels
