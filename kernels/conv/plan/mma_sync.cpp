#include "kernels/conv/plan/mma_sync.hpp"

#include "kernels/conv/plan/cheapest_tile.hpp"
#include "kernels/conv/plan/plan.hpp"
#include "kernels/conv/tuning/tuning.hpp"

#include <cstddef>

namespace heddle::kernels::conv {
namespace {

template <mma_copies copies>
plan planned(const conv_problem& p, const device_traits& device) {
    const std::size_t tile =
        cheapest_tile(p, mma_sync_tiles, mma_sync_costs, device,
                      [](const matmul_tile& of_table) { return is_built(of_table, copies); });
    plan result{};
    result.blocks = {mma_tile_count(p, mma_sync_tiles[tile])};
    result.tile = tile;
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
