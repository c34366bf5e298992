#pragma once

#include "examples/support/file.hpp"
#include "examples/support/image.hpp"

#include <cstdint>
#include <filesystem>

namespace examples {

bool is_jpeg(const signature& start);

/// A JPEG of grey or of colours, which become RGB.
/// @throws std::runtime_error  naming the file and what is wrong with it; that it is of CMYK, or cut off, too
image<std::uint8_t> read_jpeg(const std::filesystem::path& file);

/// At quality 95. 16 bits are brought to 8.
/// @throws std::runtime_error  naming the file and what is wrong with it; that the picture has alpha, too
void write_jpeg(const std::filesystem::path& file, const any_image& picture);

}  // namespace examples
