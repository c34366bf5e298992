#include "benchmarks/cliffs/family.hpp"
#include "benchmarks/support/cudnn_graph.hpp"
#include "benchmarks/support/layers.hpp"
#include "tests/bounds/products.hpp"

/// relu(conv + bias) of dense images and filters.
namespace heddle::bench::cliffs {
namespace {

struct problem {
    conv_shape shape;
    heddle::precision precision = precision::fp32;
    std::uint64_t seed = 0;

    [[nodiscard]] bool is_tf32() const { return precision == precision::tf32; }

    [[nodiscard]] std::int64_t channels_of_group() const { return shape.channels / shape.geometry.groups; }
    /// The number of products in a sum.
    [[nodiscard]] std::int64_t depth() const {
        return shape.filter_height * shape.filter_width * channels_of_group();
    }
};

template <class T>
struct operands {
    conv_shape s;
    heddle::precision precision;
    operand<T> input, filters, bias, output;

    explicit operands(const problem& p)
        : s(p.shape),
          precision(p.precision),
          input(1, s.input_size(), {}, p.seed),
          filters(1, s.filters_size(), {}, p.seed + 1),
          bias(1, s.filters, {}, p.seed + 2),
          output(s.output_size() / s.filters, s.filters, {}) {}

    operand<T>& result() { return output; }
    [[nodiscard]] tensor_view<const T> images() {
        return {input.data(), s.count, s.height, s.width, s.channels};
    }
    [[nodiscard]] filter_view<const T> all_filters() {
        return {filters.data(), s.filters, s.filter_height, s.filter_width, s.channels / s.geometry.groups};
    }
    [[nodiscard]] tensor_view<T> results() {
        return {output.data(), s.count, s.output_height(), s.output_width(), s.filters};
    }
    [[nodiscard]] conv_epilogue<T> epilogue() {
        return {.activation = matmul_activation::relu, .bias = bias.vector()};
    }

