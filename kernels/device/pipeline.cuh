#pragma once

#include "kernels/device/ptx/mbarrier.cuh"

namespace heddle::kernels {

/// The barriers of a ring of stages in shared memory. Some threads fill the stages, and others empty them.
template <int stages>
struct stage_barriers {
    ptx::mbarrier full[stages];
    ptx::mbarrier empty[stages];

    /// One thread calls this before a barrier of the block or cluster.
    __device__ void init(int fillers, int emptiers) {
        for (int stage = 0; stage < stages; ++stage) {
            ptx::init(&full[stage], fillers);
            ptx::init(&empty[stage], emptiers);
        }
        ptx::fence_mbarrier_init();
    }
};

/// A thread's place in the ring. Fillers wait for `empty` with parity ^ 1: in the first round all stages are empty.
template <int stages>
struct stage_position {
    int stage = 0;
    unsigned parity = 0;

    __device__ void advance() {
        if (++stage < stages) return;
        stage = 0;
        parity ^= 1;
    }
    /// Skips stages that another thread uses.
    __device__ void skip(int steps) {
        parity ^= static_cast<unsigned>((stage + steps) / stages % 2);
        stage = (stage + steps) % stages;
    }
};

}  // namespace heddle::kernels
