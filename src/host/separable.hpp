#pragma once

#include <heddle/image.hpp>
#include <heddle/view.hpp>

#include <optional>
#include <vector>

namespace heddle::detail {

/// Convolves each source, or a region of it, with taps_x along x and then with taps_y along y. Both have an odd number
/// of taps. T is float, half, uint16_t or uint8_t, and can represent the border's value.
template <class T>
void convolve_on_host(const image_batch_view<const T>& sources, const image_batch_view<T>& destinations,
                      const std::vector<float>& taps_x, const std::vector<float>& taps_y, border border,
                      float border_value, const std::optional<image_region>& region);

}  // namespace heddle::detail
