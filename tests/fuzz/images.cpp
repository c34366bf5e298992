#include "tests/bounds/products.hpp"
#include "tests/bounds/windows.hpp"
#include "tests/fuzz/operand.hpp"
#include "tests/fuzz/operations.hpp"
#include "tests/fuzz/scratch.hpp"

namespace heddle::fuzz {
namespace {

/// The fields of windows: the distances, and the gaps around an image. The operand with gaps has padding behind each
/// pixel, row and image.
std::vector<field> window_fields(std::vector<field> fields) {
    fields.push_back({"spaced", 0, {"input", "output", "filters", "all"}});
    return with_numbers(
        std::move(fields),
        "count height width window_height window_width stride_y stride_x top=0 bottom=0 left=0 "
        "right=0 offset=0 padding=0 row_padding=0 image_padding=0 seed=0");
}

/// In half of the problems there are gaps around the pixels, rows and images of a tensor.
void draw_gaps(drawing& d, problem& p, const std::string& prefix) {
    if (d.one_in(2)) return;
    const bool in_packets = d.one_in(2);  // of 16 bytes, as some rungs need
    for (const char* const gap : {"offset", "padding", "row_padding", "image_padding"})
        if (d.one_in(2)) p.set(prefix + gap, in_packets ? 8 * d.integer(1, 3) : d.integer(1, 9));
}

/// `products`: those of each pixel, for each tap.
void draw_windows(drawing& d, problem& p, std::int64_t channels, std::int64_t products) {
    const std::int64_t window = d.one_of<std::int64_t>({1, 2, 3, 3, 3, 5, 7});
    const auto other = [&] { return d.integer(1, d.one_in(4) ? 40 : 6); };
    p.set({{"window_height", d.one_in(12) ? other() : window},
           {"window_width", d.one_in(4) ? other() : window}});
    const std::int64_t stride = d.one_in(3) ? 2 : 1;
    for (const char* const axis : {"stride_y", "stride_x"})
        p.set(axis, d.one_in(6) ? d.integer(1, d.one_in(4) ? 9 : 3) : stride);
    const std::int64_t around = d.one_in(3) ? 0 : window / 2;
    for (const char* const side : {"top", "bottom", "left", "right"})
        p.set(side, d.one_in(6) ? d.integer(0, 2 * window) : around);
    if (p.has("dilation_x") && p["dilation_x"] > 99)
        for (const char* const side : {"left", "right"}) p.set(side, d.integer(0, 130));
    // A window has to fit.
    const auto least = [&](const char* size, const char* dilation, const char* before, const char* after) {
        const std::int64_t step = p.has(dilation) ? p[dilation] : 1;
        return std::max<std::int64_t>((p[size] - 1) * step + 1 - p[before] - p[after], 0);
    };
    const auto least_height = [&] { return least("window_height", "dilation_y", "top", "bottom"); };
    const auto least_width = [&] { return least("window_width", "dilation_x", "left", "right"); };
    if (least_height() * least_width() * channels > 1 << 20)
        for (const char* const size : {"window_height", "window_width"}) p.set(size, 1);
    const bool is_large = d.one_in(8);
    const std::int64_t taps = p["window_height"] * p["window_width"],
                       of_memory = (is_large ? 1 << 19 : 1 << 17) / std::max<std::int64_t>(channels, 1),
                       of_time = (is_large ? 1 << 23 : 1 << 21) / std::max<std::int64_t>(products * taps, 1),
                       most = std::max<std::int64_t>(std::min(of_memory, of_time), 1);
    const auto shape = draw_shape(d, 3, most);
    const std::int64_t width = std::max(shape[2], least_width()),
                       height = std::max(std::min(shape[1], std::max<std::int64_t>(
                                                                most / std::max<std::int64_t>(width, 1), 1)),
                                         least_height()),
                       pixels = std::max<std::int64_t>(width * height, 1);
    p.set("count", std::min(d.one_in(8) ? shape[0] : std::min<std::int64_t>(shape[0], 40),
                            std::max<std::int64_t>(most / pixels, 1)));
    p.set({{"height", height}, {"width", width}});
    draw_gaps(d, p, "");
    p.set("seed", d.integer(0, 1 << 30));
}

conv_padding padding_of(const problem& p) {
    return {p["top"], p["bottom"], p["left"], p["right"]};
}

/// Whether a window lies within the padded image, as it must.
bool fits(const problem& p, std::int64_t window_height, std::int64_t window_width) {
    return window_height <= p["height"] + p["top"] + p["bottom"] &&
           window_width <= p["width"] + p["left"] + p["right"];
}

lattice dense(std::initializer_list<std::int64_t> extents) {
    return lie(extents, 0, 0, 1);
}

lattice with_gaps(const problem& p, const std::string& prefix, std::initializer_list<std::int64_t> extents) {
    lattice all = dense(extents);
    all.offset = p[prefix + "offset"];
    all.strides[2] = all.extents[3] + p[prefix + "padding"];
    all.strides[1] = all.extents[2] * all.strides[2] + p[prefix + "row_padding"];
    all.strides[0] = all.extents[1] * all.strides[1] + p[prefix + "image_padding"];
    return all;
}

lattice lie_as(const problem& p, std::string_view name, std::initializer_list<std::int64_t> extents) {
    const bool is_spaced = p.word("spaced") == name || p.word("spaced") == "all";
    return is_spaced ? with_gaps(p, "", extents) : dense(extents);
}

/// The places of elements (image, y, x, channel) among those of a tensor.
struct places {
    std::int64_t height, width, channels;

