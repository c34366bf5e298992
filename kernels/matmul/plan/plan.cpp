#include "kernels/matmul/plan/planning.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <span>

namespace heddle::kernels::matmul {
namespace {

plan plan_pipelined(const product_facts& p, const device_traits& device, std::size_t kernel, bool may_share) {
    const planning x(p, device);
    plan result = x.blocks(pipelined_kernels[kernel].block(), cost_of<pipelined_kernels>(x.costs, kernel), {},
                           may_share);
    result.kernel = kernel;
    return result;
}

/// The rows of a group are tiles of persistent with another schedule.
const row_cost& cost_of_group(const costs& card, std::size_t kernel) {
    static constexpr std::array<cost_place<h200>, 2> places = {"persistent 128x256", "grouped 64x128"};
    static_assert(places.size() == grouped_kernels.size());
    return cost_of(card, places[kernel]);
}

double whole_tile_us(const row_cost& row, std::int64_t k) {
    return row.around_us + static_cast<double>(divide_up(k, step_k)) * row.step_us;
}

}  // namespace

plan plan_one_way(const product_facts&, const device_traits&) {
    return {};
}
plan plan_scale(const product_facts& p, const device_traits&) {
    constexpr std::int64_t packet_bytes = 16;
    // The epilogue knows the rows and columns of C. So C is one line only without an epilogue.
    const std::int64_t longest_row = p.has_epilogue ? 0 : std::numeric_limits<std::int64_t>::max() / 2;
    return {.of_c = access_of(p.c, p.c_stride, packet_bytes / p.c.element_bytes, longest_row)};
}
plan plan_wmma(const product_facts&, const device_traits&) {
    constexpr double after_all_others_us = 1e12;
    return {.us = after_all_others_us};
}
plan plan_copied(const product_facts& p, const device_traits& device) {
    plan result;
    planning(p, device).add_copies(p.copies, result);
    return result;
}

// float

plan plan_warp_tiled(const product_facts& p, const device_traits& device) {
    const planning x(p, device);
    return x.blocks(warp_tiled_kernel, cost_of(x.costs, warp_tiled_kernel.name), {}, false);
}

plan plan_pipelined(const product_facts& p, const device_traits& device, std::size_t kernel) {
    return plan_pipelined(p, device, kernel, false);
}

plan plan_split_k(const product_facts& p, const device_traits& device, std::size_t kernel) {
    return plan_pipelined(p, device, kernel, p.has_scratch);
}

plan plan_tma_pipelined(const product_facts& p, const device_traits& device) {
    const planning x(p, device);
    plan result =
        x.blocks(tma_pipelined_kernel, cost_of(x.costs, tma_pipelined_kernel.name), {}, p.has_scratch);
    x.add_copies(p.copies, result);
    return result;
}

plan plan_thin(const product_facts& p, const device_traits& device, std::size_t kernel) {
    constexpr std::int64_t packet = 4, packet_bytes = 16;
    const bool is_turned = p.c.rows < p.c.cols;
    const planning x(p, device, is_turned);
    const block_kernel tile = thin_kernels[kernel].block();
    const matrix_layout a = is_turned ? transposed(p.b) : p.a, c = is_turned ? transposed(p.c) : p.c;
    const matrix_layout lines = has_contiguous_rows(a) ? a : transposed(a);
    const std::int64_t a_stride = is_turned ? p.b_stride : p.a_stride;
    const bool in_packets = lines.alignment() >= packet_bytes &&
                            ((lines.rows > 1 ? lines.row_stride : 0) | a_stride) % packet == 0;
    const bool along_n = lies_by_rows(c);
    plan result = x.blocks(tile, cost_of<thin_kernels>(x.costs, kernel), {}, false);
    result.kernel = kernel;
    result.is_turned = is_turned;
    result.in_packets = in_packets;
    result.of_c = access_of(along_n ? c : transposed(c), p.c_stride, packet, along_n ? tile.n : tile.m);
    return result;
}

/// Blocks go from tile to tile along the longer side of C, so that the tile of one operand stays in shared memory. If the
/// products of a batch share an operand, that one stays, and blocks go through the whole batch.
plan plan_stream(const product_facts& p, const device_traits& device, std::size_t kernel) {
    constexpr int reserved_bytes = 1024;  // of shared memory, by CUDA, for each block
    constexpr std::int64_t most_waves = 4;
    const planning x(p, device);
    const stream_kernel& row = stream_kernels[kernel];
    const std::int64_t down = divide_up(x.m, row.m()), across = divide_up(x.n, row.n());
    const bool share_b = p.batches > 1 && p.b_stride == 0, share_a = p.batches > 1 && p.a_stride == 0;
    const bool goes_across = share_a != share_b ? share_a : across > down;
    const std::int64_t batches = share_a || share_b ? p.batches : 1;
    const std::int64_t staying = goes_across ? down : across,
                       moving = batches * (goes_across ? across : down), grids = p.batches / batches;

    const int bytes = row.shared_bytes(static_cast<int>(x.k), 2, goes_across) + reserved_bytes;
    const auto fitting = static_cast<std::int64_t>(device.shared_memory_per_sm) / bytes;
    block_kernel tile = row.block();
    tile.blocks_per_sm = static_cast<int>(std::clamp<std::int64_t>(fitting, 1, tile.blocks_per_sm));
    plan result = x.blocks(tile, cost_of<stream_kernels>(x.costs, kernel),
                           {.slower = static_cast<double>(tile.blocks_per_sm) / row.blocks_per_sm}, false);

    // As few waves of blocks as keep the longest way through the tiles short.
    const std::int64_t slots = std::max<std::int64_t>(1, std::int64_t{device.sm_count} * tile.blocks_per_sm);
    std::int64_t workers = 1, shortest = std::numeric_limits<std::int64_t>::max();
    for (std::int64_t wave = 1; wave <= most_waves; ++wave) {
        const std::int64_t some = std::clamp<std::int64_t>(slots * wave / staying / grids, 1, moving);
        const std::int64_t way = divide_up(staying * some * grids, slots) * divide_up(moving, some);
        if (way < shortest) shortest = way, workers = some;
    }
    result.kernel = kernel;
    result.batches = batches;
    result.workers = static_cast<int>(std::min<std::int64_t>(staying * workers, max_tensor_extent));
    result.goes_across = goes_across;
    result.buffers = moving > workers ? 2 : 1;
    return result;
}

/// Each warp has a tile, or a slice of one along k, whichever is faster. The warps of a multiprocessor take a round.
plan plan_packed(const product_facts& p, const device_traits& device, std::size_t kernel) {
    constexpr int reserved_bytes = 1024;  // of shared memory, by CUDA, for each block
    // Steps along k in whose time a thread adds the sums of one more slice, starts more copies, or stores its sums.
    constexpr std::int64_t adding = 2, starting = 2;
    const packed_kernel& row = packed_kernels[kernel];
    const std::int64_t storing = row.thread_m + row.thread_n;
    const planning x(p, device);
    plan best;
    best.kernel = kernel;
    best.batches = p.batches;
    best.down = divide_up(x.m, row.m());
    best.across = divide_up(x.n, row.n());
    const std::int64_t all = p.batches * best.down * best.across,
                       multiprocessors = std::max(1, device.sm_count);
    for (int slices = 1; slices <= packed_kernel::warps; slices *= 2) {
        const int bytes = row.shared_bytes(x.k, slices) + reserved_bytes;
        const auto fitting = static_cast<std::int64_t>(device.shared_memory_per_sm) / bytes;
        const std::int64_t blocks = std::clamp<std::int64_t>(fitting, 1, row.blocks_per_sm),
                           at_once = multiprocessors * blocks * row.tiles(slices), rest = all % at_once;
        const std::int64_t stages = divide_up(x.k, row.depth(x.k, slices)),
                           work = divide_up(x.k, slices) + adding * (slices - 1) + starting * (stages - 1);
        const double steps =
            (p.has_unit_strides ? 1 : x.costs.by_element) * static_cast<double>(work + storing);
        // A round of fewer blocks than registers have room for takes less time, but its first loads take as long.
        const double share = static_cast<double>(blocks) / row.blocks_per_sm;
        const auto most = static_cast<double>(row.blocks_per_sm * row.tiles(slices));
        const double us = x.us(cost_of<packed_kernels>(x.costs, kernel),
                               {.rounds = static_cast<double>(all / at_once),
                                .steps = steps * share,
                                .last_steps = rest > 0 ? steps : 0,
                                .last = static_cast<double>(divide_up(rest, multiprocessors)) / most,
                                .bytes = x.moved_bytes});
        if (us >= best.us) continue;
        best.us = us;
        best.slices = slices;
        best.workers =
            static_cast<int>(std::min<std::int64_t>(divide_up(all, row.tiles(slices)), max_packed_tiles));
    }
    return best;
}

/// A multiprocessor has two tiles at a time.
plan plan_tf32x3(const product_facts& p, const device_traits& device) {
    const planning x(p, device);
    constexpr block_kernel tile{"tf32x3", tf32x3_m, tf32x3_n, 2};
    plan result = x.blocks(tile, cost_of(x.costs, tile.name),
                           {.slower = p.lies_in_boxes ? 1 : x.costs.by_element}, false);
    return {.us = result.us};
}

/// A block has up to 16 rows and 32 columns, or 8 columns and four times as many rows along k at once. If the wide operand
/// lies along k, a block has 4 or 8 columns and 1024 along k at once. These take as long as so many rows of 32.
plan plan_skinny_float(const product_facts& p, const device_traits& device, std::size_t kernel) {
    constexpr std::int64_t line = 32, lines_of_short = 4, l2_share = 2, along_k = 1024, packet = 4;
    const bool is_turned = p.c.rows > p.c.cols;
    const planning x(p, device, is_turned);
    const matrix_layout wide = is_turned ? transposed(p.a) : p.b;
    const bool is_along_k = wide.row_stride == 1;
    const std::int64_t rows = skinny_float_kernels[kernel].rows, down = divide_up(x.m, rows),
                       columns = rows == 16 ? 8 : 4, blocks = divide_up(x.n, line) * down;
    const std::int64_t parts = 2 * p.batches * blocks <= device.sm_count ? lines_of_short : std::int64_t{1};
    const std::int64_t blocks_of_product = is_along_k ? divide_up(x.n, columns) * down : blocks * parts;
    const std::int64_t steps = is_along_k ? divide_up(x.k, along_k) * (along_k * columns / line / line)
                                          : divide_up(x.k, line * parts);
    const bool in_packets = !is_along_k || (has_tensor_columns(wide, copy_kind::none) &&
                                            (is_turned ? p.a_stride : p.b_stride) % packet == 0);
    // A step reads 1024 elements of the wide operand, and some elements of the thin one for each row.
    const std::int64_t wide_columns = is_along_k ? columns : line / parts;
    const double step = 1 + static_cast<double>(rows) / static_cast<double>(wide_columns);
    // The work around the steps is that of the rows' sums, and as much again if the thin operand goes through shared memory.
    const double share = static_cast<double>(rows) / static_cast<double>(skinny_float_kernels.back().rows);
    const double around = is_along_k ? share / 2 : (1 + share) / 2;
    return {
        .is_turned = is_turned,
        .kernel = kernel,
        .parts = static_cast<int>(parts),
        .kept = static_cast<std::int64_t>(device.l2_bytes / sizeof(float)) / l2_share / (p.batches * x.n),
        .us = x.us(cost_of(x.costs, "skinny 16x32"),
                   {.rounds = static_cast<double>(divide_up(p.batches * blocks_of_product, device.sm_count)),
                    .steps = static_cast<double>(steps) * step / around,
                    .bytes = x.moved_bytes,
                    .slower = around * (in_packets ? 1 : x.costs.by_element)})};
}

plan plan_bf16x6(const product_facts& p, const device_traits& device, std::size_t kernel) {
    const planning x(p, device);
    const tile_shape& tile = bf16x6_kernels[kernel].tile;
    plan result = x.streamed(tile, cost_of<bf16x6_kernels>(x.costs, kernel), {.inside = true});
    result.kernel = kernel;
    // The last row of tiles takes less time if it has rows of C for one warpgroup only, of 64 rows.
    const std::int64_t rest = x.m % (std::int64_t{tile.m} * tile.blocks);
    result.low_last = 0 < rest && rest <= 64;
    x.add_copies(p.copies, result);
    return result;
}

plan plan_fp16x3(const product_facts& p, const device_traits& device) {
    const planning x(p, device);
    plan result = x.streamed(fp16x3_tile, cost_of(x.costs, "fp16x3"), {.inside = true});
    result.pieces_bytes = lay_out_split(x.m, fp16x3_tile.m, x.k, is_split_by_rows(p.a)).bytes +
                          lay_out_split(x.n, fp16x3_tile.n, x.k, !is_split_by_rows(p.b)).bytes;
    result.us +=
        2 * x.costs.launch_us + static_cast<double>(result.pieces_bytes) / x.costs.copied_bytes_per_us;
    return result;
}

split_layout lay_out_split(std::int64_t extent, int tile_extent, std::int64_t k, bool along_k) {
    constexpr std::int64_t half_bytes = 2, packet = 8;
    const std::int64_t rows = along_k ? extent : k, cols = along_k ? k : extent;
    split_layout result{};
    result.stride = round_up(cols, packet);
    result.piece_stride = rows * result.stride;
    result.power_stride = round_up(extent, tile_extent);
    result.bytes = split_layout::pieces * half_bytes * result.piece_stride +
                   result.power_stride * divide_up(k, step_k) * std::int64_t{sizeof(float)};
    return result;
}

/// If B does not lie along k, A does, and C^T is computed.
plan plan_tf32(const product_facts& p, const device_traits& device, std::size_t kernel) {
    const operand_copies copies = p.copies_along_k;
    const bool is_turned = !has_tensor_columns(p.b, copies.b);
    const planning x(p, device, is_turned);
    const tile_shape tile = tf32_kernels[kernel].tile();
    const std::int64_t height = std::int64_t{tile.m} * tile.blocks, low = x.m % height, narrow = x.n % tile.n;
    plan result = x.streamed(tile, cost_of<tf32_kernels>(x.costs, kernel), {.inside = true, .apart = true});
    result.kernel = kernel;
    result.low_last = 64 < height && 0 < low && 2 * low <= height;
    result.narrow_last = tf32_narrow < tile.n && 0 < narrow && narrow <= tf32_narrow;
    result.is_turned = is_turned;
    result.steps = divide_up(x.k, tf32_k);
    x.add_copies(copies, result);
    return result;
}

/// The operand of the columns of C, or of C^T, must lie along k.
plan plan_skinny_tf32(const product_facts& p, const device_traits& device, std::size_t kernel) {
    const operand_copies copies = p.copies_along_k;
    plan best;
    for (const bool is_turned : {false, true}) {
        if (!(is_turned ? has_tensor_rows(p.a, copies.a) : has_tensor_columns(p.b, copies.b))) continue;
        const planning x(p, device, is_turned);
        plan result = x.skinny(skinny_tf32_kernels[kernel], cost_of<skinny_tf32_kernels>(x.costs, kernel));
        result.kernel = kernel;
        result.is_turned = is_turned;
        if (result.us < best.us) best = result;
    }
    planning(p, device).add_copies(copies, best);
    return best;
}

// half and bfloat16

plan plan_mma_sync(const product_facts& p, const device_traits& device, std::size_t kernel) {
    constexpr std::int64_t packet = 4;  // elements of C
    const planning x(p, device);
    const block_kernel tile = mma_sync_kernels[kernel].block();
    plan result = x.blocks(tile, cost_of<mma_sync_kernels>(x.costs, kernel),
                           {.slower = p.lies_in_boxes ? 1 : x.costs.by_element,
                            .around_us = x.stores_us({tile.m, tile.n}, tile.blocks_per_sm)},
                           false);
    result.kernel = kernel;
    result.in_packets = p.lies_in_boxes;
    result.of_c = access_of(p.c, p.c_stride, packet, tile.n);
    return result;
}

plan plan_persistent(const product_facts& p, const device_traits& device, std::size_t kernel) {
    return cheapest_copies(p, device, kernel, [kernel](const planning& x) {
        return x.whole(persistent_kernels[kernel].tile(), cost_of<persistent_kernels>(x.costs, kernel));
    });
}

plan plan_cluster_multicast(const product_facts& p, const device_traits& device, std::size_t kernel) {
    return cheapest_copies(p, device, kernel, [kernel](const planning& x) {
        return x.streamed(multicast_kernels[kernel].tile(), cost_of<multicast_kernels>(x.costs, kernel),
                          {.apart = true});
    });
}

plan plan_stream_k(const product_facts& p, const device_traits& device, std::size_t kernel) {
    return cheapest_copies(p, device, kernel, [kernel](const planning& x) {
        return x.streamed(persistent_kernels[kernel].tile(), cost_of<persistent_kernels>(x.costs, kernel),
                          {.inside = true, .apart = true});
    });
}

plan plan_fused(const product_facts& p, const device_traits& device, std::size_t kernel) {
    return cheapest_copies(p, device, kernel, [kernel](const planning& x) {
        const wgmma_kernel& row = fused_kernels[kernel];
        return x.streamed(row.tile(), cost_of<fused_kernels>(x.costs, kernel),
                          {.inside = row.streams(), .apart = row.leaves_parts()});
    });
}

/// The longer side of C is m. If the operand of the short side does not lie along k, its boxes are 64 wide.
plan plan_skinny(const product_facts& p, const device_traits& device, std::size_t kernel) {
    const bool is_turned = p.c.rows < p.c.cols;
    const planning x(p, device, is_turned);
    plan result = x.skinny(skinny_kernels[kernel], cost_of<skinny_kernels>(x.costs, kernel));
    result.kernel = kernel;
    result.is_turned = is_turned;
    x.add_copies(p.copies, result);
    return result;
}

group_plan plan_group(std::span<const product_facts> problems, const device_traits& device) {
    const costs& card = costs_of(device);
    group_plan best;
    for (std::size_t i = 0; i < grouped_kernels.size(); ++i) {
        const row_cost& row = cost_of_group(card, i);
        const tile_shape tile = grouped_kernels[i].tile();
        std::int64_t tiles = 0;
        double busy_us = 0, bytes = 0;
        for (const product_facts& p : problems) {
            const planning x(p, device);
            const std::int64_t rounds_before = divide_up(tiles, device.sm_count);
            tiles += divide_up(x.m, tile.m) * divide_up(x.n, tile.n);
            busy_us += static_cast<double>(divide_up(tiles, device.sm_count) - rounds_before) *
                       whole_tile_us(row, x.k);
            bytes += x.moved_bytes;
        }
        const double us =
            row.start_us + std::max(busy_us, bytes / (card.memory_bytes_per_us * row.of_memory_rate));
        if (us < best.us) best = {i, static_cast<int>(std::min<std::int64_t>(tiles, device.sm_count)), us};
    }
    return best;
}

plan tiles_in_group(const group_plan& group, std::int64_t m, std::int64_t n, std::int64_t k) {
    const tile_shape tile = grouped_kernels[group.kernel].tile();
    plan result{.down = divide_up(m, tile.m),
                .across = divide_up(n, tile.n),
                .steps = divide_up(k, step_k),
                .workers = group.workers};
    result.whole = result.down * result.across;
    return result;
}

double launch_us(const device_traits& device) {
    return costs_of(device).launch_us;
}

double grouped_tile_us(std::int64_t k, const device_traits& device) {
    return whole_tile_us(cost_of_group(costs_of(device), grouped_kernels.size() - 1), k);
}

}  // namespace heddle::kernels::matmul
