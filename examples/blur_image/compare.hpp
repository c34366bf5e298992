#pragma once

#include "examples/support/image.hpp"

#include <span>

/// T is uint8_t or uint16_t; the pictures are of one size.
namespace examples {

/// Peak signal-to-noise ratio in dB: 10 log10(peak^2 / mean squared difference). Infinite where they are equal.
template <class T>
double psnr(const image<T>& a, const image<T>& b);

/// One picture that shows all of these side by side, from left to right.
template <class T>
image<T> side_by_side(std::span<const image<T>> pictures);

}  // namespace examples
