#pragma once

#include "kernels/device/tile_scheduler.cuh"
#include <heddle/device.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

/// The tiles of C that the persistent rungs are built for, and what a product costs with each. Pure.
namespace heddle::kernels::matmul {

struct tile_plan {
    int m;              ///< of a block
    int n;              ///< of a block
    int cluster;        ///< blocks, one below the other, that share their B
    double step_us;     ///< for 64 along k, with all multiprocessors at work
    double around_us;   ///< for a tile beside its steps: the first loads and the stores
    int min_steps = 8;  ///< of a worker's share of a tile: fewer do not pay
};

// Measured on an H200 at 512^3 .. 4096^3.
inline constexpr std::array persistent_tiles = {
    tile_plan{128, 256, 1, 0.72, 2.0},
    tile_plan{128, 128, 1, 0.36, 1.0},
    tile_plan{64, 128, 1, 0.27, 0.6},
    tile_plan{64, 64, 1, 0.19, 0.5},
};
inline constexpr std::array multicast_tiles = {
    tile_plan{128, 256, 2, 0.65, 2.0},
    tile_plan{128, 192, 2, 0.50, 1.5},
    tile_plan{128, 160, 2, 0.44, 1.5},
    tile_plan{64, 128, 2, 0.22, 0.6},
};
inline constexpr std::array fused_tiles = {
    tile_plan{128, 128, 1, 0.33, 0.5},
    tile_plan{64, 128, 1, 0.27, 1.0},
};
/// The tiles of TF32; where A alone lies along k, they are of C^T. Measured on an H200.
inline constexpr std::array tf32_tiles = {
    tile_plan{128, 256, 1, 1.33, 2.0}, tile_plan{128, 192, 1, 1.00, 1.6}, tile_plan{128, 128, 1, 0.79, 1.2},
    tile_plan{64, 128, 1, 0.58, 0.8},  tile_plan{64, 128, 2, 0.575, 1.4}, tile_plan{64, 64, 1, 0.46, 0.6},
};
inline constexpr std::array grouped_tiles = {persistent_tiles[0], persistent_tiles[2]};
inline constexpr int step_k = 64;
/// That a workspace begins with: those who share a tile draw one.
inline constexpr std::int64_t max_tickets = 1024;
/// Adding up what was left in L2, by one multiprocessor, and the fences and tickets before it.
inline constexpr double combined_bytes_per_us = 60e3;
inline constexpr double combine_around_us = 4;

/// A and B, of 16-bit elements, are read once at least, at the rate of the memory.
inline constexpr double memory_bytes_per_us = 4.4e6;
inline double read_us(std::int64_t m, std::int64_t n, std::int64_t k) {
    return static_cast<double>(k) * static_cast<double>(m + n) * 2 / memory_bytes_per_us;
}

/// How a product is laid out: in tiles, and who does them (kernels/device/tile_scheduler.cuh).
struct tile_layout {
    std::size_t tile = 0;  ///< of the list of plans
    std::int64_t batches = 1;
    std::int64_t down = 0;
    std::int64_t across = 0;
    std::int64_t steps = 0;
    int workers = 0;
    std::int64_t whole = 0;
    int streams = 0;
    double us = std::numeric_limits<double>::infinity();  ///< predicted, without the launch
};

constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

/// All tiles whole.
inline tile_layout lay_out(const tile_plan& plan, std::int64_t m, std::int64_t n, std::int64_t k,
                           int sm_count, std::int64_t batches = 1) {
    tile_layout result;
    result.batches = batches;
    result.down = divide_up(m, std::int64_t{plan.m} * plan.cluster);
    result.across = divide_up(n, plan.n);
    result.steps = divide_up(k, step_k);
    result.whole = batches * result.down * result.across;
    result.workers =
        static_cast<int>(std::min<std::int64_t>(result.whole, std::max(1, sm_count / plan.cluster)));
    const auto rounds = static_cast<double>(divide_up(result.whole, result.workers));
    result.us = std::max(rounds * (plan.around_us + static_cast<double>(result.steps) * plan.step_us),
                         plan.around_us + static_cast<double>(batches) * read_us(m, n, k));
    return result;
}

/// Whole rounds of tiles, and the rest streamed.
inline tile_layout lay_out_streamed(const tile_plan& plan, std::int64_t m, std::int64_t n, std::int64_t k,
                                    int sm_count) {
    tile_layout result = lay_out(plan, m, n, k, sm_count);
    const std::int64_t tiles = result.whole;
    const int workers = std::max(1, sm_count / plan.cluster);
    const std::int64_t rest = tiles % workers;
    const int warpgroups = plan.cluster * plan.m / 64;  // each draws its own
    const auto streams =
        static_cast<int>(std::min({std::int64_t{workers}, rest * result.steps / plan.min_steps,
                                   (max_tickets / warpgroups - rest) / 2}));
    if (streams <= rest) return result;
    const std::int64_t whole_rounds = tiles / workers;
    const auto rounds = static_cast<double>(whole_rounds);
    const auto share = static_cast<double>(divide_up(rest * result.steps, streams));
    const auto sharers = static_cast<int>(divide_up(streams, rest)) + 1;
    const int at_once = added_at_once(sharers);
    const auto added = static_cast<double>(at_once + (at_once < sharers ? divide_up(sharers, at_once) : 0));
    const double combine_us =
        combine_around_us + (1 + added) * plan.m * plan.n * sizeof(float) / combined_bytes_per_us;
    const double us = rounds * (plan.around_us + static_cast<double>(result.steps) * plan.step_us) +
                      plan.around_us + share * plan.step_us + combine_us;
    if (us >= result.us) return result;
    result.us = std::max(us, plan.around_us + combine_us + read_us(m, n, k));
    result.workers = rounds > 0 ? workers : streams;
    result.whole = tiles - rest;
    result.streams = streams;
    return result;
}

/// The cheapest of all tiles, or the one that is asked for.
template <class LayOut>
tile_layout cheapest(std::span<const tile_plan> plans, int tile, LayOut lay_out_one) {
    tile_layout best;
    for (std::size_t i = 0; i < plans.size(); ++i)
        if (tile >= 0 && i != static_cast<std::size_t>(tile))
            continue;
        else if (tile_layout layout = lay_out_one(plans[i]); layout.us < best.us) {
            best = layout;
            best.tile = i;
        }
    return best;
}

inline tile_layout cheapest_whole(std::span<const tile_plan> plans, std::int64_t m, std::int64_t n,
                                  std::int64_t k, int sm_count, std::int64_t batches = 1, int tile = -1) {
    return cheapest(plans, tile,
                    [=](const tile_plan& plan) { return lay_out(plan, m, n, k, sm_count, batches); });
}

/// `may_stream`: there is a workspace.
inline tile_layout cheapest_streamed(std::span<const tile_plan> plans, std::int64_t m, std::int64_t n,
                                     std::int64_t k, int sm_count, bool may_stream, int tile = -1) {
    return cheapest(plans, tile, [=](const tile_plan& plan) {
        return may_stream ? lay_out_streamed(plan, m, n, k, sm_count) : lay_out(plan, m, n, k, sm_count);
    });
}

/// The time of one tile, all of it.
constexpr double tile_us(const tile_plan& plan, std::int64_t k) {
    return plan.around_us + static_cast<double>(divide_up(k, step_k)) * plan.step_us;
}

/// Several products in one launch: which tile, and how long they take.
struct grouped_layout {
    std::size_t tile = 0;  ///< of grouped_tiles
    std::int64_t tiles = 0;
    double us = std::numeric_limits<double>::infinity();  ///< predicted, without the launch
};

/// Takes products (launch.hpp) in the order of falling k. Their tiles go round among the workers, so the first one has the
/// longest of each round.
template <class Products>
grouped_layout cheapest_grouped(const Products& products, int sm_count) {
    grouped_layout best;
    for (std::size_t i = 0; i < grouped_tiles.size(); ++i) {
        const tile_plan& plan = grouped_tiles[i];
        grouped_layout layout{i, 0, 0};
        double all_read_us = plan.around_us;
        for (const auto& p : products) {
            const std::int64_t rounds_before = divide_up(layout.tiles, sm_count);
            layout.tiles += divide_up(p.c.rows, plan.m) * divide_up(p.c.cols, plan.n);
            const auto rounds = static_cast<double>(divide_up(layout.tiles, sm_count) - rounds_before);
            layout.us += rounds * tile_us(plan, p.a.cols);
            all_read_us += read_us(p.c.rows, p.c.cols, p.a.cols);
        }
        layout.us = std::max(layout.us, all_read_us);
        if (layout.us < best.us) best = layout;
    }
    return best;
}

/// The rungs for float, roughly: to tell which is faster. Measured on an H200.
namespace float_costs {
inline constexpr std::array bf16x6 = {tile_plan{128, 128, 1, 2.25, 3, 2}, tile_plan{128, 128, 2, 2.17, 4, 2}};
inline constexpr tile_plan bf16x6_by_element{128, 128, 1, 4,
                                             3,   2};  ///< where the tensor memory accelerator cannot load
inline constexpr tile_plan fp16x3{128, 192, 1, 1.9, 3, 2};
inline constexpr double split_bytes_per_us = 3.5e6;  ///< before fp16x3: read and written
inline constexpr double ffma_around_us = 1.6;
inline constexpr double add_up_around_us = 2.5;  ///< of the kernel that adds up what parts of tiles left
inline constexpr double added_up_bytes_per_us = 3e6;
inline constexpr std::int64_t tf32x3_m = 128, tf32x3_n = 64, tf32x3_k = 16;  ///< of its tile
inline constexpr double tf32x3_tile_us = 3.6;                                ///< beside its steps
inline constexpr double tf32x3_step_us = 0.53;             ///< of two tiles side by side, each
inline constexpr double tf32x3_step_by_element_us = 0.58;  ///< where copies of 16 bytes cannot be used
inline constexpr double tf32x3_alone_us = 0.72;            ///< of one tile
inline constexpr double skinny_around_us = 5;
inline constexpr double skinny_line_us = 0.11;      ///< for what a block reads at once, and
inline constexpr double skinny_row_us = 0.01;       ///< for each row that it is multiplied by
inline constexpr double copied_bytes_per_us = 2e6;  ///< half the memory's rate: read and written
inline constexpr double copy_around_us = 4;
}  // namespace float_costs

/// A tile of `pipelined` and `split_k`.
struct ffma_tile {
    int m;
    int n;
    int blocks_per_sm;
    double k_us;           ///< for 1 along k, with all multiprocessors full
    double alone_k_us;     ///< of a block that has its multiprocessor to itself
    double around_us;      ///< for a round of tiles, beside that
    int shared_bytes = 0;  ///< of a block, beyond what every device has
};

inline constexpr std::array ffma_tiles = {
    ffma_tile{128, 128, 2, 0.169, 0.102, 3, 66 << 10},
    ffma_tile{64, 128, 1, 0.044, 0.044, 3, 128 << 10},
    ffma_tile{32, 64, 1, 0.0131, 0.0131, 2.3, 64 << 10},
};

/// The tiles of `tma_pipelined` and of `warp_tiled`.
inline constexpr ffma_tile tma_pipelined_tile{128, 128, 2, 0.16, 0.09, 3};
inline constexpr ffma_tile warp_tiled_tile{128, 128, 2, 0.217, 0.12, 3};

/// The first `whole` tiles are a block each, the others `parts` blocks each, along k.
struct ffma_layout {
    std::size_t tile = 0;  ///< of ffma_tiles
    std::int64_t down = 0;
    std::int64_t across = 0;
    std::int64_t whole = 0;
    int parts = 1;
    double us = std::numeric_limits<double>::infinity();  ///< predicted, without the launch

