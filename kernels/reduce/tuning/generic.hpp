#pragma once

namespace heddle::kernels::reduce {

/// Among how many blocks single_pass shares x. Chosen by measurement on Hopper GPUs.
struct single_pass_sharing {
    static constexpr int clusters = 16;       ///< that exchange mail, at most
    static constexpr int waves = 4;           ///< of blocks on the device, at most
    static constexpr int tiles_to_share = 8;  ///< that each of more blocks than one wave must have to pay
    static constexpr int rounds_to_cut = 16;  ///< of a ring: a thread's chain of sums is cut after so many
};

}  // namespace heddle::kernels::reduce
