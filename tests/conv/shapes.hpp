#pragma once

#include "tests/conv/operands.hpp"
#include "tests/support/random.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

// Shapes and geometries that every implementation takes.
namespace heddle::test {

inline constexpr conv_padding around(std::int64_t n) {
    return {n, n, n, n};
}

/// One less and one more than tiles and stages have, of pixels, outputs and depth.
inline std::vector<conv_shape> conv_shapes() {
    return {
        {1, 1, 1, 1, 1, 1, 1},
        {2, 5, 7, 3, 4, 3, 3, {.padding = around(1)}},
        {1, 9, 7, 16, 63, 1, 1},  // 63 pixels
        {1, 8, 8, 15, 64, 1, 1},
        {1, 5, 13, 17, 65, 1, 1},
        {3, 11, 6, 5, 66, 3, 3, {.padding = around(1)}},
        {2, 12, 13, 33, 129, 1, 1, {.stride = {2, 2}}},
        {1, 30, 29, 3, 16, 7, 7, {.stride = {2, 2}, .padding = around(3)}},  // a stem
        {2, 9, 10, 8, 24, 1, 7, {.padding = {0, 0, 3, 3}}},
        {2, 10, 9, 8, 24, 7, 1, {.padding = {3, 3, 0, 0}}},
        {1, 6, 6, 130, 10, 3, 3, {.padding = around(1)}},
        {1, 7, 7, 12, 20, 5, 5, {.padding = around(2)}},
    };
}

inline std::vector<conv_shape> grouped_shapes() {
    return {
        {2, 6, 5, 8, 8, 3, 3, {.padding = around(1), .groups = 2}},
        {1, 7, 8, 6, 9, 3, 2, {.groups = 3}},
        {1, 5, 5, 20, 136, 1, 1, {.groups = 2}},                        // 68 outputs a group
        {2, 9, 9, 13, 13, 3, 3, {.padding = around(1), .groups = 13}},  // depthwise
        {1, 8, 9, 7, 21, 5, 5, {.stride = {2, 1}, .padding = around(2), .groups = 7}},
    };
}

/// Tiles of windows and steps of 64 channels, one packet less and one more; windows on every side of an image, from one image to the
/// next within a tile; groups of whole steps.
inline std::vector<conv_shape> window_shapes() {
    return {
        {2, 9, 8, 64, 128, 3, 3, {.padding = around(1)}},
        {1, 12, 11, 72, 136, 3, 3, {.padding = around(1)}},
        {1, 12, 11, 56, 120, 3, 3, {.padding = around(1)}},
        {3, 5, 7, 8, 64, 1, 1},
        {1, 8, 8, 128, 65, 1, 1},    // 64 pixels, and an output that no packet has
        {1, 3, 43, 192, 257, 1, 1},  // 129 pixels
        {1, 1, 127, 64, 32, 1, 1},
        {2, 15, 13, 128, 256, 3, 3, {.stride = {2, 2}, .padding = around(1)}},
        {2, 14, 17, 16, 72, 3, 3, {.stride = {1, 2}, .padding = {0, 2, 1, 3}}},
        {2, 14, 17, 16, 72, 3, 2, {.stride = {3, 1}, .padding = {3, 1, 2, 0}, .dilation = {2, 3}}},
        {5, 7, 7, 32, 40, 3, 3, {.padding = around(1)}},
        {40, 3, 2, 8, 16, 3, 3, {.padding = around(1)}},
        {2, 9, 10, 64, 24, 1, 7, {.padding = {0, 0, 3, 3}}},
        {2, 10, 9, 64, 24, 7, 1, {.padding = {3, 3, 0, 0}}},
        {1, 20, 19, 8, 8, 2, 2, {.stride = {8, 8}}},
        {1, 30, 29, 8, 64, 7, 7, {.stride = {2, 2}, .padding = around(3)}},
        {1, 7, 6, 128, 128, 3, 3, {.padding = around(1), .groups = 2}},
        {1, 7, 6, 128, 512, 1, 1, {.groups = 2}},
        {1, 5, 4, 192, 768, 3, 3, {.padding = around(1), .groups = 3}},
        {1, 3, 300, 8, 8, 1, 2, {.padding = {0, 0, 127, 100}, .dilation = {1, 255}}},  // the farthest tap
    };
}

/// The same of float: steps of 32 channels, packets of 4; groups of whole steps; sums of more steps than a ring has, and of few
/// tiles, whose steps blocks divide, and of more tiles than a device has multiprocessors.
inline std::vector<conv_shape> float_window_shapes() {
    std::vector<conv_shape> all;
    for (const std::int64_t channels : {4, 12, 28, 32, 36, 60, 64, 68, 100})
        all.push_back({2, 6, 7, channels, 72, 3, 3, {.padding = around(1)}});
    for (const std::int64_t outputs : {3, 60, 63, 64, 65, 127, 128, 129})
        all.push_back({1, 9, 15, 36, outputs, 2, 2});  // 112 pixels
    for (const std::int64_t pixels : {127, 128, 129}) all.push_back({1, 1, pixels, 20, 132, 1, 1});
    all.push_back({2, 7, 6, 64, 128, 3, 3, {.padding = around(1), .groups = 2}});
    all.push_back({1, 5, 4, 96, 384, 3, 3, {.padding = around(1), .groups = 3}});
    all.push_back({1, 7, 6, 128, 512, 1, 1, {.groups = 4}});
    all.push_back({1, 5, 6, 516, 64, 3, 3, {.padding = around(1)}});
    all.push_back({1, 3, 4, 2052, 136, 1, 2});
    all.push_back({140, 8, 16, 8, 8, 1, 2, {.padding = {0, 0, 1, 0}}});
    return all;
}

/// Tiles of mma_sync and register_tiled, one pixel and one output less and more; channels of a packet, a word, an element; sums of a step of 128 bytes,
/// one term less and more, and of more steps than a ring has.
inline std::vector<conv_shape> copied_shapes() {
    std::vector<conv_shape> all;
    for (const std::int64_t pixels : {31, 33, 63, 65, 127, 129})
        for (const std::int64_t outputs : {31, 33, 63, 65, 127, 129})
            all.push_back({1, 1, pixels, 8, outputs, 1, 1});
    for (const std::int64_t channels : {31, 33, 63, 65, 72, 200, 257})
        all.push_back({1, 5, 4, channels, 8, 1, 1, {.padding = around(1)}});
    for (std::int64_t channels = 1; channels <= 17; ++channels)
        all.push_back({2, 5, 6, channels, 12, 3, 3, {.stride = {1, 2}, .padding = around(1)}});
    for (const std::int64_t channels : {7, 8, 9, 28, 36, 68, 100})  // a part of a step, a step, several
        all.push_back({1, 6, 7, channels, 40, 3, 3, {.padding = around(1)}});
    for (const std::int64_t channels : {1, 2, 5, 8})
        for (const std::int64_t outputs : {5, 8, 33, 64, 65})
            all.push_back({1, 4, 5, 3 * channels, 3 * outputs, 2, 2, {.padding = around(1), .groups = 3}});
    all.push_back({1, 3, 40, 1, 8, 3, 37, {.padding = around(1)}});  // taps by the step
    all.push_back({1, 40, 3, 2, 8, 39, 1});
    return all;
}

/// Few channels: rows of taps of odd and even lengths, as long as a step and beyond; tiles of 8 x 16 outputs, one less and one more;
/// windows that begin at odd elements.
inline std::vector<conv_shape> few_channel_shapes() {
    std::vector<conv_shape> all;
    for (const std::int64_t channels : {1, 2, 3, 4, 5, 7, 9, 13})
        for (const std::int64_t taps : {1, 3, 7})
            for (const std::int64_t stride : {1, 2})
                all.push_back({2,
                               7 + channels % 3,
                               15 + channels % 4 + taps,
                               channels,
                               channels % 2 == 0 ? 33 : 24,
                               taps,
                               taps,
                               {.stride = {stride, stride}, .padding = around(taps / 2)}});
    all.push_back({2, 37, 50, 3, 64, 7, 7, {.stride = {2, 2}, .padding = around(3)}});
    all.push_back({1, 20, 19, 3, 136, 5, 2, {.stride = {1, 3}, .padding = {4, 1, 0, 2}, .dilation = {2, 1}}});
    all.push_back({3, 9, 17, 3, 65, 2, 8, {.padding = {0, 1, 9, 0}}});
    // As many tiles as fill a device, whose blocks then have 64 outputs; and more than it has blocks at a time.
    all.push_back({150, 3, 4, 3, 40, 3, 3, {.padding = around(1)}});
    all.push_back({300, 1, 3, 5, 65, 1, 2});
    return all;
}

/// Packets of channels and single ones; runs of four and of eight outputs, one less and one more; what is compiled for, and not.
inline std::vector<conv_shape> depthwise_shapes() {
    std::vector<conv_shape> all;
    const auto add = [&](std::int64_t height, std::int64_t width, std::int64_t channels, std::int64_t taps,
                         std::int64_t stride, std::int64_t padding, std::int64_t dilation = 1) {
        all.push_back({2,
                       height,
                       width,
                       channels,
                       channels,
                       taps,
                       taps,
                       {{stride, stride}, around(padding), {dilation, dilation}, channels}});
    };
    for (const std::int64_t taps : {3, 5, 7})
        for (const std::int64_t stride : {1, 2})
            for (const std::int64_t width : {1, 7, 8, 9, 17})
                add(9, width, width % 2 == 0 ? 36 : 7, taps, stride, taps / 2);
    add(33, 34, 8, 3, 1, 1);                                                            // several strips
    all.push_back({8, 17, 34, 264, 264, 3, 3, {.padding = around(1), .groups = 264}});  // of several rows
    all.push_back({8, 37, 18, 90, 90, 5, 5, {{2, 2}, around(2), {1, 1}, 90}});
    all.push_back({40000, 3, 3, 8, 8, 3, 3, {.padding = around(1), .groups = 8}});  // several strips a thread
    add(3, 70, 132, 5, 1, 6);  // padding beyond the filter
    add(5, 6, 260, 3, 2, 0);   // several blocks of channels
    add(11, 10, 12, 3, 3, 1);  // a stride that is not compiled for
    add(12, 13, 12, 3, 1, 2, 2);
    add(10, 11, 16, 4, 1, 1);
    add(9, 9, 5, 9, 1, 4);  // the most taps, and more
    add(10, 10, 4, 10, 1, 5);
    all.push_back({1, 8, 9, 8, 8, 3, 3, {.stride = {3, 2}, .padding = {0, 1, 2, 0}, .groups = 8}});
    all.push_back({1, 8, 9, 8, 8, 1, 7, {.padding = {0, 0, 3, 3}, .groups = 8}});
    return all;
}

/// Groups of few channels: quads of them and others; chunks of 8 outputs, one less and one more; slabs of 32 channels that groups
/// fill, do not fill, and pass; tiles of up to 16 columns and 128 pixels; patches that leave room for fewer groups, or pixels.
inline std::vector<conv_shape> small_group_shapes() {
    std::vector<conv_shape> all;
    for (const std::int64_t channels : {1, 2, 3, 4, 5, 8, 12, 16, 17, 28, 32})
        for (const std::int64_t outputs : {1, 2, 4, 7, 8, 9, 16, 17, 32})
            all.push_back({1, 5, 6, 3 * channels, 3 * outputs, 3, 3, {.padding = around(1), .groups = 3}});
    for (const std::int64_t groups : {7, 8, 9, 17})
        all.push_back({2, 6, 5, 4 * groups, 4 * groups, 3, 3, {.padding = around(1), .groups = groups}});
    for (const std::int64_t width : {1, 15, 16, 17, 33})
        for (const std::int64_t height : {1, 7, 8, 9, 17})
            all.push_back({1, height, width, 16, 16, 3, 3, {.padding = around(1), .groups = 4}});
    for (const std::int64_t channels : {4, 6, 16})
        for (const std::int64_t taps : {1, 2, 5})
            for (const std::int64_t stride : {1, 2, 3})
                all.push_back({1,
                               19,
                               21,
                               8 * channels,
                               8 * channels,
                               taps,
                               taps,
                               {.stride = {stride, stride}, .padding = around(taps / 2), .groups = 8}});
    all.push_back({1, 40, 41, 64, 64, 3, 3, {.stride = {4, 4}, .dilation = {5, 7}, .groups = 16}});
    all.push_back({1, 14, 13, 48, 48, 5, 5, {.padding = around(2), .groups = 2}});
    all.push_back({1, 70, 9, 32, 24, 9, 1, {.stride = {1, 2}, .padding = {5, 2, 0, 0}, .groups = 8}});
    all.push_back({1, 3, 40, 8, 12, 1, 30, {.padding = {0, 0, 11, 7}, .groups = 2}});
    return all;
}

inline std::vector<conv_shape> edge_shapes() {
    return {
        {1, 3, 2, 4, 5, 1, 1, {.padding = around(3)}},  // padding beyond the filter: pixels of it alone
        {2, 4, 4, 3, 6, 2, 3, {.padding = {5, 0, 0, 6}}},
        {1, 9, 11, 5, 4, 2, 2, {.stride = {4, 3}}},  // a stride beyond the filter
        {2, 1, 1, 9, 70, 1, 1},
        {3, 1, 1, 6, 5, 3, 3, {.padding = around(1)}},
        {1,
         4,
         5,
         3,
         7,
         3,
         3,
         {.padding = around(6), .dilation = {7, 6}}},  // taps past the image on both sides
        {1, 3, 3, 2, 3, 2, 2, {.padding = {0, 9, 9, 0}, .dilation = {10, 11}}},
        {1, 5, 5, 4, 4, 5, 5},                             // one place
        {1, 6, 5, 4, 4, 5, 5, {.stride = {3, 3}}},         // one place, and rows that no tap meets
        {2, 0, 0, 3, 4, 1, 2, {.padding = {1, 1, 1, 2}}},  // padding alone
        {1, 3, 200, 2, 3, 2, 9, {.stride = {1, 5}, .padding = {0, 1, 4, 0}, .dilation = {1, 2}}},
    };
}

inline conv_shape draw_conv_shape(drawing& draw) {
    const auto few = [&](std::int64_t most) { return draw(0, 1) == 0 ? 1 : draw(1, most); };
    const auto padding = [&] { return draw(0, 2) == 0 ? draw(0, 5) : draw(0, 1); };
    conv_shape s{draw(1, 3), 0, 0, 0, 0, draw(1, 4), draw(1, 4)};
    conv_geometry& g = s.geometry;
    g.stride = {few(4), few(4)};
    g.dilation = {few(3), few(3)};
    g.padding = {padding(), padding(), padding(), padding()};
    const auto extent = [&](std::int64_t filter, std::int64_t dilation, std::int64_t padded) {
        return std::max<std::int64_t>(1, (filter - 1) * dilation + 1 - padded) +
               draw(0, draw(0, 1) == 0 ? 3 : 16);
    };
    s.height = extent(s.filter_height, g.dilation.y, g.padding.top + g.padding.bottom);
    s.width = extent(s.filter_width, g.dilation.x, g.padding.left + g.padding.right);
    const bool is_depthwise = draw(0, 3) == 0;
    g.groups = is_depthwise ? draw(1, 70) : few(4);
    const std::int64_t of_group = is_depthwise ? draw(1, 2) : draw(1, draw(0, 1) == 0 ? 8 : 70);
    s.outputs = g.groups * of_group;
    constexpr std::int64_t most_terms = 1'000'000;
    s.channels = g.groups;  // for s.depth() of one channel a group
    const std::int64_t most = std::max<std::int64_t>(1, most_terms / (s.outputs_all() * s.depth()));
    s.channels = g.groups * (is_depthwise ? 1 : std::min(most, draw(1, draw(0, 1) == 0 ? 8 : 70)));
    return s;
}

inline tensor_gaps draw_gaps(drawing& draw) {
    if (draw(0, 1) == 0) return {};
    return {draw(0, 1) * draw(0, 9), draw(0, 1) * draw(0, 9), draw(0, 1) * draw(0, 9),
            draw(0, 1) * draw(0, 8)};
}

}  // namespace heddle::test
