#include "kernels/matmul/plan/planning.hpp"

#include "kernels/device/early_launch.hpp"
#include "kernels/frame/tile_scheduler.hpp"

#include <algorithm>
#include <bit>

namespace heddle::kernels::matmul {

c_access access_of(const matrix_layout& c, std::int64_t batch_stride, std::int64_t packet,
                   std::int64_t longest_row) {
    constexpr std::int64_t few = 2;  // packets: shorter rows hardly have more than their ends
    if (!has_contiguous_rows(c)) return c_access::elements;
    const std::int64_t steps = (c.rows > 1 ? c.row_stride : 0) | batch_stride | c.cols;
    const bool has_packets = c.alignment() % (packet * c.element_bytes) == 0 && steps % packet == 0;
    const bool is_one_line = c.rows > 1 && c.row_stride == c.cols && c.cols <= longest_row;
    if (is_one_line && (!has_packets || 2 * c.cols <= longest_row)) return c_access::line;
    if (has_packets) return c_access::packets;
    return c.cols >= few * packet ? c_access::rows : c_access::elements;
}

planning::planning(const product_facts& facts, const device_traits& gpu, bool is_turned)
    : planning(facts, gpu, facts.copies, is_turned) {}

planning::planning(const product_facts& facts, const device_traits& gpu, const operand_copies& copies,
                   bool is_turned)
    : problem(facts),
      device(gpu),
      costs(costs_of(gpu)),
      m(is_turned ? facts.c.cols : facts.c.rows),
      n(is_turned ? facts.c.rows : facts.c.cols),
      k(facts.a.cols),
      a_lines(facts.a_lines[static_cast<std::size_t>(copies.a)]),
      b_lines(facts.b_lines[static_cast<std::size_t>(copies.b)]),
      moved_bytes(facts.operand_bytes + (facts.adds_c ? facts.c_bytes : 0) +
                  std::max(0.0, facts.c_bytes - static_cast<double>(gpu.l2_bytes))) {}

double planning::us(const row_cost& row, const work& w) const {
    const double around_us = w.slower * row.around_us * (problem.adds_c ? costs.adding : 1) + w.around_us,
                 step_us = w.slower * row.step_us;
    double busy_us = w.rounds * (around_us + w.steps * step_us);
    if (w.last_steps > 0)
        busy_us +=
            around_us +
            w.last_steps * (w.reads_together ? step_us : std::max(w.slower * row.alone_us, w.last * step_us));
    return row.start_us + (problem.has_epilogue ? costs.epilogue_us : 0) +
           std::max(busy_us, w.bytes / (costs.memory_bytes_per_us * row.of_memory_rate));
}

double planning::asked_again(const tile_shape& tile, std::int64_t tiles) const {
    const double bytes = static_cast<double>(tiles) * static_cast<double>(k) *
                         (tile.m * tile.blocks * a_lines + tile.n * b_lines) *
                         static_cast<double>(problem.a.element_bytes);
    return std::max(0.0, bytes - problem.operand_bytes) * costs.memory_bytes_per_us / costs.l2_bytes_per_us;
}

double planning::stores_us(const tile_shape& tile, int tiles) const {
    if (problem.stores_boxes) return 0;
    return static_cast<double>(tiles * std::min<std::int64_t>(m, tile.m) *
                               std::min<std::int64_t>(n, tile.n)) /
           costs.elements_per_us * (problem.adds_c ? 2 : 1);
}

plan planning::whole(const tile_shape& tile, const row_cost& row) const {
    plan result;
    result.batches = problem.batches;
    result.down = divide_up(m, std::int64_t{tile.m} * tile.blocks);
    result.across = divide_up(n, tile.n);
    result.steps = divide_up(k, step_k);
    result.whole = result.batches * result.down * result.across;
    result.workers = static_cast<int>(
        std::clamp<std::int64_t>(result.whole, 1, std::max(1, device.sm_count / tile.blocks)));
    result.us = us(row, {.rounds = static_cast<double>(divide_up(result.whole, result.workers)),
                         .steps = static_cast<double>(result.steps),
                         .bytes = moved_bytes + asked_again(tile, result.whole),
                         .around_us = stores_us(tile)});
    return result;
}

plan planning::streamed(const tile_shape& tile, const row_cost& row, ways_to_add ways) const {
    constexpr std::int64_t least_steps = 4;  // of a worker's share of a tile: fewer are not worth it
    plan best = whole(tile, row);
    const std::int64_t tiles = best.whole;
    const int workers = std::max(1, device.sm_count / tile.blocks);
    const std::int64_t rest = tiles % workers;
    if (!problem.has_scratch || rest == 0) return best;
    const std::int64_t rounds = tiles / workers,
                       sums_bytes = std::int64_t{tile.blocks} * tile.m * tile.n * std::int64_t{sizeof(float)};
    const double again = asked_again(tile, tiles);
    // The time in which L2 takes or gives the sums of all multiprocessors.
    const double exchange_us =
        static_cast<double>(sums_bytes / tile.blocks * device.sm_count) / costs.l2_bytes_per_us;

    const auto take_if_faster = [&](std::int64_t streams, bool apart) {
        // If each worker has a part of one tile, equal parts of all tiles run at the same time, and read A and B together, as
        // whole tiles do. Else their steps lie apart, so what L2 does not keep is read from memory again.
        const bool is_even = streams % rest == 0;
        const bool is_kept = is_even || problem.operand_bytes <= static_cast<double>(device.l2_bytes);
        const double further = is_kept ? 0
                                       : again * (costs.l2_bytes_per_us / costs.memory_bytes_per_us - 1) *
                                             static_cast<double>(rest) / static_cast<double>(tiles);
        const auto sharers = static_cast<int>(divide_up(streams, rest) + (is_even ? 0 : 1));
        const int at_once = frame::added_at_once(sharers);
        const auto added =
            static_cast<double>(at_once + (at_once < sharers ? divide_up(sharers, at_once) : 0));
        const double add_us =
            apart ? costs.launch_us + static_cast<double>(streams * sums_bytes) / costs.copied_bytes_per_us
                  : costs.combine_us + (1 + added) * exchange_us;
        const double us =
            add_us +
            planning::us(row, {.rounds = static_cast<double>(rounds),
                               .steps = static_cast<double>(best.steps),
                               .last_steps = static_cast<double>(divide_up(rest * best.steps, streams)),
                               .reads_together = is_even,
                               .bytes = moved_bytes + again + further,
                               .around_us = apart && rounds == 0 ? 0 : stores_us(tile)});
        if (us >= best.us) return;
        best.us = us;
        best.workers = rounds > 0 ? workers : static_cast<int>(streams);
        best.whole = tiles - rest;
        best.streams = static_cast<int>(streams);
        best.adds_apart = apart;
        best.begins_early = apart && waits_for_grids(device);
        best.adders = apart ? adders(rest * sums_bytes / std::int64_t{sizeof(float)}, sharers) : 1;
        best.sums_bytes = (apart ? 1 : 2) * streams * sums_bytes;
    };
    // Fewer parts take longer to multiply, and less time to add up.
    const auto take_parts = [&](std::int64_t most, bool apart) {
        for (std::int64_t parts = most; parts > 1; parts /= 2) take_if_faster(rest * parts, apart);
    };
    const int warpgroups = tile.blocks * tile.m / 64;  // each draws its own tickets
    const std::int64_t most = std::min<std::int64_t>(workers, rest * best.steps / least_steps);
    const std::int64_t with_tickets = std::min(most, (max_tickets / warpgroups - rest) / 2);
    if (ways.inside && with_tickets > rest) take_if_faster(with_tickets, false);
    if (ways.inside) take_parts(with_tickets / rest, false);
    if (ways.apart) take_parts(most / rest, true);
    return best;
}

int planning::adders(std::int64_t sums, std::int64_t parts) const {
    const std::int64_t wanted =
        divide_up(std::int64_t{device.sm_count} * device.max_threads_per_sm, sums / 4);
    return static_cast<int>(std::min<std::int64_t>(
        {max_adders, std::bit_floor(static_cast<unsigned>(parts)),
         static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(wanted)))}));
}

