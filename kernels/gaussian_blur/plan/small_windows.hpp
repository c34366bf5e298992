#pragma once

#include "kernels/device/early_launch.hpp"
#include "kernels/device/grid.hpp"
#include "kernels/gaussian_blur/cost/cost.hpp"
#include "kernels/gaussian_blur/facts.hpp"
#include "kernels/gaussian_blur/plan/grids.hpp"
#include "kernels/gaussian_blur/plan/predict.hpp"
#include "kernels/gaussian_blur/plan/window.hpp"
#include <heddle/device.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

/// The plans of the rungs of small windows, whose warps march down strips of their own.
namespace heddle::kernels::gaussian_blur {

/// The largest radius along y whose sums the registers of mma_x_registers_y hold.
inline constexpr int max_registers_radius = 8;
/// The radius along y of the kernel that takes `radius`.
constexpr int compiled_registers_radius(std::int64_t radius) {
    return radius <= 2 ? compiled_radius(radius, 1) : compiled_radius(radius, 2);
}

/// The values that a warp of mma_x_registers_y works on.
struct span_tile {
    static constexpr int product_columns = 16;
    static constexpr int spans = 4;
    static constexpr int products = 4;  ///< of a warp, side by side
    static constexpr int product = spans * product_columns;
    static constexpr int columns = products * product;
    static constexpr int rows = 2;    ///< of a step
    static constexpr int depth = 32;  ///< values that a product sums over

    /// As many blocks as registers allow.
    __host__ __device__ static constexpr int blocks_per_sm(int radius) {
        return radius < 3 ? 4 : radius < 5 ? 3 : 2;
    }
    /// Steps of a warp whose rows are under way. The blocks of a multiprocessor have about 16 together.
    __host__ __device__ static constexpr int stages(int radius) { return 16 / blocks_per_sm(radius); }
};

/// Two rows in shared memory, as a warp of mma_x_registers_y loads them from `lead` values before its columns on. It loads
/// packets, or words if rows lie at any address.
struct span_stage {
    static constexpr int packet = packet_bytes;
    static constexpr int word = 4;
    static constexpr int most_bytes =
        packet - word + span_tile::columns - span_tile::product_columns + span_tile::depth;
    static constexpr int packets = (most_bytes + packet - 1) / packet;
    static constexpr int words = (most_bytes + word - 1 + word - 1) / word;
    /// Chosen so that the words of four spans and two rows are in different banks.
    static constexpr int pitch = (packets * packet + 63) / 128 * 128 + 64;
    static_assert(words * word <= pitch);
    static constexpr int bytes = span_tile::rows * pitch;
    static constexpr int rows = span_tile::rows, rows_at_once = rows;
    static constexpr int packets_at_once = warp_strips::lanes / rows_at_once;

    __host__ __device__ static constexpr int bytes_of_warp(int radius) {
        return span_tile::stages(radius) * bytes;
    }
    /// Lines of a strip, with those that the last steps load ahead.
    __host__ __device__ static constexpr int lines(int strip_rows, int radius) {
        return round_up(strip_rows, span_tile::rows) + 2 * radius +
               (span_tile::stages(radius) + 1) * span_tile::rows;
    }
};

/// Values of a window before its columns. The window starts at a multiple of a word in memory.
inline int values_before_span(const filter_facts& p) {
    return values_before(static_cast<int>(p.reach()), static_cast<int>(p.x * p.channels), span_stage::word);
}

struct mma_x_registers_y_plan {
    kernel_grid grid;
    int lead;  ///< values that are loaded before a warp's columns, of which `skip` are before the windows
    int skip;
    int strip_rows;
    /// Rows of the source begin at multiples of packets, and those of the destination at multiples of pairs.
    bool aligned;
    double us;  ///< predicted
};

/// Needs bytes, and windows of 16 columns within span_tile::depth values. A strip has at least the rows that its warp
/// filters to start it. It has at most max_strip_rows, unless a grid has no room for so many strips.
inline mma_x_registers_y_plan plan_mma_x_registers_y(const filter_facts& p, const device_traits& device) {
    const int radius = compiled_registers_radius(p.radius.y);
    const int before = values_before_span(p);
    const int lead = values_before(before, static_cast<int>(p.x * p.channels), span_stage::packet);
    const warp_strips strips(p.row_values(), span_tile::columns, span_tile::blocks_per_sm(radius), p.height,
                             p.images, device);
    const std::int64_t wanted =
        std::clamp<std::int64_t>(strips.rows_of_wave, 2 * radius + 4, costs_of(device).max_strip_rows);
    const int strip_rows =
        round_up(static_cast<int>(std::max(wanted, divide_up(p.height, max_grid_y))), span_tile::rows);
    const bool aligned = p.in_vectors && p.destination_alignment >= 2;
    return {.grid = strips.grid(p.height, p.images, strip_rows, span_stage::bytes_of_warp(radius),
                                span_stage::lines(strip_rows, radius), aligned, device),
            .lead = lead,
            .skip = lead - before,
            .strip_rows = strip_rows,
            .aligned = aligned,
            .us = predicted_us(
                "mma_x_registers_y", device,
                marching(p, strips.blocks * divide_up(p.height, strip_rows) * p.images, strips.blocks_per_sm,
                         strip_rows + 2 * radius, 1, strips.warps * (2 * radius + 1), device))};
}

/// The pixels that a warp of mma_xy_by_channel works on.
struct pixel_tile {
    static constexpr int side = 16;  ///< of a square, in pixels; also rows of a step
    static constexpr int depth =
        32;                          ///< pixels of a product's window, which begins at a multiple of an octet
    static constexpr int octet = 8;  ///< pixels of it that a lane has
    static constexpr int max_radius = (depth - side) / 2;
    static constexpr int stages = 2;  ///< steps whose rows are under way
};

/// As many squares as registers allow: each keeps 6 registers for each channel.
template <int channels>
struct pixel_shape {
    static constexpr bool is_odd = channels % 2 == 1;
    static constexpr int blocks_per_sm = is_odd ? 4 : 2;
    static constexpr int squares = is_odd ? 4 / channels : 8 / channels;  ///< of a warp, side by side
    static constexpr int columns = squares * pixel_tile::side;            ///< in pixels
};

/// 16 rows as a warp loads and as it stores them. It loads packets, or words if rows lie at any address.
template <int channels>
struct pixel_layout {
    static constexpr int packet = packet_bytes;
    static constexpr int octet_bytes = pixel_tile::octet * channels;
    static constexpr int lowest_bit = channels & -channels;
    /// The widest unit at whose multiples pixels begin.
    using unit_of_pixel = std::conditional_t<channels == 4, std::uint32_t,
                                             std::conditional_t<channels == 2, std::uint16_t, std::uint8_t>>;
    static constexpr int word = 4;
    /// Windows begin at any octet of a packet.
    static constexpr int most_bytes =
        (pixel_shape<channels>::columns + pixel_tile::depth - pixel_tile::side) * channels +
        std::max(packet - pixel_tile::octet * lowest_bit, 0);
    static constexpr int packets = (most_bytes + packet - 1) / packet;
    static constexpr int words = (most_bytes + word - 1 + word - 1) / word;
    /// Chosen so that what lanes read at once is in different banks.
    static constexpr int pitch = [] {
        constexpr int residue = channels % 2 == 1 ? 32 : channels == 2 ? 64 : 16;
        int result = packets * packet;
        while (result % (2 * residue) != residue) result += packet;
        return result;
    }();
    static_assert(words * word <= pitch);
    static constexpr int stage = pixel_tile::side * pitch;
    static constexpr int packets_at_once = 4;
    static constexpr int rows = pixel_tile::side, rows_at_once = warp_strips::lanes / packets_at_once;

