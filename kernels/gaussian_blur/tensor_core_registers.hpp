#pragma once

#include "kernels/gaussian_blur/launch.hpp"
#include "kernels/gaussian_blur/taps.hpp"
#include "kernels/gaussian_blur/whole_weights.hpp"
#include <heddle/device.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>

/// What the two kinds of `tensor_core_registers` share.
namespace heddle::kernels::gaussian_blur {

/// The weights along x as whole numbers. Sums of a row stay below 2^24, as those of weights are below 2^16.
struct whole_taps {
    static constexpr int max_reach = 24;  ///< in values
    double sum = 0;
    std::uint16_t weights[2 * max_reach + 1] = {};

    explicit whole_taps(const taps& taps) {
        constexpr double max_sum = 0xffff;
        const std::span of(taps.table, static_cast<std::size_t>(2 * taps.radius + 1));
        const double scale = best_scale(of, max_sum);
        for (std::size_t i = 0; i < of.size(); ++i) {
            weights[i] = static_cast<std::uint16_t>(whole(scale * of[i]));
            sum += weights[i];
        }
    }
};

/// Those sums are the bits of subnormal floats, which count in units of 2^-149. The taps along y make normal numbers of their
/// sums, and these, over the sum of the weights along x, times this are the image's.
inline constexpr float scale_y = 0x1p120f;
inline constexpr double sums_unit = 0x1p29;

/// The kind of small windows and large images, whose pixels are the same, to the bit. False where it does not take them.
bool launch_tensor_core_spans(const arguments<std::uint8_t>& arguments, const device_traits& device,
                              cudaStream_t stream);

}  // namespace heddle::kernels::gaussian_blur
