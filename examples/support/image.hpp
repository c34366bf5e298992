#pragma once

#include <heddle/view.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <variant>
#include <vector>

namespace examples {

/// Pixels of 1 (grey), 2 (grey and alpha), 3 (RGB) or 4 (RGB and alpha) interleaved channels.
template <class T>
struct image {
    std::int64_t width = 0;
    std::int64_t height = 0;
    std::int64_t channels = 0;
    std::vector<T> pixels;

    heddle::image_view<T> view() { return {pixels.data(), width, height, channels}; }
    heddle::image_view<const T> view() const { return {pixels.data(), width, height, channels}; }
};

/// The largest size that a header may give; more counts as damage.
inline constexpr std::int64_t most_pixels = std::int64_t{1} << 28;

/// A black picture of this size.
template <class T>
image<T> make_image(std::int64_t width, std::int64_t height, std::int64_t channels) {
    return {width, height, channels, std::vector<T>(static_cast<std::size_t>(width * height * channels))};
}

/// The pictures that a file can hold.
using any_image = std::variant<image<std::uint8_t>, image<std::uint16_t>>;

/// Rounds values of 16 bits to the nearest value of 8 bits.
image<std::uint8_t> to_8_bit(any_image picture);

/// Reads a PNG or a JPEG, according to its content; see read_png() and read_jpeg().
/// @throws std::runtime_error  names the file and the error
any_image read_image(const std::filesystem::path& file);

/// Writes a JPEG if the name says so, otherwise a PNG; see write_png() and write_jpeg().
/// @throws std::runtime_error  names the file and the error
void write_image(const std::filesystem::path& file, const any_image& picture);

/// Whether it ends in .jpg or .jpeg, in any case.
bool has_jpeg_name(const std::filesystem::path& file);

}  // namespace examples
