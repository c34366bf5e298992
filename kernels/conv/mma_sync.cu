// mma_sync: tensor cores multiply windows by filters, which threads copy from where they lie while others are multiplied.
//
//   a step: 128 bytes of each row, taps and channels as they follow one another; a ring of three or four of them
//   128 windows | packet p of row r lies at p ^ r % 8    ldmatrix       64 x 32 sums a warp
//   128 filters |                                        --------->    mma.sync of 16 x 8 x 16
//
// In tiled each thread works out for each element where it lies. Here a thread copies the same place along k of several rows:
// one tap and channel, which moves on by carries. Where windows begin is in shared memory; what is left of each copy is an
// addition and the question whether it lies in the image, else cp.async fills in zeros.
//
// Copies are of packets of 16 bytes where channels, addresses and strides are multiples; in words of 4 bytes otherwise, or
// element by element, by way of registers. Float is rounded to TF32. Sums pass through shared memory and are stored in
// packets. Needs compute capability 8.0. What limits it: instructions that find and copy windows and move fragments.

#include "kernels/conv/mma_sync.cuh"

namespace heddle::kernels::conv {

template <class In, class Out>
void launch_mma_sync(const plan& plan, const arguments<In, Out>& a, cudaStream_t stream) {
    launch_row_of<mma_packet_kernels, 16>(plan, a, stream);
}

template void launch_mma_sync(const plan&, const arguments<float, float>&, cudaStream_t);
template void launch_mma_sync(const plan&, const arguments<half, half>&, cudaStream_t);
template void launch_mma_sync(const plan&, const arguments<half, float>&, cudaStream_t);
template void launch_mma_sync(const plan&, const arguments<bfloat16, bfloat16>&, cudaStream_t);
template void launch_mma_sync(const plan&, const arguments<bfloat16, float>&, cudaStream_t);

}  // namespace heddle::kernels::conv
