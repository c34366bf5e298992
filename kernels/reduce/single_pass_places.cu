// This file compiles single_pass (single_pass.cu) for the operations that look for a place.

#include "kernels/reduce/single_pass.cuh"

namespace heddle::kernels::reduce {

template void launch_single_pass(const arguments<argmin, double>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<argmin, float>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<argmin, half>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<argmin, bfloat16>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<argmin, std::int32_t>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<argmin, std::int64_t>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<argmax, double>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<argmax, float>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<argmax, half>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<argmax, bfloat16>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<argmax, std::int32_t>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<argmax, std::int64_t>&, const device_traits&, cudaStream_t);

}  // namespace heddle::kernels::reduce
