#include "tests/bounds/loss.hpp"

#include "benchmarks/cliffs/family.hpp"
#include "tests/bounds/softmax.hpp"

/// Losses of rows, with their gradients or without.
namespace heddle::bench::cliffs {
namespace {

enum class operation { cross_entropy, mean_squared_error };
constexpr std::string_view names[] = {"cross_entropy", "mean_squared_error"};

struct problem {
    operation op = operation::cross_entropy;
    bool in_place = false, has_loss = true, has_gradient = true;
    float label_smoothing = 0;
    std::int64_t rows = 1, cols = 1;
    placement x, target, gradient;  ///< there is no target beside labels
    placement labels, loss;
    std::uint64_t seed = 0;

    [[nodiscard]] bool has_labels() const { return op == operation::cross_entropy; }
    [[nodiscard]] bool is_apart() const { return has_gradient && !in_place; }
    [[nodiscard]] numbers elements() const { return has_labels() ? numbers{-8, 8, 0} : numbers{-1, 1, 0}; }
    /// The scale keeps the gradient of a long row in the range of 16-bit types.
    [[nodiscard]] float scale() const { return has_labels() ? 0.25f : 0.5f * static_cast<float>(cols); }
};

template <class T>
struct operands {
    operand<T> x;
    std::optional<operand<T>> target, apart;
    std::optional<operand<std::int32_t>> labels;
    std::optional<operand<float>> loss;

    explicit operands(const problem& p) : x(p.rows, p.cols, p.x, p.seed, p.elements()) {
        // The last label is a little below the last column, as floats cannot represent every large column number.
        const numbers classes{0, 0.999 * static_cast<double>(p.cols - 1), 0};
        if (p.has_labels())
            labels.emplace(1, p.rows, p.labels, p.seed + 1, classes);
        else
            target.emplace(p.rows, p.cols, p.target, p.seed + 1);
        if (p.is_apart()) apart.emplace(p.rows, p.cols, p.gradient);
        if (p.has_loss) loss.emplace(1, p.rows, p.loss);
    }
    operand<T>& gradient() { return apart ? *apart : x; }

