#pragma once

#include <string_view>

// These are the header's version; heddle::version() is the linked library's.
#define HEDDLE_VERSION_MAJOR 0
#define HEDDLE_VERSION_MINOR 1
#define HEDDLE_VERSION_PATCH 0

namespace heddle {

/// The version of the library, as "0.1.0". Until 1.0, libraries of one minor version can stand in for each other.
[[nodiscard]] std::string_view version() noexcept;

}  // namespace heddle
