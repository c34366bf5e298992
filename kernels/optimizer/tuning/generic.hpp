#pragma once

namespace heddle::kernels::optimizer {

/// How gradient_norm() fills a device.
struct norm_sharing {
    static constexpr int blocks_per_sm = 4;
    static constexpr int elements_of_one_block = 32768;  ///< at most; several blocks take more
};

}  // namespace heddle::kernels::optimizer
