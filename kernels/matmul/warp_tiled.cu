// warp_tiled: a warp has a tile too, as square as it goes, and a thread's elements lie in quads of it.
//
//   block: 128 x 128 of C, 4 x 2 warps          warp: 32 x 64, 4 x 8 lanes          thread: 8 x 8
//   A tile, stored transposed: 8 (k) x 128 (m)      | quads of 4 x 4 of all lanes | once more to the right |
//   B tile: 8 (k) x 128 (n)                         | once more below             | and both               |
//
// A warp of register_tiled computes 16 x 128. For each k it reads 144 elements for 2048 multiply-adds, in 16 passes of shared
// memory, which take as long as the multiply-adds. A warp of 32 x 64 reads 96, in quads of 16 bytes: 8 passes. Global memory
// is read 16 bytes at a time too, into registers, before the arithmetic that hides it. Two buffers leave one barrier a step.
// At edges, at odd addresses and where neither dimension is contiguous, elements are read one by one. Any shape, any strides.
// What limits it: the 8 passes for each 64 products, the way of the next tiles through registers, and a barrier every 8 of k.

#include "kernels/matmul/warp_tiled.cuh"

namespace heddle::kernels::matmul {

void launch_warp_tiled(const plan&, const arguments& arguments, cudaStream_t stream) {
    launch_warp_tiled_kernel(arguments, stream);
}

}  // namespace heddle::kernels::matmul
