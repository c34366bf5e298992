#pragma once

#include "kernels/device/early_launch.hpp"
#include "kernels/device/grid.hpp"
#include "kernels/separable_filter/plan/extents.hpp"
#include "kernels/separable_filter/plan/kernel_grid.hpp"
#include "kernels/separable_filter/plan/problem.hpp"
#include "kernels/separable_filter/plan/warp_strips.hpp"
#include "kernels/separable_filter/tuning/tuning.hpp"
#include <heddle/device.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace heddle::kernels::separable_filter {

/// Of windows, along y.
inline constexpr int max_registers_radius = 8;

/// What a warp of mma_x_registers_y works on.
struct span_tile {
    static constexpr int product_columns = 16;
    static constexpr int spans = 4;
    static constexpr int products = 4;  ///< of a warp, side by side
    static constexpr int product = spans * product_columns;
    static constexpr int columns = products * product;
    static constexpr int rows = 2;    ///< a step
    static constexpr int depth = 32;  ///< values that a product sums over

    /// What registers allow.
    __host__ __device__ static constexpr int blocks_per_sm(int radius) {
        return radius < 3 ? 4 : radius < 5 ? 3 : 2;
    }
    /// Steps of a warp whose rows are under way: about 16 for a multiprocessor's blocks together.
    __host__ __device__ static constexpr int stages(int radius) { return 16 / blocks_per_sm(radius); }
};

/// Two rows as a warp of mma_x_registers_y loads them: packets, from `lead` values before its columns on.
struct span_stage {
    static constexpr int packet = packet_bytes;
    static constexpr int word = 4;
    static constexpr int packets =
        (packet - word + span_tile::columns - span_tile::product_columns + span_tile::depth + packet - 1) /
        packet;
    /// Such that the words of four spans and two rows are in different banks.
    static constexpr int pitch = (packets * packet + 63) / 128 * 128 + 64;
    static constexpr int bytes = span_tile::rows * pitch;
    static constexpr int packets_at_once = warp_strips::lanes / span_tile::rows;
    static constexpr int copies = (packets + packets_at_once - 1) / packets_at_once;

    __host__ __device__ static constexpr int bytes_of_warp(int radius) {
        return span_tile::stages(radius) * bytes;
    }
    /// Lines of a strip, with those that the last steps load ahead.
    __host__ __device__ static constexpr int lines(int strip_rows, int radius) {
        return round_up(strip_rows, span_tile::rows) + 2 * radius +
               (span_tile::stages(radius) + 1) * span_tile::rows;
    }
};

/// Values of a window before its columns: it starts at a multiple of a word in memory.
inline int values_before_span(const problem& p) {
    return values_before(static_cast<int>(p.reach()), static_cast<int>(p.x * p.channels), span_stage::word);
}

struct mma_x_registers_y_plan {
    kernel_grid grid;
    int lead;  ///< values that are loaded before a warp's columns, of which `skip` are before the windows
    int skip;
    int strip_rows;
    bool stores_pairs;
};

/// Needs bytes of aligned sources, and windows of 16 columns within span_tile::depth values. A strip has no fewer rows than its
/// warp filters to start it, and no more than a grid's count of strips and the card's balance want.
inline mma_x_registers_y_plan plan_mma_x_registers_y(const problem& p, const device_traits& device) {
    const auto radius = static_cast<int>(p.radius.y);
    const int before = values_before_span(p);
    const int lead = values_before(before, static_cast<int>(p.x * p.channels), span_stage::packet);
    const warp_strips strips(p.row_values(), span_tile::columns, span_tile::blocks_per_sm(radius), p.height,
                             p.images, device);
    const std::int64_t wanted = std::clamp<std::int64_t>(strips.rows_of_wave, 2 * radius + 4,
                                                         tuning_of(device).max_strip_rows);
    const int strip_rows = round_up(static_cast<int>(std::max(wanted, divide_up(p.height, max_grid_y))),
                                    span_tile::rows);
    return {.grid = strips.grid(p.height, p.images, strip_rows, span_stage::bytes_of_warp(radius),
                                span_stage::lines(strip_rows, radius), device),
            .lead = lead,
            .skip = lead - before,
            .strip_rows = strip_rows,
            .stores_pairs = p.destination_alignment >= 2};
}

}  // namespace heddle::kernels::separable_filter
