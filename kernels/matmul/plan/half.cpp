#include "kernels/matmul/plan/parts.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

/// The plans of products of half and bfloat16.
namespace heddle::kernels::matmul {
namespace {

/// The cheapest of a rung's tiles, whole.
template <std::size_t count>
plan plan_whole(const std::array<tile_shape, count>& tiles, const std::array<tile_cost, count>& cost,
                const matmul_problem& p, const device_traits& device) {
    const tuning& costs = tuning_of(device);
    const extents e = extents_of(p);
    const plan whole = cheapest(count, p.tile, [&](std::size_t i) {
        return lay_out_whole(tiles[i], cost[i], e, p.batches, read_us(e, p.a.element_bytes, costs),
                             device.sm_count);
    });
    return after(copies_of(p), whole, p, costs);
}

constexpr double after_all_others_us = 1e9;

/// The time of one tile, all of it.
double whole_tile_us(const tile_cost& cost, std::int64_t k) {
    return cost.around_us + static_cast<double>(divide_up(k, step_k)) * cost.step_us;
}

}  // namespace

plan plan_one_way(const matmul_problem&, const device_traits&) {
    return {};
}

plan plan_copied(const matmul_problem& p, const device_traits& device) {
    return after(copies_of(p), {}, p, tuning_of(device));
}

plan plan_mma_sync(const matmul_problem&, const device_traits&) {
    return {.us = after_all_others_us};
}

plan plan_wmma(const matmul_problem&, const device_traits&) {
    return {.us = 2 * after_all_others_us};
}

plan plan_persistent(const matmul_problem& p, const device_traits& device) {
    return plan_whole(persistent_tiles, tuning_of(device).persistent, p, device);
}

plan plan_cluster_multicast(const matmul_problem& p, const device_traits& device) {
    return plan_whole(multicast_tiles, tuning_of(device).multicast, p, device);
}

plan plan_fused(const matmul_problem& p, const device_traits& device) {
    return plan_whole(fused_tiles, tuning_of(device).fused, p, device);
}

plan plan_stream_k(const matmul_problem& p, const device_traits& device) {
    const tuning& costs = tuning_of(device);
    if (!p.has_workspace) return plan_persistent(p, device);
    const extents e = extents_of(p);
    const plan streamed = cheapest(persistent_tiles.size(), p.tile, [&](std::size_t i) {
        return lay_out_streamed(persistent_tiles[i], costs.persistent[i], e,
                                read_us(e, p.a.element_bytes, costs), device.sm_count, costs);
    });
    return after(copies_of(p), streamed, p, costs);
}

group_plan plan_group(std::span<const matmul_problem> problems, const device_traits& device) {
    const tuning& costs = tuning_of(device);
    group_plan best;
    for (const std::size_t i : grouped_tiles) {
        const tile_shape& tile = persistent_tiles[i];
        const tile_cost& cost = costs.persistent[i];
        std::int64_t tiles = 0;
        double us = 0, all_read_us = cost.around_us;
        for (const matmul_problem& p : problems) {
            const extents e = extents_of(p);
            const std::int64_t rounds_before = divide_up(tiles, device.sm_count);
            tiles += divide_up(e.m, tile.m) * divide_up(e.n, tile.n);
            us += static_cast<double>(divide_up(tiles, device.sm_count) - rounds_before) *
                  whole_tile_us(cost, e.k);
            all_read_us += read_us(e, p.a.element_bytes, costs);
        }
        us = std::max(us, all_read_us);
        if (us < best.us) best = {i, static_cast<int>(std::min<std::int64_t>(tiles, device.sm_count)), us};
    }
    return best;
}

plan tiles_in_group(const group_plan& group, std::int64_t m, std::int64_t n, std::int64_t k) {
    return lay_out_whole(persistent_tiles[group.tile], {}, {m, n, k}, 1, 0, group.workers);
}

double launch_us(const device_traits& device) {
    return tuning_of(device).launch_us;
}

double grouped_tile_us(const matmul_problem& p, const device_traits& device) {
    return whole_tile_us(tuning_of(device).persistent[grouped_tiles.back()], p.a.cols);
}

}  // namespace heddle::kernels::matmul
