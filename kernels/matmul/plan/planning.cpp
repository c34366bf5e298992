#include "kernels/matmul/plan/planning.hpp"

#include "kernels/device/early_launch.hpp"
#include "kernels/frame/tile_scheduler.hpp"

#include <algorithm>
#include <bit>

namespace heddle::kernels::matmul {

c_access access_of(const matrix_layout& c, std::int64_t batch_stride, std::int64_t packet,
                   std::int64_t longest_row) {
    constexpr std::int64_t few = 2;  // packets: shorter rows are hardly more than what is left of them
    if (!has_contiguous_rows(c)) return c_access::elements;
    const std::int64_t steps = (c.rows > 1 ? c.row_stride : 0) | batch_stride | c.cols;
    const bool has_packets = c.alignment() % (packet * c.element_bytes) == 0 && steps % packet == 0;
    const bool is_one_line = c.rows > 1 && c.row_stride == c.cols && c.cols <= longest_row;
    if (is_one_line && (!has_packets || 2 * c.cols <= longest_row)) return c_access::line;
    if (has_packets) return c_access::packets;
    return c.cols >= few * packet ? c_access::rows : c_access::elements;
}

plan lay_out_tiles(const tile_shape& tile, const kernel_cost& cost, std::int64_t m, std::int64_t n,
                   std::int64_t k, std::int64_t batches, int places) {
    plan result;
    result.batches = batches;
    result.down = divide_up(m, std::int64_t{tile.m} * tile.blocks);
    result.across = divide_up(n, tile.n);
    result.steps = divide_up(k, step_k);
    result.whole = batches * result.down * result.across;
    result.workers = static_cast<int>(std::clamp<std::int64_t>(result.whole, 1, std::max(1, places)));
    result.us = static_cast<double>(divide_up(result.whole, result.workers)) *
                (cost.around_us + static_cast<double>(result.steps) * cost.step_us);
    return result;
}

planning::planning(const product_facts& of, const device_traits& on, bool is_turned)
    : planning(of, on, of.copies, is_turned) {}

planning::planning(const product_facts& of, const device_traits& on, const operand_copies& copies,
                   bool is_turned)
    : problem(of),
      device(on),
      costs(costs_of(on)),
      m(is_turned ? of.c.cols : of.c.rows),
      n(is_turned ? of.c.rows : of.c.cols),
      k(of.a.cols),
      operand_bytes(of.operand_bytes),
      added_us(of.adds_c ? of.c_bytes / costs.memory_bytes_per_us : 0),
      read_us(operand_bytes / costs.memory_bytes_per_us + added_us),
      a_lines(of.a_lines[static_cast<std::size_t>(copies.a)]),
      b_lines(of.b_lines[static_cast<std::size_t>(copies.b)]),
      store_us(std::max(0.0, of.c_bytes - static_cast<double>(on.l2_bytes)) / costs.memory_bytes_per_us) {}

/// What so many tiles take to come and go: A, B and C by way of the memory, and what tiles ask of L2 beyond A and B once. They
/// ask for it again, for second lines of a row, and for what fills a tile up. Products of float take longer than L2 does: what
/// their steps cost was measured with it.
double planning::moved_us(const tile_shape& tile, std::int64_t tiles, double slower) const {
    const double memory_us = (read_us + store_us) * slower;
    if (problem.operands == element_type::f32) return memory_us;
    const double through_l2 = static_cast<double>(tiles) * static_cast<double>(k) *
                              (tile.m * tile.blocks * a_lines + tile.n * b_lines) *
                              static_cast<double>(problem.a.element_bytes);
    return memory_us + std::max(0.0, through_l2 - operand_bytes) / costs.l2_boxes_bytes_per_us;
}

double planning::stores_us(const tile_shape& tile) const {
    if (problem.stores_boxes) return 0;
    return static_cast<double>(std::min<std::int64_t>(m, tile.m) * std::min<std::int64_t>(n, tile.n)) /
           costs.elements_stored_per_us * (problem.adds_c ? 2 : 1);
}

plan planning::whole(const tile_shape& tile, const kernel_cost& plain) const {
    kernel_cost cost = plain;
    cost.around_us += stores_us(tile);
    plan result = lay_out_tiles(tile, cost, m, n, k, problem.batches, device.sm_count / tile.blocks);
    // Few multiprocessors do not reach the memory's rate.
    const double busy = static_cast<double>(result.workers) * tile.blocks / device.sm_count;
    const double slower = std::max(1.0, costs.busy_at_memory_rate / busy);
    result.us = cost.start_us + std::max(result.us, cost.around_us + moved_us(tile, result.whole, slower));
    return result;
}

plan planning::streamed(const tile_shape& tile, const kernel_cost& plain) const {
    plan result = whole(tile, plain);
    kernel_cost cost = plain;
    cost.around_us += stores_us(tile);
    if (!problem.has_scratch) return result;
    const std::int64_t tiles = result.whole;
    const int workers = std::max(1, device.sm_count / tile.blocks);
    const std::int64_t rest = tiles % workers;
    const int warpgroups = tile.blocks * tile.m / 64;  // each draws its own tickets
    const auto streams =
        static_cast<int>(std::min({std::int64_t{workers}, rest * result.steps / cost.min_steps,
                                   (max_tickets / warpgroups - rest) / 2}));
    if (streams <= rest) return result;
    const std::int64_t whole_rounds = tiles / workers;
    const auto rounds = static_cast<double>(whole_rounds);
    const auto share = static_cast<double>(divide_up(rest * result.steps, streams));
    const auto sharers = static_cast<int>(divide_up(streams, rest)) + 1;
    const int at_once = frame::added_at_once(sharers);
    const auto added = static_cast<double>(at_once + (at_once < sharers ? divide_up(sharers, at_once) : 0));
    const double combine_us =
        costs.combine_around_us + (1 + added) * tile.m * tile.n * sizeof(float) / costs.combined_bytes_per_us;
    // Those who share tiles are at different places along k: unless L2 holds A and B, each tile reads its own.
    const double of_tile = static_cast<double>(k) * (tile.m * tile.blocks + tile.n) *
                           static_cast<double>(problem.a.element_bytes);
    const bool are_held = operand_bytes < static_cast<double>(device.l2_bytes);
    const double apart_us = are_held ? 0 : static_cast<double>(rest) * of_tile / costs.memory_bytes_per_us;
    const double us = cost.start_us +
                      rounds * (cost.around_us + static_cast<double>(result.steps) * cost.step_us) +
                      cost.around_us + std::max(share * cost.step_us, apart_us) + combine_us;
    if (us >= result.us) return result;
    result.us = std::max(us, cost.start_us + cost.around_us + combine_us + moved_us(tile, tiles, 1));
    result.workers = rounds > 0 ? workers : streams;
    result.whole = tiles - rest;
    result.streams = streams;
    result.sums_bytes =
        std::int64_t{2} * streams * tile.blocks * tile.m * tile.n * std::int64_t{sizeof(float)};
    return result;
}

plan planning::blocks(const block_kernel& tile, const kernel_cost& cost, bool may_share) const {
    const std::int64_t at_once = std::int64_t{device.sm_count} * tile.blocks_per_sm;
    const auto depth = static_cast<double>(k);
    // So many blocks, in rounds, each `along` of k.
    const auto rounds_us = [&](std::int64_t blocks, double along) {
        const std::int64_t last = blocks % at_once, full = blocks / at_once;
        const double full_us = static_cast<double>(full) * (cost.around_us + along * cost.step_us);
        if (last == 0) return full_us;
        // A multiprocessor has so many of them.
        const auto beside = static_cast<double>(divide_up(last, device.sm_count));
        return full_us + cost.around_us +
               along * std::max(cost.alone_us, beside / tile.blocks_per_sm * cost.step_us);
    };
    plan result;
    result.down = divide_up(m, tile.m);
    result.across = divide_up(n, tile.n);
    result.whole = result.down * result.across;
    const double around_us = costs.ffma_around_us + cost.start_us + store_us + added_us;
    result.us = around_us + rounds_us(problem.batches * result.whole, depth);
    // A batch that fills less than a round shares all its tiles.
    const std::int64_t rest = problem.batches == 1 ? result.whole % at_once : result.whole;
    const std::int64_t all_rest = problem.batches * rest;
    if (!may_share || rest == 0 || all_rest > at_once) return result;

    plan sharing = result;
    sharing.adds_apart = true;
    sharing.whole -= rest;
    sharing.parts = static_cast<int>(std::min(at_once / all_rest, k / costs.min_part_k));
    if (sharing.parts < 2) return result;
    sharing.sums_bytes = all_rest * sharing.parts * tile.m * tile.n * std::int64_t{sizeof(float)};
    sharing.us = around_us + rounds_us(sharing.whole, depth) +
                 rounds_us(all_rest * sharing.parts, depth / sharing.parts) + costs.add_up_around_us +
                 static_cast<double>(sharing.sums_bytes) / costs.added_up_bytes_per_us;
    // Sums are added up by as many threads as the device takes at once.
    const std::int64_t packets = all_rest * tile.m * tile.n / 4;
    const std::int64_t wanted = divide_up(std::int64_t{device.sm_count} * device.max_threads_per_sm, packets);
    sharing.adders = static_cast<int>(std::min<std::int64_t>(
        {max_adders, std::bit_floor(static_cast<unsigned>(sharing.parts)),
         static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(wanted)))}));
    sharing.begins_early = waits_for_grids(device);
    return sharing.us < result.us ? sharing : result;
}

