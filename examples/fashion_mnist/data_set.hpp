#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

namespace fashion_mnist {

/// The height and width of pictures that are classified.
inline constexpr std::int64_t picture_side = 28;

inline constexpr std::array<std::string_view, 10> classes = {
    "T-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "boot"};

/// Grey pictures of one size, one after another, row by row, and the class of each.
struct pictures {
    std::int64_t height = 0;
    std::int64_t width = 0;
    std::vector<std::uint8_t> pixels;
    std::vector<std::int32_t> labels;

    std::int64_t count() const { return static_cast<std::int64_t>(labels.size()); }
    std::int64_t pixels_each() const { return height * width; }
};

struct data_set {
    pictures training;
    pictures test;
};

/// Reads MNIST's four files, each plain or with .gz added.
/// @throws std::runtime_error  names the file and the error: it is missing, cut off, or of another size
data_set read_data_set(const std::filesystem::path& folder);

/// Writes picture `index` as a PNG.
/// @throws std::runtime_error  names the file and the error; also if there is no such picture
void write_picture(const std::filesystem::path& file, const pictures& pictures, std::int64_t index);

/// Reads a PNG or JPEG of this size as grey values from 0 to 255. Black is the background, as in the data set.
/// @throws std::runtime_error  names the file and the error; also if the size is another
std::vector<std::uint8_t> read_picture(const std::filesystem::path& file, std::int64_t width,
                                       std::int64_t height);

}  // namespace fashion_mnist
