// fused: what follows a product is done to its sums, before they are stored.
//
//   apart:  C = A B, stored, 2 bytes an element | read, + bias, activation, stored
//   fused:  C = activation(A B + bias), stored
//
//   warpgroup 0: | multiply tile 0 | epilogue, store | multiply tile 2 | ...
//   warpgroup 1:                   | multiply tile 1 | epilogue, store | ...
//
// Apart, the activation reads and writes C once more, and its input is rounded to 16 bits. Here it is applied to the float32
// sums in the registers. An exponential and a reciprocal of each element of 128 x 128 take as long as the tensor cores take
// for 256 along k, so each of the two consumers has a tile, and they take turns at the tensor cores. What limits it: the
// epilogue's instructions.

#include "kernels/matmul/fused.cuh"

namespace heddle::kernels::matmul {

template <class T>
void launch_fused(const plan& plan, const product<T, T>& arguments, cudaStream_t stream) {
    launch_fused_kernel(plan, arguments, stream);
}

template void launch_fused(const plan&, const product<half, half>&, cudaStream_t);
template void launch_fused(const plan&, const product<bfloat16, bfloat16>&, cudaStream_t);

}  // namespace heddle::kernels::matmul
