#pragma once

#include "examples/support/file.hpp"
#include "examples/support/image.hpp"

#include <filesystem>

namespace examples {

bool is_png(const signature& start);

/// Any PNG, the values as they are stored: 16 bits stay 16, fewer than 8 and palettes become 8.
/// @throws std::runtime_error  naming the file and what is wrong with it
any_image read_png(const std::filesystem::path& file);

/// @throws std::runtime_error  naming the file and what is wrong with it
void write_png(const std::filesystem::path& file, const any_image& picture);

}  // namespace examples
