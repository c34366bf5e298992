#pragma once

#include "kernels/gaussian_blur/launch.hpp"
#include "kernels/gaussian_blur/whole_weights.hpp"
#include <heddle/device.hpp>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace heddle::kernels::gaussian_blur {

/// The kind of tensor_core_warpgroups for radii up to 8, whose pixels are the same, to the bit. False where it does not take
/// them. Needs tensor_core_warpgroups_fits(), and weights that are no box's.
bool launch_tensor_core_warps(const arguments<std::uint8_t>& arguments, const whole_weights& weights_x,
                              const whole_weights& weights_y, const device_traits& device,
                              cudaStream_t stream);

}  // namespace heddle::kernels::gaussian_blur