    std::size_t operator()(std::int64_t image, std::int64_t y, std::int64_t x, std::int64_t channel) const {
        return static_cast<std::size_t>(((image * height + y) * width + x) * channels + channel);
    }
};

/// An element in a sum, and its magnitude in the sum of a bound.
struct term {
    double value, magnitude;
};
template <class T>
std::vector<term> terms_of(const std::vector<T>& elements) {
    std::vector<term> all;
    for (const T e : elements) all.push_back({to_double(e), bounds::counted_magnitude(e)});
    return all;
}

template <class T, class Out>
std::string wrong_conv(const problem& p, processor where) {
    const std::int64_t groups = std::max<std::int64_t>(p["groups"], 1), in = p["inputs"], out = p["outputs"];
    const std::int64_t count = p["count"], height = p["height"], width = p["width"],
                       taps_y = std::max<std::int64_t>(p["window_height"], 1),
                       taps_x = std::max<std::int64_t>(p["window_width"], 1);
    const conv_geometry geometry{
        .stride = {std::max<std::int64_t>(p["stride_y"], 1), std::max<std::int64_t>(p["stride_x"], 1)},
        .padding = padding_of(p),
        .dilation = {std::max<std::int64_t>(p["dilation_y"], 1), std::max<std::int64_t>(p["dilation_x"], 1)},
        .groups = groups};
    const std::int64_t rows = conv_output_height(height, taps_y, geometry),
                       cols = conv_output_width(width, taps_x, geometry);
    const std::int64_t channels = groups * in, outputs = groups * out;
    if (!fits(p, (taps_y - 1) * geometry.dilation.y + 1, (taps_x - 1) * geometry.dilation.x + 1)) return {};
    if (rows * cols * count * outputs > 1 << 21 ||
        rows * cols * count * outputs * taps_y * taps_x * std::max<std::int64_t>(in, 1) > 1 << 25)
        return {};  // too many terms for a reference
    const auto seed = p.seed();
    const auto kind = kind_of(p);
    const auto xs = draw_for_windows<T>(kind, count * height * width * channels, seed);
    const auto ws = draw_for_windows<T>(beside(kind), outputs * taps_y * taps_x * in, seed + 1);
    const auto biases = draw_values<Out>(values::uniform, outputs, seed + 2),
               scales = draw_values<Out>(values::uniform, outputs, seed + 3),
               before = draw_values<Out>(values::uniform, count * rows * cols * outputs, seed + 4),
               residuals = draw_values<Out>(values::uniform, count * rows * cols * outputs, seed + 5);
    const bool has_bias = p["bias"] == 1, has_scale = p["scale"] == 1, has_residual = p["residual"] > 0,
               is_first = p.word("residual") != "after_activation",
               is_in_place = p.word("residual") == "in_place";
    const float alphas[] = {1, -0.5f, 0, std::numeric_limits<float>::quiet_NaN()};
    const float alpha = alphas[p["alpha"]], beta = p["beta"] == 1 ? -0.5f : 0;
    const lattice of_outputs = lie_as(p, "output", {count, rows, cols, outputs});
    operand<T> input(where, lie_as(p, "input", {count, height, width, channels}), xs),
        filters(where, lie_as(p, "filters", {outputs, taps_y, taps_x, in}), ws);
    operand<Out> bias(where, lie({outputs}, p["bias_offset"], 0, p["bias_step"]), biases),
        scale(where, lie({outputs}, p["scale_offset"], 0, p["scale_step"]), scales),
        residual(where, with_gaps(p, "residual_", {count, rows, cols, outputs}), residuals),
        unwritten(where, of_outputs), written(where, of_outputs, before);
    operand<Out>& output = beta == 0 && !is_in_place ? unwritten : written;
    const auto activation = static_cast<matmul_activation>(p["activation"]);
    conv_epilogue<Out> epilogue{.activation = activation};
    if (has_bias) epilogue.bias = bias.vector();
    if (has_scale) epilogue.scale = scale.vector();
    if (has_residual) epilogue.residual = is_in_place ? output.tensor() : residual.tensor();
    epilogue.residual_before_activation = is_first;
    conv_options options{.geometry = geometry, .alpha = alpha, .beta = beta};
    const bool on_host = where == processor::cpu;
    if (!on_host) {
        options.algorithm = rung_of(p, where, conv_algorithms());
        if (std::is_same_v<T, float> && p["precision"] == 1) options.precision = precision::tf32;
    }
    const double share = on_host
                             ? bounds::of_fmas(static_cast<double>(taps_y * taps_x * in))
                             : bounds::of_conv<T>(options.algorithm, options.precision, taps_y, taps_x, in);
    const places of_input{height, width, channels}, of_output{rows, cols, outputs},
        of_filter{taps_y, taps_x, in};
    const std::vector<term> pixels = terms_of(xs), weights = terms_of(ws);
    std::vector<double> sums(before.size()), bounds(sums.size());
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
                            const bool is_padding =
                                from_y < 0 || from_y >= height || from_x < 0 || from_x >= width;
                            const std::size_t first =
                                is_padding ? 0 : of_input(image, from_y, from_x, o / out * in);
                            const std::size_t by = of_filter(o, r, s, 0);
                            for (std::size_t c = 0; c < static_cast<std::size_t>(in); ++c) {
                                const term pixel = is_padding ? term{} : pixels[first + c],
                                           weight = weights[by + c];
                                sum += pixel.value * weight.value;
                                magnitudes += pixel.magnitude * weight.magnitude;
                            }
                        }
                    const std::size_t at = of_output(image, y, x, o);
                    const auto channel = static_cast<std::size_t>(o);
                    const bool is_read = alpha != 0 && in > 0;
                    sum = is_read ? static_cast<double>(alpha) * sum : 0;
                    magnitudes = is_read ? std::abs(static_cast<double>(alpha)) * magnitudes : 0;
                    if (beta != 0) {
                        const double added = static_cast<double>(beta) * to_double(before[at]);
                        sum += added, magnitudes += std::abs(added);
                    }
                    const double added = to_double(is_in_place ? before[at] : residuals[at]);
                    const bounds::approximate result = bounds::conv_result(
                        {sum, std::isfinite(sum) ? share * magnitudes : 0},
                        has_scale ? to_double(scales[channel]) : 1, has_bias ? to_double(biases[channel]) : 0,
                        has_residual ? added : 0, is_first, [&](const bounds::approximate& a) {
                            if (std::isinf(a.value))
                                return bounds::approximate(bounds::activated(activation, a.value));
                            return bounds::activated(activation, a,
                                                     on_host || sizeof(Out) != 2 ? bounds::u : 0x1p-16);
                        });
                    sums[at] = result.value;
                    bounds[at] = bounds::stored_as<Out>(result) + 0x1p-126;
                }
    const auto wrong = [&](std::string_view kernel) {
        conv_options with = options;
        with.kernel = kernel;
        output.clear();
        std::string fault;
        if (on_host)
            host::conv<Out, T>(input.tensor(), filters.filters(), output.tensor(), epilogue, with);
        else
            fault = run_in_memory(
                p, where, with,
                [&] {
                    return conv_workspace_bytes<Out, T>(input.tensor(), filters.filters(), output.tensor(),
                                                        epilogue, stream(), with);
                },
                [&] {
                    conv<Out, T>(input.tensor(), filters.filters(), output.tensor(), epilogue, calls(), with);
                },
                -1);  // a NaN, in all types
        return first_of({mismatch("output", output.read(), sums, bounds), output.damage(), fault});
    };
    const auto kernels = options.algorithm == conv_algorithm::automatic ? std::span<const std::string_view>{}
                                                                        : conv_kernels(options.algorithm);
    return first_of({wrong_of_plans(kernels, wrong), input.change(), filters.change(), bias.change(),
                     scale.change(), residual.change()});
}

