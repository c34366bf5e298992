#pragma once

#include <cstdint>

namespace heddle::kernels::scan {

/// `look_back` takes small tiles where the device has room for this many times their number. Measured on Hopper GPUs.
inline constexpr std::int64_t places_of_small_tile = 2;

}  // namespace heddle::kernels::scan