    void run(const problem& p) {
        const matrix_view<T> to_gradient = p.has_gradient ? gradient().view() : matrix_view<T>{};
        const vector_view<float> to_loss = loss ? loss->vector() : vector_view<float>{};
        if (p.has_labels())
            cross_entropy<T>(x.view(), labels->vector(), to_loss, to_gradient, stream(),
                             {.scale = p.scale(), .label_smoothing = p.label_smoothing});
        else
            mean_squared_error<T>(x.view(), target->view(), to_loss, to_gradient, stream(),
                                  {.scale = p.scale()});
    }
};

/// What is expected at some places of the gradient, and of the losses of their rows.
struct expectation {
    expected_places losses, gradient;
};

template <class T>
expectation expected_cross_entropy(const problem& p, operands<T>& o, expectation expected) {
    const auto n = static_cast<double>(p.cols), w = static_cast<double>(p.label_smoothing),
               scale = static_cast<double>(p.scale());
    const auto steps = bounds::loss_steps_of(loss_algorithm::automatic, counted_columns(p.cols));
    const double of_sum = bounds::of_exponentials<T>(p.cols, steps);
    std::vector<place> at_labels;
    const auto labels = gathered(o.labels->view(), expected.losses.places);
    for (std::size_t i = 0; i < labels.size(); ++i)
        at_labels.push_back({expected.gradient.places[i].row, labels[i]});
    const auto xs = gathered(o.x.view(), expected.gradient.places),
               of_labels = gathered(o.x.view(), at_labels);
    const auto facts = facts_of(o.x.data(), rows_of(o.x.view(), expected.gradient.places));
    for (std::size_t i = 0; i < facts.size(); ++i) {
        const double x = to_double(xs[i]), x_of_label = to_double(of_labels[i]);
        const double log_sum = std::log(facts[i].exponentials), of_label = facts[i].largest - x_of_label;
        const double mean = facts[i].largest - facts[i].sum / n + log_sum;
        const double apart = std::abs(x_of_label) + facts[i].magnitudes / n;  // or less
        expected.losses.add((1 - w) * (of_label + log_sum) + w * mean,
                            bounds::of_cross_entropy(of_sum, of_label, log_sum, w * apart, steps));
        const double q = bounds::smoothed_target(expected.gradient.places[i].col == labels[i], w, n);
        expected.gradient.add(
            bounds::cross_entropy_gradient<T>(of_sum, facts[i].largest - x, facts[i].exponentials, q, scale));
    }
    return expected;
}

template <class T>
expectation expected_squared_error(const problem& p, operands<T>& o, expectation expected) {
    const auto n = static_cast<double>(p.cols);
    const auto steps = bounds::loss_steps_of(loss_algorithm::automatic, counted_columns(p.cols));
    const auto of_x = rows_of(o.x.view(), expected.gradient.places),
               of_target = rows_of(o.target->view(), expected.gradient.places);
    const auto xs = gathered(o.x.view(), expected.gradient.places),
               targets = gathered(o.target->view(), expected.gradient.places);
    const auto dots = dots_of(o.x.data(), of_x, o.target->data(), of_target);
    for (std::size_t i = 0; i < dots.size(); ++i) {
        const double squares = dots[i].x_squares + dots[i].y_squares;
        const double loss =
            (squares - 2 * dots[i].sum) / n;  // where the terms cancel, roundings of double count
        expected.losses.add(loss, error_of_additions(steps.additions + 6, bounds::u) * std::abs(loss) +
                                      0x1p-50 * squares / n + 0x1p-140);
        expected.gradient.add(bounds::squared_error_gradient<T>(to_double(xs[i]) - to_double(targets[i]), n,
                                                                static_cast<double>(p.scale())));
    }
    return expected;
}

template <class T>
trial prepare(const problem& p) {
    const auto o = std::make_shared<operands<T>>(p);
    trial t;
    t.is_in_place = p.has_gradient && p.in_place;
    t.reset = [p, o] {
        if (p.has_gradient) o->gradient().reset();
        if (o->loss) o->loss->reset();
    };
    t.call = [p, o] { o->run(p); };
    expectation places;
    places.gradient.places = sampled_places(p.rows, p.cols, p.seed, 32);
    for (const place& at : places.gradient.places) places.losses.places.push_back({0, at.row});
    const expectation expected =
        p.has_labels() ? expected_cross_entropy(p, *o, places) : expected_squared_error(p, *o, places);
    t.wrong = [p, o, expected](double slack) {
        return first_wrong({expected.losses.wrong("loss", o->loss, slack),
                            p.has_gradient ? expected.gradient.wrong("gradient", o->gradient(), slack) : ""});
    };
    return t;
}

template <class T>
drawn_case draw(drawing& d) {
    problem p;
    p.op = static_cast<operation>(d.index(std::size(names)));
    const std::int64_t wanted = d.integer(0, 5);  // mostly both
    p.has_loss = wanted != 0;
    p.has_gradient = wanted != 1;
    p.in_place = d.one_in(5);
    p.label_smoothing = d.one_in(4) && p.has_labels() ? 0.125f : 0;
    p.x = d.lie(true);
    const bool are_alike = d.one_in(2);
    const placement lies[] = {d.lie(true), d.lie(true)};
    p.target = are_alike ? p.x : lies[0];
    p.gradient = are_alike || p.in_place ? p.x : lies[1];
    p.labels = d.vector_lie(16);
    p.loss = d.vector_lie(16);
    p.seed = d.bits();
    drawn_case c = draw_case_of(d, 2, [p](extents_view e) {
        return spans_of(e[0], e[1], {{p.x, true}, {p.target, !p.has_labels()}, {p.gradient, p.is_apart()}}) *
                   sizeof(T) +
               spans_of(1, e[0], {{p.labels, true}, {p.loss, true}}) * sizeof(float);
    });
    p.rows = c.extents[0];
    p.cols = c.extents[1];
    c.bytes = (1 + (p.has_labels() ? 0 : 1) + (p.has_gradient ? 1 : 0)) * c.operations * sizeof(T) +
              ((p.has_labels() ? 1 : 0) + (p.has_loss ? 1 : 0)) * static_cast<double>(p.rows) * sizeof(float);
    c.words = fmt::format("{} {} of {} x {}", dtype<T>, name_of(names, p.op), p.rows, p.cols);
    if (p.label_smoothing != 0) c.words += ", smoothed";
    if (!p.has_loss) c.words += ", gradient alone";
    if (!p.has_gradient) c.words += ", loss alone";
    if (p.has_gradient && p.in_place) c.words += ", in place";
    c.words += to_string(p.x) + words_of_placements({{"target", p.target, !p.has_labels()},
                                                     {"gradient", p.gradient, p.is_apart()},
                                                     {"labels", p.labels, p.has_labels()},
                                                     {"loss", p.loss, p.has_loss}});
    c.prepare = [p] { return prepare<T>(p); };
    return c;
}

}  // namespace

drawn_case draw_loss(drawing& d) {
    return with_type<float, half, bfloat16>(d.type(3), [&]<class T>() { return draw<T>(d); });
}

}  // namespace heddle::bench::cliffs