/// Draws more tiles than a GPU works on at once.
void draw_many_pixels(drawing& d, problem& p) {
    for (const char* const one :
         {"groups", "window_height", "window_width", "stride_y", "stride_x", "dilation_y", "dilation_x"})
        p.set(one, 1);
    for (const char* const side : {"top", "bottom", "left", "right"}) p.set(side, 0);
    p.set({{"inputs", 8 * d.integer(1, 2)}, {"outputs", d.integer(8, 16)}});
    const std::int64_t count = d.integer(1, 4), width = d.integer(64, 256);
    p.set({{"count", count}, {"height", d.integer(20'000, 40'000) / (count * width) + 1}, {"width", width}});
}

void draw_conv(drawing& d, problem& p) {
    p.draw_words(d);
    for (const char* const word : {"alpha", "scale", "residual", "beta", "activation", "precision"})
        if (d.one_in(2)) p.set(word, 0);
    const std::string_view rung = p.word("rung");
    const bool has_tensor_cores = rung == "mma_sync" || rung == "wgmma" || rung == "persistent";
    const bool is_special = p.word("values") == "special";
    if (is_special && p["activation"] > 1) p.set("activation", 1);  // others treat infinities differently
    if (rung == "register_tiled") p.set("type", 0);
    if (rung == "wgmma" && p["type"] == 0) p.set("type", d.integer(1, 4));
    if (has_tensor_cores && p["type"] == 0) p.set("precision", 1);
    const bool is_of_one_group = rung == "kn2row";
    const bool is_depthwise = rung == "depthwise" || (!has_tensor_cores && !is_of_one_group && d.one_in(4)),
               has_groups = rung == "grouped" || (!is_of_one_group && d.one_in(4));
    const auto channels = draw_shape(d, 2, is_special ? 64 : d.one_in(3) ? 1 << 14 : 512);
    std::int64_t groups = has_groups ? d.integer(2, d.one_in(2) ? 20 : 4) : 1;
    std::int64_t in = (channels[0] + groups - 1) / groups, out = (channels[1] + groups - 1) / groups;
    if (has_tensor_cores && has_groups && d.one_in(2))  // whole steps and tiles
        groups = d.integer(2, 3), in = 64 * d.integer(1, 2), out = 64 * d.integer(1, 4);
    else if (d.one_in(has_tensor_cores ? 2 : 4))
        in = (in + 7) / 8 * 8;
    if (d.one_in(3)) out = (out + 15) / 16 * 16;
    if (is_depthwise) groups = channels[0], in = 1, out = rung == "depthwise" ? 1 : d.integer(1, 2);
    p.set({{"groups", groups}, {"inputs", in}, {"outputs", out}});
    for (const char* const axis : {"dilation_y", "dilation_x"})
        p.set(axis, d.one_in(5) ? d.integer(2, d.one_in(4) ? 12 : 3) : 1);
    if (d.one_in(32)) p.set("dilation_x", d.integer(100, 260));
    draw_windows(d, p, groups * std::max(in, out), groups * std::max<std::int64_t>(in, 1) * out);
    if (d.one_in(16)) draw_many_pixels(d, p);
    if (p["inputs"] > 0) p.set("alpha", p["alpha"] % 3);
    if (p["residual"] > 0) draw_gaps(d, p, "residual_");
    for (const std::string of_channels : {"bias", "scale"}) {
        const placement at = d.vector_lie(2);
        p.set({{of_channels + "_offset", at.offset}, {of_channels + "_step", at.step}});
    }
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
    if (!fits(p, geometry.window.y, geometry.window.x) || rows * cols * count * channels > 1 << 21) return {};
    const auto mode = static_cast<pool_mode>(p["mode"]);
    const auto xs = draw_for_windows<T>(kind_of(p), count * height * width * channels, p.seed());
    operand<T> input(where, lie_as(p, "input", {count, height, width, channels}), xs);
    operand<T> output(where, lie_as(p, "output", {count, rows, cols, channels}));
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
                            const double a = to_double(xs[of_input(image, from_y, from_x, c)]);
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
    pool_options options{
        .mode = mode, .geometry = geometry, .algorithm = rung_of(p, where, pool_algorithms())};
    const auto wrong = [&](std::string_view kernel) {
        options.kernel = kernel;
        output.clear();
        where == processor::cpu ? host::pool<T>(input.tensor(), output.tensor(), options)
                                : pool<T>(input.tensor(), output.tensor(), calls(), options);
        return first_of({mismatch("output", output.read(), expected, bounds), output.damage()});
    };
    const auto kernels = options.algorithm == pool_algorithm::automatic ? std::span<const std::string_view>{}
                                                                        : pool_kernels(options.algorithm);
    return first_of({wrong_of_plans(kernels, wrong), input.change()});
}

