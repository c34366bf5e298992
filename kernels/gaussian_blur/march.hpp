#pragma once

#include <algorithm>
#include <cstdint>

namespace heddle::kernels::gaussian_blur {

/// Blocks that march down strips of an image: how far each goes.
struct march {
    int rows_per_block;
    unsigned blocks;
};

/// One wave of blocks over the whole image; but no fewer rows a block than the `extra` ones that it filters
/// only to start.
inline march plan_march(std::int64_t height, std::int64_t strips, std::int64_t resident_blocks, int extra) {
    constexpr std::int64_t min_rows = 8;
    constexpr std::int64_t max_rows = std::int64_t{1} << 29;
    const std::int64_t segments = std::max<std::int64_t>(1, resident_blocks / strips);
    const std::int64_t least = std::max<std::int64_t>(min_rows, extra);
    const std::int64_t rows = std::min(std::max((height + segments - 1) / segments, least), max_rows);
    return {static_cast<int>(rows), static_cast<unsigned>(strips * ((height + rows - 1) / rows))};
}

}  // namespace heddle::kernels::gaussian_blur
