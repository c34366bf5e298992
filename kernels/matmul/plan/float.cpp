#include "kernels/device/early_launch.hpp"
#include "kernels/matmul/plan/parts.hpp"

#include <algorithm>
#include <bit>
#include <span>

/// The plans of products of float.
namespace heddle::kernels::matmul {
namespace {

/// The time of so many blocks, in rounds, each `k` along k.
double rounds_us(const block_tile& tile, const block_cost& cost, std::int64_t blocks, double k,
                 int sm_count) {
    const std::int64_t at_once = std::int64_t{sm_count} * tile.blocks_per_sm, rest = blocks % at_once;
    const double full_us = static_cast<double>(blocks / at_once) * (cost.around_us + k * cost.k_us);
    if (rest == 0) return full_us;
    return full_us + cost.around_us + k * (rest <= sm_count ? cost.alone_k_us : cost.k_us);
}

/// Threads that add up a place of the shared tiles: as many in all as the device takes at once.
int adders_of(const plan& p, const block_tile& tile, const device_traits& device) {
    constexpr std::int64_t most = 32;
    const std::int64_t packets = p.shared() * tile.m * tile.n / 4;
    const std::int64_t wanted = divide_up(std::int64_t{device.sm_count} * device.max_threads_per_sm, packets);
    return static_cast<int>(std::min<std::int64_t>(
        {most, std::bit_floor(static_cast<unsigned>(p.parts)),
         static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(wanted)))}));
}

/// Whole tiles or, where that is faster, whole rounds of these and the rest in as many parts as fill a round.
plan lay_out_blocks(const block_tile& tile, const block_cost& cost, const extents& e,
                    const device_traits& device, const tuning& costs, bool may_share) {
    constexpr std::int64_t min_part_k = 64;
    plan result;
    result.down = divide_up(e.m, tile.m);
    result.across = divide_up(e.n, tile.n);
    const std::int64_t tiles = result.down * result.across;
    const std::int64_t at_once = std::int64_t{device.sm_count} * tile.blocks_per_sm, rest = tiles % at_once;
    const auto depth = static_cast<double>(e.k);
    result.whole = tiles;
    result.us = costs.ffma_around_us + rounds_us(tile, cost, tiles, depth, device.sm_count);
    if (!may_share || rest == 0) return result;

    plan sharing = result;
    sharing.whole = tiles - rest;
    sharing.parts = static_cast<int>(std::min(at_once / rest, e.k / min_part_k));
    if (sharing.parts < 2) return result;
    sharing.sums_bytes = rest * sharing.parts * tile.m * tile.n * std::int64_t{sizeof(float)};
    sharing.us = costs.ffma_around_us + rounds_us(tile, cost, sharing.whole, depth, device.sm_count) +
                 rounds_us(tile, cost, rest * sharing.parts, depth / sharing.parts, device.sm_count) +
                 costs.add_up_around_us +
                 static_cast<double>(sharing.sums_bytes) / costs.added_up_bytes_per_us;
    if (sharing.us >= result.us) return result;
    sharing.adders = adders_of(sharing, tile, device);
    sharing.begins_early = waits_for_grids(device);
    return sharing;
}

plan cheapest_pipelined(const matmul_problem& p, const device_traits& device, bool may_share) {
    const tuning& costs = tuning_of(device);
    return cheapest(pipelined_tiles.size(), p.tile, [&](std::size_t i) {
        plan result =
            lay_out_blocks(pipelined_tiles[i], costs.pipelined[i], extents_of(p), device, costs, may_share);
        if (!fits(pipelined_tiles[i], device)) result.us = std::numeric_limits<double>::infinity();
        return result;
    });
}

plan lay_out(const tile_shape& tile, const tile_cost& cost, const matmul_problem& p, const extents& e,
             const device_traits& device) {
    const tuning& costs = tuning_of(device);
    const double us = read_us(e, p.a.element_bytes, costs);
    return p.has_workspace ? lay_out_streamed(tile, cost, e, us, device.sm_count, costs)
                           : lay_out_whole(tile, cost, e, 1, us, device.sm_count);
}

