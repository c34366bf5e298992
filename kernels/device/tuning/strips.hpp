#pragma once

namespace heddle::kernels {

/// Parameters of plan_strips(), chosen by measurement on Hopper GPUs.
struct strip_sharing {
    static constexpr int least_bytes = 8;  ///< of a column in a strip: a quarter of a sector
    static constexpr int waves = 4;        ///< of blocks on the device, at most; the last wave is seldom full
};

}  // namespace heddle::kernels
