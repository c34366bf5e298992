#pragma once

#include "kernels/conv/plan/mma_sync.hpp"
#include "kernels/conv/tuning/tuning.hpp"
#include "kernels/device/grid.hpp"
#include <heddle/conv.hpp>
#include <heddle/device.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

/// Which tile a rung takes whose threads copy windows. Pure.
namespace heddle::kernels::conv {

/// The time of the multiprocessor that has most tiles; tiles that it has at the same time share its rate.
constexpr double cost_us(const conv_problem& p, const matmul_tile& tile, const tile_cost& cost,
                         const device_traits& device) {
    const std::int64_t steps = divide_up(depth(p) * p.filters.element_bytes, mma_row_bytes),
                       waves = divide_up(mma_tile_count(p, tile), device.sm_count);
    return static_cast<double>(waves) * (static_cast<double>(steps) * cost.step_us + cost.around_us);
}

/// The place of the tile that was asked for, or else of the one that costs least, among those that can be taken. One can.
template <std::size_t count, class CanTake>
constexpr std::size_t cheapest_tile(const conv_problem& p, const std::array<matmul_tile, count>& tiles,
                                    const std::array<tile_cost, count>& costs, const device_traits& device,
                                    CanTake can_take) {
    if (const auto asked = static_cast<std::size_t>(p.tile);
        p.tile >= 0 && asked < count && can_take(tiles[asked]))
        return asked;
    std::size_t best = count;
    double least = 0;
    for (std::size_t tile = 0; tile < count; ++tile) {
        if (!can_take(tiles[tile])) continue;
        const double cost = cost_us(p, tiles[tile], costs[tile], device);
        if (best == count || cost < least) best = tile, least = cost;
    }
    return best;
}

}  // namespace heddle::kernels::conv
