#pragma once

#include "kernels/device/launch.hpp"

#include <cstddef>

namespace heddle::kernels::separable_filter {

/// A launch of a kernel, all but its stream.
struct kernel_grid {
    launch_extents
        blocks;  ///< of one image, where a launch takes as many as there is room for (launch_batch)
    launch_extents threads;
    std::size_t shared_bytes = 0;
    std::size_t shared_limit = 0;
    bool begins_early = false;
};

}  // namespace heddle::kernels::separable_filter
