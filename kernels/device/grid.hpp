#pragma once

#include <cstdint>

namespace heddle::kernels {

/// What CUDA allows a grid along y, and along z. Kernels whose rows are more take further rows in a loop.
inline constexpr std::int64_t max_grid_y = 65535;

}  // namespace heddle::kernels