    constexpr std::int64_t shared() const { return down * across - whole; }
    constexpr std::int64_t blocks() const { return whole + shared() * parts; }
};

/// What the parts of tiles leave.
constexpr std::int64_t ffma_sums_bytes(const ffma_tile& tile, const ffma_layout& layout) {
    return layout.shared() * layout.parts * tile.m * tile.n * std::int64_t{sizeof(float)};
}

/// The time of so many blocks, in rounds, each `k` along k.
inline double ffma_rounds_us(const ffma_tile& tile, std::int64_t blocks, double k, int sm_count) {
    const std::int64_t at_once = std::int64_t{std::max(1, sm_count)} * tile.blocks_per_sm,
                       rest = blocks % at_once;
    const std::int64_t full = blocks / at_once;
    const double full_us = static_cast<double>(full) * (tile.around_us + k * tile.k_us);
    if (rest == 0) return full_us;
    return full_us + tile.around_us + k * (rest <= sm_count ? tile.alone_k_us : tile.k_us);
}

inline double whole_tiles_us(const ffma_tile& tile, std::int64_t m, std::int64_t n, std::int64_t k,
                             int sm_count) {
    return float_costs::ffma_around_us + ffma_rounds_us(tile, divide_up(m, tile.m) * divide_up(n, tile.n),
                                                        static_cast<double>(k), sm_count);
}

/// Whole tiles, or, where that is faster, whole rounds of these and the rest in as many parts as fill a round.
inline ffma_layout lay_out_ffma(const ffma_tile& tile, std::int64_t m, std::int64_t n, std::int64_t k,
                                int sm_count, bool may_share) {
    constexpr std::int64_t min_part_k = 64;
    ffma_layout result{.down = divide_up(m, tile.m), .across = divide_up(n, tile.n)};
    const std::int64_t tiles = result.down * result.across;
    const std::int64_t at_once = std::int64_t{std::max(1, sm_count)} * tile.blocks_per_sm,
                       rest = tiles % at_once;
    const auto depth = static_cast<double>(k);
    result.whole = tiles;
    result.us = float_costs::ffma_around_us + ffma_rounds_us(tile, tiles, depth, sm_count);
    if (!may_share || rest == 0) return result;

    ffma_layout sharing = result;
    sharing.whole = tiles - rest;
    sharing.parts = static_cast<int>(std::min(at_once / rest, k / min_part_k));
    if (sharing.parts < 2) return result;
    sharing.us = float_costs::ffma_around_us + ffma_rounds_us(tile, sharing.whole, depth, sm_count) +
                 ffma_rounds_us(tile, rest * sharing.parts, depth / sharing.parts, sm_count) +
                 float_costs::add_up_around_us +
                 static_cast<double>(ffma_sums_bytes(tile, sharing)) / float_costs::added_up_bytes_per_us;
    return sharing.us < result.us ? sharing : result;
}

/// The cheapest of the tiles that the device has shared memory for; without any, a layout of infinite time. `may_share` says
/// that there is a workspace.
inline ffma_layout cheapest_ffma(std::int64_t m, std::int64_t n, std::int64_t k, const device_traits& device,
                                 bool may_share) {
    ffma_layout best;
    for (std::size_t i = 0; i < ffma_tiles.size(); ++i) {
        if (static_cast<std::size_t>(ffma_tiles[i].shared_bytes) > device.shared_memory_per_block_optin)
            continue;
        const ffma_layout layout = lay_out_ffma(ffma_tiles[i], m, n, k, device.sm_count, may_share);
        if (layout.us < best.us) {
            best = layout;
            best.tile = i;
        }
    }
    return best;
}

/// `may_share`: there is a workspace.
inline ffma_layout lay_out_tma_pipelined(std::int64_t m, std::int64_t n, std::int64_t k, int sm_count,
                                         bool may_share) {
    return lay_out_ffma(tma_pipelined_tile, m, n, k, sm_count, may_share);
}

inline std::int64_t tma_pipelined_sums_bytes(std::int64_t m, std::int64_t n, std::int64_t k, int sm_count) {
    return ffma_sums_bytes(tma_pipelined_tile, lay_out_tma_pipelined(m, n, k, sm_count, true));
}

/// `tf32x3`: a multiprocessor takes two tiles at a time. Of an H200, as all others here; the tensor cores of compute
/// capability 8.0 are faster beside its FFMA units, by the datasheets, so there this is too much rather than too little.
inline double tf32x3_us(std::int64_t m, std::int64_t n, std::int64_t k, int sm_count, bool by_packets) {
    const auto tiles = static_cast<double>(divide_up(
        divide_up(m, float_costs::tf32x3_m) * divide_up(n, float_costs::tf32x3_n), std::max(1, sm_count)));
    const double step_us = by_packets ? float_costs::tf32x3_step_us : float_costs::tf32x3_step_by_element_us;
    return float_costs::ffma_around_us + tiles * float_costs::tf32x3_tile_us +
           static_cast<double>(divide_up(k, float_costs::tf32x3_k)) *
               std::max(tiles * step_us, float_costs::tf32x3_alone_us);
}

/// `skinny`: a block has 16 rows and 32 columns, or 8 and four times as many lines along k at once.
inline double skinny_float_us(std::int64_t m, std::int64_t n, std::int64_t k, int sm_count) {
    const std::int64_t rows = divide_up(std::min(m, n), 16), cols = divide_up(std::max(m, n), 32);
    const bool is_short = 2 * rows * cols <= sm_count;
    const auto rounds =
        static_cast<double>(divide_up(rows * cols * (is_short ? 4 : 1), std::max(1, sm_count)));
    const auto lines = static_cast<double>(divide_up(k, is_short ? 128 : 32));
    const auto rows_of_block = static_cast<double>(std::min<std::int64_t>(16, std::min(m, n)));
    return float_costs::skinny_around_us +
           rounds * lines * (float_costs::skinny_line_us + rows_of_block * float_costs::skinny_row_us);
}

/// Whether the lowest row of bf16x6's tiles has rows for one warpgroup alone, of 64, and so takes half the time.
constexpr bool is_bf16x6_low_at_end(const tile_plan& plan, std::int64_t m) {
    const std::int64_t rest = m % (std::int64_t{plan.m} * plan.cluster);
    return 0 < rest && rest <= 64;
}

/// `may_stream`: there is a workspace.
inline tile_layout lay_out_bf16x6(std::int64_t m, std::int64_t n, std::int64_t k, int sm_count, bool by_boxes,
                                  bool may_stream) {
    using namespace float_costs;
    const std::span<const tile_plan> plans =
        by_boxes ? std::span<const tile_plan>(bf16x6) : std::span(&bf16x6_by_element, 1);
    return cheapest(plans, -1, [=](const tile_plan& plan) {
        if (plan.cluster > 1 && m <= plan.m) return tile_layout{};  // nothing for the second block
        tile_layout result =
            may_stream ? lay_out_streamed(plan, m, n, k, sm_count) : lay_out(plan, m, n, k, sm_count);
        const bool is_one_round = result.streams == 0 && result.whole <= result.workers;
        if (is_bf16x6_low_at_end(plan, m) && !is_one_round)
            result.us *= 1 - 0.5 / static_cast<double>(result.down);
        return result;
    });
}

/// Copies of A and B.
inline double copies_us(std::int64_t m, std::int64_t n, std::int64_t k) {
    return 2 * float_costs::copy_around_us + static_cast<double>(k) * static_cast<double>(m + n) *
                                                 sizeof(float) / float_costs::copied_bytes_per_us;
}

/// tma_pipelined, and copies of A and B before it where it needs them. `may_share`: there is a workspace.
inline double tma_pipelined_us(std::int64_t m, std::int64_t n, std::int64_t k, int sm_count, bool may_share,
                               bool copies) {
    return lay_out_tma_pipelined(m, n, k, sm_count, may_share).us + (copies ? copies_us(m, n, k) : 0);
}

/// bf16x6, and copies of A and B before it.
inline double padded_bf16x6_us(std::int64_t m, std::int64_t n, std::int64_t k, int sm_count) {
    return copies_us(m, n, k) + lay_out_bf16x6(m, n, k, sm_count, true, true).us;
}

/// A workspace is needed in any case.
inline tile_layout lay_out_fp16x3(std::int64_t m, std::int64_t n, std::int64_t k, int sm_count) {
    return lay_out_streamed(float_costs::fp16x3, m, n, k, sm_count);
}

/// fp16x3, and the splitting of A and B before it.
inline double fp16x3_us(std::int64_t m, std::int64_t n, std::int64_t k, int sm_count) {
    return 2 * float_costs::copy_around_us +
           2 * static_cast<double>(k) * static_cast<double>(m + n) * sizeof(float) /
               float_costs::split_bytes_per_us +
           lay_out_fp16x3(m, n, k, sm_count).us;
}

/// From this k on the sums of bf16x6 are at least as exact as sums of FMAs one after another, also where few terms outweigh
/// all others (docs/accuracy.md).
inline constexpr std::int64_t min_bf16x6_k = 512;

/// A tile of the rungs whose blocks share tiles of C along k: of `skinny`, and of tf32's for a C with a short side. By width.
struct skinny_plan {
    int n;
    int k;           ///< of a step
    double step_us;  ///< with all multiprocessors at work
};
inline constexpr int skinny_height = 64;
inline constexpr std::array skinny_tiles = {skinny_plan{16, 64, 0.16}, skinny_plan{64, 64, 0.25}};
inline constexpr std::array skinny_tf32_tiles = {skinny_plan{16, 32, 0.29}, skinny_plan{32, 32, 0.29},
                                                 skinny_plan{64, 32, 0.29}};
/// The longest that C's shorter side may be.
inline constexpr std::int64_t max_skinny_side = skinny_tiles.back().n;
/// Blocks of a cluster that any device takes.
inline constexpr int max_cluster = 8;

/// The same of float: in blocks of 16 rows.
inline constexpr std::int64_t max_skinny_float_side = 64;
inline constexpr int skinny_float_shared_bytes = 200 * 1024;  ///< that a block may take

/// Tiles of C, each shared out along k among `clusters` clusters of `cluster` blocks.
struct skinny_layout {
    std::size_t tile = 0;  ///< of the list of plans
    std::int64_t down = 0;
    std::int64_t tiles = 0;
    std::int64_t steps = 0;
    int cluster = 1;
    int clusters = 1;
    std::int64_t sums_bytes = 0;  ///< that the clusters of a tile leave for one another
    double us = std::numeric_limits<double>::infinity();  ///< predicted, without the launch
};

/// In the narrowest tiles that n fits, from tile `narrowest` on, or the widest.
inline skinny_layout lay_out_skinny(std::span<const skinny_plan> plans, std::size_t narrowest, std::int64_t m,
                                    std::int64_t n, std::int64_t k, int sm_count, bool has_workspace,
                                    double read_us) {
    constexpr std::int64_t min_k = 256;  ///< of a block: less does not pay for adding up
    constexpr double around_us = 2.0, cluster_us = 1.0, ticket_us = 2.5;
    skinny_layout result;
    result.tile = narrowest;
    while (result.tile + 1 < plans.size() && plans[result.tile].n < n) ++result.tile;
    const skinny_plan& plan = plans[result.tile];
    result.down = divide_up(m, skinny_height);
    result.tiles = result.down * divide_up(n, plan.n);
    result.steps = divide_up(k, plan.k);
    const std::int64_t min_steps = min_k / plan.k;
    const std::int64_t parts = std::clamp<std::int64_t>(sm_count / result.tiles, 1,
                                                        std::max<std::int64_t>(1, result.steps / min_steps));
    while (result.cluster < max_cluster && std::int64_t{2} * result.cluster <= parts) result.cluster *= 2;
    if (has_workspace) result.clusters = static_cast<int>(parts / result.cluster);
    if (result.clusters > 1)
        result.sums_bytes =
            result.tiles * result.clusters * skinny_height * plan.n * std::int64_t{sizeof(float)};
    const std::int64_t shares = std::int64_t{result.cluster} * result.clusters;
    const auto rounds = static_cast<double>(divide_up(result.tiles * shares, std::max(1, sm_count)));
    const double busy_us = rounds * static_cast<double>(divide_up(result.steps, shares)) * plan.step_us;
    result.us = around_us + std::max(busy_us, read_us) + (result.cluster > 1 ? cluster_us : 0) +
                (result.clusters > 1 ? ticket_us : 0);
    return result;
}

/// Lays C out with its longer side as m. Where the operand of the short side does not lie along k, its boxes are 64 wide.
inline skinny_layout lay_out_skinny(std::int64_t m, std::int64_t n, std::int64_t k, int sm_count,
                                    bool has_workspace, bool short_operand_along_k) {
    return lay_out_skinny(skinny_tiles, short_operand_along_k ? 0 : 1, m, n, k, sm_count, has_workspace,
                          read_us(m, n, k));
}

/// The same of float as TF32, where B lies along k.
inline skinny_layout lay_out_skinny_tf32(std::int64_t m, std::int64_t n, std::int64_t k, int sm_count,
                                         bool has_workspace) {
    constexpr double to_float = 2;  // read_us() is of 16 bits
    if (std::min(m, n) > max_skinny_side) return {};
    return lay_out_skinny(skinny_tf32_tiles, 0, m, n, k, sm_count, has_workspace,
                          to_float * read_us(m, n, k));
}

/// What the workers that share tiles leave for one another: two tiles each.
constexpr std::int64_t shared_sums_bytes(const tile_plan& plan, const tile_layout& layout) {
    return std::int64_t{2} * layout.streams * plan.cluster * plan.m * plan.n * std::int64_t{sizeof(float)};
}

/// Whether boxes can be loaded or not.
inline std::int64_t bf16x6_sums_bytes(std::int64_t m, std::int64_t n, std::int64_t k, int sm_count) {
    const tile_layout boxes = lay_out_bf16x6(m, n, k, sm_count, true, true),
                      elements = lay_out_bf16x6(m, n, k, sm_count, false, true);
    return std::max(shared_sums_bytes(float_costs::bf16x6[boxes.tile], boxes),
                    shared_sums_bytes(float_costs::bf16x6_by_element, elements));
}

/// What fp16x3 makes of A or B: two pieces of each element, and for every 64 along k a power for each row or column.
struct split_layout {
    static constexpr std::int64_t pieces = 2;
    std::int64_t stride;        ///< of rows of pieces, in elements: whole 16 bytes
    std::int64_t piece_stride;  ///< from the first pieces to the second ones
    std::int64_t power_stride;  ///< of the powers of 64 along k: those of whole tiles
    std::int64_t bytes;         ///< the powers behind the pieces
};

/// Rows as they are stored: along k, or across it.
constexpr split_layout lay_out_split(std::int64_t extent, int tile_extent, std::int64_t k, bool along_k) {
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
/// Whichever way the operands lie.
inline std::int64_t fp16x3_bytes(std::int64_t m, std::int64_t n, std::int64_t k, int sm_count) {
    const tile_plan& plan = float_costs::fp16x3;
    const auto either_way = [k](std::int64_t extent, int tile_extent) {
        return std::max(lay_out_split(extent, tile_extent, k, false).bytes,
                        lay_out_split(extent, tile_extent, k, true).bytes);
    };
    return shared_sums_bytes(plan, lay_out_fp16x3(m, n, k, sm_count)) + either_way(m, plan.m) +
           either_way(n, plan.n);
}

inline constexpr int tf32_narrow = 64;  ///< columns: where no more are left of C, no more are multiplied

/// Whether at most half of the last tile's rows are of C, which then go to one of two warpgroups or blocks.
constexpr bool is_low_at_end(const tile_plan& plan, std::int64_t m) {
    const std::int64_t height = std::int64_t{plan.m} * plan.cluster, rest = m % height;
    return 64 < height && 0 < rest && 2 * rest <= height;
}
constexpr bool is_narrow_at_end(const tile_plan& plan, std::int64_t n) {
    return tf32_narrow < plan.n && 0 < n % plan.n && n % plan.n <= tf32_narrow;
}

/// `may_stream`: there is a workspace.
inline tile_layout cheapest_tf32(std::int64_t m, std::int64_t n, std::int64_t k, int sm_count,
                                 bool may_stream) {
    constexpr double to_float = 2;                               // read_us() is of 16 bits
    constexpr double streaming_us = 20;                          // more than combine_around_us says
    constexpr double saved_of_low = 0.5, saved_of_narrow = 0.7;  // of a tile's time, beside whole ones
    return cheapest(tf32_tiles, -1, [=](const tile_plan& plan) {
        tile_layout result =
            may_stream ? lay_out_streamed(plan, m, n, k, sm_count) : lay_out(plan, m, n, k, sm_count);
        const double saved =
            (result.down > 1 && is_low_at_end(plan, m) ? saved_of_low / static_cast<double>(result.down)
                                                       : 0) +
            (result.across > 1 && is_narrow_at_end(plan, n)
                 ? saved_of_narrow / static_cast<double>(result.across)
                 : 0);
        result.us = std::max(result.us * (1 - saved), plan.around_us + to_float * read_us(m, n, k)) +
                    (result.streams > 0 ? streaming_us : 0);
        return result;
    });
}

/// tf32, and copies of A and B before it where it needs them. Which of C and C^T it computes depends on how they lie.
inline double tf32_us(std::int64_t m, std::int64_t n, std::int64_t k, int sm_count, bool may_stream,
                      bool copies) {
    return std::min({cheapest_tf32(m, n, k, sm_count, may_stream).us,
                     lay_out_skinny_tf32(m, n, k, sm_count, may_stream).us,
                     lay_out_skinny_tf32(n, m, k, sm_count, may_stream).us}) +
           (copies ? copies_us(m, n, k) : 0);
}

/// The sums of C or of C^T.
inline std::int64_t tf32_sums_bytes(std::int64_t m, std::int64_t n, std::int64_t k, int sm_count) {
    const auto bytes = [=](std::int64_t rows, std::int64_t cols) {
        const tile_layout layout = cheapest_tf32(rows, cols, k, sm_count, true);
        return std::max(shared_sums_bytes(tf32_tiles[layout.tile], layout),
                        lay_out_skinny_tf32(rows, cols, k, sm_count, true).sums_bytes);
    };
    return std::max(bytes(m, n), bytes(n, m));
}

}  // namespace heddle::kernels::matmul
