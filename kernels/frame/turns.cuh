#pragma once

#include "kernels/device/ptx/warpgroup.cuh"

namespace heddle::kernels::frame {

/// Two warpgroups of a block that take turns at the tensor cores, step by step: what one does beside its products runs under those of the
/// other. Left alone they begin together, end together, and leave the tensor cores idle together.
class step_turns {
  public:
    /// `me`: 0 has the first turn. Nobody else uses the barriers from `first_barrier` on, two of them.
    __device__ step_turns(int first_barrier, int me)
        : mine_(first_barrier + me), others_(first_barrier + 1 - me), me_(me) {
        if (me_ == 1) pass();
    }

    __device__ void wait() const { ptx::sync_threads(mine_, threads); }
    __device__ void pass() const { ptx::arrive_threads(others_, threads); }
    /// After as many turns of both.
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
