#pragma once

#include "kernels/gaussian_blur/plan/taps.hpp"
#include "kernels/gaussian_blur/plan/tensor_core_registers.hpp"
#include "kernels/gaussian_blur/whole_weights.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

/// What the two kernels of `tensor_core_registers` share.
namespace heddle::kernels::gaussian_blur {

/// The weights along x as whole numbers. Sums of a row stay below 2^24, as those of weights are below 2^16.
struct whole_taps {
    double sum = 0;
    std::uint16_t weights[2 * max_registers_reach + 1] = {};

    explicit whole_taps(const taps& taps) {
        constexpr double max_sum = 0xffff;
        const std::span<const float> of = taps.weights();
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

}  // namespace heddle::kernels::gaussian_blur