    [[nodiscard]] conv_options options(std::string_view kernel = {}) const {
        return {.geometry = s.geometry, .precision = precision, .kernel = kernel};
    }
    void run(std::string_view kernel = {}) {
        conv<T>(images(), all_filters(), results(), epilogue(), stream(), options(kernel));
    }
};

/// The exact outputs at some places and their bounds (docs/accuracy.md).
template <class T>
expected_places expected_of(const problem& p, operands<T>& o) {
    const conv_shape& s = p.shape;
    expected_places expected{sampled_places(s.output_size() / s.filters, s.filters, p.seed, 32)};
    const conv_geometry& g = s.geometry;
    const std::int64_t channels = p.channels_of_group(), of_group = s.filters / g.groups;
    const double share =
        bounds::of_conv<T>(conv_algorithm::automatic, p.precision, s.filter_height, s.filter_width, channels);
    for (const auto& [pixel, filter] : expected.places) {
        const std::int64_t line = pixel / s.output_width(), x = pixel % s.output_width(),
                           y = line % s.output_height(), image = line / s.output_height();
        std::vector<std::int64_t> inputs, weights;
        for (std::int64_t r = 0; r < s.filter_height; ++r)
            for (std::int64_t q = 0; q < s.filter_width; ++q) {
                const std::int64_t row = y * g.stride.y - g.padding.top + r * g.dilation.y,
                                   col = x * g.stride.x - g.padding.left + q * g.dilation.x;
                if (row < 0 || row >= s.height || col < 0 || col >= s.width) continue;
                for (std::int64_t c = 0; c < channels; ++c) {
                    inputs.push_back(((image * s.height + row) * s.width + col) * s.channels +
                                     filter / of_group * channels + c);
                    weights.push_back(((filter * s.filter_height + r) * s.filter_width + q) * channels + c);
                }
            }
        const auto xs = gathered<T>(o.input.data(), inputs), ws = gathered<T>(o.filters.data(), weights);
        double sum = 0, magnitudes = 0;
        for (std::size_t i = 0; i < xs.size(); ++i) {
            const double product = to_double(xs[i]) * to_double(ws[i]);
            sum += product;
            magnitudes += std::abs(product);
        }
        const double bias = to_double(gathered<T>(o.bias.data(), {filter}).front());
        const bounds::approximate result = bounds::conv_result(
            {sum, share * magnitudes}, 1, bias, 0, true,
            [](const bounds::approximate& a) { return bounds::activated(matmul_activation::relu, a); });
        expected.add(result.value, bounds::stored_as<T>(result));
    }
    return expected;
}

/// What the choice of a kernel depends on, as benchmarks/tuning reads it.
template <class T>
std::string json_of(const problem& p) {
    const conv_shape& s = p.shape;
    const conv_geometry& g = s.geometry;
    return fmt::format(
        R"({{"type": "{}", "precision": "{}", "images": [{}, {}, {}, {}], "filters": [{}, {}, {}], )"
        R"("stride": {}, "padding": {}, "dilation": {}, "groups": {}}})",
        dtype<T>, to_string(p.precision), s.count, s.height, s.width, s.channels, s.filters, s.filter_height,
        s.filter_width, g.stride.x, g.padding.left, g.dilation.x, g.groups);
}

/// Adds each kernel that `automatic` may choose.
template <class T>
void add_choices(trial& t, const problem& p, const std::shared_ptr<operands<T>>& o) {
    t.problem = json_of<T>(p);
    const conv_problem of =
        conv_problem_of<T>(o->images(), o->all_filters(), o->results(), o->epilogue(), o->options());
    for (const std::string_view kernel : conv_kernels())
        if (kernel != to_string(conv_algorithm::wgmma) &&
            why_not(conv_algorithm::automatic, of, traits_of(current_device()), kernel).empty())
            t.peers.push_back({std::string(kernel), [o, kernel] { o->run(kernel); }, true, false});
}

template <class T>
trial prepare(const problem& p, bool with_choices) {
    const auto o = std::make_shared<operands<T>>(p);
    trial t = trial_of(o, "output", expected_of(p, *o), [o] { o->run(); });
    if (with_choices) add_choices(t, p, o);
#if HEDDLE_HAS_CUDNN && HEDDLE_HAS_CUDNN_FRONTEND
    if (!with_choices)
        t.add_peer("cudnn", [&] {
            const auto call =
                best_cudnn_conv(p.shape, p.is_tf32() ? "tf32" : dtype<T>, temperature::cold,
                                {o->input.data(), o->filters.data(), o->bias.data(), o->output.data()});
            return [o, call] { call(); };
        });
#endif
    return t;
}

template <class T>
drawn_case draw(drawing& d) {
    constexpr std::int64_t most_depth = 1 << 16;
    problem p;
    conv_shape& s = p.shape;
    conv_geometry& g = s.geometry;
    const std::int64_t side = d.one_of<std::int64_t>({1, 1, 3, 3, 3, 5, 7}), step = d.one_in(3) ? 2 : 1;
    s.filter_height = s.filter_width = side;
    g.stride = {step, step};
    if (d.one_in(10)) g.dilation = {2, 2};
    const std::int64_t reach = (side - 1) * g.dilation.x, around = d.one_in(4) ? 0 : reach / 2;
    g.padding = {around, around, around, around};
    const bool is_depthwise = d.one_in(3);
    const std::int64_t groups = d.one_in(6) ? d.one_of<std::int64_t>({2, 4, 8, 32}) : 1;
    p.seed = d.bits();
    const auto shaped = [&](std::span<const std::int64_t> e) {
        problem of = p;
        of.shape.count = e[0];
        of.shape.height = of.shape.width = e[1] + std::max<std::int64_t>(reach - 2 * around, 0);
        of.shape.geometry.groups = is_depthwise ? e[2] : groups;
        of.shape.channels = is_depthwise ? e[2] : e[2] * groups;
        of.shape.filters = is_depthwise ? e[2] : e[3] * groups;
        return of;
    };
    const auto memory = [](const conv_shape& of) {
        return static_cast<double>(of.input_size() + of.filters_size() + of.filters + of.output_size()) *
               sizeof(T);
    };
    const auto operations = [](const problem& of) {
        return 2 * static_cast<double>(of.shape.output_size()) * static_cast<double>(of.depth());
    };
    constexpr double most_of_one = 1e6;  // of extents, so that their products fit into 64 bits
    drawn_case c;
    c.extents = d.extents(is_depthwise ? 3 : 4, [&](std::span<const std::int64_t> e) {
        for (const std::int64_t extent : e)
            if (static_cast<double>(extent) > most_of_one) return false;
        if (product_of({e[0], e[1], e[1], e[2]}) > most_bytes) return false;
        const problem of = shaped(e);
        return of.depth() <= most_depth && operations(of) <= most_operations &&
               memory(of.shape) <= most_bytes;
    });
    p = shaped(c.extents);
    if (std::is_same_v<T, float> && d.one_in(2)) p.precision = precision::tf32;
    c.memory = memory(s);
    c.operations = operations(p);
    c.bytes = c.memory;
    c.words = fmt::format("{} conv {}", p.is_tf32() ? "tf32" : dtype<T>, text(s));
    c.prepare = [p] { return prepare<T>(p, false); };
    c.prepare_choices = [p] { return prepare<T>(p, true); };
    return c;
}

}  // namespace

drawn_case draw_conv(drawing& d) {
    return with_type<float, half, bfloat16>(d.type(3), [&]<class T>() { return draw<T>(d); });
}

}  // namespace heddle::bench::cliffs
