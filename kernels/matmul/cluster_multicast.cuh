// cluster_multicast: two blocks, one below the other, share their tile of B.
//
//   block 0: A0, upper half of B -> both      block 1: A1, lower half of B -> both
//
// At full rate a 128 x 256 tile pulls 48 KB out of L2 for every 1024 clocks, and all multiprocessors together about as much as
// L2 gives. Blocks that need the same B load half of it each, for both: 32 KB. A stage is refilled when both blocks have
// multiplied with it. Needs compute capability 9.0. What limits it: power.

#pragma once

#include "kernels/matmul/persistent.cuh"

namespace heddle::kernels::matmul {

template <class In, class Out>
void launch_cluster_multicast(const plan& plan, const product<In, Out>& arguments, cudaStream_t stream) {
    launch_row_of<multicast_kernels>(plan, arguments, stream);
}

}  // namespace heddle::kernels::matmul
