#pragma once

#include "kernels/gaussian_blur/batch_rows.hpp"
#include "kernels/gaussian_blur/round_up.cuh"
#include <heddle/view.hpp>

#include <cstdint>

namespace heddle::kernels::gaussian_blur {

/// What a warp of fused_tiles blurs: some rows of as many columns as its lanes own, but for those at both sides, which
/// only lend theirs.
struct tile_shape {
    static constexpr int lanes = 32;
    static constexpr int rows = 8;
    static constexpr int warps = 4;  ///< of a block, one below the other, so that L1 has the rows they share
    static constexpr int blocks_per_sm = 4;  ///< so that a thread has 128 registers

    int values;         ///< neighbours that a lane owns, a packet
    int lending_lanes;  ///< at each side

    constexpr tile_shape(int value_bytes, int halo)
        : values(value_bytes == 4 ? 4 : 8), lending_lanes(round_up(halo, values) / values) {}
    constexpr int lead() const { return lending_lanes * values; }
    constexpr int window() const { return lanes * values; }
    constexpr int columns() const { return window() - 2 * lead(); }

    /// Whether tiles can take these sources: their rows are read in packets.
    template <class T>
    static bool fits(const image_batch_view<const T>& sources) {
        constexpr tile_shape shape{sizeof(T), 0};
        return is_aligned(sources, 0, shape.values * static_cast<int>(sizeof(T)));
    }
};

/// The grid, one row of tiles after another.
struct tile_grid {
    std::int64_t strips;
    std::int64_t segments;  ///< blocks below each other

    constexpr tile_grid(const tile_shape& shape, std::int64_t row_values, std::int64_t height)
        : strips((row_values - 1) / shape.columns() + 1),
          segments((height - 1) / (tile_shape::rows * tile_shape::warps) + 1) {}
};

}  // namespace heddle::kernels::gaussian_blur
