#pragma once

#include "examples/support/file.hpp"
#include "examples/support/image.hpp"

#include <cstdint>
#include <filesystem>

namespace examples {

bool is_jpeg(const signature& start);

/// A JPEG in grey or in colours, which become RGB.
/// @throws std::runtime_error  names the file and the error; also where it is of CMYK, or cut off
image<std::uint8_t> read_jpeg(const std::filesystem::path& file);

/// Quality 95. 16 bits are reduced to 8.
/// @throws std::runtime_error  names the file and the error; also where the picture has alpha
void write_jpeg(const std::filesystem::path& file, const any_image& picture);

}  // namespace examples