plan planning::blocks(const block_kernel& tile, const row_cost& row, work each, bool may_share) const {
    constexpr std::int64_t least_part = 64;  // along k: less is not worth it
    const std::int64_t at_once = std::int64_t{device.sm_count} * tile.blocks_per_sm;
    const auto depth = static_cast<double>(k);
    each.bytes += moved_bytes;
    each.steps = depth;
    // The time of full rounds, and of the rest of the blocks with `along` of k each, which multiprocessors share.
    const auto rounds_us = [&](std::int64_t rounds, std::int64_t rest, double along) {
        each.rounds = static_cast<double>(rounds);
        each.last_steps = rest > 0 ? along : 0;
        each.last = static_cast<double>(divide_up(rest, device.sm_count)) / tile.blocks_per_sm;
        return us(row, each);
    };
    plan result;
    result.down = divide_up(m, tile.m);
    result.across = divide_up(n, tile.n);
    result.whole = result.down * result.across;
    const std::int64_t tiles = problem.batches * result.whole;
    result.us = rounds_us(tiles / at_once, tiles % at_once, depth);
    // A batch of less than one round shares all its tiles.
    const std::int64_t rest = problem.batches == 1 ? result.whole % at_once : result.whole;
    const std::int64_t rest_of_batch = problem.batches * rest;
    if (!may_share || !problem.is_countable || rest == 0 || rest_of_batch > at_once) return result;

    plan best = result;
    // Fewer parts take longer to multiply, and less time to add up.
    for (std::int64_t parts = std::min(at_once / rest_of_batch, k / least_part); parts > 1; parts /= 2) {
        plan sharing = result;
        sharing.adds_apart = true;
        sharing.whole -= rest;
        sharing.parts = static_cast<int>(parts);
        sharing.sums_bytes = rest_of_batch * parts * tile.m * tile.n * std::int64_t{sizeof(float)};
        sharing.us =
            rounds_us((tiles - rest_of_batch) / at_once, rest_of_batch * parts, depth / sharing.parts) +
            costs.launch_us + static_cast<double>(sharing.sums_bytes) / costs.copied_bytes_per_us;
        sharing.adders = adders(rest_of_batch * tile.m * tile.n, parts);
        sharing.begins_early = waits_for_grids(device);
        if (sharing.us < best.us) best = sharing;
    }
    return best;
}

