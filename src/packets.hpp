#pragma once

#include <cstdint>

namespace heddle::detail {

/// What the widest loads and stores take at once, in bytes.
inline constexpr std::int64_t packet_bytes = 16;

}  // namespace heddle::detail
