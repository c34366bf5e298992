// tf32: float32 operands rounded to the eleven bits of TF32, which the tensor cores multiply at half the rate of bfloat16.
//
//   wgmma takes of TF32 from shared memory only what lies along k, and from registers anything:
//   B, along k:       global --TMA--> shared ------------------------> wgmma
//   A, in any order:  global --TMA--> shared --> a warp's registers -> wgmma
//
//   producer    | load A and B of step 0 | of step 1 | ...
//   consumers   | multiply the first half of a step, read A of the second | multiply that, read A of the next step | ...
//
// One of A and B has to lie along k. Where that is A alone, the kernel computes C^T = B^T A^T; where neither does, or rows are
// odd, copies.cu copies before. The tensor memory accelerator rounds to TF32, where wgmma itself would cut off. A thread may
// have any rows of A: those that lie along m are dealt out so that it reads two neighbours at once, half a warp reads from all
// banks, and four threads fill a sector of C. With a workspace, tiles are shared out along k. What limits it: power.

#include "kernels/matmul/tf32_tiles.cuh"

#include <cstddef>

namespace heddle::kernels::matmul {

void launch_tf32(const plan& plan, const arguments& arguments, cudaStream_t stream) {
    frame::with_row<tf32_kernels>(plan.kernel, [&]<std::size_t row>() {
        launch_tf32_tile<tf32_tile<tf32_kernels, row>>(plan, arguments, stream);
    });
}

}  // namespace heddle::kernels::matmul
