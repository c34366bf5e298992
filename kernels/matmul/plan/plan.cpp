#include "kernels/matmul/plan/planning.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <span>

namespace heddle::kernels::matmul {
namespace {

/// Blocks load and store while others multiply: the slowest of the products, the memory and L2 says how long that takes.
plan plan_side_by_side(const planning& x, const block_kernel& tile, const kernel_cost& cost,
                       double of_memory_rate) {
    const product_facts& p = x.problem;
    kernel_cost beside = cost;  // others multiply while a block begins and ends
    beside.step_us = std::max(cost.alone_us, cost.step_us - cost.around_us / static_cast<double>(x.k));
    if (p.operands != element_type::f32)
        beside.around_us += tile.blocks_per_sm * x.stores_us({tile.m, tile.n});
    plan result = x.blocks(tile, beside, false);
    const auto bytes = [&](std::int64_t elements, std::int64_t element_bytes) {
        return static_cast<double>(p.batches * elements) * static_cast<double>(element_bytes);
    };
    const double through_l2 =
        bytes(result.whole * (tile.m + tile.n), p.a.element_bytes) * static_cast<double>(x.k) +
        bytes(x.m * x.n, p.c.element_bytes) * (p.adds_c ? 2 : 1);
    result.us = std::max({result.us - x.store_us - x.added_us,
                          x.costs.ffma_around_us + cost.around_us + (x.read_us + x.store_us) / of_memory_rate,
                          x.costs.ffma_around_us + through_l2 / x.costs.l2_bytes_per_us});
    return result;
}

/// The place of the narrowest tile that n columns fit, from `first` on, or of the widest.
template <std::size_t count>
std::size_t kernel_for(const std::array<skinny_kernel, count>& kernels, std::size_t first, std::int64_t n) {
    while (first + 1 < count && kernels[first].n < n) ++first;
    return first;
}

constexpr double never_us = std::numeric_limits<double>::infinity();
constexpr double slower_us = 1e9;  ///< of a tile that another one fits better

plan plan_pipelined(const product_facts& p, const device_traits& device, std::size_t kernel, bool may_share) {
    const planning x(p, device);
    plan result =
        x.blocks(pipelined_kernels[kernel].block(), cost_of<pipelined_kernels>(x.costs, kernel), may_share);
    result.kernel = kernel;
    return result;
}

double whole_tile_us(const kernel_cost& cost, std::int64_t k) {
    return cost.around_us + static_cast<double>(divide_up(k, step_k)) * cost.step_us;
}

}  // namespace

plan plan_one_way(const product_facts&, const device_traits&) {
    return {};
}
plan plan_scale(const product_facts& p, const device_traits&) {
    constexpr std::int64_t packet_bytes = 16;
    // Rows and columns of one line of all of C are those that the epilogue knows.
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
    return x.blocks(warp_tiled_kernel, x.costs.kernels[place_of_cost(warp_tiled_kernel.name)], false);
}

plan plan_pipelined(const product_facts& p, const device_traits& device, std::size_t kernel) {
    return plan_pipelined(p, device, kernel, false);
}

plan plan_split_k(const product_facts& p, const device_traits& device, std::size_t kernel) {
    return plan_pipelined(p, device, kernel, p.has_scratch);
}

plan plan_tma_pipelined(const product_facts& p, const device_traits& device) {
    const planning x(p, device);
    const kernel_cost& cost = x.costs.kernels[place_of_cost(tma_pipelined_kernel.name)];
    plan result = x.blocks(tma_pipelined_kernel, cost, p.has_scratch);
    x.add_copies(p.copies, result);
    return result;
}

plan plan_thin(const product_facts& p, const device_traits& device, std::size_t kernel) {
    constexpr std::int64_t packet = 4, packet_bytes = 16;
    const bool is_turned = p.c.rows < p.c.cols;
    const planning x(p, device, is_turned);
    const block_kernel tile = thin_kernels[kernel].block();
    plan result =
        plan_side_by_side(x, tile, cost_of<thin_kernels>(x.costs, kernel), x.costs.blocks_of_memory_rate);
    result.kernel = kernel;
    result.is_turned = is_turned;
    const matrix_layout a = is_turned ? transposed(p.b) : p.a, c = is_turned ? transposed(p.c) : p.c;
    const matrix_layout lines = has_contiguous_rows(a) ? a : transposed(a);
    const std::int64_t a_stride = is_turned ? p.b_stride : p.a_stride;
    result.in_packets = lines.alignment() >= packet_bytes &&
                        ((lines.rows > 1 ? lines.row_stride : 0) | a_stride) % packet == 0;
    const bool along_n = lies_by_rows(c);
    result.of_c = access_of(along_n ? c : transposed(c), p.c_stride, packet, along_n ? tile.n : tile.m);
    return result;
}

/// A multiprocessor takes two tiles at a time.
plan plan_tf32x3(const product_facts& p, const device_traits& device) {
    const planning x(p, device);
    const std::int64_t all = divide_up(x.m, tf32x3_m) * divide_up(x.n, tf32x3_n);
    const auto tiles = static_cast<double>(divide_up(all, device.sm_count));
    const double step_us = p.lies_in_boxes ? x.costs.tf32x3_step_us : x.costs.tf32x3_step_by_element_us;
    return {.us = x.costs.ffma_around_us + x.added_us + tiles * x.costs.tf32x3_tile_us +
                  static_cast<double>(divide_up(x.k, tf32x3_k)) *
                      std::max(tiles * step_us, x.costs.tf32x3_alone_us)};
}

/// A block has up to 16 rows and 32 columns, or 8 and four times as many lines along k at once. Where the wide operand lies
/// along k, it has 8 columns, and goes 1024 along k at once, which takes as long as eight lines of 32.
plan plan_skinny_float(const product_facts& p, const device_traits& device, std::size_t kernel) {
    constexpr std::int64_t line = 32, lines_of_short = 4, l2_share = 2, columns_along_k = 8, along_k = 1024;
    const bool is_turned = p.c.rows > p.c.cols;
    const planning x(p, device, is_turned);
    const bool is_along_k = (is_turned ? p.a.col_stride : p.b.row_stride) == 1;
    const auto blocks = [&](std::int64_t rows) { return divide_up(x.n, line) * divide_up(x.m, rows); };
    const auto parts = [&](std::int64_t rows) {
        return 2 * p.batches * blocks(rows) <= device.sm_count ? lines_of_short : std::int64_t{1};
    };
    const std::int64_t modelled = skinny_float_kernels.back().rows;
    const std::int64_t all = is_along_k ? divide_up(x.n, columns_along_k) * divide_up(x.m, modelled)
                                        : blocks(modelled) * parts(modelled);
    const std::int64_t of_block = is_along_k
                                      ? divide_up(x.k, along_k) * (along_k * columns_along_k / line / line)
                                      : divide_up(x.k, line * parts(modelled));
    const auto rounds = static_cast<double>(divide_up(p.batches * all, device.sm_count));
    const auto lines = static_cast<double>(of_block);
    const auto rows = static_cast<double>(std::min(modelled, x.m));
    // A multiprocessor has one block at a time, and each begins anew; those of one row are small and overlap.
    const double begin_anew = x.m == 1 ? 0 : rounds - 1;
    return {.is_turned = is_turned,
            .kernel = kernel,
            .parts = static_cast<int>(parts(skinny_float_kernels[kernel].rows)),
            .kept = static_cast<std::int64_t>(device.l2_bytes / sizeof(float)) / l2_share / (p.batches * x.n),
            .us = x.costs.skinny_float_around_us +
                  std::max(x.read_us,
                           begin_anew * (x.costs.skinny_float_around_us - x.costs.ffma_around_us) +
                               rounds * lines *
                                   (x.costs.skinny_float_line_us + rows * x.costs.skinny_float_row_us))};
}

plan plan_bf16x6(const product_facts& p, const device_traits& device, std::size_t kernel) {
    const planning x(p, device);
    const tile_shape& tile = bf16x6_kernels[kernel].tile;
    plan result = x.streamed(tile, cost_of<bf16x6_kernels>(x.costs, kernel));
    result.kernel = kernel;
    // The lowest row of tiles takes less time where it has rows for one warpgroup alone, of 64.
    const std::int64_t rest = x.m % (std::int64_t{tile.m} * tile.blocks);
    result.low_last = 0 < rest && rest <= 64;
    const bool is_one_round = result.streams == 0 && result.whole <= result.workers;
    if (result.low_last && !is_one_round)
        result.us = std::max(result.us * (1 - x.costs.bf16x6_saved_by_low / static_cast<double>(result.down)),
                             x.read_us);
    if (x.m <= std::int64_t{tile.m} * (tile.blocks - 1))
        result.us = never_us;  // the second block has nothing
    x.add_copies(p.copies, result);
    return result;
}

plan plan_fp16x3(const product_facts& p, const device_traits& device) {
    const planning x(p, device);
    plan result = x.streamed(fp16x3_tile, x.costs.kernels[place_of_cost("fp16x3")]);
    result.pieces_bytes = lay_out_split(x.m, fp16x3_tile.m, x.k, is_split_by_rows(p.a)).bytes +
                          lay_out_split(x.n, fp16x3_tile.n, x.k, !is_split_by_rows(p.b)).bytes;
    result.us += 2 * x.costs.copy_around_us + 2 * static_cast<double>(x.k) * static_cast<double>(x.m + x.n) *
                                                  sizeof(float) / x.costs.split_bytes_per_us;
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

/// Where B does not lie along k, A does, and C^T is computed.
plan plan_tf32(const product_facts& p, const device_traits& device, std::size_t kernel) {
    const operand_copies copies = p.copies_along_k;
    const bool is_turned = !has_tensor_columns(p.b, copies.b);
    const planning x(p, device, is_turned);
    const kernel_cost& cost = cost_of<tf32_kernels>(x.costs, kernel);
    const tile_shape tile = tf32_kernels[kernel].tile();
    const std::int64_t height = std::int64_t{tile.m} * tile.blocks, low = x.m % height, narrow = x.n % tile.n;
    plan result = x.streamed(tile, cost);
    result.kernel = kernel;
    result.low_last = 64 < height && 0 < low && 2 * low <= height;
    result.narrow_last = tf32_narrow < tile.n && 0 < narrow && narrow <= tf32_narrow;
    double saved = 0;
    if (result.down > 1 && result.low_last)
        saved += x.costs.tf32_saved_by_low / static_cast<double>(result.down);
    if (result.across > 1 && result.narrow_last)
        saved += x.costs.tf32_saved_by_narrow / static_cast<double>(result.across);
    result.us = std::max(result.us * (1 - saved), cost.around_us + x.read_us) +
                (result.streams > 0 ? x.costs.tf32_streaming_us : 0);
    result.is_turned = is_turned;
    result.steps = divide_up(x.k, tf32_k);
    x.add_copies(copies, result);
    return result;
}

/// The operand of C's columns, or of those of C^T, has to lie along k.
plan plan_skinny_tf32(const product_facts& p, const device_traits& device, std::size_t kernel) {
    const operand_copies copies = p.copies_along_k;
    plan best;
    for (const bool is_turned : {false, true}) {
        if (!(is_turned ? has_tensor_rows(p.a, copies.a) : has_tensor_columns(p.b, copies.b))) continue;
        const planning x(p, device, is_turned);
        plan result = x.skinny(skinny_tf32_kernels[kernel], x.costs.skinny_tf32_step_us);
        result.kernel = kernel;
        result.is_turned = is_turned;
        if (kernel != kernel_for(skinny_tf32_kernels, 0, x.n)) result.us += slower_us;
        if (result.us < best.us) best = result;
    }
    planning(p, device).add_copies(copies, best);
    return best;
}

// half and bfloat16

plan plan_mma_sync(const product_facts& p, const device_traits& device, std::size_t kernel) {
    constexpr std::int64_t packet = 4;  // of C
    const planning x(p, device);
    const bool in_packets = p.lies_in_boxes;
    const block_kernel tile = mma_sync_kernels[kernel].block();
    kernel_cost cost = cost_of<mma_sync_kernels>(x.costs, kernel);
    if (!in_packets) {
        cost.step_us *= x.costs.mma_sync_slower_by_element;
        cost.alone_us *= x.costs.mma_sync_slower_by_element;
    }
    plan result = plan_side_by_side(
        x, tile, cost,
        in_packets ? x.costs.blocks_of_memory_rate : x.costs.mma_sync_by_element_of_memory_rate);
    result.kernel = kernel;
    result.in_packets = in_packets;
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
        return x.whole(multicast_kernels[kernel].tile(), cost_of<multicast_kernels>(x.costs, kernel));
    });
}

