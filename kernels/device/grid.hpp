#pragma once

#include <cstdint>

namespace heddle::kernels {

/// The largest grid that CUDA allows along x, and along y or z. Kernels with more rows take further rows in a loop.
inline constexpr std::int64_t max_grid_x = (std::int64_t{1} << 31) - 1;
inline constexpr std::int64_t max_grid_y = 65535;

}  // namespace heddle::kernels