    static constexpr int results = pixel_tile::stages * stage;
    static constexpr int result_packets = pixel_shape<channels>::columns * channels / packet;
    /// Chosen so that what lanes write at once is in different banks.
    static constexpr int result_pitch = [] {
        constexpr int unit = packet * lowest_bit;
        return (result_packets * packet / unit | 1) * unit;
    }();
    static constexpr int rows_stored =
        static_cast<int>(std::bit_floor(static_cast<unsigned>(warp_strips::lanes / result_packets)));
    static constexpr int bytes = results + pixel_tile::side * result_pitch;
};

/// Lines of a strip, with those that the last steps load ahead.
__host__ __device__ constexpr int lines_of_pixels(int strip_rows) {
    return round_up(strip_rows, pixel_tile::side) + (1 + pixel_tile::stages) * pixel_tile::side;
}

/// Pixels from the start of a window to the first result.
inline int pixels_before(const filter_facts& p) {
    return values_before(static_cast<int>(p.radius.x), static_cast<int>(p.x), pixel_tile::octet);
}

struct mma_xy_by_channel_plan {
    kernel_grid grid{};
    int before;  ///< pixels from the start of a window to the first result
    int lead;  ///< bytes from the first packet to a warp's first column, of which `skip` are before its windows
    int skip;
    int strip_rows = 0;
    bool aligned;   ///< rows of the source and of the destination begin at multiples of packets
    double us = 0;  ///< predicted
};

/// Needs bytes, and windows within pixel_tile::depth pixels.
inline mma_xy_by_channel_plan plan_mma_xy_by_channel(const filter_facts& p, const device_traits& device) {
    const int before = pixels_before(p);
    const auto channels = static_cast<int>(p.channels);
    const int lead = values_before(before * channels, static_cast<int>(p.x) * channels, packet_bytes);
    mma_xy_by_channel_plan plan{.before = before,
                                .lead = lead,
                                .skip = lead - before * channels,
                                .aligned = p.in_vectors && p.destination_alignment >= packet_bytes};
    const auto take = [&]<int count> {
        using shape = pixel_shape<count>;
        const warp_strips strips(p.width, shape::columns, shape::blocks_per_sm, p.height, p.images, device);
        const std::int64_t rows = std::max(std::min(strips.rows_of_wave, costs_of(device).max_strip_rows),
                                           divide_up(p.height, max_grid_y));
        plan.strip_rows = round_up(static_cast<int>(rows), pixel_tile::side);
        plan.grid = strips.grid(p.height, p.images, plan.strip_rows, pixel_layout<count>::bytes,
                                lines_of_pixels(plan.strip_rows), plan.aligned, device);
        const int steps = plan.strip_rows / pixel_tile::side + pixel_tile::stages;
        plan.us = predicted_us("mma_xy_by_channel", device,
                               marching(p, strips.blocks * divide_up(p.height, plan.strip_rows) * p.images,
                                        strips.blocks_per_sm, steps, 1, strips.warps, device));
    };
    with_channels(p.channels, take);
    return plan;
}

}  // namespace heddle::kernels::gaussian_blur
