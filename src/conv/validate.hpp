#pragma once

#include "kernels/conv/plan/layout.hpp"
#include "src/matmul/validate.hpp"
#include "src/validate.hpp"
#include <heddle/conv.hpp>
#include <heddle/tensor.hpp>

#include <cstdint>
#include <limits>

/// Checks of the arguments of heddle::conv, heddle::host::conv and the functions of a conv_problem.
namespace heddle::detail {

template <class T>
tensor_view<T> as_tensor(const filter_view<T>& f) {
    return {f.data, f.outputs, f.height, f.width, f.channels, f.col_stride, f.row_stride, f.output_stride};
}

/// A tensor, filters or planes, with the names that errors give the members.
struct named_tensor {
    const char* name;
    const tensor_layout& lies;
    const char* count = "count";
    const char* image_stride = "image_stride";
    const char* height = "height";
    const char* row_stride = "row_stride";
    const char* width = "width";
    const char* col_stride = "col_stride";
    const char* channels = "channels";
};

constexpr bool is_empty(const tensor_layout& t) {
    return t.count == 0 || t.height == 0 || t.width == 0 || t.channels == 0;
}

/// Whether the caller gave this optional view.
template <class T>
bool is_given(const tensor_view<T>& t) {
    return t.count != 0 || t.height != 0 || t.width != 0 || t.channels != 0;
}

/// Checks that the last element's offset fits, and that each stride is at least the span of the dimensions inside it.
inline void validate_layout(const char* operation, const named_tensor& named) {
    const tensor_layout& t = named.lies;
    const auto fits = [](std::int64_t count, std::int64_t stride, std::int64_t more) {
        std::int64_t elements = 0;
        return !__builtin_mul_overflow(count, stride, &elements) &&
               !__builtin_add_overflow(elements, more, &elements) && elements <= max_problem_elements;
    };
    const struct {
        const char* extent_name;
        std::int64_t extent;
        const char* stride_name;
        std::int64_t stride;
    } steps[] = {{named.width, t.width, named.col_stride, t.col_stride},
                 {named.height, t.height, named.row_stride, t.row_stride},
                 {named.count, t.count, named.image_stride, t.image_stride}};
    const auto require_extent = [&](const char* name, std::int64_t extent) {
        require(extent >= 0, operation, {named.name, name}, extent, "zero or more");
        require(extent <= max_problem_elements, operation, {named.name, name}, extent, "at most {}",
                max_problem_elements);
    };
    require_extent(named.channels, t.channels);
    for (const auto& step : steps) require_extent(step.extent_name, step.extent);
    if (is_empty(t)) return;
    std::int64_t span = t.channels;
    for (const auto& step : steps) {
        if (step.extent == 1) continue;
        require(fits(step.extent, span, 0), operation, {named.name, step.extent_name}, step.extent,
                "a tensor of at most {} elements", max_problem_elements);
        require(step.stride >= span, operation, {named.name, step.stride_name}, step.stride,
                "at least {}: what lies within it", span);
        require(fits(step.extent - 1, step.stride, span), operation, {named.name, step.stride_name},
                step.stride, "a stride whose bytes fit 63 bits");
        span += (step.extent - 1) * step.stride;
    }
}

inline void validate_geometry(const char* operation, const char* argument, const conv_geometry& g) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();  // so positions fit 64 bits
    const auto require_all = [&](std::int64_t least, std::initializer_list<extent> values) {
        for (const extent& each : values)
            require(each.value >= least && each.value <= most, operation, {argument, each.name}, each.value,
                    "{} to {}", least, most);
    };
    require_all(1, {{"geometry.stride.y", g.stride.y},
                    {"geometry.stride.x", g.stride.x},
                    {"geometry.dilation.y", g.dilation.y},
                    {"geometry.dilation.x", g.dilation.x},
                    {"geometry.groups", g.groups}});
    require_all(0, {{"geometry.padding.top", g.padding.top},
                    {"geometry.padding.bottom", g.padding.bottom},
                    {"geometry.padding.left", g.padding.left},
                    {"geometry.padding.right", g.padding.right}});
}

