#pragma once

#include <heddle/image.hpp>

#include <algorithm>
#include <cstdint>

namespace heddle::kernels::gaussian_blur {

/// The image between two passes, in float: for each image of a batch the rows of the source that its
/// destination needs, filtered along x. Where borders wrap, those rows may run round the source's edge.
struct intermediate_image {
    std::int64_t first_row = 0;  ///< of the source
    std::int64_t rows = 0;
    std::int64_t source_rows = 0;
    std::int64_t stride = 0;  ///< from row to row; the rows of all images lie one after another

    __host__ __device__ std::int64_t source_row(std::int64_t row) const {
        const std::int64_t y = first_row + row;
        return y < source_rows ? y : y - source_rows;
    }
    __host__ __device__ std::int64_t row_of(std::int64_t source_row) const {
        return source_row < first_row ? source_row - first_row + source_rows : source_row - first_row;
    }
};

/// The rows that a blur's rows y..y + height - 1 need: those of their windows that lie in the source. They include all that
/// replicate and both kinds of reflect show outside of it: a mirrored row lies no further inside than the window reaches.
/// For `wrap` they are all rows of the windows.
inline intermediate_image intermediate_rows(std::int64_t source_height, std::int64_t y, std::int64_t height,
                                            std::int64_t radius, border border) {
    intermediate_image image{.source_rows = source_height};
    if (border == border::wrap) {
        image.rows = std::min(source_height, height + 2 * radius);
        if (image.rows < source_height) image.first_row = (y - radius + source_height) % source_height;
    } else {
        image.first_row = std::max<std::int64_t>(y - radius, 0);
        image.rows = std::min(y + height + radius, source_height) - image.first_row;
    }
    return image;
}

}  // namespace heddle::kernels::gaussian_blur