plan plan_stream_k(const product_facts& p, const device_traits& device, std::size_t kernel) {
    return cheapest_copies(p, device, kernel, [kernel](const planning& x) {
        return x.streamed(persistent_kernels[kernel].tile(), cost_of<persistent_kernels>(x.costs, kernel));
    });
}

plan plan_fused(const product_facts& p, const device_traits& device, std::size_t kernel) {
    return cheapest_copies(p, device, kernel, [kernel](const planning& x) {
        const wgmma_kernel& row = fused_kernels[kernel];
        const kernel_cost& cost = cost_of<fused_kernels>(x.costs, kernel);
        plan whole = x.whole(row.tile(), cost);
        if (!row.streams()) return whole;
        plan streamed = x.streamed(row.tile(), cost);
        return streamed.us < whole.us ? streamed : whole;
    });
}

/// C's longer side is m. Where the operand of the short side does not lie along k, its boxes are 64 wide.
plan plan_skinny(const product_facts& p, const device_traits& device, std::size_t kernel) {
    const operand_copies copies = p.copies;
    const bool is_turned = p.c.rows < p.c.cols;
    const planning x(p, device, is_turned);
    const bool along_k =
        has_contiguous_rows(is_turned ? transposed(copied(p.b, copies.b)) : copied(p.a, copies.a));
    plan result = x.skinny(skinny_kernels[kernel],
                           along_k ? x.costs.skinny_step_along_k_us[kernel] : x.costs.skinny_step_us[kernel]);
    result.kernel = kernel;
    result.is_turned = is_turned;
    if (kernel != kernel_for(skinny_kernels, p.short_side_lies_along_k ? 0 : 1, x.n)) result.us += slower_us;
    x.add_copies(copies, result);
    return result;
}

