#include "kernels/gaussian_blur/fused.cuh"

namespace heddle::kernels::gaussian_blur {

template void launch_registers(const arguments<float>&, const device_traits&, cudaStream_t);

}  // namespace heddle::kernels::gaussian_blur
