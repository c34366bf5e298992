#include "src/gaussian_blur/taps.hpp"
#include "src/gaussian_blur/validate.hpp"
#include "src/host/separable.hpp"
#include <heddle/host.hpp>

#include <cstdint>
#include <type_traits>
#include <vector>

#pragma GCC visibility push(default)

namespace heddle::host {
namespace {

std::vector<float> taps_of(double sigma, std::int64_t radius) {
    const double scale = detail::blur_scale(sigma, radius);
    std::vector<float> taps;
    for (std::int64_t i = -radius; i <= radius; ++i)
        taps.push_back(static_cast<float>(scale * detail::blur_weight(sigma, i)));
    return taps;
}

}  // namespace

template <class T>
void gaussian_blur(image_batch_view<const std::type_identity_t<T>> sources, image_batch_view<T> destinations,
                   blur_sigma sigma, const gaussian_blur_options& options) {
    detail::validate_blur("host::gaussian_blur", sources, destinations, sigma, options);
    const window_radius radius = detail::blur_radius(sigma, options);
    detail::convolve_on_host<T>(sources, destinations, taps_of(sigma.x, radius.x), taps_of(sigma.y, radius.y),
                                options.border, options.border_value, options.region);
}

template void gaussian_blur(image_batch_view<const float>, image_batch_view<float>, blur_sigma,
                            const gaussian_blur_options&);
template void gaussian_blur(image_batch_view<const half>, image_batch_view<half>, blur_sigma,
                            const gaussian_blur_options&);
template void gaussian_blur(image_batch_view<const std::uint16_t>, image_batch_view<std::uint16_t>,
                            blur_sigma, const gaussian_blur_options&);
template void gaussian_blur(image_batch_view<const std::uint8_t>, image_batch_view<std::uint8_t>, blur_sigma,
                            const gaussian_blur_options&);

}  // namespace heddle::host

#pragma GCC visibility pop
