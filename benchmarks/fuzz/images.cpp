#include "benchmarks/fuzz/operand.hpp"
#include "benchmarks/fuzz/operations.hpp"
#include "benchmarks/support/rows.hpp"
#include "tests/bounds/products.hpp"
#include "tests/bounds/windows.hpp"
#include <heddle/conv.hpp>
#include <heddle/host.hpp>
#include <heddle/pool.hpp>

namespace heddle::bench::fuzz {
namespace {

/// Windows: how far apart, and what lies around an image.
std::vector<field> window_fields(std::vector<field> fields) {
    const std::vector<field> more = {{"count"},        {"height"},   {"width"},    {"window_height"},
                                     {"window_width"}, {"stride_y"}, {"stride_x"}, {"top", 0},
                                     {"bottom", 0},    {"left", 0},  {"right", 0}, {"offset", 0},
                                     {"padding", 0},   {"seed", 0}};
    fields.insert(fields.end(), more.begin(), more.end());
    return fields;
}

void draw_windows(drawing& d, problem& p, std::int64_t channels, std::int64_t most) {
    const std::int64_t window = d.one_of<std::int64_t>({1, 2, 3, 3, 3, 5, 7});
    p.set("window_height", window);
    p.set("window_width", d.one_in(4) ? d.integer(1, 6) : window);
    const std::int64_t stride = d.one_in(3) ? 2 : 1;
    p.set("stride_y", stride);
    p.set("stride_x", d.one_in(6) ? d.integer(1, 3) : stride);
    const std::int64_t around = d.one_in(3) ? 0 : window / 2;
    for (const char* const side : {"top", "bottom", "left", "right"})
        p.set(side, d.one_in(6) ? d.integer(0, window) : around);
    const auto shape =
        draw_shape(d, 3, std::max<std::int64_t>(most / std::max<std::int64_t>(channels, 1), 1));
    p.set("count", std::min<std::int64_t>(shape[0], 40));
    p.set("height", shape[1]);
    p.set("width", shape[2]);
    const cliffs::placement at = d.lie(false);
    p.set("offset", at.offset);
    p.set("padding", at.padding);
    p.set("seed", d.integer(0, 1 << 30));
}

conv_padding padding_of(const problem& p) {
    return {p["top"], p["bottom"], p["left"], p["right"]};
}

/// Whether a window lies within the padded image, as it has to.
bool fits(const problem& p, std::int64_t window_height, std::int64_t window_width) {
    return window_height <= p["height"] + p["top"] + p["bottom"] &&
           window_width <= p["width"] + p["left"] + p["right"];
}

lattice dense(std::initializer_list<std::int64_t> extents) {
    return lie(extents, 0, 0, 1);
}

/// Where element (image, y, x, channel) is among those of a tensor.
struct places {
    std::int64_t height, width, channels;

