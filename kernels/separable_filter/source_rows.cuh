#pragma once

#include "kernels/device/border.cuh"
#include <heddle/image.hpp>
#include <heddle/view.hpp>

#include <cstdint>

/// Where the warps that copy rows themselves, packet by packet, find them.
namespace heddle::kernels::separable_filter {

/// The start of what the border shows as row `line` of an image; of one of a batch that begins at `image`.
__device__ inline const std::uint8_t* start_of_line(const image_view<const std::uint8_t>& first,
                                                    const std::uint8_t* image, int line, border border) {
    return image + nearby_source_index(line, static_cast<int>(first.height), border) * first.row_stride;
}

/// Of a packet at place `at` of a row the bytes inside of it; no packet lies across its start.
__device__ inline int bytes_inside(int at, int row_bytes, int packet) {
    return at < 0 ? 0 : ::min(::max(row_bytes - at, 0), packet);
}

}  // namespace heddle::kernels::separable_filter
