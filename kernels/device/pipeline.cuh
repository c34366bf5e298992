#pragma once

#include "kernels/device/ptx/mbarrier.cuh"

namespace heddle::kernels {

/// The barriers of a ring of stages in shared memory that some threads fill and others empty.
template <int stages>
struct stage_barriers {
    ptx::mbarrier full[stages];
    ptx::mbarrier empty[stages];

    /// By one thread, before a barrier of the block or cluster.
    __device__ void init(int fillers, int emptiers) {
        for (int stage = 0; stage < stages; ++stage) {
            ptx::init(&full[stage], fillers);
            ptx::init(&empty[stage], emptiers);
        }
        ptx::fence_mbarrier_init();
    }
};

/// Where in the ring a thread is. Who fills waits for `empty` with parity ^ 1: the first round finds all stages so.
template <int stages>
struct stage_position {
    int stage = 0;
    unsigned parity = 0;

    __device__ void advance() {
        if (++stage < stages) return;
        stage = 0;
        parity ^= 1;
    }
    /// Past stages that somebody else uses.
    __device__ void skip(int steps) {
        parity ^= static_cast<unsigned>((stage + steps) / stages % 2);
        stage = (stage + steps) % stages;
    }
};

}  // namespace heddle::kernels
