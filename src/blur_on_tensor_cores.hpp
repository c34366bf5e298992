#pragma once

#include "kernels/gaussian_blur/launch.hpp"
#include <heddle/device.hpp>
#include <heddle/gaussian_blur.hpp>

#include <cuda_runtime_api.h>

#include <cstdint>
#include <optional>
#include <string_view>

/// The rungs of bytes on the tensor cores, of Gaussians and of boxes.
namespace heddle::detail {

/// What a rung does not take of a source, whatever the problem; empty where it takes it.
template <class T>
std::string_view excess_of(const image_batch_view<const T>& source, gaussian_blur_algorithm rung) {
    using kernels::gaussian_blur::end_of_map_strides, kernels::gaussian_blur::max_row_values,
        kernels::gaussian_blur::max_tensor_core_rows;
    static_assert(max_row_values == 1 << 29 && max_tensor_core_rows == 1 << 29 &&
                  end_of_map_strides == std::int64_t{1} << 40);
    if (rung == gaussian_blur_algorithm::naive || rung == gaussian_blur_algorithm::separable) return {};
    constexpr std::int64_t end_of_strides = end_of_map_strides / sizeof(T);
    const image_view<const T>& first = source.first;
    const bool is_on_warpgroups = rung == gaussian_blur_algorithm::tensor_core_warpgroups;
    const bool counts_rows = is_on_warpgroups || rung == gaussian_blur_algorithm::tensor_core_registers;
    if (first.width > max_row_values / first.channels) return "rows of more than 2^29 values";
    if (counts_rows && first.height > max_tensor_core_rows) return "more than 2^29 rows";
    if (is_on_warpgroups && ((first.height > 1 && first.row_stride >= end_of_strides) ||
                             (source.count > 1 && source.stride >= end_of_strides)))
        return "rows or images 2^40 bytes apart or more";
    return {};
}

/// Whether the rung takes such a problem, of sources without excess_of(). Pure.
bool fits_tensor_cores(const gaussian_blur_problem& problem, gaussian_blur_algorithm rung,
                       const device_traits& device);

/// The fastest of those that fit; for a box where sigma is infinite; of a region from place x of the source's rows on. Pure.
std::optional<gaussian_blur_algorithm> fastest_on_tensor_cores(const gaussian_blur_problem& problem,
                                                               std::int64_t x, const device_traits& device);

/// Whether that rung has a kernel for small windows that runs the problem, of such a region.
bool is_for_small_windows(const gaussian_blur_problem& problem, gaussian_blur_algorithm rung, std::int64_t x);
/// The larger radius from which on those are faster than `fused`, measured on an H200.
constexpr std::int64_t min_radius_of_small_windows(const window_radius& radius) {
    return radius.x == radius.y ? 2 : 1;
}

/// Needs fits_tensor_cores() and a source without excess_of().
void launch_on_tensor_cores(const kernels::gaussian_blur::arguments<std::uint8_t>& arguments,
                            const device_traits& device, cudaStream_t stream, gaussian_blur_algorithm rung);

}  // namespace heddle::detail
