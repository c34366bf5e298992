#pragma once

#include "kernels/gaussian_blur/plan/window.hpp"
#include "kernels/image_filter/launch.hpp"
#include "src/gaussian_blur/validate.hpp"
#include "src/images.hpp"
#include <heddle/image_filter.hpp>

#include <cstddef>
#include <span>

/// Checks of the arguments of image filters, on the GPU and the CPU.
namespace heddle::detail {

inline constexpr std::size_t max_taps = 2 * kernels::gaussian_blur::taps::table_radius + 1;

template <class From, class To>
void validate_filter(const char* operation, const image_batch_view<const From>& source,
                     const image_batch_view<To>& destination, const image_filter_options& options) {
    validate_images(operation, source, destination, options.region);
    validate_border<From>(operation, options.border, options.border_value);
}

inline void validate_taps(const char* operation, const char* name, std::span<const float> taps) {
    require(taps.size() % 2 == 1 && taps.size() <= max_taps, operation, {name, "size"}, taps.size(),
            "an odd number of at most {}", max_taps);
}

inline kernels::image_filter::stencil stencil_of(const char* operation, gradient gradient) {
    using kernels::image_filter::stencil;
    switch (gradient) {
        case gradient::x:
            return stencil::sobel_x;
        case gradient::y:
            return stencil::sobel_y;
        case gradient::magnitude:
            return stencil::sobel_magnitude;
    }
    require(false, operation, "gradient", static_cast<int>(gradient), "an enumerator of gradient");
    return {};
}

}  // namespace heddle::detail
