#pragma once

#include "examples/support/file.hpp"
#include "examples/support/image.hpp"

#include <filesystem>

namespace examples {

bool is_png(const signature& start);

/// Any PNG, with the stored values. 16 bits stay 16; fewer than 8 bits and palettes become 8.
/// @throws std::runtime_error  names the file and the error
any_image read_png(const std::filesystem::path& file);

/// @throws std::runtime_error  names the file and the error
void write_png(const std::filesystem::path& file, const any_image& picture);

}  // namespace examples
