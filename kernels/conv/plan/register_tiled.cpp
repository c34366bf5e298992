#include "kernels/conv/plan/cheapest_tile.hpp"
#include "kernels/conv/plan/mma_sync.hpp"
#include "kernels/conv/plan/plan.hpp"
#include "kernels/conv/plan/tiles.hpp"
#include "kernels/conv/tuning/tuning.hpp"

#include <cstddef>

namespace heddle::kernels::conv {

plan plan_register_tiled(const conv_problem& p, const device_traits& device) {
    const auto fits_grid = [&](const matmul_tile& tile) { return mma_tile_count(p, tile) <= max_grid_x; };
    const std::size_t tile = cheapest_tile(p, register_tiles, register_costs, device, fits_grid);
    plan result{};
    result.blocks = {mma_tile_count(p, register_tiles[tile])};
    result.tile = tile;
    result.stores_packets = stores_in_packets(p);
    return result;
}

}  // namespace heddle::kernels::conv
