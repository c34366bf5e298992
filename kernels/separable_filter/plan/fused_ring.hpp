#pragma once

#include "kernels/separable_filter/plan/kernel_grid.hpp"
#include "kernels/separable_filter/plan/march.hpp"

#include <cstdint>

namespace heddle::kernels::separable_filter {

/// A block's shared memory, in this order: a barrier, the ring, the rows of a round, taps that are not
/// compiled in, the columns that stand for those outside of the image.
struct ring_layout {
    int strip;        ///< values of a row of the destination
    int halo;         ///< values on both sides of them, in whole copies of 16 bytes
    int lead;         ///< rows that are filtered before the first output
    int ring_rows;    ///< a multiple of the outputs of a thread, so that a group of rows never wraps
    int ring_pitch;   ///< floats
    int stage_pitch;  ///< values
    int taps_x;       ///< floats
    int taps_y;
    std::int64_t bytes;
};

struct fused_ring_plan {
    kernel_grid grid;
    ring_layout layout;
    bool is_compiled;  ///< for the radius
    unsigned strips;
    separable_filter::march march;
    bool aligned_loads;
    bool aligned_stores;
};

}  // namespace heddle::kernels::separable_filter
