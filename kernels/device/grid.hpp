#pragma once

#include <cstdint>

namespace heddle::kernels {

/// What CUDA allows a grid along x, and along y or z. Kernels whose rows are more take further rows in a loop.
inline constexpr std::int64_t max_grid_x = (std::int64_t{1} << 31) - 1;
inline constexpr std::int64_t max_grid_y = 65535;

}  // namespace heddle::kernels