group_plan plan_group(std::span<const product_facts> problems, const device_traits& device) {
    const costs& card = costs_of(device);
    group_plan best;
    for (std::size_t i = 0; i < grouped_kernels.size(); ++i) {
        const kernel_cost& cost = cost_of<grouped_kernels>(card, i);
        const tile_shape tile = grouped_kernels[i].tile();
        std::int64_t tiles = 0;
        double us = 0, all_read_us = cost.around_us;
        for (const product_facts& p : problems) {
            const planning x(p, device);
            const std::int64_t rounds_before = divide_up(tiles, device.sm_count);
            tiles += divide_up(x.m, tile.m) * divide_up(x.n, tile.n);
            us += static_cast<double>(divide_up(tiles, device.sm_count) - rounds_before) *
                  whole_tile_us(cost, x.k);
            all_read_us += x.read_us;
        }
        us = std::max(us, all_read_us);
        if (us < best.us) best = {i, static_cast<int>(std::min<std::int64_t>(tiles, device.sm_count)), us};
    }
    return best;
}

plan tiles_in_group(const group_plan& group, std::int64_t m, std::int64_t n, std::int64_t k) {
    return lay_out_tiles(grouped_kernels[group.kernel].tile(), {}, m, n, k, 1, group.workers);
}

double launch_us(const device_traits& device) {
    return costs_of(device).launch_us;
}

double grouped_tile_us(std::int64_t k, const device_traits& device) {
    return whole_tile_us(cost_of<grouped_kernels>(costs_of(device), grouped_kernels.size() - 1), k);
}

}  // namespace heddle::kernels::matmul
