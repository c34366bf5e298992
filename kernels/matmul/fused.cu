// fused: what follows a product is done to its sums, before they are stored.
//
//   apart:  C = A B, stored, 2 bytes an element | read, + bias, activation, stored
//   fused:  C = activation(A B + bias), stored
//
// A layer of a network is a product, a bias and an activation. Done apart, the activation reads and writes C once more, and
// takes its input rounded to 16 bits. Here the sums go through shared memory, 32 columns at a time, to threads that have
// four neighbours of a row each, and are still float32. The kernel is persistent's.

#include "kernels/matmul/fused.cuh"

namespace heddle::kernels::matmul {

template <class T>
void launch_fused(const product<T, T>& arguments, const device_traits& device, cudaStream_t stream) {
    launch_fused_kernel(arguments, device, stream);
}

template void launch_fused(const product<half, half>&, const device_traits&, cudaStream_t);
template void launch_fused(const product<bfloat16, bfloat16>&, const device_traits&, cudaStream_t);

}  // namespace heddle::kernels::matmul
