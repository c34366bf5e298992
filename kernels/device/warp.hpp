#pragma once

namespace heddle::kernels {

/// The threads of a warp.
inline constexpr int warp_size = 32;

}  // namespace heddle::kernels
