#pragma once

#include "src/conv/validate.hpp"
#include <heddle/pool.hpp>

#include <cstdint>
#include <limits>

/// Checks of the arguments of heddle::pool, heddle::host::pool and the functions of a pool_problem.
namespace heddle::detail {

/// Checks shapes and strides. `argument` is the name of the argument that contains mode and geometry.
inline void validate_pool_shapes(const char* operation, const char* argument, const pool_problem& p) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    const pool_geometry& g = p.geometry;
    validate_layout(operation, {"input", p.input});
    validate_layout(operation, {"output", p.output});
    require(pool_mode::max <= p.mode && p.mode <= pool_mode::padded_average, operation, {argument, "mode"},
            static_cast<int>(p.mode), "an enumerator of pool_mode");
    for (const extent& each : {extent{"geometry.window.y", g.window.y}, {"geometry.window.x", g.window.x}})
        require(each.value >= 1 && each.value <= most, operation, {argument, each.name}, each.value,
                "1 to {}", most);
    validate_geometry(operation, argument, {.stride = g.stride, .padding = g.padding});
    const std::int64_t height = pool_output_height(p.input.height, g),
                       width = pool_output_width(p.input.width, g);
    require(height >= 1, operation, {argument, "geometry.window.y"}, g.window.y,
            "a window that fits the {} of the padded input",
            p.input.height + g.padding.top + g.padding.bottom);
    require(width >= 1, operation, {argument, "geometry.window.x"}, g.window.x,
            "a window that fits the {} of the padded input",
            p.input.width + g.padding.left + g.padding.right);
    const auto require_equal = [&](const char* member, std::int64_t value, const char* expected_name,
                                   std::int64_t expected) {
        require(value == expected, operation, {"output", member}, value, "{} ({})", expected, expected_name);
    };
    require_equal("count", p.output.count, "input.count", p.input.count);
    require_equal("height", p.output.height, "pool_output_height()", height);
    require_equal("width", p.output.width, "pool_output_width()", width);
    require_equal("channels", p.output.channels, "input.channels", p.input.channels);
}

/// The problem of a call, after all checks; without elements, after those of layouts and options alone.
template <class T>
pool_problem validated_pool(const char* operation, const tensor_view<const T>& input,
                            const tensor_view<T>& output, const pool_options& options,
                            bool have_elements = true) {
    const pool_problem problem{layout_of(input), layout_of(output), options.mode, options.geometry};
    validate_pool_shapes(operation, "options", problem);
    if (!have_elements) return problem;
    validate_elements(operation, "input", input);
    validate_elements(operation, "output", output);
    require(!overlap(footprint_of(input), footprint_of(output)), operation, "output",
            "a view that overlaps input", "one apart from it");
    return problem;
}

}  // namespace heddle::detail