    std::size_t operator()(std::int64_t image, std::int64_t y, std::int64_t x, std::int64_t channel) const {
        return static_cast<std::size_t>(((image * height + y) * width + x) * channels + channel);
    }
};

template <class T>
std::string wrong_conv(const problem& p, processor where) {
    const std::int64_t groups = std::max<std::int64_t>(p["groups"], 1), in = p["inputs"], out = p["outputs"];
    const std::int64_t count = p["count"], height = p["height"], width = p["width"],
                       taps_y = std::max<std::int64_t>(p["window_height"], 1),
                       taps_x = std::max<std::int64_t>(p["window_width"], 1);
    const conv_geometry geometry{
        .stride = {std::max<std::int64_t>(p["stride_y"], 1), std::max<std::int64_t>(p["stride_x"], 1)},
        .padding = padding_of(p),
        .dilation = {p["dilation"] + 1, p["dilation"] + 1},
        .groups = groups};
    const std::int64_t rows = conv_output_height(height, taps_y, geometry),
                       cols = conv_output_width(width, taps_x, geometry);
    const std::int64_t channels = groups * in, outputs = groups * out;
    if (!fits(p, (taps_y - 1) * geometry.dilation.y + 1, (taps_x - 1) * geometry.dilation.x + 1)) return {};
    if (rows * cols * count * outputs * taps_y * taps_x * std::max<std::int64_t>(in, 1) > 1 << 24)
        return {};  // too much for a reference
    const auto seed = static_cast<std::uint64_t>(p["seed"]);
    const auto kind = static_cast<values>(p["values"]);
    const auto xs = draw_values<T>(kind, count * height * width * channels, seed);
    const auto ws = draw_values<T>(kind, outputs * taps_y * taps_x * in, seed + 1);
    const auto biases = draw_values<T>(values::uniform, outputs, seed + 2);
    operand<T> input(where, lie({count, height, width, channels}, p["offset"], p["padding"], 1), xs);
    operand<T> filters(where, dense({outputs, taps_y, taps_x, in}), ws),
        bias(where, dense({outputs}), biases);
    const bool has_scale = p["scale"] == 1, has_residual = p["residual"] > 0, is_first = p["residual"] != 2;
    const float beta = p["beta"] == 1 ? -0.5f : 0;
    const auto scales = draw_values<T>(values::uniform, outputs, seed + 3);
    const auto before = draw_values<T>(values::uniform, count * rows * cols * outputs, seed + 4),
               residuals = draw_values<T>(values::uniform, count * rows * cols * outputs, seed + 5);
    operand<T> unwritten(where, dense({count, rows, cols, outputs})),
        written(where, dense({count, rows, cols, outputs}), before);
    operand<T>& output = beta == 0 ? unwritten : written;
    operand<T> scale(where, lie({outputs}, 1, 0, 2), scales),
        residual(where, lie({count, rows, cols, outputs}, p["offset"], p["padding"], 1), residuals);
    const auto activation = p["activation"] == 1 ? matmul_activation::relu : matmul_activation::none;
    conv_epilogue<T> epilogue{.activation = activation};
    const bool has_bias = p["bias"] == 1;
    if (has_bias) epilogue.bias = bias.vector();
    if (has_scale) epilogue.scale = scale.vector();
    if (has_residual) epilogue.residual = residual.tensor();
    epilogue.residual_before_activation = is_first;
    conv_options options{.geometry = geometry, .beta = beta};
    if (where == processor::cpu)
        host::conv<T, T>(input.tensor(), filters.filters(), output.tensor(), epilogue, options);
    else {
        options.algorithm = rung_of(p, where, conv_algorithms());
        conv<T, T>(input.tensor(), filters.filters(), output.tensor(), epilogue, stream(), options);
    }
    const double share = where == processor::cpu
                             ? bounds::of_fmas(static_cast<double>(taps_y * taps_x * in))
                             : bounds::of_conv<T>(options.algorithm, options.precision, taps_y, taps_x, in);
    const places of_input{height, width, channels}, of_output{rows, cols, outputs},
        of_filter{taps_y, taps_x, in};
    std::vector<double> sums(static_cast<std::size_t>(count * rows * cols * outputs)), bounds(sums.size());
    for (std::int64_t image = 0; image < count; ++image)
        for (std::int64_t y = 0; y < rows; ++y)
            for (std::int64_t x = 0; x < cols; ++x)
                for (std::int64_t o = 0; o < outputs; ++o) {
                    double sum = 0, magnitudes = 0;
                    for (std::int64_t r = 0; r < taps_y; ++r)
                        for (std::int64_t s = 0; s < taps_x; ++s) {
                            const std::int64_t from_y = y * geometry.stride.y + r * geometry.dilation.y -
                                                        geometry.padding.top,
                                               from_x = x * geometry.stride.x + s * geometry.dilation.x -
                                                        geometry.padding.left;
                            if (from_y < 0 || from_y >= height || from_x < 0 || from_x >= width) continue;
                            for (std::int64_t c = 0; c < in; ++c) {
                                const T pixel = xs[of_input(image, from_y, from_x, o / out * in + c)],
                                        weight = ws[of_filter(o, r, s, c)];
                                sum += as_double(pixel) * as_double(weight);
                                magnitudes +=
                                    bounds::counted_magnitude(pixel) * bounds::counted_magnitude(weight);
                            }
                        }
                    const std::size_t at = of_output(image, y, x, o);
                    const auto channel = static_cast<std::size_t>(o);
                    if (beta != 0) {
                        const double added = static_cast<double>(beta) * as_double(before[at]);
                        sum += added, magnitudes += std::abs(added);
                    }
                    const bounds::approximate result = bounds::conv_result(
                        {sum, share * magnitudes}, has_scale ? as_double(scales[channel]) : 1,
                        has_bias ? as_double(biases[channel]) : 0,
                        has_residual ? as_double(residuals[at]) : 0, is_first,
                        [&](const bounds::approximate& a) { return bounds::activated(activation, a); });
                    sums[at] = result.value;
                    bounds[at] = bounds::stored_as<T>(result) + 0x1p-126;
                }
    return first_of({mismatch(
                         "output", output.read(), [&](std::size_t i) { return sums[i]; },
                         [&](std::size_t i) { return bounds[i]; }),
                     output.damage(), input.change(), filters.change(), bias.change(), scale.change(),
                     residual.change()});
}

void draw_conv(drawing& d, problem& p) {
    p.draw_words(d);
    for (const char* const word : {"scale", "residual", "beta"})
        if (d.one_in(2)) p.set(word, 0);
    const bool is_depthwise = d.one_in(4);
    const auto channels = draw_shape(d, 2, 512);
    p.set("groups", is_depthwise ? channels[0] : d.one_in(4) ? d.integer(2, 6) : 1);
    p.set("inputs", is_depthwise ? 1 : channels[0] / p["groups"]);
    p.set("outputs", is_depthwise ? d.integer(1, 2) : channels[1] / p["groups"]);
    p.set("dilation", d.one_in(5) ? d.integer(1, 2) : 0);
    draw_windows(d, p, p["groups"] * p["inputs"] * (1 + p["outputs"] / 4), 1 << 16);
}

template <class T>
std::string wrong_pool(const problem& p, processor where) {
    const std::int64_t count = p["count"], height = p["height"], width = p["width"], channels = p["channels"];
    const pool_geometry geometry{
        .window = {std::max<std::int64_t>(p["window_height"], 1),
                   std::max<std::int64_t>(p["window_width"], 1)},
        .stride = {std::max<std::int64_t>(p["stride_y"], 1), std::max<std::int64_t>(p["stride_x"], 1)},
        .padding = padding_of(p)};
    const std::int64_t rows = pool_output_height(height, geometry), cols = pool_output_width(width, geometry);
    if (!fits(p, geometry.window.y, geometry.window.x)) return {};
    const auto mode = static_cast<pool_mode>(p["mode"]);
    const auto xs = draw_values<T>(static_cast<values>(p["values"]), count * height * width * channels,
                                   static_cast<std::uint64_t>(p["seed"]));
    operand<T> input(where, lie({count, height, width, channels}, p["offset"], p["padding"], 1), xs);
    operand<T> output(where, dense({count, rows, cols, channels}));
    pool_options options{.mode = mode, .geometry = geometry};
    if (where == processor::cpu)
        host::pool<T>(input.tensor(), output.tensor(), options);
    else {
        options.algorithm = rung_of(p, where, pool_algorithms());
        pool<T>(input.tensor(), output.tensor(), stream(), options);
    }
    const places of_input{height, width, channels}, of_output{rows, cols, channels};
    std::vector<double> expected(static_cast<std::size_t>(count * rows * cols * channels)),
        bounds(expected.size());
    for (std::int64_t image = 0; image < count; ++image)
        for (std::int64_t y = 0; y < rows; ++y)
            for (std::int64_t x = 0; x < cols; ++x)
                for (std::int64_t c = 0; c < channels; ++c) {
                    double largest = -std::numeric_limits<double>::infinity(), sum = 0, magnitudes = 0,
                           pixels = 0;
                    for (std::int64_t r = 0; r < geometry.window.y; ++r)
                        for (std::int64_t s = 0; s < geometry.window.x; ++s) {
                            const std::int64_t from_y = y * geometry.stride.y + r - geometry.padding.top,
                                               from_x = x * geometry.stride.x + s - geometry.padding.left;
                            if (from_y < 0 || from_y >= height || from_x < 0 || from_x >= width) continue;
                            const double a = as_double(xs[of_input(image, from_y, from_x, c)]);
                            if (std::isnan(a) || a > largest) largest = a;
                            sum += a, magnitudes += std::abs(a), ++pixels;
                            if (std::isnan(sum) && std::isnan(a)) largest = a;
                        }
                    const double places_ = static_cast<double>(geometry.window.y * geometry.window.x);
                    const double n = mode == pool_mode::average ? pixels : places_;
                    const double value = mode == pool_mode::max ? largest : sum / n;
                    expected[of_output(image, y, x, c)] = value;
                    bounds[of_output(image, y, x, c)] =
                        mode == pool_mode::max ? 0 : bounds::of_average<T>(value, magnitudes / n, pixels);
                }
    return first_of({mismatch(
                         "output", output.read(), [&](std::size_t i) { return expected[i]; },
                         [&](std::size_t i) { return bounds[i]; }),
                     output.damage(), input.change()});
}

void draw_pool(drawing& d, problem& p) {
    p.draw_words(d);
    p.set("channels", draw_shape(d, 1, 512)[0]);
    draw_windows(d, p, p["channels"], 1 << 17);
}

}  // namespace

operation conv_cases() {
    return {"conv",
            window_fields({{"type", 0, single_types},
                           {"groups"},
                           {"inputs"},
                           {"outputs"},
                           {"dilation", 0},
                           {"bias", 0, {"none", "there"}},
                           {"scale", 0, {"none", "there"}},
                           {"residual", 0, {"none", "before_activation", "after_activation"}},
                           {"beta", 0, {"0", "-0.5"}},
                           {"activation", 0, {"none", "relu"}},
                           {"values", 0, finite_values},
                           {"rung", 0, rung_words(conv_algorithms())}}),
            draw_conv, [](const problem& p, processor where) {
                return with_single<std::string>(p["type"],
                                                [&]<class T>() { return wrong_conv<T>(p, where); });
            }};
}

operation pool_cases() {
    return {"pool",
            window_fields({{"type", 0, single_types},
                           {"channels"},
                           {"mode", 0, {"max", "average", "padded_average"}},
                           {"values", 0, all_values},
                           {"rung", 0, rung_words(pool_algorithms())}}),
            draw_pool, [](const problem& p, processor where) {
                return with_single<std::string>(p["type"],
                                                [&]<class T>() { return wrong_pool<T>(p, where); });
            }};
}

}  // namespace heddle::bench::fuzz