/// Checks shapes and strides. `argument` is the name of the argument that contains the geometry.
inline void validate_shapes(const char* operation, const char* argument, const tensor_layout& input,
                            const tensor_layout& filters, const tensor_layout& output,
                            const conv_geometry& g) {
    validate_layout(operation, {"input", input});
    validate_layout(operation, {"filters", filters, "outputs", "output_stride"});
    validate_layout(operation, {"output", output});
    validate_geometry(operation, argument, g);
    const auto require_equal = [&](const argument_name& name, std::int64_t value, const char* expected_name,
                                   std::int64_t expected) {
        require(value == expected, operation, name, value, "{} ({})", expected, expected_name);
    };
    const auto require_taps = [&](const char* name, std::int64_t taps) {
        constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
        require(taps >= 1 && taps <= most, operation, {"filters", name}, taps, "1 to {}", most);
    };
    require_taps("height", filters.height);
    require_taps("width", filters.width);
    require(input.channels % g.groups == 0, operation, {"input", "channels"}, input.channels,
            "a multiple of {} ({}.geometry.groups)", g.groups, argument);
    require(filters.count % g.groups == 0, operation, {"filters", "outputs"}, filters.count,
            "a multiple of {} ({}.geometry.groups)", g.groups, argument);
    require_equal({"filters", "channels"}, filters.channels, "those of a group of the input",
                  input.channels / g.groups);
    const auto require_place = [&](const char* name, std::int64_t taps, std::int64_t places,
                                   std::int64_t padded) {
        require(places >= 1, operation, {"filters", name}, taps,
                "a filter that, dilated, fits the {} of the padded input", padded);
    };
    const std::int64_t height = conv_output_height(input.height, filters.height, g);
    const std::int64_t width = conv_output_width(input.width, filters.width, g);
    require_place("height", filters.height, height, input.height + g.padding.top + g.padding.bottom);
    require_place("width", filters.width, width, input.width + g.padding.left + g.padding.right);
    require_equal({"output", "count"}, output.count, "input.count", input.count);
    require_equal({"output", "height"}, output.height, "conv_output_height()", height);
    require_equal({"output", "width"}, output.width, "conv_output_width()", width);
    require_equal({"output", "channels"}, output.channels, "filters.outputs", filters.count);
}

template <class T>
footprint footprint_of(const tensor_view<T>& t) {
    return footprint_of(t.data, t.channels,
                        {{t.width, t.col_stride}, {t.height, t.row_stride}, {t.count, t.image_stride}});
}
template <class T>
footprint footprint_of(const filter_view<T>& f) {
    return footprint_of(as_tensor(f));
}

/// Checks the pointer of a tensor whose layout is valid.
template <class T>
void validate_elements(const char* operation, const char* name, const tensor_view<T>& t) {
    if (!is_empty(layout_of(t))) validate_pointer(operation, name, t.data);
}

template <class Out>
void validate_epilogue(const char* operation, const conv_epilogue<Out>& e, const tensor_view<Out>& output,
                       bool have_elements) {
    const footprint of_output = have_elements ? footprint_of(output) : footprint{};
    const auto require_apart = [&](const char* name, const footprint& memory) {
        require(!have_elements || !overlap(memory, of_output), operation, name, "a view that overlaps output",
                "one apart from it");
    };
    const auto validate_vector = [&](const char* name, const vector_view<const Out>& v) {
        if (v.size == 0) return;
        require(v.size == output.channels, operation, {name, "size"}, v.size, "{} (output.channels), or 0",
                output.channels);
        if (have_elements) validate(operation, name, v);
        require_apart(name, have_elements ? footprint_of(v) : footprint{});
    };
    validate_vector("epilogue.bias", e.bias);
    validate_vector("epilogue.scale", e.scale);
    validate_activation(operation, {"epilogue", "activation"}, e.activation);
    const tensor_view<const Out>& r = e.residual;
    if (!is_given(r)) return;
    constexpr const char* name = "epilogue.residual";
    validate_layout(operation, {name, layout_of(r)});
    const auto require_equal = [&](const char* member, std::int64_t value, std::int64_t expected) {
        require(value == expected, operation, {name, member}, value, "{} (output.{})", expected, member);
    };
    require_equal("count", r.count, output.count);
    require_equal("height", r.height, output.height);
    require_equal("width", r.width, output.width);
    require_equal("channels", r.channels, output.channels);
    if (!have_elements) return;
    validate_elements(operation, name, r);
    const bool is_output = r.data == output.data && r.col_stride == output.col_stride &&
                           r.row_stride == output.row_stride && r.image_stride == output.image_stride;
    if (!is_output) require_apart(name, footprint_of(r));
}

/// All checks of the tensors; without elements, the checks of their layouts alone.
template <class In, class Out>
void validate_conv(const char* operation, const tensor_view<const In>& input,
                   const filter_view<const In>& filters, const tensor_view<Out>& output,
                   const conv_epilogue<Out>& epilogue, const conv_geometry& geometry,
                   bool have_elements = true) {
    validate_shapes(operation, "options", layout_of(input), layout_of(filters), layout_of(output), geometry);
    if (have_elements) {
        validate_elements(operation, "input", input);
        validate_elements(operation, "filters", as_tensor(filters));
        validate_elements(operation, "output", output);
        require(!overlap(footprint_of(input), footprint_of(output)), operation, "output",
                "a view that overlaps input", "one apart from it");
        require(!overlap(footprint_of(filters), footprint_of(output)), operation, "output",
                "a view that overlaps filters", "one apart from it");
    }
    validate_epilogue(operation, epilogue, output, have_elements);
}

}  // namespace heddle::detail
