#include "benchmarks/fuzz/operations.hpp"
#include "benchmarks/fuzz/rows.hpp"
#include "benchmarks/support/rows.hpp"
#include <heddle/host.hpp>
#include <heddle/loss.hpp>
#include <heddle/norm.hpp>
#include <heddle/softmax.hpp>

namespace heddle::bench::fuzz {
namespace {

/// What a bound leaves for terms of u^2.
constexpr double second_order = 1.02;

template <class T>
std::string wrong_softmax_gradient(const problem& p, processor where) {
    const std::int64_t rows = p["rows"], cols = p["cols"];
    const bool is_log = p["function"] == 1;
    const auto seed = static_cast<std::uint64_t>(p["seed"]);
    const auto kind = static_cast<values>(p["values"]);
    auto ys = draw_values<T>(kind, rows * cols, seed);
    if (is_log)  // of shares, none of which is above 1
        for (T& y : ys) y = static_cast<T>(-std::abs(static_cast<float>(y)));
    const auto dys = draw_values<T>(kind, rows * cols, seed + 1);
    operand<T> y(where, matrix_of(p), ys), dy(where, dense(rows, cols), dys), apart(where, matrix_of(p));
    operand<T>& dx = p["in_place"] == 0 ? apart : p["in_place"] == 1 ? y : dy;
    if (where == processor::cpu)
        is_log ? host::log_softmax_gradient<T>(y.matrix(), dy.matrix(), dx.matrix())
               : host::softmax_gradient<T>(y.matrix(), dy.matrix(), dx.matrix());
    else {
        const softmax_gradient_options options{rung_of(p, where, softmax_gradient_algorithms())};
        is_log ? log_softmax_gradient<T>(y.matrix(), dy.matrix(), dx.matrix(), stream(), options)
               : softmax_gradient<T>(y.matrix(), dy.matrix(), dx.matrix(), stream(), options);
    }
    constexpr bool is_float = std::is_same_v<T, float>;
    const double sums = additions(cols);
    expectation expected;
    for (std::int64_t i = 0; i < rows; ++i) {
        const auto of_y = row_of(ys, i, cols), of_dy = row_of(dys, i, cols);
        double sum = 0, magnitudes = 0;
        for (std::size_t j = 0; j < of_y.size(); ++j) {
            const double term = is_log ? of_dy[j] : of_dy[j] * of_y[j];
            sum += term, magnitudes += std::abs(term);
        }
        for (std::size_t j = 0; j < of_y.size(); ++j) {
            const double a = of_y[j], g = of_dy[j];
            const double of_exponential = is_float ? 3 : 5 + 2.35 * std::abs(a);
            const double value = is_log ? g - std::exp(a) * sum : a * (g - sum);
            const double bound =
                is_log ? u * (std::exp(a) * magnitudes * (sums + 3 + of_exponential) + 2 * std::abs(g))
                       : std::abs(a) * u * ((sums + 1) * magnitudes + 3 * (std::abs(g) + magnitudes));
            expected.add(value, rounded<T>(value, second_order * bound));
        }
    }
    return first_of({expected.mismatch("dx", dx.read()), dx.damage(), &dx == &y ? "" : y.change(),
                     &dx == &dy ? "" : dy.change()});
}

/// The sums that bounds of a norm's gradients take, down a column.
struct column {
    double gamma = 0, beta = 0, of_z = 0, products = 0, magnitudes = 0;
};

template <class T>
std::string wrong_norm_gradient(const problem& p, processor where) {
    const std::int64_t rows = p["rows"], cols = p["cols"], wanted = p["wanted"];
    const bool is_layer = p["function"] == 0, has_gamma = p["gamma"] == 0;
    // The words of wanted: all, dx, dgamma, dbeta, both columns, dx and dgamma.
    const bool wants_dx = wanted == 0 || wanted == 1 || wanted == 5;
    const bool wants_dgamma = wanted != 1 && wanted != 3;
    const bool wants_dbeta = is_layer && (wanted == 0 || wanted == 3 || wanted == 4);
    const auto seed = static_cast<std::uint64_t>(p["seed"]);
    const auto kind = static_cast<values>(p["values"]);
    const auto xs = draw_values<T>(kind, rows * cols, seed),
               dys = draw_values<T>(kind, rows * cols, seed + 1);
    const auto gammas = draw_values<T>(values::uniform, cols, seed + 2);
    operand<T> x(where, matrix_of(p), xs), dy(where, dense(rows, cols), dys), apart(where, matrix_of(p));
    operand<T>& dx = !wants_dx || p["in_place"] == 0 ? apart : p["in_place"] == 1 ? x : dy;
    operand<T> gamma(where, lie({cols}, 1, 0, 2), gammas), dgamma(where, lie({cols}, 0, 0, 2)),
        dbeta(where, vector_of(cols));
    const auto of_gamma = has_gamma ? gamma.vector() : vector_view<T>{};
    const auto to_x = wants_dx ? dx.matrix() : matrix_view<T>{};
    const auto to_gamma = wants_dgamma ? dgamma.vector() : vector_view<T>{},
               to_beta = wants_dbeta ? dbeta.vector() : vector_view<T>{};
    constexpr float epsilon = 1e-5f;
    if (where == processor::cpu)
        is_layer ? host::layer_norm_gradient<T>(x.matrix(), of_gamma, dy.matrix(), to_x, to_gamma, to_beta,
                                                epsilon)
                 : host::rms_norm_gradient<T>(x.matrix(), of_gamma, dy.matrix(), to_x, to_gamma, epsilon);
    else {
        const norm_gradient_options options{.algorithm = rung_of(p, where, norm_gradient_algorithms()),
                                            .epsilon = epsilon};
        is_layer ? layer_norm_gradient<T>(x.matrix(), of_gamma, dy.matrix(), to_x, to_gamma, to_beta,
                                          stream(), options)
                 : rms_norm_gradient<T>(x.matrix(), of_gamma, dy.matrix(), to_x, to_gamma, stream(), options);
    }
    const auto n = static_cast<double>(cols), m = static_cast<double>(rows);
    const double along = (additions(cols) + 8) * u, down = std::min(m, 4096 + m / 4096 + 256);
    std::vector<column> columns(static_cast<std::size_t>(cols));
    std::vector<bool> has_infinity;
    expectation to_dx, to_dgamma, to_dbeta;
    for (std::int64_t i = 0; i < rows; ++i) {
        const auto of_x = row_of(xs, i, cols), of_dy = row_of(dys, i, cols);
        double sum = 0, magnitudes = 0, squares = 0;
        for (const double a : of_x) sum += a, magnitudes += std::abs(a) / n;
        const double mean = is_layer ? sum / n : 0;
        for (const double a : of_x) squares += (a - mean) * (a - mean);
        const double sigma = std::sqrt(squares / n + static_cast<double>(epsilon));
        const double h = is_layer ? along * magnitudes / sigma : 0, k = (along + 2 * h + h * h) / 2 + 8 * u;
        const auto z = [&](std::size_t j) { return (of_x[j] - mean) / sigma; };
        const auto error_of_z = [&](std::size_t j) { return h * (1 + k) + std::abs(z(j)) * (k + 3 * u); };
        const auto g = [&](std::size_t j) { return of_dy[j] * (has_gamma ? as_double(gammas[j]) : 1); };
        double mean_g = 0, q = 0, of_g = 0, of_q = 0, squares_of_g = 0, errors = 0;
        has_infinity.push_back(false);
        for (std::size_t j = 0; j < of_x.size(); ++j) {
            mean_g += is_layer ? g(j) / n : 0, q += g(j) * z(j) / n;
            of_g += std::abs(g(j)) / n, of_q += std::abs(g(j) * z(j)) / n;
            squares_of_g += g(j) * g(j) / n, errors += std::abs(g(j)) * error_of_z(j) / n;
            has_infinity.back() = has_infinity.back() || std::isinf(of_dy[j]);
        }
        const double error_of_mean = is_layer ? along * of_g : 0,
                     error_of_q = errors + along * (of_q + (is_layer ? 3 * std::sqrt(squares_of_g) : 0));
        for (std::size_t j = 0; j < of_x.size(); ++j) {
            const double value = (g(j) - mean_g - z(j) * q) / sigma;
            const double error = error_of_mean + std::abs(z(j)) * error_of_q +
                                 (std::abs(q) + error_of_q) * error_of_z(j) +
                                 (k + 6 * u) * (std::abs(g(j)) + std::abs(mean_g) + std::abs(z(j) * q));
            if (wants_dx)
                to_dx.add(has_infinity.back() ? std::nan("") : value,
                          rounded<T>(value, second_order * error / sigma));
            column& c = columns[j];
            c.gamma += of_dy[j] * z(j), c.beta += of_dy[j], c.of_z += std::abs(of_dy[j]) * error_of_z(j),
                c.products += std::abs(of_dy[j] * z(j)), c.magnitudes += std::abs(of_dy[j]);
        }
    }
    for (const column& c : columns) {
        to_dgamma.add(c.gamma, rounded<T>(c.gamma, second_order * (c.of_z + (down + 3) * u * c.products)));
        to_dbeta.add(c.beta, rounded<T>(c.beta, second_order * down * u * c.magnitudes));
    }
    // An infinity in dy makes its row NaN or infinite, which depends on the order of additions.
    auto of_dx = wants_dx ? dx.read() : std::vector<T>{};
    for (std::size_t i = 0; i < of_dx.size(); ++i)
        if (has_infinity[i / static_cast<std::size_t>(cols)] && std::isinf(as_double(of_dx[i])))
            of_dx[i] = static_cast<T>(std::nanf(""));
    return first_of({to_dx.mismatch("dx", of_dx),
                     wants_dgamma ? to_dgamma.mismatch("dgamma", dgamma.read()) : dgamma.change(),
                     wants_dbeta ? to_dbeta.mismatch("dbeta", dbeta.read()) : dbeta.change(),
                     wants_dx ? dx.damage() : dx.change(), dgamma.damage(), dbeta.damage(), gamma.change(),
                     &dx == &x ? "" : x.change(), &dx == &dy ? "" : dy.change()});
}

template <class T>
std::string wrong_squared_error(const problem& p, processor where) {
    const std::int64_t rows = p["rows"], cols = p["cols"];
    if (cols == 0) return {};  // such predictions do nothing
    const bool wants_loss = p["wanted"] != 2, wants_gradient = p["wanted"] != 1;
    const auto seed = static_cast<std::uint64_t>(p["seed"]);
    const auto kind = static_cast<values>(p["values"]);
    const auto xs = draw_values<T>(kind, rows * cols, seed), ts = draw_values<T>(kind, rows * cols, seed + 1);
    operand<T> x(where, matrix_of(p), xs), target(where, dense(rows, cols), ts), apart(where, matrix_of(p));
    operand<T>& gradient = !wants_gradient || p["in_place"] == 0 ? apart : p["in_place"] == 1 ? x : target;
    operand<float> loss(where, lie({rows}, 0, 0, 2));
    const auto to_gradient = wants_gradient ? gradient.matrix() : matrix_view<T>{};
    const auto to_loss = wants_loss ? loss.vector() : vector_view<float>{};
    mean_squared_error_options options{.scale = 0.75f};
    if (where == processor::cpu)
        host::mean_squared_error<T>(x.matrix(), target.matrix(), to_loss, to_gradient, options);
    else {
        options.algorithm = rung_of(p, where, loss_algorithms());
        mean_squared_error<T>(x.matrix(), target.matrix(), to_loss, to_gradient, stream(), options);
    }
    const auto n = static_cast<double>(cols);
    expectation losses, gradients;
    for (std::int64_t i = 0; i < rows; ++i) {
        const auto of_x = row_of(xs, i, cols), of_target = row_of(ts, i, cols);
        double squares = 0;
        for (std::size_t j = 0; j < of_x.size(); ++j) {
            const double distance = of_x[j] - of_target[j], value = 1.5 * distance / n;
            squares += distance * distance;
            if (wants_gradient) gradients.add(value, rounded<T>(value, 5 * u * std::abs(value)));
        }
        if (wants_loss)
            losses.add(squares / n, second_order * (additions(cols) + 6) * u * squares / n + 0x1p-126);
    }
    return first_of({wants_loss ? losses.mismatch("loss", loss.read()) : loss.change(),
                     wants_gradient ? gradients.mismatch("gradient", gradient.read()) : gradient.change(),
                     loss.damage(), gradient.damage(), &gradient == &x ? "" : x.change(),
                     &gradient == &target ? "" : target.change()});
}

template <class T>
std::string wrong_label_hits(const problem& p, processor where) {
    const std::int64_t rows = p["rows"], cols = p["cols"];
    if (cols == 0) return {};  // such scores do nothing
    const auto seed = static_cast<std::uint64_t>(p["seed"]);
    const auto xs = draw_values<T>(static_cast<values>(p["values"]), rows * cols, seed);
    drawing d({"labels", seed, 0});
    std::vector<std::int32_t> classes;
    std::vector<double> expected;
    for (std::int64_t i = 0; i < rows; ++i) {
        const auto row = row_of(xs, i, cols);
        std::size_t place = 0;
        for (std::size_t j = 0; j < row.size() && !std::isnan(row[place]); ++j)
            if (std::isnan(row[j]) || row[j] > row[place]) place = j;
        const auto label = d.one_in(2) ? static_cast<std::int64_t>(place) : d.integer(-1, cols);
        classes.push_back(static_cast<std::int32_t>(label));
        expected.push_back(label == static_cast<std::int64_t>(place) ? 1 : 0);
    }
    operand<T> x(where, matrix_of(p), xs);
    operand<std::int32_t> labels(where, lie({rows}, 0, 0, 2), classes), hits(where, lie({rows}, 1, 0, 3));
    where == processor::cpu ? host::label_hits<T>(x.matrix(), labels.vector(), hits.vector())
                            : label_hits<T>(x.matrix(), labels.vector(), hits.vector(), stream());
    return first_of({mismatch(
                         "hits", hits.read(), [&](std::size_t i) { return expected[i]; },
                         [](std::size_t) { return 0.0; }),
                     hits.damage(), x.change(), labels.change()});
}

}  // namespace

operation softmax_gradient_cases() {
    return {"softmax_gradient",
            matrix_fields({{"type", 0, single_types},
                           {"function", 0, {"softmax", "log_softmax"}},
                           {"in_place", 0, {"no", "y", "dy"}},
                           {"values", 0, all_values},
                           {"rung", 0, rung_words(softmax_gradient_algorithms())}}),
            draw_matrix, [](const problem& p, processor where) {
                return with_single<std::string>(
                    p["type"], [&]<class T>() { return wrong_softmax_gradient<T>(p, where); });
            }};
}

operation norm_gradient_cases() {
    return {"norm_gradient",
            matrix_fields({{"type", 0, single_types},
                           {"function", 0, {"layer_norm", "rms_norm"}},
                           {"wanted", 0, {"all", "dx", "dgamma", "dbeta", "columns", "dx_and_dgamma"}},
                           {"gamma", 0, {"there", "none"}},
                           {"in_place", 0, {"no", "x", "dy"}},
                           {"values", 0, all_values},
                           {"rung", 0, rung_words(norm_gradient_algorithms())}}),
            draw_matrix, [](const problem& p, processor where) {
                return with_single<std::string>(p["type"],
                                                [&]<class T>() { return wrong_norm_gradient<T>(p, where); });
            }};
}

operation squared_error_cases() {
    return {"mean_squared_error",
            matrix_fields({{"type", 0, single_types},
                           {"wanted", 0, {"both", "loss", "gradient"}},
                           {"in_place", 0, {"no", "prediction", "target"}},
                           {"values", 0, all_values},
                           {"rung", 0, rung_words(loss_algorithms())}}),
            draw_matrix, [](const problem& p, processor where) {
                return with_single<std::string>(p["type"],
                                                [&]<class T>() { return wrong_squared_error<T>(p, where); });
            }};
}

operation label_hits_cases() {
    return {"label_hits", matrix_fields({{"type", 0, single_types}, {"values", 0, all_values}}), draw_matrix,
            [](const problem& p, processor where) {
                return with_single<std::string>(p["type"],
                                                [&]<class T>() { return wrong_label_hits<T>(p, where); });
            }};
}

}  // namespace heddle::bench::fuzz
