#pragma once

#include "kernels/device/tile_scheduler.cuh"
#include "kernels/matmul/tile_plan.hpp"
#include <heddle/error.hpp>

#include <cstdint>
#include <limits>
#include <stdexcept>

namespace heddle::kernels::matmul {

inline tile_schedule schedule_of(const tile_layout& layout) {
    constexpr int group = 8;  // rows of tiles: 16 x 8 tiles of 128 x 256 that run together are 2048 x 2048
    if (layout.batches * layout.down * layout.across > std::numeric_limits<int>::max())
        throw unsupported("matmul: C has more tiles of this algorithm than an int counts");
    const auto narrow = [](std::int64_t n) { return static_cast<int>(n); };
    return {narrow(layout.batches), narrow(layout.down), narrow(layout.across), group,
            narrow(layout.steps),   layout.workers,      narrow(layout.whole),  layout.streams};
}

template <class Tile>
void require_tile_of(const tile_plan& plan) {
    if (plan.m != Tile::m || plan.n != Tile::n || plan.cluster != Tile::cluster)
        throw std::logic_error("matmul: a kernel is not of its plan's tile");
}

}  // namespace heddle::kernels::matmul
