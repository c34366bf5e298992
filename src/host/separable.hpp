#pragma once

#include <heddle/image.hpp>
#include <heddle/view.hpp>

#include <optional>
#include <vector>

namespace heddle::detail {

/// Each destination = its source, or a region of it, weighted by taps_x along x and then by taps_y along y, an odd
/// number of them each. T is float, half, uint16_t or uint8_t; the border's value is one that it can hold.
template <class T>
void convolve_on_host(const image_batch_view<const T>& sources, const image_batch_view<T>& destinations,
                      const std::vector<float>& taps_x, const std::vector<float>& taps_y, border border,
                      float border_value, const std::optional<image_region>& region);

}  // namespace heddle::detail
