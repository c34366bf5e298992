#include "benchmarks/cliffs/family.hpp"
#include "benchmarks/cliffs/vendor_functions.hpp"
#include "benchmarks/support/layers.hpp"

/// The maximum or the average of windows on images.
namespace heddle::bench::cliffs {
namespace {

constexpr std::string_view names[] = {"max", "average", "padded average"};

struct problem {
    pool_shape shape;
    placement input, output;  ///< of pixels, whose channels lie side by side
    std::uint64_t seed = 0;

    [[nodiscard]] std::int64_t outputs() const {
        return shape.count * shape.output_height() * shape.output_width();
    }
};

/// Pixels are rows. Their values do not cancel, so that an average that lacks a part is far off.
template <class T>
struct operands {
    pool_shape s;
    operand<T> input, output;

    explicit operands(const problem& p)
        : s(p.shape),
          input(s.count * s.height * s.width, s.channels, p.input, p.seed, {-0.5, 1, 0}),
          output(p.outputs(), s.channels, p.output) {}

    operand<T>& result() { return output; }
    void run() {
        pool<T>({input.data(), s.count, s.height, s.width, s.channels, input.view().row_stride},
                tensor_view<T>{output.data(), s.count, s.output_height(), s.output_width(), s.channels,
                               output.view().row_stride},
                stream(), {.mode = s.mode, .geometry = s.geometry});
    }
};

/// The pixels of a window in one channel. Each row of the window is a line; rows as wide as the image are one line.
template <class T>
std::vector<line> window_of(operands<T>& o, const place& at) {
    const pool_shape& s = o.s;
    const pool_geometry& g = s.geometry;
    const std::int64_t x = at.row % s.output_width(), rest = at.row / s.output_width(),
                       y = rest % s.output_height(), image = rest / s.output_height();
    const std::int64_t left = x * g.stride.x - g.padding.left, top = y * g.stride.y - g.padding.top;
    const std::int64_t begin = std::max<std::int64_t>(left, 0), end = std::min(left + g.window.x, s.width),
                       first = std::max<std::int64_t>(top, 0), last = std::min(top + g.window.y, s.height);
    const std::int64_t pixel = o.input.view().row_stride;
    const auto line_at = [&](std::int64_t row, std::int64_t size) {
        return line{((image * s.height + row) * s.width + begin) * pixel + at.col, pixel, size};
    };
    if (end - begin == s.width) return {line_at(first, (last - first) * s.width)};
    std::vector<line> lines;
    for (std::int64_t row = first; row < last; ++row) lines.push_back(line_at(row, end - begin));
    return lines;
}

/// The exact outputs at some places and their bounds (docs/accuracy.md).
template <class T>
expected_places expected_of(const problem& p, operands<T>& o) {
    expected_places expected{sampled_places(p.outputs(), p.shape.channels, p.seed, 32)};
    std::vector<line> lines;
    std::vector<std::size_t> counts;
    for (const place& at : expected.places) {
        const std::vector<line> window = window_of(o, at);
        lines.insert(lines.end(), window.begin(), window.end());
        counts.push_back(window.size());
    }
    auto next = lines.begin();
    auto facts = facts_of(o.input.data(), lines);
    auto of_line = facts.begin();
    const conv_steps& window = p.shape.geometry.window;
    for (const std::size_t count : counts) {
        double largest = -INFINITY, sum = 0, magnitudes = 0, pixels = 0;
        for (std::size_t i = 0; i < count; ++i, ++next, ++of_line) {
            largest = std::max(largest, of_line->largest);
            sum += of_line->sum;
            magnitudes += of_line->magnitudes;
            pixels += static_cast<double>(next->size);
        }
        if (p.shape.mode == pool_mode::max) {
            expected.add(largest, 0);
            continue;
        }
        const double divisor = p.shape.mode == pool_mode::average
                                   ? pixels
                                   : static_cast<double>(window.y) * static_cast<double>(window.x);
        const double value = sum / divisor;
        expected.add(value, bounds::stored_as<T>(
                                value, error_of_additions(pixels + 2, bounds::u) * magnitudes / divisor));
    }
    return expected;
}

#if HEDDLE_HAS_CUDNN
template <class T>
void add_cudnn(trial& t, const problem& p, const std::shared_ptr<operands<T>>& o) {
    if (!is_aligned_for_cudnn<T>(p.input) || !is_aligned_for_cudnn<T>(p.output)) return;
    t.add_peer("cudnn", [&] {
        const auto pool =
            std::make_shared<cudnn_pool<T>>(p.shape, o->input.view().row_stride, o->output.view().row_stride);
        return [pool, o] { (*pool)(o->input.data(), o->output.data()); };
    });
}
#endif

template <class T>
trial prepare(const problem& p) {
    const auto o = std::make_shared<operands<T>>(p);
    trial t = trial_of(o, "output", expected_of(p, *o), [o] { o->run(); });
#if HEDDLE_HAS_CUDNN
    add_cudnn(t, p, o);
#endif
    return t;
}

/// Draws a window of 2 x 2 or 3 x 3 pixels, as networks have, or any window.
pool_geometry draw_windows(drawing& d) {
    if (d.one_in(4)) return {.window = {2, 2}, .stride = {2, 2}};
    if (d.one_in(2)) {
        const std::int64_t step = d.integer(1, 2), around = d.integer(0, 1);
        return {.window = {3, 3}, .stride = {step, step}, .padding = {around, around, around, around}};
    }
    constexpr double most = 33;
    const auto length = [&d] { return static_cast<std::int64_t>(d.log_uniform(1, most)); };
    pool_geometry g{.window = {length(), length()}};
    g.stride = {d.integer(1, g.window.y + 1), d.integer(1, g.window.x + 1)};
    if (d.one_in(2)) g.stride = {1, 1};
    const std::int64_t y = d.integer(0, g.window.y / 2), x = d.integer(0, g.window.x / 2);
    g.padding = {y, y, x, x};
    return g;
}

template <class T>
drawn_case draw(drawing& d) {
    problem p;
    p.shape.mode = static_cast<pool_mode>(d.index(std::size(names)));
    const bool is_global = d.one_in(4);
    if (!is_global) p.shape.geometry = draw_windows(d);
    if (d.one_in(3)) p.input = d.lie(false, never);
    if (d.one_in(6)) p.output = d.lie(false, never);
    p.seed = d.bits();
    const auto shaped = [&p, is_global](std::span<const std::int64_t> e) {
        problem of = p;
        pool_shape& s = of.shape;
        pool_geometry& g = s.geometry;
        s.count = e[0];
        s.channels = e[3];
        if (is_global) g.window = {e[1], e[2]};
        // At least one window finds a place.
        s.height = is_global ? e[1] : e[1] + std::max<std::int64_t>(g.window.y - 1 - 2 * g.padding.top, 0);
        s.width = is_global ? e[2] : e[2] + std::max<std::int64_t>(g.window.x - 1 - 2 * g.padding.left, 0);
        return of;
    };
    const auto memory = [](const problem& of) {
        const pool_shape& s = of.shape;
        return static_cast<double>(span_of(of.input, s.count * s.height * s.width, s.channels) +
                                   span_of(of.output, of.outputs(), s.channels)) *
               sizeof(T);
    };
    const auto operations = [](const problem& of) {
        const conv_steps& window = of.shape.geometry.window;
        return product_of({of.shape.output_size(), window.y, window.x});
    };
    drawn_case c;
    c.extents = d.extents(4, [&](std::span<const std::int64_t> e) {
        // With more, the sizes would not fit into 64 bits.
        const auto values = bounded_product(bounded_product(e[0], e[1]), bounded_product(e[2], e[3]));
        if (static_cast<double>(values) > most_bytes) return false;
        const problem of = shaped(e);
        return memory(of) <= most_bytes && operations(of) <= most_operations;
    });
    p = shaped(c.extents);
    c.memory = memory(p);
    c.operations = operations(p);
    c.bytes = problem_of(p.shape, dtype<T>).bytes();
    c.words = fmt::format("{} {}{} pool of {}{}", dtype<T>, is_global ? "global " : "",
                          name_of(names, p.shape.mode), text(p.shape), to_string(p.input));
    c.words += words_of_placements({{"result", p.output}});
    c.prepare = [p] { return prepare<T>(p); };
    return c;
}

}  // namespace

drawn_case draw_pool(drawing& d) {
    return with_type<float, half, bfloat16>(d.type(3), [&]<class T>() { return draw<T>(d); });
}

}  // namespace heddle::bench::cliffs
