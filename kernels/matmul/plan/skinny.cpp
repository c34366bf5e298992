#include "kernels/matmul/plan/parts.hpp"

#include <algorithm>

/// The plans of products whose C has a short side.
namespace heddle::kernels::matmul {
namespace {

/// Tiles of C that are shared out along k among `clusters` clusters of `cluster` blocks each.
plan lay_out(const skinny_shape& tile, double step_us, const extents& e, const matmul_problem& p,
             const device_traits& device) {
    constexpr std::int64_t min_k = 256;  ///< of a block: less does not pay for adding up
    const tuning& costs = tuning_of(device);
    plan result;
    result.down = divide_up(e.m, skinny_height);
    result.across = divide_up(e.n, tile.n);
    result.steps = divide_up(e.k, tile.k);
    const std::int64_t tiles = result.down * result.across;
    const std::int64_t most = std::max<std::int64_t>(1, result.steps / (min_k / tile.k));
    const std::int64_t parts =
        std::clamp<std::int64_t>(device.sm_count / std::max<std::int64_t>(1, tiles), 1, most);
    while (result.cluster < max_cluster && std::int64_t{2} * result.cluster <= parts) result.cluster *= 2;
    if (p.has_workspace) result.clusters = static_cast<int>(parts / result.cluster);
    if (result.clusters > 1)
        result.sums_bytes = tiles * result.clusters * skinny_height * tile.n * std::int64_t{sizeof(float)};
    const std::int64_t shares = std::int64_t{result.cluster} * result.clusters;
    const auto rounds = static_cast<double>(divide_up(tiles * shares, device.sm_count));
    const double busy_us = rounds * static_cast<double>(divide_up(result.steps, shares)) * step_us;
    result.us = costs.skinny_around_us + std::max(busy_us, read_us(e, p.a.element_bytes, costs)) +
                (result.cluster > 1 ? costs.skinny_cluster_us : 0) +
                (result.clusters > 1 ? costs.skinny_ticket_us : 0);
    return result;
}

/// The narrowest tile that n columns fit, from `first` on, or the widest.
template <class Tiles>
std::size_t tile_for(const Tiles& tiles, std::size_t first, std::int64_t n) {
    while (first + 1 < tiles.size() && tiles[first].n < n) ++first;
    return first;
}

}  // namespace

/// C's longer side is m. Where the operand of the short side does not lie along k, its boxes are 64 wide.
plan plan_skinny(const matmul_problem& p, const device_traits& device) {
    const tuning& costs = tuning_of(device);
    const operand_copies copies = copies_of(p);
    const bool is_turned = p.c.rows < p.c.cols;
    const extents e = is_turned ? transposed(extents_of(p)) : extents_of(p);
    const bool crosses_k =
        is_turned ? has_tensor_rows(transposed(p.a), copies.a) : has_tensor_rows(p.b, copies.b);
    const std::size_t tile = tile_for(skinny_tiles, crosses_k ? 1 : 0, e.n);
    plan result = lay_out(skinny_tiles[tile], costs.skinny_step_us[tile], e, p, device);
    result.tile = tile;
    result.is_turned = is_turned;
    return after(copies, result, p, costs);
}

plan plan_skinny_tf32(const matmul_problem& p, const device_traits& device) {
    const tuning& costs = tuning_of(device);
    const operand_copies copies = copies_of(p, true);
    const auto lay_out_turned = [&](bool is_turned) {
        const extents e = is_turned ? transposed(extents_of(p)) : extents_of(p);
        const std::size_t tile = tile_for(skinny_tf32_tiles, 0, e.n);
        plan result = lay_out(skinny_tf32_tiles[tile], costs.skinny_tf32_step_us, e, p, device);
        result.tile = tile;
        result.is_turned = is_turned;
        return result;
    };
    plan result;  // the operand of the columns has to lie along k
    if (has_tensor_columns(p.b, copies.b)) result = lay_out_turned(false);
    if (has_tensor_rows(p.a, copies.a))
        if (const plan turned = lay_out_turned(true); turned.us < result.us) result = turned;
    return after(copies, result, p, costs);
}

}  // namespace heddle::kernels::matmul
