#pragma once

#include "kernels/conv/plan/layout.hpp"
#include "kernels/device/launch.hpp"
#include <heddle/conv.hpp>
#include <heddle/device.hpp>

#include <algorithm>
#include <cstdint>

/// How `depthwise` divides a problem. Pure.
namespace heddle::kernels::conv {

inline constexpr std::int64_t depthwise_most_taps = 81;
inline constexpr std::int64_t depthwise_threads = 256;
/// More blocks share the strips more evenly, and fewer blocks load fewer filters.
inline constexpr std::int64_t depthwise_blocks_per_sm = 4;
inline constexpr std::int64_t depthwise_most_lanes = 40;     ///< along channels, of a block
inline constexpr std::int64_t depthwise_epilogue_lines = 2;  ///< of channels, for scale and bias

/// The parameters that kernels of `depthwise` are compiled for.
struct depthwise_kernel {
    int packet = 1;  ///< neighbouring channels of a thread
    int side = 1;    ///< of the filter; 1 stands for any filter
    int step = 1;    ///< from one window to the next; any if side is 1
};

/// Neighbouring outputs of a thread. They share its pixels, so there are as many as registers allow.
constexpr int depthwise_outputs(const depthwise_kernel& kernel) {
    const bool has_room = kernel.side == 3 || (kernel.side == 5 && kernel.packet == 1);
    return has_room && kernel.step == 1 ? 8 : 4;
}

/// The elements from the first of an image to its last.
constexpr std::int64_t image_elements(const tensor_layout& t) {
    return (t.height - 1) * t.row_stride + (t.width - 1) * t.col_stride + t.channels;
}

/// The images whose offsets fit 32 bits; 0 if those of one image do not. A tensor without pixels has no offsets.
constexpr std::int64_t images_of_32_bits(const tensor_layout& t) {
    constexpr std::int64_t most = std::int64_t{1} << 32, most_images = 1 << 30;
    if (t.count == 0 || t.height == 0 || t.width == 0) return most_images;
    if (image_elements(t) > most) return 0;
    if (t.count == 1 || t.image_stride == 0) return most_images;
    return std::min((most - image_elements(t)) / t.image_stride + 1, most_images);
}

/// Whether extents and padding fit an int.
constexpr bool has_short_sides(const conv_problem& p) {
    constexpr std::int64_t most = 1 << 28;
    const conv_padding& around = p.geometry.padding;
    return std::max({p.input.height, p.input.width, p.output.height, p.output.width, p.output.channels,
                     around.top, around.left}) < most;
}

inline depthwise_kernel depthwise_kernel_for(const conv_problem& p) {
    const conv_geometry& g = p.geometry;
    const std::int64_t side = p.filters.width, step = g.stride.x;
    const bool is_compiled = images_of_32_bits(p.input) > 0 && images_of_32_bits(p.output) > 0 &&
                             has_short_sides(p) && p.filters.height == side && g.stride.y == step &&
                             g.dilation == conv_steps{} &&
                             (((side == 3 || side == 5) && step <= 2) || (side == 7 && step == 1));
    depthwise_kernel kernel{};
    if (is_compiled) kernel = {1, static_cast<int>(side), static_cast<int>(step)};
    if (p.input.element_bytes == 2 && kernel.side < 7 && has_packets(p.input, 2) && has_packets(p.output, 2))
        kernel.packet = 2;
    return kernel;
}

/// The division into strips: some rows of a run of outputs. The threads of a block lie along channels and strips.
struct depthwise_tiling {
    launch_extents threads;
    std::int64_t runs = 1;    ///< in a row
    int rows = 1;             ///< of a strip
    std::int64_t strips = 1;  ///< of an image, one below the other
    std::int64_t chunks = 1;  ///< of channels
    std::int64_t images = 1;  ///< of a launch
};

inline depthwise_tiling depthwise_tiling_of(const conv_problem& p, const depthwise_kernel& kernel,
                                            const device_traits& device) {
    constexpr std::int64_t sector_lanes = 8, blocks_for_balance = 8;
    constexpr int rows_worth_a_start = 16, most_rows = 1 << 20;
    const tensor_layout& out = p.output;
    const std::int64_t packets = out.channels / kernel.packet;

    depthwise_tiling t{};
    t.runs = divide_up(out.width, depthwise_outputs(kernel));
    t.rows = static_cast<int>(std::min<std::int64_t>(out.height, most_rows));
    t.images = out.count;
    if (kernel.side > 1) t.images = std::min({out.count, images_of_32_bits(p.input), images_of_32_bits(out)});
    // Chooses the lanes for which the last chunk has the fewest idle ones.
    t.threads.x = std::min(packets, depthwise_most_lanes);
    const auto lanes = [&](std::int64_t chunk) { return round_up(packets, chunk); };
    for (std::int64_t x = depthwise_most_lanes; packets > x && x >= 2 * sector_lanes; x -= sector_lanes)
        if (lanes(x) < lanes(t.threads.x)) t.threads.x = x;
    t.threads.y = depthwise_threads / t.threads.x;
    t.chunks = divide_up(packets, t.threads.x);

    // Short strips share the work evenly, but each begins with rows that other strips load too.
    const auto blocks = [&] {
        t.strips = divide_up(out.height, t.rows);
        return divide_up(t.images * t.strips * t.runs, t.threads.y) * t.chunks;
    };
    while (blocks() < blocks_for_balance * depthwise_blocks_per_sm * device.sm_count &&
           t.rows > rows_worth_a_start)
        t.rows = (t.rows + 1) / 2;
    while (blocks() < device.sm_count && t.rows > 1) t.rows = (t.rows + 1) / 2;
    return t;
}

}  // namespace heddle::kernels::conv
