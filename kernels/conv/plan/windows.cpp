#include "kernels/conv/plan/windows.hpp"

#include "kernels/conv/plan/plan.hpp"
#include "kernels/conv/tuning/tuning.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace heddle::kernels::conv {
namespace {

constexpr std::int64_t divided_up(std::int64_t n, std::int64_t by) {
    return (n - 1) / by + 1;
}
constexpr int narrow(std::int64_t n) {
    return static_cast<int>(n);
}

std::int64_t steps_of(const conv_problem& p) {
    return p.filters.height * p.filters.width *
           divided_up(p.filters.channels, step_channels(p.filters.element_bytes));
}

frame::tile_schedule schedule_of(const conv_problem& p, const matmul_tile& tile, int workers) {
    constexpr int rows_together = 8;  // of tiles, which share filters and windows in L2
    const std::int64_t down = divided_up(output_pixels(p), tile.m),
                       across = divided_up(p.output.channels, tile.n);
    const int tiles = narrow(down * across);
    return {.batches = 1,
            .down = narrow(down),
            .across = narrow(across),
            .group = rows_together,
            .steps = narrow(steps_of(p)),
            .workers = tile.blocks > 1 ? tiles : std::min(workers, tiles),
            .whole = tiles,
            .streams = 0};
}

double cost_us(const conv_problem& p, std::size_t tile, int workers) {
    const frame::tile_schedule schedule = schedule_of(p, persistent_tiles[tile], workers);
    const tile_cost& cost = persistent_costs[tile];
    const auto steps = static_cast<double>(divided_up(schedule.steps, persistent_tiles[tile].blocks));
    return static_cast<double>(divided_up(schedule.tiles(), schedule.workers)) *
           (steps * cost.step_us + cost.around_us);
}

/// The cheapest of the tiles, or the one that is asked for, where it is one of them.
plan planned(std::span<const std::size_t> tiles, const conv_problem& p, const device_traits& device) {
    const auto can_take = [&](std::size_t index) {
        const matmul_tile& tile = persistent_tiles[index];
        const frame::tile_schedule schedule = schedule_of(p, tile, device.sm_count);
        const bool can_divide =
            schedule.steps >= tile.blocks && schedule.tiles() <= device.sm_count / tile.blocks;
        return is_of_one_group(p, tile) && (tile.blocks == 1 || can_divide);
    };
    std::size_t best = persistent_tiles.size();
    for (const std::size_t tile : tiles)
        if (can_take(tile) && (best == persistent_tiles.size() ||
                               cost_us(p, tile, device.sm_count) < cost_us(p, best, device.sm_count)))
            best = tile;
    if (p.tile >= 0)
        if (const auto asked = static_cast<std::size_t>(p.tile);
            std::ranges::find(tiles, asked) != tiles.end() && can_take(asked))
            best = asked;
    plan result{};
    result.tile = best;
    result.schedule = schedule_of(p, persistent_tiles[best], device.sm_count);
    return result;
}

}  // namespace

plan plan_wgmma(const conv_problem& p, const device_traits&) {
    const std::int64_t tiles =
        divided_up(output_pixels(p), wgmma_tile.m) * divided_up(p.output.channels, wgmma_tile.n);
    constexpr int warpgroup = 128;
    return {.blocks = {tiles}, .threads = {warpgroup}};
}

plan plan_persistent(const conv_problem& p, const device_traits& device) {
    return planned(persistent_tiles_for(p.operands), p, device);
}
plan plan_persistent_with_function(const conv_problem& p, const device_traits& device) {
    return planned(persistent_with_function, p, device);
}

}  // namespace heddle::kernels::conv
