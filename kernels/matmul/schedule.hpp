#pragma once

#include "kernels/frame/tile_scheduler.hpp"
#include "kernels/matmul/plan/plan.hpp"

#include <cstddef>
#include <cstdint>

namespace heddle::kernels::matmul {

inline frame::tile_schedule schedule_of(const plan& plan) {
    constexpr int group = 8;  // rows of tiles: 16 x 8 tiles of 128 x 256 that run together are 2048 x 2048
    const auto narrow = [](std::int64_t n) { return static_cast<int>(n); };
    return {narrow(plan.batches), narrow(plan.down),  narrow(plan.across), group,         narrow(plan.steps),
            plan.workers,         narrow(plan.whole), plan.streams,        plan.low_last, plan.narrow_last};
}

/// Where there are no tickets, no tile is shared.
inline frame::shared_sums shared_sums_in(const product_workspace& workspace) {
    if (workspace.tickets == nullptr) return {};
    return {reinterpret_cast<float*>(workspace.scratch), workspace.tickets};
}

}  // namespace heddle::kernels::matmul
