#include "tests/bounds/loss.hpp"
#include "tests/bounds/norm.hpp"
#include "tests/bounds/softmax.hpp"
#include "tests/fuzz/operations.hpp"
#include "tests/fuzz/rows.hpp"
#include "tests/fuzz/scratch.hpp"

namespace heddle::fuzz {
namespace {

template <class T>
std::string wrong_softmax_gradient(const problem& p, processor where) {
    const std::int64_t rows = p["rows"], cols = p["cols"];
    const bool is_log = p["function"] == 1;
    const softmax_gradient_algorithm rung = rung_of(p, where, softmax_gradient_algorithms());
    const auto seed = p.seed();
    const auto kind = kind_of(p);
    auto ys = draw_values<T>(kind, rows * cols, seed);
    if (is_log)  // of shares, none of which is above 1
        for (T& y : ys) y = static_cast<T>(-std::abs(static_cast<float>(y)));
    const auto dys = draw_values<T>(kind, rows * cols, seed + 1);
    operand<T> y(where, matrix_of(p, "y", rows, cols), ys), dy(where, matrix_of(p, "dy", rows, cols), dys),
        apart(where, matrix_of(p, "dx", rows, cols));
    operand<T>& dx = p["in_place"] == 0 ? apart : p["in_place"] == 1 ? y : dy;
    call(where, is_log ? host::log_softmax_gradient<T> : host::softmax_gradient<T>,
         is_log ? log_softmax_gradient<T> : softmax_gradient<T>, softmax_gradient_options{rung}, y.matrix(),
         dy.matrix(), dx.matrix());
    const bounds::expected_softmax_gradient all(ys, dys, cols,
                                                where == processor::cpu
                                                    ? bounds::softmax_gradient_depth_on_host
                                                    : bounds::softmax_gradient_depth(rung, cols));
    const expectation expected =
        is_log ? expectation{all.log_softmax, all.log_bounds} : expectation{all.softmax, all.bounds};
    return first_of({expected.mismatch("dx", dx.read()), dx.damage(), &dx == &y ? "" : y.change(),
                     &dx == &dy ? "" : dy.change()});
}

template <class T>
std::string wrong_norm_gradient(const problem& p, processor where) {
    const std::int64_t rows = p["rows"], cols = p["cols"], wanted = p["wanted"];
    const bool is_layer = p["function"] == 0, has_gamma = p["gamma"] == 0;
    const norm_gradient_algorithm rung = rung_of(p, where, norm_gradient_algorithms());
    // The values of `wanted`: all, dx, dgamma, dbeta, both columns, dx and dgamma.
    const bool wants_dx = wanted == 0 || wanted == 1 || wanted == 5;
    const bool wants_dgamma = wanted != 1 && wanted != 3;
    const bool wants_dbeta = is_layer && (wanted == 0 || wanted == 3 || wanted == 4);
    const auto seed = p.seed();
    const auto kind = kind_of(p);
    const auto xs = draw_norm_values<T>(p, seed), dys = draw_values<T>(kind, rows * cols, seed + 1);
    const auto gammas = draw_values<T>(values::uniform, has_gamma ? cols : 0, seed + 2);
    operand<T> x(where, matrix_of(p, "x", rows, cols), xs), dy(where, matrix_of(p, "dy", rows, cols), dys),
        apart(where, matrix_of(p, "dx", rows, cols));
    operand<T>& dx = !wants_dx || p["in_place"] == 0 ? apart : p["in_place"] == 1 ? x : dy;
    operand<T> gamma(where, parameter_of(p, has_gamma), gammas),
        dgamma(where, lie({cols}, 0, 0, p["sum_step"])), dbeta(where, lie({cols}, 1, 0, p["sum_step"]));
    const auto to_x = wants_dx ? dx.matrix() : matrix_view<T>{};
    const auto to_gamma = wants_dgamma ? dgamma.vector() : vector_view<T>{},
               to_beta = wants_dbeta ? dbeta.vector() : vector_view<T>{};
    const float epsilon = epsilon_of(p);
    norm_gradient_options options{.algorithm = rung, .epsilon = epsilon};
    const auto size =
        norm_gradient_problem_of<T>(x.matrix(), gamma.vector(), dy.matrix(), to_x, to_gamma, to_beta);
    scratch_memory scratch(
        p, where,
        where == processor::cpu ? 0 : norm_gradient_workspace_bytes(size, traits_of(current_device()), rung));
    scratch.add_to(options);
    if (where == processor::cpu)
        is_layer
            ? host::layer_norm_gradient<T>(x.matrix(), gamma.vector(), dy.matrix(), to_x, to_gamma, to_beta,
                                           epsilon)
            : host::rms_norm_gradient<T>(x.matrix(), gamma.vector(), dy.matrix(), to_x, to_gamma, epsilon);
    else
        is_layer
            ? layer_norm_gradient<T>(x.matrix(), gamma.vector(), dy.matrix(), to_x, to_gamma, to_beta,
                                     calls(), options)
            : rms_norm_gradient<T>(x.matrix(), gamma.vector(), dy.matrix(), to_x, to_gamma, calls(), options);
    bounds::expected_norm_gradient all(
        is_layer ? bounds::norm_operation::layer_norm : bounds::norm_operation::rms_norm, xs, gammas, dys,
        cols, epsilon,
        where == processor::cpu ? bounds::norm_depth_on_host : bounds::norm_gradient_depth(rung, cols));
    // An infinity in dy makes its row of dx, and its column's dgamma, NaN or infinite, depending on rounding.
    auto of_dx = wants_dx ? dx.read() : std::vector<T>{}, of_dgamma = wants_dgamma ? dgamma.read() : of_dx;
    const auto is_either = [](std::vector<double>& expected, std::vector<T>& actual, std::size_t at) {
        expected[at] = std::nan("");
        if (std::isinf(to_double(actual[at]))) actual[at] = static_cast<T>(std::nanf(""));
    };
    for (std::int64_t i = 0; i < rows; ++i) {
        const auto of_dy = row_of(dys, i, cols);
        if (std::ranges::none_of(of_dy, [](double a) { return std::isinf(a); })) continue;
        for (std::size_t j = 0; j < of_dy.size(); ++j) {
            if (wants_dx) is_either(all.dx, of_dx, static_cast<std::size_t>(i * cols) + j);
            if (wants_dgamma && std::isinf(of_dy[j])) is_either(all.dgamma, of_dgamma, j);
        }
    }
    const expectation to_dx{all.dx, all.dx_bounds}, to_dgamma{all.dgamma, all.dgamma_bounds},
        to_dbeta{all.dbeta, all.dbeta_bounds};
    return first_of({to_dx.mismatch("dx", of_dx),
                     wants_dgamma ? to_dgamma.mismatch("dgamma", of_dgamma) : dgamma.change(),
                     wants_dbeta ? to_dbeta.mismatch("dbeta", dbeta.read()) : dbeta.change(),
                     wants_dx ? dx.damage() : dx.change(), dgamma.damage(), dbeta.damage(), gamma.change(),
                     &dx == &x ? "" : x.change(), &dx == &dy ? "" : dy.change(), scratch.damage()});
}

template <class T>
std::string wrong_squared_error(const problem& p, processor where) {
    const std::int64_t rows = p["rows"], cols = p["cols"];
    if (cols == 0) return {};  // such predictions do nothing
    const bool wants_loss = p["wanted"] != 2, wants_gradient = p["wanted"] != 1;
    const auto seed = p.seed();
    const auto kind = kind_of(p);
    const auto xs = draw_values<T>(kind, rows * cols, seed), ts = draw_values<T>(kind, rows * cols, seed + 1);
    operand<T> x(where, matrix_of(p, "x", rows, cols), xs),
        target(where, matrix_of(p, "target", rows, cols), ts),
        apart(where, matrix_of(p, "gradient", rows, cols));
    operand<T>& gradient = !wants_gradient || p["in_place"] == 0 ? apart : p["in_place"] == 1 ? x : target;
    operand<float> loss(where, vector_of(p, "loss", rows));
    const auto to_gradient = wants_gradient ? gradient.matrix() : matrix_view<T>{};
    const auto to_loss = wants_loss ? loss.vector() : vector_view<float>{};
    constexpr float scales[] = {1, 0.75f, -3};
    mean_squared_error_options options{.scale = scales[p["scale"]]};
    if (where == processor::cpu)
        host::mean_squared_error<T>(x.matrix(), target.matrix(), to_loss, to_gradient, options);
    else {
        options.algorithm = rung_of(p, where, loss_algorithms());
        mean_squared_error<T>(x.matrix(), target.matrix(), to_loss, to_gradient, calls(), options);
    }
    const bounds::expected_squared_error all(xs, ts, cols, static_cast<double>(options.scale),
                                             where == processor::cpu
                                                 ? bounds::softmax_steps_on_host
                                                 : bounds::loss_steps_of(options.algorithm, cols));
    const expectation losses{all.loss, all.loss_bounds}, gradients{all.gradient, all.bounds};
    return first_of({wants_loss ? losses.mismatch("loss", loss.read()) : loss.change(),
                     wants_gradient ? gradients.mismatch("gradient", gradient.read()) : gradient.change(),
                     loss.damage(), gradient.damage(), &gradient == &x ? "" : x.change(),
                     &gradient == &target ? "" : target.change()});
}

template <class T>
std::string wrong_label_hits(const problem& p, processor where) {
    const std::int64_t rows = p["rows"], cols = p["cols"];
    if (cols == 0) return {};  // such scores do nothing
    const auto seed = p.seed();
    const auto xs = draw_row_values<T>(p, seed);
    drawing d({"labels", seed, 0});
    std::vector<std::int32_t> classes;
    std::vector<double> expected;
    for (std::int64_t i = 0; i < rows; ++i) {
        const auto row = row_of(xs, i, cols);
        std::size_t first = 0, last = 0;  // indices of the largest
        for (std::size_t j = 1; j < row.size(); ++j) {
            const bool is_nan = std::isnan(row[j]), is_largest_nan = std::isnan(row[first]);
            if (!is_largest_nan && (is_nan || row[j] > row[first]))
                first = last = j;
            else if (is_largest_nan ? is_nan : row[j] == row[first])
                last = j;
        }
        const auto place = static_cast<std::int64_t>(first);
        const auto label = d.one_of({place, place, static_cast<std::int64_t>(last), d.integer(-1, cols)});
        classes.push_back(static_cast<std::int32_t>(label));
        expected.push_back(label == place ? 1 : 0);
    }
    operand<T> x(where, matrix_of(p, "x", rows, cols), xs);
    operand<std::int32_t> labels(where, vector_of(p, "labels", rows), classes),
        hits(where, vector_of(p, "hits", rows));
    where == processor::cpu ? host::label_hits<T>(x.matrix(), labels.vector(), hits.vector())
                            : label_hits<T>(x.matrix(), labels.vector(), hits.vector(), calls());
    return first_of({mismatch("hits", hits.read(), expected), hits.damage(), x.change(), labels.change()});
}

/// Some have more rows than blocks and clusters process at once.
void draw_norm_gradient(drawing& d, problem& p) {
    draw_norm(d, p, {"x", "dy", "dx"});
    p.set("sum_step", d.integer(1, 3));
    if (!d.one_in(16)) return;
    const std::int64_t cols = draw_extent(d, 1 << 16);
    p.set({{"rows", (1 << 21) / cols - d.integer(0, 7)}, {"cols", cols}});
}

}  // namespace

operation softmax_gradient_cases() {
    return {"softmax_gradient",
            row_fields({"y", "dy", "dx"}, {{"type", 0, single_types},
                                           {"function", 0, {"softmax", "log_softmax"}},
                                           {"in_place", 0, {"no", "y", "dy"}},
                                           {"values", 0, all_values},
                                           {"rung", 0, rung_words(softmax_gradient_algorithms())}}),
            [](drawing& d, problem& p) {
                draw_rows(d, p, {"y", "dy", "dx"});
            },
            of_single_type<[]<class T>(auto&... a) { return wrong_softmax_gradient<T>(a...); }>};
}

operation norm_gradient_cases() {
    return {"norm_gradient",
            norm_fields({"x", "dy", "dx"}, {"1e-5", "0.5"},
                        {{"type", 0, single_types},
                         {"function", 0, {"layer_norm", "rms_norm"}},
                         {"wanted", 0, {"all", "dx", "dgamma", "dbeta", "columns", "dx_and_dgamma"}},
                         {"gamma", 0, {"there", "none"}},
                         {"in_place", 0, {"no", "x", "dy"}},
                         {"scratch", 0, {"pool", "given"}},
                         {"sum_step"},
                         {"values", 0, all_values},
                         {"rung", 0, rung_words(norm_gradient_algorithms())}}),
            draw_norm_gradient,
            of_single_type<[]<class T>(auto&... a) { return wrong_norm_gradient<T>(a...); }>};
}

operation squared_error_cases() {
    return {"mean_squared_error",
            row_fields({"x", "target", "gradient"}, {"loss"},
                       {{"type", 0, single_types},
                        {"wanted", 0, {"both", "loss", "gradient"}},
                        {"in_place", 0, {"no", "prediction", "target"}},
                        {"scale", 0, {"1", "0.75", "-3"}},
                        {"values", 0, all_values},
                        {"rung", 0, rung_words(loss_algorithms())}}),
            [](drawing& d, problem& p) {
                draw_rows(d, p, {"x", "target", "gradient"}, 1 << 20);
                draw_vectors(d, p, {"loss"});
            },
            of_single_type<[]<class T>(auto&... a) { return wrong_squared_error<T>(a...); }>};
}

operation label_hits_cases() {
    return {"label_hits",
            row_fields({"x"}, {"labels", "hits"}, {{"type", 0, single_types}, {"values", 0, values_of_rows}}),
            [](drawing& d, problem& p) {
                draw_rows(d, p, {"x"});
                draw_vectors(d, p, {"labels", "hits"});
            },
            of_single_type<[]<class T>(auto&... a) { return wrong_label_hits<T>(a...); }>};
}

}  // namespace heddle::fuzz
