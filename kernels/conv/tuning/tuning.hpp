#pragma once

#include <cstdint>

namespace heddle::kernels::conv {

/// Where a group has fewer outputs, most of a tile of `tiled` has nothing to do, and a thread for each output is faster.
inline constexpr std::int64_t tiled_min_outputs = 8;

}  // namespace heddle::kernels::conv
