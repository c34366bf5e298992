#pragma once

#include "kernels/device/vector.cuh"
#include "kernels/gaussian_blur/round_up.cuh"
#include <heddle/view.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace heddle::kernels::gaussian_blur {

/// Blocks that march down strips of images: how far each goes.
struct march {
    int rows_per_block;
    unsigned segments;  ///< blocks of a strip
};

/// A block takes `round` rows at a time and filters `extra` of them only to start, so rows are chosen to fill
/// its rounds, and to be no fewer than those. Within that, small images get one wave of blocks over the whole
/// device. Large ones get several, so that an SM that runs ahead takes more of them.
inline march plan_march(std::int64_t height, std::int64_t strips, std::int64_t images,
                        std::int64_t resident_blocks, int extra, int round) {
    constexpr std::int64_t min_rows = 6;
    constexpr std::int64_t max_rows = std::int64_t{1} << 29;
    constexpr std::int64_t max_waves = 4;
    const std::int64_t rows_to_share = 64 + 8 * std::int64_t{extra};  // the start is then a small part

    const std::int64_t segments = std::max<std::int64_t>(1, resident_blocks / (strips * images));
    const std::int64_t rows_of_one_wave = (height + segments - 1) / segments;
    const std::int64_t waves = std::clamp<std::int64_t>(rows_of_one_wave / rows_to_share, 1, max_waves);
    const std::int64_t wanted =
        std::clamp((rows_of_one_wave + waves - 1) / waves, std::max<std::int64_t>(min_rows, extra), max_rows);
    const auto rows = round_up(static_cast<int>(wanted) + extra, round) - extra;
    return {rows, static_cast<unsigned>((height + rows - 1) / rows)};
}

/// Launches all blocks of a batch, as many images at a time as a grid has room for: launch(first image,
/// blocks).
template <class Launch>
void for_each_launch(std::int64_t images, std::int64_t blocks_per_image, Launch launch) {
    const std::int64_t most = std::max<std::int64_t>(1, std::numeric_limits<int>::max() / blocks_per_image);
    for (std::int64_t first = 0; first < images; first += most)
        launch(first, static_cast<unsigned>(std::min(most, images - first) * blocks_per_image));
}

/// Whether every row of every image, from element `offset` on, starts at a multiple of `bytes`.
template <class T>
bool is_aligned(const image_batch_view<T>& images, std::int64_t offset, int bytes) {
    constexpr std::int64_t size = sizeof(T);
    const auto address = reinterpret_cast<std::uintptr_t>(images.first.data + offset);
    const std::int64_t row = images.first.height > 1 ? images.first.row_stride * size : 0;
    const std::int64_t image = images.count > 1 ? images.stride * size : 0;
    return common_alignment(address, row, image) >= bytes;
}

}  // namespace heddle::kernels::gaussian_blur
