#pragma once

#include "kernels/device/ptx/warpgroup.cuh"

namespace heddle::kernels::frame {

/// Two warpgroups of a block take turns at the tensor cores, step by step. The other work of one then runs during the
/// products of the other. Without turns both begin and end together, and leave the tensor cores idle together.
class step_turns {
  public:
    /// `me` is 0 or 1, and 0 has the first turn. The turns use two barriers from `first_barrier` on, which nobody else may use.
    __device__ step_turns(int first_barrier, int me)
        : mine_(first_barrier + me), others_(first_barrier + 1 - me), me_(me) {
        if (me_ == 1) pass();
    }

    __device__ void wait() const { ptx::sync_threads(mine_, threads); }
    __device__ void pass() const { ptx::arrive_threads(others_, threads); }
    /// Call this after an equal number of turns of both warpgroups.
    __device__ void end() const {
        if (me_ == 0) wait();
    }

  private:
    static constexpr int threads = 256;
    int mine_;
    int others_;
    int me_;
};

}  // namespace heddle::kernels::frame
