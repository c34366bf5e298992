#pragma once

#include "kernels/device/early_launch.hpp"
#include "kernels/device/grid.hpp"
#include "kernels/gaussian_blur/plan/extents.hpp"
#include "kernels/gaussian_blur/plan/kernel_grid.hpp"
#include "kernels/gaussian_blur/plan/problem.hpp"
#include "kernels/gaussian_blur/plan/warp_strips.hpp"
#include "kernels/gaussian_blur/tuning/tuning.hpp"
#include <heddle/device.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace heddle::kernels::gaussian_blur {

/// What windows both kernels of tensor_core_registers take.
inline constexpr int max_registers_radius = 8;  ///< along y
inline constexpr int max_registers_reach = 24;  ///< along x, in values

/// What a block of tensor_core_registers works on, of its own kernel: strips one below the other.
struct stack_tile {
    static constexpr int warps = 4;  ///< of a block, side by side
    static constexpr int threads = 32 * warps;
    static constexpr int warp_columns = 32;  ///< values
    static constexpr int columns = warps * warp_columns;
    /// One below the other: each warp works on all, and finds the lines of one.
    static constexpr int strips = warps;
    static constexpr int rows = 2;        ///< of a strip, a step
    static constexpr int stages = 6;      ///< steps whose rows are under way
    static constexpr int depth = 32;      ///< values that a product sums over
    static constexpr int max_depths = 3;  ///< of a window
    /// Fewer blocks filter fewer rows to start; fewer than three leave latencies bare.
    static constexpr int blocks_per_sm = 3;
    static_assert(2 * max_registers_reach + packet_bytes - 1 + warp_columns <= max_depths * depth);

    /// A strip has no fewer rows than it filters to start.
    static constexpr std::int64_t min_strip_rows(std::int64_t radius) { return 2 * radius + 4; }
};

/// Dynamic shared memory: each thread's rows under way, each warp's band, then where the lines of each strip
/// start.
template <int depths>
struct stack_layout {
    static_assert(depths == 2 || depths == stack_tile::max_depths);
    static constexpr int firsts = stack_tile::stages * stack_tile::threads * packet_bytes;
    static constexpr int lasts = (depths - 2) * stack_tile::stages * stack_tile::threads * packet_bytes / 2;
    static constexpr int band_pitch = depths * stack_tile::depth + 4;  // weights
    static constexpr int band = stack_tile::columns * band_pitch * int{sizeof(std::uint16_t)};
    /// The window's rows, and those that the last steps load ahead.
    __host__ __device__ static constexpr int lines(int strip_rows, int radius) {
        return strip_rows + 2 * radius + (stack_tile::stages + 1) * stack_tile::rows;
    }
    static constexpr std::size_t bytes(int strip_rows, int radius) {
        return firsts + lasts + band +
               std::size_t{stack_tile::strips} * static_cast<std::size_t>(lines(strip_rows, radius)) *
                   sizeof(const std::uint8_t*);
    }
};

struct tensor_core_registers_plan {
    kernel_grid grid;
    int lead;    ///< values of a window before a warp's own columns: it starts at a multiple of 16 bytes
    int depths;  ///< products that a window takes
    int strip_rows;
    bool stores_words;
};

/// Needs bytes of aligned sources, and windows up to max_registers_radius and max_registers_reach.
inline tensor_core_registers_plan plan_tensor_core_registers(const problem& p, const device_traits& device) {
    using tile = stack_tile;
    const auto reach = static_cast<int>(p.reach()), radius = static_cast<int>(p.radius.y);
    const int lead = values_before(reach, static_cast<int>(p.x * p.channels), packet_bytes);
    const int depths = lead + tile::warp_columns + reach <= 2 * tile::depth ? 2 : tile::max_depths;

    // One wave of blocks over the whole device, but strips not so short, nor so long that an SM that runs ahead gets no more
    // of them.
    const std::int64_t strips = divide_up(p.row_values(), tile::columns);
    const std::int64_t resident = std::int64_t{device.sm_count} * tile::blocks_per_sm;
    const std::int64_t segments = tile::strips * std::max<std::int64_t>(1, resident / (strips * p.images));
    const std::int64_t wanted = std::clamp<std::int64_t>(
        divide_up(p.height, segments), tile::min_strip_rows(radius), tuning_of(device).max_rows_of_warps);
    const int strip_rows = round_up(static_cast<int>(wanted), tile::rows);
    const std::size_t needed = depths == 2 ? stack_layout<2>::bytes(strip_rows, radius)
                                           : stack_layout<tile::max_depths>::bytes(strip_rows, radius);
    return {
        .grid = {.blocks = {strips, divide_up(p.height, std::int64_t{tile::strips} * strip_rows), p.images},
                 .threads = {tile::threads},
                 .shared_bytes = std::max(
                     needed, static_cast<std::size_t>(shared_bytes_of_one_of(tile::blocks_per_sm, device))),
                 .shared_limit = device.shared_memory_per_block_optin,
                 .begins_early = waits_for_grids(device)},
        .lead = lead,
        .depths = depths,
        .strip_rows = strip_rows,
        .stores_words = p.destination_alignment >= 4};
}

/// What a warp of tensor_core_spans works on.
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

/// Two rows as a warp of tensor_core_spans loads them: packets, from `lead` values before its columns on.
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

inline warp_strips strips_of_spans(const problem& p, const device_traits& device) {
    return {p.row_values(), span_tile::columns, span_tile::blocks_per_sm(static_cast<int>(p.radius.y)),
            p.height,       p.images,           device};
}

struct tensor_core_spans_plan {
    kernel_grid grid;
    int lead;  ///< values that are loaded before a warp's columns, of which `skip` are before the windows
    int skip;
    int strip_rows;
    bool stores_pairs;
};

/// Needs what tensor_core_registers does, and windows of 16 columns within span_tile::depth values.
inline tensor_core_spans_plan plan_tensor_core_spans(const problem& p, const device_traits& device) {
    const auto radius = static_cast<int>(p.radius.y);
    const int before = values_before_span(p);
    const int lead = values_before(before, static_cast<int>(p.x * p.channels), span_stage::packet);
    const warp_strips strips = strips_of_spans(p, device);
    const int strip_rows =
        round_up(static_cast<int>(std::min(strips.rows_of_wave, tuning_of(device).max_rows_of_warps)),
                 span_tile::rows);
    return {.grid = strips.grid(p.height, p.images, strip_rows, span_stage::bytes_of_warp(radius),
                                span_stage::lines(strip_rows, radius), device),
            .lead = lead,
            .skip = lead - before,
            .strip_rows = strip_rows,
            .stores_pairs = p.destination_alignment >= 2};
}

}  // namespace heddle::kernels::gaussian_blur