void draw_pool(drawing& d, problem& p) {
    p.draw_words(d);
    p.set("channels", draw_shape(d, 1, 512)[0]);
    if (d.one_in(4)) {  // a maximum of infinities and NaN, too
        p.set({{"mode", 0}, {"values", static_cast<std::int64_t>(values::special)}});
    }
    draw_windows(d, p, p["channels"], p["channels"]);
    if (!d.one_in(4)) return;  // otherwise each window is a whole image
    const auto shape = draw_shape(d, 2, (1 << 17) / std::max<std::int64_t>(p["channels"], 1));
    p.set("count", d.integer(0, 3));
    for (const char* const side : {"top", "bottom", "left", "right"}) p.set(side, 0);
    p.set({{"height", std::max<std::int64_t>(shape[0], 1)}, {"width", std::max<std::int64_t>(shape[1], 1)}});
    p.set("window_height", p["height"]);
    p.set("window_width", p["width"]);
}

}  // namespace

operation conv_cases() {
    return {
        "conv",
        window_fields(with_numbers(
            {{"type", 0, {"f32", "f16", "bf16", "f16_to_f32", "bf16_to_f32"}},
             {"alpha", 0, {"1", "-0.5", "0", "nan"}},
             {"beta", 0, {"0", "-0.5"}},
             {"bias", 0, {"none", "there"}},
             {"scale", 0, {"none", "there"}},
             {"residual", 0, {"none", "before_activation", "after_activation", "in_place"}},
             {"activation", 0, {"none", "relu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh"}},
             {"precision", 0, {"fp32", "tf32"}},
             {"values", 0, all_values},
             {"rung", 0, rung_words(conv_algorithms())},
             scratch_field},
            "groups inputs outputs dilation_y dilation_x bias_offset=0 bias_step scale_offset=0 scale_step "
            "residual_offset=0 residual_padding=0 residual_row_padding=0 residual_image_padding=0")),
        draw_conv,
        [](const problem& p, processor where) {
            if (p["type"] == 3) return wrong_conv<half, float>(p, where);
            if (p["type"] == 4) return wrong_conv<bfloat16, float>(p, where);
            return with_single<std::string>(p["type"], [&]<class T>() { return wrong_conv<T, T>(p, where); });
        },
        3};
}

operation pool_cases() {
    return {"pool",
            window_fields({{"type", 0, single_types},
                           {"channels"},
                           {"mode", 0, {"max", "average", "padded_average"}},
                           {"values", 0, all_values},
                           {"rung", 0, rung_words(pool_algorithms())}}),
            draw_pool, of_single_type<[]<class T>(auto&... a) { return wrong_pool<T>(a...); }>};
}

}  // namespace heddle::fuzz
