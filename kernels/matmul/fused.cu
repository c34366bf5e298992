// fused: what follows a product is done to its sums, before they are stored.
//
//   apart:  C = A B, stored, 2 bytes an element | read, + bias, activation, stored
//   fused:  C = activation(A B + bias), stored
//
//   warpgroup 0: | multiply tile 0 | epilogue, store | multiply tile 2 | ...
//   warpgroup 1:                   | multiply tile 1 | epilogue, store | ...
//
// A layer of a network is a product, a bias and an activation. Done apart, the activation reads and writes C once more, and
// takes its input rounded to 16 bits. Here it is done to the float32 sums in the registers. An exponential and a
// reciprocal of each element of 128 x 128 take the special function units 2048 clocks, as long as the tensor cores take
// for 256 along k, and in persistent these would wait: so the two consumers have a tile of 128 x 128 each, and take turns with the tensor
// cores. A stage's barrier tells rounds apart by one bit, so that a consumer may not wait for it more than a round ahead:
// it waits for its turn first.

#include "kernels/matmul/fused.cuh"

namespace heddle::kernels::matmul {

template <class T>
void launch_fused(const plan& plan, const product<T, T>& arguments, cudaStream_t stream) {
    launch_fused_kernel(plan, arguments, stream);
}

template void launch_fused(const plan&, const product<half, half>&, cudaStream_t);
template void launch_fused(const plan&, const product<bfloat16, bfloat16>&, cudaStream_t);

}  // namespace heddle::kernels::matmul
