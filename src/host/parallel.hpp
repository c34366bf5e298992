#pragma once

#include <cstdint>

namespace heddle::host {

/// Fewer elements run on one thread: starting threads would take longer.
inline constexpr std::int64_t elements_to_share = 16384;

}  // namespace heddle::host