plan plan_bf16x6(const matmul_problem& p, const device_traits& device, std::size_t kind) {
    const tile_shape& tile = bf16x6_tiles[kind];
    const extents e = extents_of(p);
    plan result = lay_out(tile, tuning_of(device).bf16x6[kind], p, e, device);
    result.tile = kind;
    // The lowest row of tiles takes half the time where it has rows for one warpgroup alone, of 64.
    const std::int64_t rest = e.m % (std::int64_t{tile.m} * tile.cluster);
    result.low_last = 0 < rest && rest <= 64;
    const bool is_one_round = result.streams == 0 && result.whole <= result.workers;
    if (result.low_last && !is_one_round) result.us *= 1 - 0.5 / static_cast<double>(result.down);
    if (e.m <= std::int64_t{tile.m} * (tile.cluster - 1))  // nothing is left for the second block
        result.us = std::numeric_limits<double>::infinity();
    return result;
}

}  // namespace

bool fits(const block_tile& tile, const device_traits& device) {
    return static_cast<std::size_t>(tile.shared_bytes) <= device.shared_memory_per_block_optin;
}

plan plan_warp_tiled(const matmul_problem& p, const device_traits& device) {
    const tuning& costs = tuning_of(device);
    return lay_out_blocks(warp_tiled_tile, costs.warp_tiled, extents_of(p), device, costs, false);
}

plan plan_pipelined(const matmul_problem& p, const device_traits& device) {
    return cheapest_pipelined(p, device, false);
}

plan plan_split_k(const matmul_problem& p, const device_traits& device) {
    return cheapest_pipelined(p, device, p.has_workspace);
}

plan plan_tma_pipelined(const matmul_problem& p, const device_traits& device) {
    const tuning& costs = tuning_of(device);
    return after(copies_of(p),
                 lay_out_blocks(tma_pipelined_tile, costs.tma_pipelined, extents_of(p), device, costs,
                                p.has_workspace),
                 p, costs);
}

/// A multiprocessor takes two tiles at a time.
plan plan_tf32x3(const matmul_problem& p, const device_traits& device) {
    const tuning& costs = tuning_of(device);
    const auto [m, n, k] = extents_of(p);
    const auto tiles =
        static_cast<double>(divide_up(divide_up(m, tf32x3_m) * divide_up(n, tf32x3_n), device.sm_count));
    const double step_us = lies_in_boxes(p) ? costs.tf32x3_step_us : costs.tf32x3_step_by_element_us;
    plan result;
    result.us =
        costs.ffma_around_us + tiles * costs.tf32x3_tile_us +
        static_cast<double>(divide_up(k, tf32x3_k)) * std::max(tiles * step_us, costs.tf32x3_alone_us);
    return result;
}

/// A block has 16 rows and 32 columns, or 8 and four times as many lines along k at once.
plan plan_skinny_float(const matmul_problem& p, const device_traits& device) {
    const tuning& costs = tuning_of(device);
    const extents e = extents_of(p);
    const std::int64_t thin = std::min(e.m, e.n), wide = std::max(e.m, e.n);
    plan result;
    result.is_turned = e.m > e.n;
    result.tile = thin == 1 ? 0 : thin <= 4 ? 1 : 2;
    const std::int64_t rows = skinny_float_rows[result.tile];
    constexpr std::int64_t line = 32, l2_share = 2;
    const bool is_short = 2 * divide_up(wide, line) * divide_up(thin, rows) <= device.sm_count;
    result.parts = is_short ? 4 : 1;
    result.kept = static_cast<std::int64_t>(device.l2_bytes / sizeof(float)) / l2_share /
                  std::max<std::int64_t>(1, wide);

    const std::int64_t blocks = divide_up(thin, 16) * divide_up(wide, line);
    const int split = 2 * blocks <= device.sm_count ? 4 : 1;
    const auto rounds = static_cast<double>(divide_up(blocks * split, device.sm_count));
    const auto lines = static_cast<double>(divide_up(e.k, line * split));
    const auto rows_of_block = static_cast<double>(std::min<std::int64_t>(16, thin));
    result.us = costs.skinny_float_around_us +
                rounds * lines * (costs.skinny_float_line_us + rows_of_block * costs.skinny_float_row_us);
    return result;
}