plan planning::skinny(const skinny_kernel& tile, const row_cost& row) const {
    constexpr std::int64_t least_k = 256;  // of a block: less is not worth adding up
    plan base;
    base.down = divide_up(m, skinny_height);
    base.across = divide_up(n, tile.n);
    base.steps = divide_up(k, tile.k);
    const std::int64_t tiles = std::max<std::int64_t>(1, base.down * base.across);
    const std::int64_t parts = std::clamp<std::int64_t>(
        device.sm_count / tiles, 1, std::max<std::int64_t>(1, base.steps / (least_k / tile.k)));
    const std::int64_t tile_bytes = std::int64_t{skinny_height} * tile.n * std::int64_t{sizeof(float)};

    // Larger clusters leave less in memory, and smaller ones leave fewer multiprocessors idle.
    plan best;
    for (int cluster = max_cluster; cluster >= 1; cluster /= 2) {
        if (cluster > parts) continue;
        plan result = base;
        result.cluster = cluster;
        if (problem.has_scratch) result.clusters = static_cast<int>(parts / cluster);
        const std::int64_t shares = std::int64_t{cluster} * result.clusters;
        result.us = us(row, {.rounds = static_cast<double>(divide_up(tiles * shares, device.sm_count)),
                             .steps = static_cast<double>(divide_up(base.steps, shares)),
                             .bytes = moved_bytes,
                             .around_us = stores_us({skinny_height, tile.n})});
        if (result.clusters > 1) {
            result.sums_bytes = tiles * result.clusters * tile_bytes;
            result.us += costs.combine_us +
                         static_cast<double>((1 + result.clusters) * tile_bytes / cluster * device.sm_count) /
                             costs.l2_bytes_per_us;
        }
        if (result.us < best.us) best = result;
    }
    return best;
}

void planning::add_copies(const operand_copies& copies, plan& to) const {
    to.copies = copies;
    const std::int64_t batches = problem.batches;
    to.copied_bytes = copied_bytes(problem.a, copies.a, count_stored(batches, problem.a_stride)) +
                      copied_bytes(problem.b, copies.b, count_stored(batches, problem.b_stride));
    if (to.copied_bytes == 0) return;
    to.us += costs.launch_us + static_cast<double>(to.copied_bytes) / costs.copied_bytes_per_us;
    to.copied_bytes += copy_slack;
}

}  // namespace heddle::kernels::matmul
