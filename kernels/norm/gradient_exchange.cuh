#pragma once

#include "kernels/device/ptx/cluster.cuh"
#include "kernels/device/ptx/cluster_message.cuh"
#include "kernels/device/ptx/mbarrier.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/ptx/warpgroup.cuh"
#include "kernels/norm/gradient_limits.cuh"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace heddle::kernels::norm {

/// The warps that share a row exchange four numbers each, row after row: the warps of blockDim.x threads, or of a cluster.
/// In a cluster the numbers are messages: these do not wait for the stores of dx, as a barrier of the cluster would. Rows
/// use two sets of places in turns. A warp that publishes for a row has read the row before, so no warp still reads the
/// set that it overwrites.
class gradient_exchange {
  public:
    static constexpr int turns = 2;
    using barriers = ptx::mbarrier[turns];

    /// All threads of the cluster's `blocks` blocks call this, or of one block. `places` has room for exchange_bytes().
    __device__ gradient_exchange(float4* places, barriers& arrived, unsigned blocks)
        : places_(places), arrived_(arrived), blocks_(blocks), warps_(blockDim.x / warp_size) {
        if (blocks_ == 1) return;
        if (threadIdx.x == 0) {
            for (ptx::mbarrier& barrier : arrived_) ptx::init(&barrier, 1);
            ptx::fence_mbarrier_init();
        }
        ptx::sync_warp();  // lanes that branched meet before a barrier that whole warps arrive at
        ptx::cluster_arrive_relaxed();
        ptx::cluster_wait();  // all blocks run, and have their barriers
    }

    /// Returns the numbers of the row's warps() warps. The thread may read them until it publishes again.
    __device__ const float4* publish(const float4& numbers) {
        const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
        float4* of_row = places_ + turn_ * gradient_limits::warps * blocks_;
        if (blocks_ == 1) {
            of_row += threadIdx.y * warps_;
            if (lane == 0) of_row[warp] = numbers;
            ptx::sync_threads(1 + static_cast<int>(threadIdx.y), static_cast<int>(blockDim.x));
        } else {
            ptx::mbarrier* const arrived = &arrived_[turn_];
            if (threadIdx.x == 0) ptx::arrive_and_expect(arrived, warps() * sizeof(float4));
            if (lane < blocks_)
                ptx::send_message(&of_row[ptx::cluster_rank() * warps_ + warp], lane, numbers, arrived);
            ptx::wait_for_messages(arrived, parity_);
            ptx::sync_warp();
        }
        turn_ ^= 1;
        if (turn_ == 0) parity_ ^= 1;
        return of_row;
    }

    [[nodiscard]] __device__ unsigned blocks() const { return blocks_; }
    [[nodiscard]] __device__ unsigned warps() const { return blocks_ * warps_; }

  private:
    float4* places_;
    barriers& arrived_;
    unsigned blocks_;
    unsigned warps_;
    unsigned turn_ = 0;
    unsigned parity_ = 0;
};

/// The shared memory of an exchange in each of the cluster's blocks.
__host__ __device__ constexpr std::int64_t exchange_bytes(std::int64_t blocks) {
    return gradient_exchange::turns * gradient_limits::warps * blocks * std::int64_t{sizeof(float4)};
}

}  // namespace heddle::kernels::norm
