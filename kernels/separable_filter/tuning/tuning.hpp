#pragma once

#include "kernels/separable_filter/tuning/h200.hpp"
#include <heddle/device.hpp>

namespace heddle::kernels::separable_filter {

/// Not measured on the cards that this stands for.
inline constexpr tuning generic = h200;

/// The numbers of the card. An H100 takes an H200's.
inline const tuning& tuning_of(const device_traits& device) {
    const bool is_hopper = device.compute_capability_major == 9 && device.compute_capability_minor == 0;
    return is_hopper ? h200 : generic;
}

}  // namespace heddle::kernels::separable_filter
