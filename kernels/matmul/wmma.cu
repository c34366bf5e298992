// wmma: the tensor cores through C++ (nvcuda::wmma), from tiles in shared memory.
//
//   64 x 64 of C a block, 32 x 32 a warp: 2 x 2 fragments of 16 x 16; k by 32
//
// A tensor core multiplies 16 x 16 x 16 for a warp where an FFMA multiplies one pair for a thread. What a fragment's
// registers hold is the compiler's business: whole tiles are loaded and stored, so alpha, beta and ragged edges need a
// pass through shared memory. Elements are fetched one by one, which any shape, stride and alignment allows.

#include "kernels/matmul/wmma.cuh"

namespace heddle::kernels::matmul {

template <class In, class Out>
void launch_wmma(const plan&, const product<In, Out>& arguments, cudaStream_t stream) {
    launch_wmma_kernel(arguments, stream);
}

template void launch_wmma(const plan&, const product<half, half>&, cudaStream_t);
template void launch_wmma(const plan&, const product<half, float>&, cudaStream_t);
template void launch_wmma(const plan&, const product<bfloat16, bfloat16>&, cudaStream_t);
template void launch_wmma(const plan&, const product<bfloat16, float>&, cudaStream_t);

}  // namespace heddle::kernels::matmul
