#pragma once

#include <heddle/gaussian_blur.hpp>
#include <heddle/image.hpp>

#include <algorithm>
#include <cstdint>

namespace heddle::test {

/// What rows of source and destination begin at multiples of.
enum class rows_at {
    packets,       ///< 16 bytes
    source_words,  ///< the source's 4 bytes, the destination's 16
    single_elements
};

/// What a test says of a blur of whole images. Here alone it becomes a gaussian_blur_problem.
struct blur_of_images {
    std::int64_t width = 0;
    std::int64_t height = 0;
    std::int64_t channels = 1;
    window_radius radius = 0;
    blur_sigma sigma = 1;
    pixel_type type = pixel_type::f32;
    std::int64_t images = 1;
    bool exact = false;
    rows_at begin = rows_at::packets;
    heddle::border border = heddle::border::replicate;
    bool has_scratch = true;

    operator gaussian_blur_problem() const {
        const std::int64_t bytes = type == pixel_type::u8 ? 1 : type == pixel_type::f32 ? 4 : 2;
        const auto lies = [=, this](std::int64_t behind_packets) {
            constexpr std::int64_t countable = std::int64_t{1} << 59;
            const std::int64_t packet = 16 / bytes, row = std::min(width, countable) * channels;
            const std::int64_t stride = (row + packet - 1) / packet * packet + behind_packets / bytes;
            return tensor_layout{.count = images,
                                 .height = height,
                                 .width = width,
                                 .channels = channels,
                                 .row_stride = stride,
                                 .image_stride = images > 1 ? height * stride : 0,
                                 .element_bytes = bytes,
                                 .offset = behind_packets};
        };
        const std::int64_t source = begin == rows_at::packets        ? 0
                                    : begin == rows_at::source_words ? 4
                                                                     : bytes;
        return {.source = lies(source),
                .destination = lies(begin == rows_at::single_elements ? bytes : 0),
                .type = type,
                .radius = radius,
                .sigma = sigma,
                .border = border,
                .exact = exact,
                .has_scratch = has_scratch};
    }
};

}  // namespace heddle::test
