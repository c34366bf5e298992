#pragma once

#include "kernels/conv/tuning/tuning.hpp"
#include "kernels/device/launch.hpp"
#include <heddle/conv.hpp>
#include <heddle/device.hpp>

#include <algorithm>
#include <cstdint>

/// How `depthwise` shares out a problem. Pure.
namespace heddle::kernels::conv {

inline constexpr std::int64_t depthwise_most_taps = 81;
inline constexpr std::int64_t depthwise_threads = 256;
inline constexpr std::int64_t depthwise_most_packets = 32;  ///< side by side in a block
inline constexpr int depthwise_packet = 4;                  ///< channels

/// What kernels of `depthwise` are compiled for.
struct depthwise_kernel {
    int packet = 1;  ///< neighbouring channels of a thread
    int taps = 1;    ///< a side of the filter; 1: any
    int step = 1;    ///< along a row, from one window to the next; where taps is 1: any
};

/// Outputs of a thread: many share its inputs and taps, as many as registers have room for.
constexpr int depthwise_outputs(std::int64_t element_bytes, const depthwise_kernel& kernel) {
    const bool is_short = kernel.taps == 1 || kernel.step > 1 || (element_bytes > 2 && kernel.taps == 3);
    return is_short ? 4 : 8;
}

inline bool has_packets(const tensor_layout& t) {
    const std::int64_t bytes = depthwise_packet * t.element_bytes;
    const auto is_whole = [&](std::int64_t extent, std::int64_t stride) {
        return extent <= 1 || stride * t.element_bytes % bytes == 0;
    };
    return t.channels % depthwise_packet == 0 && t.alignment % bytes == 0 &&
           is_whole(t.width, t.col_stride) && is_whole(t.height, t.row_stride) &&
           is_whole(t.count, t.image_stride);
}

inline depthwise_kernel depthwise_kernel_for(const conv_problem& p) {
    const conv_geometry& g = p.geometry;
    const std::int64_t taps = p.filters.width;
    const bool is_compiled =
        p.filters.height == taps && (taps == 3 || taps == 5) && g.stride.x <= 2 && g.dilation == conv_steps{};
    const int packet = has_packets(p.input) && has_packets(p.output) ? depthwise_packet : 1;
    if (!is_compiled) return {.packet = packet};
    return {packet, static_cast<int>(taps), static_cast<int>(g.stride.x)};
}

constexpr std::int64_t divide_up(std::int64_t n, std::int64_t d) {
    return (n - 1) / d + 1;
}
/// The least power of two that is no less, up to `most`.
constexpr std::int64_t round_up(std::int64_t n, std::int64_t most) {
    std::int64_t power = 1;
    while (power < n && power < most) power *= 2;
    return power;
}

/// Threads of a block along channels, runs and rows, and how many tiles of runs and rows there are.
struct depthwise_tiling {
    launch_extents threads;
    std::int64_t runs;    ///< tiles of a row
    std::int64_t rows;    ///< of tiles in an image
    std::int64_t chunks;  ///< of channels
};

inline depthwise_tiling depthwise_tiling_of(const conv_problem& p, const depthwise_kernel& kernel,
                                            const device_traits& device) {
    constexpr std::int64_t line_bytes = 128, most_deep = 64;
    const tensor_layout& out = p.output;
    const std::int64_t packets = out.channels / kernel.packet,
                       runs = divide_up(out.width, depthwise_outputs(p.input.element_bytes, kernel));
    // Whole lines of channels, then rows, whose windows share most, then runs; more channels where images are small.
    const std::int64_t of_line =
        std::min(depthwise_most_packets, line_bytes / (kernel.packet * p.input.element_bytes));
    launch_extents t{round_up(packets, of_line)};
    t.z = round_up(out.height, 8);
    t.y = round_up(runs, depthwise_threads / (t.x * t.z));
    t.z = round_up(out.height, std::min(depthwise_threads / (t.x * t.y), most_deep));
    t.x = round_up(packets, std::min(depthwise_most_packets, depthwise_threads / (t.y * t.z)));
    const auto tiling = [&] {
        return depthwise_tiling{t, divide_up(runs, t.y), divide_up(out.height, t.z), divide_up(packets, t.x)};
    };
    const auto has_few = [&] {
        const depthwise_tiling now = tiling();
        return out.count * now.rows * now.runs * now.chunks < device.sm_count;
    };
    while (has_few() && t.x > of_line) t.x /= 2;
    while (has_few() && t.z > 2) t.z /= 2;
    return tiling();
}

}  // namespace heddle::kernels::conv