plan plan_bf16x6_boxes(const matmul_problem& p, const device_traits& device) {
    return after(copies_of(p), plan_bf16x6(p, device, bf16x6_boxes), p, tuning_of(device));
}

plan plan_bf16x6_pairs(const matmul_problem& p, const device_traits& device) {
    return after(copies_of(p), plan_bf16x6(p, device, bf16x6_pairs), p, tuning_of(device));
}

plan plan_bf16x6_elements(const matmul_problem& p, const device_traits& device) {
    return plan_bf16x6(p, device, bf16x6_elements);
}

plan plan_fp16x3(const matmul_problem& p, const device_traits& device) {
    const tuning& costs = tuning_of(device);
    const extents e = extents_of(p);
    plan result = lay_out(fp16x3_tile, costs.fp16x3, p, e, device);
    result.pieces_bytes = lay_out_split(e.m, fp16x3_tile.m, e.k, is_split_by_rows(p.a)).bytes +
                          lay_out_split(e.n, fp16x3_tile.n, e.k, !is_split_by_rows(p.b)).bytes;
    result.us += 2 * costs.copy_around_us + 2 * static_cast<double>(e.k) * static_cast<double>(e.m + e.n) *
                                                sizeof(float) / costs.split_bytes_per_us;
    return result;
}

split_layout lay_out_split(std::int64_t extent, int tile_extent, std::int64_t k, bool along_k) {
    constexpr std::int64_t half_bytes = 2, packet = 8;
    const std::int64_t rows = along_k ? extent : k, cols = along_k ? k : extent;
    split_layout result{};
    result.stride = divide_up(cols, packet) * packet;
    result.piece_stride = rows * result.stride;
    result.power_stride = divide_up(extent, tile_extent) * tile_extent;
    result.bytes = split_layout::pieces * half_bytes * result.piece_stride +
                   result.power_stride * divide_up(k, step_k) * std::int64_t{sizeof(float)};
    return result;
}

plan plan_tf32(const matmul_problem& p, const device_traits& device) {
    const tuning& costs = tuning_of(device);
    const operand_copies copies = copies_of(p, true);
    const bool is_turned = !has_tensor_columns(p.b, copies.b);
    const extents e = is_turned ? transposed(extents_of(p)) : extents_of(p);
    plan result = cheapest(tf32_tiles.size(), p.tile, [&](std::size_t i) {
        const tile_shape& tile = tf32_tiles[i];
        const std::int64_t height = std::int64_t{tile.m} * tile.cluster, low = e.m % height,
                           narrow = e.n % tile.n;
        plan of_tile = lay_out(tile, costs.tf32[i], p, e, device);
        of_tile.low_last = 64 < height && 0 < low && 2 * low <= height;
        of_tile.narrow_last = tf32_narrow < tile.n && 0 < narrow && narrow <= tf32_narrow;
        double saved = 0;
        if (of_tile.down > 1 && of_tile.low_last)
            saved += costs.tf32_saved_by_low / static_cast<double>(of_tile.down);
        if (of_tile.across > 1 && of_tile.narrow_last)
            saved += costs.tf32_saved_by_narrow / static_cast<double>(of_tile.across);
        of_tile.us = std::max(of_tile.us * (1 - saved),
                              costs.tf32[i].around_us + read_us(e, p.a.element_bytes, costs)) +
                     (of_tile.streams > 0 ? costs.tf32_streaming_us : 0);
        return of_tile;
    });
    result.is_turned = is_turned;
    return after(copies, result, p, costs);
}

}  // namespace heddle::kernels::matmul
