#pragma once

namespace heddle::kernels {

/// How plan_strips() shares out a matrix. Chosen by measurement on Hopper GPUs.
struct strip_sharing {
    static constexpr int least_bytes = 8;  ///< of a column in a strip: a quarter of a sector
    static constexpr int waves = 4;        ///< of blocks on the device, at most: the last one is seldom full
};

}  // namespace heddle::kernels