plan planning::skinny(const skinny_kernel& tile, double step_us) const {
    plan result;
    result.down = divide_up(m, skinny_height);
    result.across = divide_up(n, tile.n);
    result.steps = divide_up(k, tile.k);
    const std::int64_t tiles = std::max<std::int64_t>(1, result.down * result.across);
    const std::int64_t parts = std::clamp<std::int64_t>(
        device.sm_count / tiles, 1, std::max<std::int64_t>(1, result.steps / (costs.min_skinny_k / tile.k)));
    while (result.cluster < max_cluster && std::int64_t{2} * result.cluster <= parts) result.cluster *= 2;
    if (problem.has_scratch) result.clusters = static_cast<int>(parts / result.cluster);
    if (result.clusters > 1)
        result.sums_bytes = tiles * result.clusters * skinny_height * tile.n * std::int64_t{sizeof(float)};
    const std::int64_t shares = std::int64_t{result.cluster} * result.clusters;
    const auto rounds = static_cast<double>(divide_up(tiles * shares, device.sm_count));
    const double busy_us = rounds * static_cast<double>(divide_up(result.steps, shares)) * step_us +
                           rounds * stores_us({skinny_height, tile.n}) + (rounds - 1) * costs.skinny_round_us;
    // The blocks of a cluster share what is done to a tile's sums.
    const double finish_us = costs.skinny_epilogue_us * tile.n / max_skinny_side / result.cluster;
    result.us = costs.skinny_around_us + std::max(busy_us, read_us + store_us) +
                (problem.has_epilogue || problem.adds_c ? rounds * finish_us : 0) +
                (result.cluster > 1 ? costs.skinny_cluster_us : 0) +
                (result.clusters > 1 ? costs.skinny_ticket_us : 0);
    return result;
}

void planning::add_copies(const operand_copies& copies, plan& to) const {
    to.copies = copies;
    const std::int64_t batches = problem.batches;
    for (const std::int64_t bytes :
         {copied_bytes(problem.a, copies.a, count_stored(batches, problem.a_stride)),
          copied_bytes(problem.b, copies.b, count_stored(batches, problem.b_stride))}) {
        to.copied_bytes += bytes;
        to.us += static_cast<double>(bytes) / costs.copied_bytes_per_us;
    }
    if (to.copied_bytes == 0) return;
    to.copied_bytes += copy_slack;
    to.us += costs.copy_around_us;
}

}  // namespace heddle::kernels::matmul
