#pragma once

#include "benchmarks/cliffs/images.hpp"
#include <heddle/image_filter.hpp>

namespace heddle::bench::cliffs {

enum class filter_operation { separable_convolution, box_blur, sobel_x, sobel_y, sobel_magnitude, laplacian };
/// To is From; for sobel and laplacian it is float.
template <class From, class To>
struct filter_problem {
    filter_operation op = filter_operation::box_blur;
    image_shape images;
    window_radius radius = 1;  ///< of separable_convolution and box_blur
    std::uint64_t seed = 0;

    [[nodiscard]] bool is_stencil() const {
        return op != filter_operation::box_blur && op != filter_operation::separable_convolution;
    }
    [[nodiscard]] image_filter_options options() const { return {.border = images.border}; }
};

/// Taps of either sign.
inline std::vector<float> drawn_taps(std::int64_t radius, std::uint64_t seed) {
    std::vector<float> taps;
    for (std::int64_t i = 0; i < 2 * radius + 1; ++i) {
        seed = seed * 6364136223846793005 + 1442695040888963407;
        taps.push_back(static_cast<float>(static_cast<std::int32_t>(seed >> 40) - (1 << 23)) /
                       static_cast<float>(1 << 23));
    }
    return taps;
}

template <class From, class To>
struct filter_operands : image_operands<From, To> {
    std::vector<float> taps_x, taps_y;

    explicit filter_operands(const filter_problem<From, To>& p)
        : image_operands<From, To>(p.images, p.seed),
          taps_x(drawn_taps(p.radius.x, p.seed)),
          taps_y(drawn_taps(p.radius.y, p.seed + 1)) {}
};

}  // namespace heddle::bench::cliffs
