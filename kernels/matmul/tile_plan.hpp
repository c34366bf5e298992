#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>

/// The tiles of C that the rungs `persistent` and `cluster_multicast` are built for, and what each costs. Pure.
namespace heddle::kernels::matmul {

struct tile_plan {
    int m;             ///< of a block
    int n;             ///< of a block
    int cluster;       ///< blocks, one below the other, that share their B
    double step_us;    ///< for 64 along k, with all multiprocessors at work
    double around_us;  ///< for a tile beside its steps: the first loads and the stores
};

// Measured on an H200 at 512^3 .. 4096^3 (driver 580.159, 2026-11-21).
inline constexpr std::array persistent_tiles = {
    tile_plan{128, 256, 1, 0.66, 2.0},
    tile_plan{128, 128, 1, 0.36, 1.0},
    tile_plan{64, 128, 1, 0.25, 0.6},
    tile_plan{64, 64, 1, 0.19, 0.5},
};
inline constexpr std::array multicast_tiles = {
    tile_plan{128, 256, 2, 0.65, 2.0},
    tile_plan{128, 192, 2, 0.50, 1.5},
};

/// How long the busiest multiprocessor works, in us.
inline double cost_us(const tile_plan& tile, std::int64_t m, std::int64_t n, std::int64_t k, int sm_count) {
    const auto up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
    const std::int64_t clusters = up(m, std::int64_t{tile.m} * tile.cluster) * up(n, tile.n);
    const std::int64_t rounds = up(clusters, std::max(1, sm_count / tile.cluster));
    return static_cast<double>(rounds) * (tile.around_us + static_cast<double>(up(k, 64)) * tile.step_us);
}

struct planned_tile {
    std::size_t index = 0;
    double us = std::numeric_limits<double>::infinity();
};

inline planned_tile cheapest(std::span<const tile_plan> tiles, std::int64_t m, std::int64_t n, std::int64_t k,
                             int sm_count) {
    planned_tile best;
    for (std::size_t i = 0; i < tiles.size(); ++i)
        if (const double us = cost_us(tiles[i], m, n, k, sm_count); us < best.us) best = {i, us};
    return best;
}

}  // namespace heddle::kernels::matmul
