#pragma once

#include "kernels/device/early_launch.hpp"
#include "kernels/gaussian_blur/cost/cost.hpp"
#include "kernels/gaussian_blur/facts.hpp"
#include "kernels/gaussian_blur/plan/grids.hpp"
#include "kernels/gaussian_blur/plan/predict.hpp"
#include "kernels/gaussian_blur/plan/window.hpp"
#include <heddle/device.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace heddle::kernels::gaussian_blur::wgmma_xy {

constexpr int word = 4;

struct tile {
    static constexpr int side = 64;   ///< columns, in values, of a warpgroup, and rows of a step
    static constexpr int groups = 4;  ///< that multiply, side by side
    static constexpr int columns = groups * side;
    static constexpr int depth = 32;  ///< values that an instruction sums over
    static constexpr int stages = 4;  ///< steps whose rows are under way
    static constexpr int threads = (groups + 1) * 128;
    static constexpr int first_stages = 2;  ///< steps whose rows come before the others are asked for
    static constexpr int load_warps = stages;
    static constexpr int loader_registers = 64;
    static constexpr int group_registers = 104;
    static constexpr int max_depths_x = 10;      ///< of a window
    static constexpr int newest = side / depth;  ///< blocks of `depth` rows that a step adds
    static constexpr int before = 1;             ///< blocks of a window before its newest
    static constexpr int max_radius_y = before * depth / 2;
    static constexpr int max_radius_x = 32;

    // Operands in shared memory have so many bytes in a row along k. They have `side` or, along y, `depth` rows.
    static constexpr int operand_row = 128;
    static constexpr int operand_bytes = side * operand_row;
    static constexpr int operand_y_bytes = depth * operand_row;
    static constexpr int barriers_bytes = (3 * stages + first_stages) * 8;
};

/// The weights of one axis in their high and low bytes, with zeros around them.
template <int window>
struct band {
    static constexpr int size = window + tile::side + word;  ///< four weights are taken from two words

    alignas(16) std::uint8_t high[size];
    alignas(16) std::uint8_t low[size];
};
using band_x = band<tile::max_depths_x * tile::depth>;
using band_y = band<(1 + tile::before) * tile::depth>;

/// Instructions along a window, which has a warpgroup's values and `besides` more.
constexpr int depths_of(int besides) {
    return (tile::side + besides + tile::depth - 1) / tile::depth;
}

/// Boxes in shared memory that a window of `depths` instructions takes.
__host__ __device__ constexpr int boxes_of(int depths) {
    return (depths * tile::depth + tile::operand_row - 1) / tile::operand_row;
}

/// Dynamic shared memory. Rows under way, the bands as operands and results come first, aligned to 1024 bytes.
struct layout {
    int stage_boxes;
    int operand_x;
    int operand_y;
    int results;
    int band_x;
    int band_y;
    int columns;
    int barriers;
    int bytes;
};

__host__ __device__ constexpr layout lay_out(int depths_x) {
    layout l{};
    l.stage_boxes = boxes_of((tile::groups - 1) * tile::side / tile::depth + depths_x);
    l.operand_x = tile::stages * l.stage_boxes * tile::operand_bytes;
    l.operand_y = l.operand_x + 2 * boxes_of(depths_x) * tile::operand_bytes;
    l.results = l.operand_y + 2 * tile::operand_y_bytes;
    l.band_x = l.results + 2 * tile::groups * tile::side * tile::side;
    l.band_y = l.band_x + static_cast<int>(sizeof(band_x));
    l.columns = l.band_y + static_cast<int>(sizeof(band_y));
    l.barriers =
        l.columns + tile::load_warps * l.stage_boxes * tile::operand_row * static_cast<int>(sizeof(int));
    l.bytes = l.barriers + tile::barriers_bytes;
    return l;
}

static_assert(lay_out(tile::max_depths_x).bytes <= 227 * 1024);

/// A larger weight leaves the others too few bits. (A window of one pixel has one weight, which is exact.)
constexpr double max_weight = 0.625;
inline bool has_small_weights(double sigma, std::int64_t radius) {
    double sum = 1;  // in units of the largest
    for (std::int64_t i = 1; i <= radius; ++i)
        sum += 2 * std::exp(-0.5 * static_cast<double>(i * i) / (sigma * sigma));
    return radius == 0 || 1 <= max_weight * sum;
}

constexpr int max_blocks = 192;

