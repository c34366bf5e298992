#include "kernels/conv/plan/mma_sync.hpp"

#include "kernels/conv/plan/plan.hpp"
#include "kernels/conv/tuning/tuning.hpp"

#include <cstddef>
#include <cstdint>

namespace heddle::kernels::conv {
namespace {

/// The time of the multiprocessor that has most tiles; tiles that it has at the same time share its rate.
double cost_us(const conv_problem& p, std::size_t tile, const device_traits& device) {
    const tile_cost& cost = mma_sync_costs[tile];
    const std::int64_t steps = divide_up(depth(p) * p.filters.element_bytes, mma_row_bytes),
                       waves = divide_up(mma_tile_count(p, mma_sync_tiles[tile]), device.sm_count);
    return static_cast<double>(waves) * (static_cast<double>(steps) * cost.step_us + cost.around_us);
}

template <mma_copies copies>
plan planned(const conv_problem& p, const device_traits& device) {
    const auto can_take = [](std::size_t tile) { return is_built(mma_sync_tiles[tile], copies); };
    std::size_t best = mma_sync_tiles.size() - 1;
    for (std::size_t tile = 0; tile < mma_sync_tiles.size(); ++tile)
        if (can_take(tile) && cost_us(p, tile, device) < cost_us(p, best, device)) best = tile;
    if (const auto asked = static_cast<std::size_t>(p.tile);
        p.tile >= 0 && asked < mma_sync_tiles.size() && can_take(asked))
        best = asked;
    plan result{};
    result.blocks = {mma_tile_count(p, mma_sync_tiles[best])};
    result.tile = best;
    result.stores_packets = stores_in_packets(p);
    return result;
}

}  // namespace

plan plan_mma_sync(const conv_problem& p, const device_traits& device) {
    return planned<mma_copies::packets>(p, device);
}
plan plan_mma_sync_words(const conv_problem& p, const device_traits& device) {
    return planned<mma_copies::words>(p, device);
}
plan plan_mma_sync_elements(const conv_problem& p, const device_traits& device) {
    return planned<mma_copies::elements>(p, device);
}

}  // namespace heddle::kernels::conv
