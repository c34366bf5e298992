#include "tests/fuzz/rows.hpp"

#include "tests/bounds/loss.hpp"
#include "tests/bounds/norm.hpp"
#include "tests/bounds/reduce.hpp"
#include "tests/bounds/softmax.hpp"
#include "tests/fuzz/operations.hpp"
#include "tests/fuzz/scratch.hpp"

namespace heddle::fuzz {
namespace {

template <class T>
std::string wrong_softmax(const problem& p, processor where) {
    const std::int64_t rows = p["rows"], cols = p["cols"];
    const auto xs = draw_row_values<T>(p, p.seed());
    operand<T> x(where, matrix_of(p, "x", rows, cols), xs), apart(where, matrix_of(p, "y", rows, cols));
    operand<T>& y = p["in_place"] == 1 ? x : apart;
    const bool logarithm = p["function"] == 1;
    const softmax_algorithm rung = rung_of(p, where, softmax_algorithms());
    call(where, logarithm ? host::log_softmax<T> : host::softmax<T>, logarithm ? log_softmax<T> : softmax<T>,
         softmax_options{rung}, x.matrix(), y.matrix());
    const bounds::expected_softmax all(
        xs, cols,
        where == processor::cpu ? bounds::softmax_steps_on_host : bounds::softmax_steps_of(rung, cols));
    const expectation expected =
        logarithm ? expectation{all.log_softmax, all.log_bounds} : expectation{all.softmax, all.bounds};
    return first_of({expected.mismatch("y", y.read()), y.damage(), &y == &x ? "" : x.change()});
}

template <class T>
std::string wrong_norm(const problem& p, processor where) {
    const std::int64_t rows = p["rows"], cols = p["cols"];
    const auto seed = p.seed();
    const bool is_layer = p["function"] == 0;
    const bool has_gamma = p["parameters"] % 2 == 0, has_beta = is_layer && p["parameters"] / 2 == 0;
    const auto xs = draw_norm_values<T>(p, seed);
    const auto gammas = draw_values<T>(values::uniform, has_gamma ? cols : 0, seed + 1),
               betas = draw_values<T>(values::uniform, has_beta ? cols : 0, seed + 2);
    operand<T> x(where, matrix_of(p, "x", rows, cols), xs), apart(where, matrix_of(p, "y", rows, cols));
    operand<T>& y = p["in_place"] == 1 ? x : apart;
    operand<T> gamma(where, parameter_of(p, has_gamma), gammas),
        beta(where, parameter_of(p, has_beta), betas);
    const norm_algorithm rung = rung_of(p, where, norm_algorithms());
    const float epsilon = epsilon_of(p);
    if (where == processor::cpu)
        is_layer ? host::layer_norm<T>(x.matrix(), gamma.vector(), beta.vector(), y.matrix(), epsilon)
                 : host::rms_norm<T>(x.matrix(), gamma.vector(), y.matrix(), epsilon);
    else {
        const norm_options options{.algorithm = rung, .epsilon = epsilon};
        is_layer ? layer_norm<T>(x.matrix(), gamma.vector(), beta.vector(), y.matrix(), calls(), options)
                 : rms_norm<T>(x.matrix(), gamma.vector(), y.matrix(), calls(), options);
    }
    const bounds::expected_norm all(
        is_layer ? bounds::norm_operation::layer_norm : bounds::norm_operation::rms_norm, xs, gammas, betas,
        cols, epsilon, where == processor::cpu ? bounds::norm_depth_on_host : bounds::norm_depth(rung, cols));
    const expectation expected{all.values, all.bounds};
    return first_of({expected.mismatch("y", y.read()), y.damage(), &y == &x ? "" : x.change(), gamma.change(),
                     beta.change()});
}

template <class T>
std::string wrong_matrix_reduce(const problem& p, processor where) {
    enum { sum_, mean_, max_, argmax_, variance_, min_ };
    const bool by_rows = p["lines"] == 0, on_host = where == processor::cpu;
    const std::int64_t rows = p["rows"], cols = p["cols"], lines = by_rows ? rows : cols,
                       length = by_rows ? cols : rows;
    const auto kind = p["function"];
    auto xs = draw_row_values<T>(p, p.seed());
    const float means[] = {0, 1000, -1000};
    if (p["mean"] > 0)
        for (T& x : xs) x = static_cast<T>(static_cast<float>(x) + means[p["mean"]]);
    const lattice results = lie({lines}, 0, 0, p["y_step"]);
    operand<T> x(where, ordered_matrix(p), xs), extremes(where, results);
    operand<float> y(where, results);
    operand<std::int64_t> places(where, results);
    const matrix_view<const T> m = x.matrix();
    matrix_reduce_options options{.algorithm = rung_of(p, where, matrix_reduce_algorithms()),
                                  .correction = p["correction"]};
    matrix_reduce_problem of_lines = by_rows ? row_problem(m) : column_problem(m);
    of_lines.has_scratch = p.word("scratch") != "none";
    const device_traits* const device = on_host ? nullptr : &traits_of(current_device());
    scratch_memory scratch(p, where,
                           on_host ? 0 : matrix_reduce_workspace_bytes(of_lines, *device, options.algorithm));
    scratch.add_to(options);
    const auto reduce = [&](auto rows_on_host, auto columns_on_host, auto of_rows, auto of_columns, auto to) {
        by_rows ? call(where, rows_on_host, of_rows, options, m, to)
                : call(where, columns_on_host, of_columns, options, m, to);
    };
    if (kind == sum_) reduce(host::row_sum<T>, host::column_sum<T>, row_sum<T>, column_sum<T>, y.vector());
    if (kind == mean_)
        reduce(host::row_mean<T>, host::column_mean<T>, row_mean<T>, column_mean<T>, y.vector());
    if (kind == max_)
        reduce(host::row_max<T>, host::column_max<T>, row_max<T>, column_max<T>, extremes.vector());
    if (kind == argmax_)
        reduce(host::row_argmax<T>, host::column_argmax<T>, row_argmax<T>, column_argmax<T>, places.vector());
    if (kind == variance_)
        reduce(host::row_variance<T>, host::column_variance<T>, row_variance<T>, column_variance<T>,
               y.vector());
    if (kind == min_)
        reduce(host::row_min<T>, host::column_min<T>, row_min<T>, column_min<T>, extremes.vector());

    const double n = static_cast<double>(length), divisor = n - static_cast<double>(p["correction"]),
                 depth = static_cast<double>(
                     on_host ? 1 : matrix_reduce_depth(of_lines, *device, options.algorithm));
    const auto of_sums = [&](double roundings) { return bounds::of_additions(roundings, u) + n * 0x1p-53; };
    expectation expected;
    for (std::int64_t line = 0; line < lines; ++line) {
        double sum = 0, magnitudes = 0, squares = 0, largest_magnitude = 0, least = HUGE_VAL,
               largest = -HUGE_VAL;
        std::int64_t place = -1;
        const auto element = [&](std::int64_t i) {
            return to_double(xs[static_cast<std::size_t>(by_rows ? line * cols + i : i * cols + line)]);
        };
        for (std::int64_t i = 0; i < length; ++i) {
            const double a = element(i);
            sum += a, magnitudes += std::abs(a), largest_magnitude = std::max(largest_magnitude, std::abs(a));
            if (!std::isnan(least) && (std::isnan(a) || a < least)) least = a;
            if (i == 0 || (!std::isnan(largest) && (std::isnan(a) || a > largest))) largest = a, place = i;
        }
        for (std::int64_t i = 0; i < length; ++i) squares += (element(i) - sum / n) * (element(i) - sum / n);
        if (kind == sum_) expected.add(sum, of_sums(depth) * magnitudes);
        // One more division, by a length that was rounded to float.
        if (kind == mean_) expected.add(sum / n, of_sums(depth + 3) * magnitudes / n + smallest<float>());
        if (kind == max_) expected.add(largest, 0);
        if (kind == min_) expected.add(least, 0);
        if (kind == argmax_) expected.add(static_cast<double>(place), 0);
        if (kind == variance_)
            expected.add(std::isfinite(sum) && divisor > 0 ? squares / divisor : std::nan(""),
                         bounds::of_variance(depth, n, squares, largest_magnitude, divisor) + 0x1p-126);
    }
    const std::string wrong = kind == max_ || kind == min_ ? expected.mismatch("y", extremes.read())
                              : kind == argmax_            ? expected.mismatch("y", places.read())
                                                           : expected.mismatch("y", y.read());
    return first_of({wrong, y.damage(), extremes.damage(), places.damage(), scratch.damage(), x.change()});
}

/// Some have lines that several blocks share.
void draw_matrix_reduce(drawing& d, problem& p) {
    draw_matrix(d, p);
    if (d.one_in(5)) {
        const std::int64_t few = d.integer(1, 70),
                           many = static_cast<std::int64_t>(d.log_uniform(300, 1 << 20)) / few + 1;
        const bool is_wide = d.one_in(2);
        p.set({{"rows", is_wide ? few : many}, {"cols", is_wide ? many : few}});
    }
    if (p.word("lines") == "columns" && d.one_in(40)) {  // more strips than tickets
        p.set({{"rows", d.integer(64, 80)}, {"cols", d.integer(32769, 33792)}, {"order", 0}, {"step", 1}});
    }
    if (d.one_in(3)) p.set("y_step", d.integer(2, 3));
}

template <class T>
std::string wrong_cross_entropy(const problem& p, processor where) {
    const std::int64_t rows = p["rows"], cols = p["cols"];
    if (cols == 0) return {};  // such logits do nothing
    const bool wants_loss = p["wanted"] != 2, wants_gradient = p["wanted"] != 1;
    const auto seed = p.seed();
    const auto xs = draw_row_values<T>(p, seed);
    std::vector<std::int32_t> classes;
    drawing d({"labels", seed, 0});
    using limits = std::numeric_limits<std::int32_t>;
    for (std::int64_t i = 0; i < rows; ++i)
        classes.push_back(static_cast<std::int32_t>(
            d.one_in(8)   ? d.one_of<std::int64_t>({-100, cols, -1, limits::max(), limits::min()})
            : d.one_in(4) ? d.one_of<std::int64_t>({0, cols - 1})
                          : d.integer(0, cols - 1)));
    operand<T> x(where, matrix_of(p, "x", rows, cols), xs),
        apart(where, matrix_of(p, "gradient", rows, cols));
    operand<T>& gradient = wants_gradient && p["in_place"] == 1 ? x : apart;
    operand<std::int32_t> labels(where, vector_of(p, "labels", rows), classes);
    operand<float> loss(where, vector_of(p, "loss", rows));
    const auto to_gradient = wants_gradient ? gradient.matrix() : matrix_view<T>{};
    const auto to_loss = wants_loss ? loss.vector() : vector_view<float>{};
    constexpr float scales[] = {1, 0.25f, -3, 0}, smoothings[] = {0, 0.1f, 1};
    cross_entropy_options options{.scale = scales[p["scale"]], .label_smoothing = smoothings[p["smoothing"]]};
    if (p["ignored"] == 1 && rows > 0) options.ignore_label = classes[classes.size() / 2];
    if (where == processor::cpu)
        host::cross_entropy<T>(x.matrix(), labels.vector(), to_loss, to_gradient, options);
    else {
        options.algorithm = rung_of(p, where, loss_algorithms());
        cross_entropy<T>(x.matrix(), labels.vector(), to_loss, to_gradient, calls(), options);
    }
    const bounds::expected_cross_entropy all(xs, classes, cols, options,
                                             where == processor::cpu
                                                 ? bounds::softmax_steps_on_host
                                                 : bounds::loss_steps_of(options.algorithm, cols));
    const expectation losses{all.loss, all.loss_bounds}, gradients{all.gradient, all.bounds};
    return first_of({wants_loss ? losses.mismatch("loss", loss.read()) : loss.change(),
                     wants_gradient ? gradients.mismatch("gradient", gradient.read()) : gradient.change(),
                     loss.damage(), gradient.damage(), &gradient == &x ? "" : x.change(), labels.change()});
}

}  // namespace

operation softmax_cases() {
    return {"softmax",
            row_fields({"x", "y"}, {{"type", 0, single_types},
                                    {"function", 0, {"softmax", "log_softmax"}},
                                    {"in_place", 0, {"no", "x"}},
                                    {"values", 0, values_of_rows},
                                    {"rung", 0, rung_words(softmax_algorithms())}}),
            [](drawing& d, problem& p) {
                draw_rows(d, p, {"x", "y"});
            },
            of_single_type<[]<class T>(auto&... a) { return wrong_softmax<T>(a...); }>};
}

operation norm_cases() {
    return {"norm",
            norm_fields({"x", "y"}, {"1e-5", "0.5", "1e-12"},
                        {{"type", 0, single_types},
                         {"function", 0, {"layer_norm", "rms_norm"}},
                         {"in_place", 0, {"no", "x"}},
                         {"parameters", 0, {"both", "beta", "gamma", "none"}},
                         {"values", 0, all_values},
                         {"rung", 0, rung_words(norm_algorithms())}}),
            [](drawing& d, problem& p) {
                draw_norm(d, p, {"x", "y"});
            },
            of_single_type<[]<class T>(auto&... a) { return wrong_norm<T>(a...); }>};
}

operation matrix_reduce_cases() {
    return {"matrix_reduce",
            matrix_fields({{"type", 0, single_types},
                           {"function", 0, {"sum", "mean", "max", "argmax", "variance", "min"}},
                           {"lines", 0, {"rows", "columns"}},
                           {"order", 0, {"row_major", "column_major"}},
                           {"values", 0, values_of_rows},
                           {"mean", 0, {"as_drawn", "thousand", "minus_thousand"}},
                           {"correction", 0, {"0", "1"}},
                           {"rung", 0, rung_words(matrix_reduce_algorithms())},
                           scratch_field,
                           {"y_step", 1}}),
            draw_matrix_reduce,
            of_single_type<[]<class T>(auto&... a) { return wrong_matrix_reduce<T>(a...); }>};
}

operation cross_entropy_cases() {
    return {"cross_entropy",
            row_fields({"x", "gradient"}, {"labels", "loss"},
                       {{"type", 0, single_types},
                        {"wanted", 0, {"both", "loss", "gradient"}},
                        {"in_place", 0, {"no", "logits"}},
                        {"ignored", 0, {"none", "a_label"}},
                        {"smoothing", 0, {"0", "0.1", "1"}},
                        {"scale", 0, {"1", "0.25", "-3", "0"}},
                        {"values", 0, values_of_rows},
                        {"rung", 0, rung_words(loss_algorithms())}}),
            [](drawing& d, problem& p) {
                draw_rows(d, p, {"x", "gradient"}, 1 << 20);
                draw_vectors(d, p, {"labels", "loss"});
            },
            of_single_type<[]<class T>(auto&... a) { return wrong_cross_entropy<T>(a...); }>};
}

}  // namespace heddle::fuzz
