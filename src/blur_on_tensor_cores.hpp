#pragma once

#include "kernels/gaussian_blur/launch.hpp"
#include <heddle/device.hpp>
#include <heddle/gaussian_blur.hpp>

#include <cuda_runtime_api.h>

#include <cstdint>
#include <optional>

/// The rungs of bytes on the tensor cores, of Gaussians and of boxes.
namespace heddle::detail {

/// Of sources of up to 2^29 rows. Pure.
bool fits_tensor_cores(const gaussian_blur_problem& problem, gaussian_blur_algorithm rung,
                       const device_traits& device);

/// The fastest of those that fit. Pure.
std::optional<gaussian_blur_algorithm> fastest_on_tensor_cores(const gaussian_blur_problem& problem,
                                                               const device_traits& device);

/// The larger radius from which on that rung is faster than `fused`, measured on an H200.
constexpr std::int64_t min_radius_of_tensor_core_registers(const window_radius& radius) {
    return radius.x == radius.y ? 2 : 1;
}

/// Needs fits_tensor_cores().
void launch_on_tensor_cores(const kernels::gaussian_blur::arguments<std::uint8_t>& arguments,
                            const device_traits& device, cudaStream_t stream, gaussian_blur_algorithm rung);

}  // namespace heddle::detail
