#include "kernels/gaussian_blur/fused_tiles.cuh"

namespace heddle::kernels::gaussian_blur {

template void launch_fused_tiles(const arguments<std::uint8_t>&, const device_traits&, cudaStream_t);

}  // namespace heddle::kernels::gaussian_blur
