#pragma once

#include <cstdint>

namespace heddle::kernels::pool {

/// Windows of as many pixels are shared out to a block's threads; smaller ones are a thread's.
inline constexpr std::int64_t shared_window_pixels = 32;

}  // namespace heddle::kernels::pool
