#pragma once

#include "kernels/device/ptx/atomic.cuh"
#include "kernels/device/ptx/sync.cuh"

/// Blocks leave partial results in memory, and the block that draws the last ticket combines them.
namespace heddle::kernels {

/// Proof that a thread stored its partial results: only leave() makes it, and drawing a ticket requires it.
class partials_left {
    __device__ partials_left() {}
    template <class Store>
    friend __device__ partials_left leave(const Store& store);
};

/// Calls store(), which stores a thread's partial results, if it has any.
template <class Store>
__device__ partials_left leave(const Store& store) {
    store();
    return {};
}

/// Whether this is the last of `last + 1` draws of this ticket. If so, the thread sees everything stored before the other
/// draws. The last draw sets the ticket back to zero.
__device__ inline bool draws_last(unsigned* ticket, unsigned last, partials_left) {
    return ptx::atomic_increment(ticket, last) == last;
}

/// Whether this block is the last of `last + 1` to draw this ticket. If so, it sees what the others' threads 0 stored, and what
/// their other threads stored before a barrier. All threads call this; a barrier must come between two calls.
__device__ inline bool is_last_block(unsigned* ticket, unsigned last, partials_left left) {
    __shared__ bool is_last;
    if (threadIdx.x == 0) is_last = draws_last(ticket, last, left);
    ptx::sync_threads();
    return is_last;
}

}  // namespace heddle::kernels
