// The kernels of mma_sync for few channels, and for any address and stride: copies of 4 bytes, and of elements.

#include "kernels/conv/mma_sync.cuh"

namespace heddle::kernels::conv {

template <class In, class Out>
void launch_mma_sync_words(const plan& plan, const arguments<In, Out>& a, cudaStream_t stream) {
    launch_row_of<mma_word_kernels, 4>(plan, a, stream);
}
template <class In, class Out>
void launch_mma_sync_elements(const plan& plan, const arguments<In, Out>& a, cudaStream_t stream) {
    launch_row_of<mma_element_kernels, 2>(plan, a, stream);
}

template void launch_mma_sync_words(const plan&, const arguments<float, float>&, cudaStream_t);
template void launch_mma_sync_words(const plan&, const arguments<half, half>&, cudaStream_t);
template void launch_mma_sync_words(const plan&, const arguments<half, float>&, cudaStream_t);
template void launch_mma_sync_words(const plan&, const arguments<bfloat16, bfloat16>&, cudaStream_t);
template void launch_mma_sync_words(const plan&, const arguments<bfloat16, float>&, cudaStream_t);
template void launch_mma_sync_elements(const plan&, const arguments<half, half>&, cudaStream_t);
template void launch_mma_sync_elements(const plan&, const arguments<half, float>&, cudaStream_t);
template void launch_mma_sync_elements(const plan&, const arguments<bfloat16, bfloat16>&, cudaStream_t);
template void launch_mma_sync_elements(const plan&, const arguments<bfloat16, float>&, cudaStream_t);

}  // namespace heddle::kernels::conv
