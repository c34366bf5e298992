#pragma once

#include <heddle/view.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace examples {

/// 8-bit pixels of 1 (grey), 3 (RGB) or 4 (RGB and alpha) interleaved channels.
struct image {
    std::int64_t width = 0;
    std::int64_t height = 0;
    std::int64_t channels = 0;
    std::vector<std::uint8_t> pixels;

    heddle::image_view<std::uint8_t> view() { return {pixels.data(), width, height, channels}; }
    heddle::image_view<const std::uint8_t> view() const { return {pixels.data(), width, height, channels}; }
};

/// Black, to be written to.
inline image make_image(std::int64_t width, std::int64_t height, std::int64_t channels) {
    return {width, height, channels,
            std::vector<std::uint8_t>(static_cast<std::size_t>(width * height * channels))};
}

/// Any PNG; what has more than 8 bits or a palette is converted.
/// @throws std::runtime_error  naming the file and what is wrong with it
image read_png(const std::filesystem::path& file);

/// @throws std::runtime_error  naming the file and what is wrong with it
void write_png(const std::filesystem::path& file, const image& picture);

}  // namespace examples
