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

/// One less and one more than the tiles and stages of pixels, outputs and depth; whole tiles of windows, of steps and
/// of groups; padding beyond the filter, and taps past the image.
inline std::vector<conv_shape> conv_shapes() {
    return {
        {1, 1, 1, 1, 1, 1, 1},
        {1, 9, 7, 16, 63, 1, 1},  // 63 pixels
        {1, 8, 8, 15, 64, 1, 1},
        {1, 5, 13, 17, 65, 1, 1},
        {3, 11, 6, 5, 66, 3, 3, {.padding = around(1)}},
        {2, 12, 13, 33, 129, 1, 1, {.stride = {2, 2}}},
        {1, 30, 29, 3, 16, 7, 7, {.stride = {2, 2}, .padding = around(3)}},  // a stem
        {2, 10, 9, 8, 24, 7, 1, {.padding = {3, 3, 0, 0}}},
        {1, 6, 6, 130, 10, 3, 3, {.padding = around(1)}},
        {2, 6, 5, 8, 8, 3, 3, {.padding = around(1), .groups = 2}},
        {1, 7, 8, 6, 9, 3, 2, {.groups = 3}},
        {2, 9, 9, 13, 13, 3, 3, {.padding = around(1), .groups = 13}},  // depthwise
        {2, 9, 8, 64, 128, 3, 3, {.padding = around(1)}},
        {1, 12, 11, 72, 136, 3, 3, {.padding = around(1)}},
        {1, 3, 43, 192, 257, 1, 1},  // 129 pixels
        {2, 14, 17, 16, 72, 3, 2, {.stride = {3, 1}, .padding = {3, 1, 2, 0}, .dilation = {2, 3}}},
        {40, 3, 2, 8, 16, 3, 3, {.padding = around(1)}},
        {1, 20, 19, 8, 8, 2, 2, {.stride = {8, 8}}},
        {1, 7, 6, 128, 128, 3, 3, {.padding = around(1), .groups = 2}},
        {1, 3, 300, 8, 8, 1, 2, {.padding = {0, 0, 127, 100}, .dilation = {1, 255}}},  // the farthest tap
        {1, 3, 2, 4, 5, 1, 1, {.padding = around(3)}},
        {1, 4, 5, 3, 7, 3, 3, {.padding = around(6), .dilation = {7, 6}}},
        {2, 37, 41, 72, 5, 3, 3, {.padding = around(1)}},  // few taps in all, in several patches
        {1, 19, 43, 136, 1, 7, 7, {.stride = {2, 1}, .padding = {3, 2, 1, 3}}},
        {3, 18, 17, 8, 6, 3, 2, {.padding = around(2), .dilation = {2, 3}}},
        {1, 6, 5, 4, 4, 5, 5, {.stride = {3, 3}}},         // one place, and rows that no tap meets
        {2, 0, 0, 3, 4, 1, 2, {.padding = {1, 1, 1, 2}}},  // padding alone
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
    s.channels = g.groups;  // for s.depth() with one channel a group
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
