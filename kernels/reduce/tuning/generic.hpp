#pragma once

namespace heddle::kernels::reduce {

/// How many blocks of single_pass share x. Chosen by measurement on Hopper GPUs.
struct single_pass_sharing {
    static constexpr int clusters = 16;       ///< most clusters that exchange mail
    static constexpr int waves = 4;           ///< most waves of blocks on the device
    static constexpr int tiles_to_share = 8;  ///< least tiles per block where there is more than one wave
    static constexpr int rounds_to_cut = 16;  ///< rounds of a ring after which a chain of sums is cut
};

}  // namespace heddle::kernels::reduce
