#include "src/gaussian_blur/validate.hpp"
#include <heddle/gaussian_blur.hpp>

#include <cmath>
#include <cstdint>

namespace heddle {

std::int64_t gaussian_radius(double sigma) {
    detail::validate_sigma("gaussian_radius", "sigma", sigma, true);
    return static_cast<std::int64_t>(std::ceil(4 * sigma));
}

}  // namespace heddle
