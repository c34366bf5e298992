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

/// The plan of mma_xy_by_channel, whose warps march down strips of their own.
namespace heddle::kernels::gaussian_blur {

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
