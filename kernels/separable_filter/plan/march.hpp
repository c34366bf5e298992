#pragma once

#include "kernels/separable_filter/plan/extents.hpp"
#include "kernels/separable_filter/tuning/tuning.hpp"

#include <algorithm>
#include <cstdint>

namespace heddle::kernels::separable_filter {

/// Blocks that march down strips of images: how far each goes.
struct march {
    int rows_per_block;
    unsigned segments;  ///< blocks of a strip
};

/// A block takes `round` rows at a time and filters `extra` of them only to start, so rows are chosen to fill
/// its rounds, and to be no fewer than those. Within that, small images get one wave of blocks over the whole
/// device. Large ones get several, so that an SM that runs ahead takes more of them.
inline march plan_march(std::int64_t height, std::int64_t strips, std::int64_t images,
                        std::int64_t resident_blocks, int extra, int round, const tuning::marching& numbers) {
    constexpr std::int64_t max_rows = std::int64_t{1} << 29;
    const std::int64_t rows_to_share = numbers.rows_to_share + numbers.rows_to_share_per_extra * extra;

    const std::int64_t segments = std::max<std::int64_t>(1, resident_blocks / (strips * images));
    const std::int64_t rows_of_one_wave = (height + segments - 1) / segments;
    const std::int64_t waves =
        std::clamp<std::int64_t>(rows_of_one_wave / rows_to_share, 1, numbers.max_waves);
    const std::int64_t wanted = std::clamp((rows_of_one_wave + waves - 1) / waves,
                                           std::max<std::int64_t>(numbers.min_rows, extra), max_rows);
    const auto rows = round_up(static_cast<int>(wanted) + extra, round) - extra;
    return {rows, static_cast<unsigned>((height + rows - 1) / rows)};
}

}  // namespace heddle::kernels::separable_filter
