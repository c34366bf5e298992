#pragma once

#include <string_view>

// The version of these headers; heddle::version() is that of the linked library.
#define HEDDLE_VERSION_MAJOR 0
#define HEDDLE_VERSION_MINOR 1
#define HEDDLE_VERSION_PATCH 0

#pragma GCC visibility push(default)

namespace heddle {

/// The version of the library, as "0.1.0". Until 1.0, libraries with equal minor versions are interchangeable.
[[nodiscard]] std::string_view version() noexcept;

}  // namespace heddle

#pragma GCC visibility pop
