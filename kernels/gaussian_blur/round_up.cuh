#pragma once

namespace heddle::kernels::gaussian_blur {

__host__ __device__ constexpr int round_up(int value, int multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

}  // namespace heddle::kernels::gaussian_blur
