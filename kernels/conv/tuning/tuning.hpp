#pragma once

#include <cstdint>

namespace heddle::kernels::conv {

/// Where a group has fewer outputs, most of a tile of `tiled` has nothing to do, and a thread for each output is faster.
inline constexpr std::int64_t tiled_min_outputs = 8;

/// Blocks of `depthwise` for each multiprocessor: more share the tiles more evenly, fewer stage fewer filters.
inline constexpr std::int64_t depthwise_blocks_per_sm = 4;

}  // namespace heddle::kernels::conv
