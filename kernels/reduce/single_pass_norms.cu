// This file compiles single_pass (single_pass.cu) for dot, the norms and count_nonzero.

#include "kernels/reduce/single_pass.cuh"

namespace heddle::kernels::reduce {

template void launch_single_pass(const arguments<dot, double>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<dot, float>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<dot, half>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<dot, bfloat16>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<dot, std::int32_t>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<dot, std::int64_t>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<norm1, double>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<norm1, float>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<norm1, half>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<norm1, bfloat16>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<norm1, std::int32_t>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<norm1, std::int64_t>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<norm2, double>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<norm2, float>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<norm2, half>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<norm2, bfloat16>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<count_nonzero, double>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<count_nonzero, float>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<count_nonzero, half>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<count_nonzero, bfloat16>&, const device_traits&,
                                 cudaStream_t);
template void launch_single_pass(const arguments<count_nonzero, std::int32_t>&, const device_traits&,
                                 cudaStream_t);
template void launch_single_pass(const arguments<count_nonzero, std::int64_t>&, const device_traits&,
                                 cudaStream_t);

}  // namespace heddle::kernels::reduce