/// The tiles that blocks share. They are numbered down the strips, and through all images.
struct shares {
    int blocks;
    int strips;                                     ///< of an image
    int strip_tiles;                                ///< of a strip
    std::array<int, max_blocks + 1> first_tiles{};  ///< of blocks, and the end of the last
};

/// Shares out the tiles so that all blocks end together. Tiles of strips at the sides take longer, as warps fill in
/// columns. A block that goes on to another strip takes a step without a result.
inline shares share_out(std::int64_t images, std::int64_t strips, std::int64_t strip_tiles,
                        const device_traits& device) {
    const auto& costs = costs_of(device).wgmma_xy;
    const std::int64_t tiles = images * strips * strip_tiles;
    const auto blocks =
        static_cast<int>(std::min({tiles, std::int64_t{device.sm_count}, std::int64_t{max_blocks}}));
    shares result{blocks, static_cast<int>(strips), static_cast<int>(strip_tiles)};
    const bool are_many = tiles >= std::int64_t{costs.many_tiles_per_block} * blocks;
    const int side_cost = are_many ? costs.side_tile : costs.tile, start_cost = are_many ? costs.start : 0;
    const std::int64_t inner_strip = strip_tiles * costs.tile + start_cost;
    const std::int64_t side_strip = strip_tiles * side_cost + start_cost;
    const std::int64_t sides = std::min<std::int64_t>(strips, 2);
    const std::int64_t image = sides * side_strip + (strips - sides) * inner_strip;
    for (int block = 0; block <= blocks; ++block) {
        const std::int64_t all = images * image * block / blocks;
        std::int64_t strip = all / image * strips;
        std::int64_t left = all % image;
        bool at_side = left < side_strip;
        if (!at_side) {
            left -= side_strip;
            const std::int64_t passed = std::min(left / inner_strip, strips - sides);
            at_side = passed == strips - sides;
            left -= passed * inner_strip;
            strip += 1 + passed;
        }
        const int each = at_side ? side_cost : costs.tile;
        const std::int64_t tile = std::max<std::int64_t>(left - start_cost + each / 2, 0) / each;
        result.first_tiles[static_cast<std::size_t>(block)] = static_cast<int>(strip * strip_tiles + tile);
    }
    return result;
}

}  // namespace heddle::kernels::gaussian_blur::wgmma_xy

namespace heddle::kernels::gaussian_blur {

struct wgmma_xy_plan {
    kernel_grid grid;
    bool is_box;   ///< all weights are one
    int lead;      ///< values of a window before a warpgroup's own columns
    int depths_x;  ///< instructions along a window
    bool stores_boxes;
    bool stores_words;
    wgmma_xy::shares shares;
    double us;  ///< predicted
};

/// The number of tiles that blocks of wgmma_xy share.
inline std::int64_t warpgroup_tiles(const filter_facts& p) {
    using wgmma_xy::tile;
    return p.images * divide_up(p.row_values(), tile::columns) * divide_up(p.height, tile::side);
}

/// Needs bytes of aligned sources and small weights. Windows have up to max_depths_x instructions, and max_radius_y.
inline wgmma_xy_plan plan_wgmma_xy(const filter_facts& p, const device_traits& device) {
    using namespace wgmma_xy;
    const auto reach = static_cast<int>(p.reach());
    // Windows start at multiples of what is copied at once.
    const int lead = values_before(reach, static_cast<int>(p.x * p.channels), packet_bytes);
    const int depths_x = depths_of(lead + reach);
    const shares shares = share_out(p.images, divide_up(p.row_values(), tile::columns),
                                    divide_up(p.height, tile::side), device);
    const bool ends_with_packets = p.row_values() % packet_bytes == 0;
    return {
        .grid = {.blocks = {shares.blocks},
                 .threads = {tile::threads},
                 .shared_bytes = static_cast<std::size_t>(lay_out(depths_x).bytes),
                 .shared_limit = device.shared_memory_per_block_optin,
                 .begins_early = waits_for_grids(device)},
        .is_box = p.window == window::box,
        .lead = lead,
        .depths_x = depths_x,
        .stores_boxes =
            p.destination_alignment == packet_bytes && p.destination_fits_map && ends_with_packets,
        .stores_words = p.destination_alignment >= word,
        .shares = shares,
        .us = predicted_us("wgmma_xy", device,
                           marching(p, shares.blocks, 1,
                                    static_cast<double>(warpgroup_tiles(p)) / shares.blocks + tile::before, 1,
                                    depths_x, device))};
}

}  // namespace heddle::kernels::gaussian_blur
