#include "benchmarks/cliffs/case.hpp"
#include "benchmarks/cliffs/expected_places.hpp"
#include "benchmarks/cliffs/operands.hpp"
#include "benchmarks/cliffs/reference.hpp"
#include "benchmarks/cliffs/vendor_functions.hpp"
#include "benchmarks/support/rows.hpp"
#include <heddle/norm.hpp>
#include <heddle/softmax.hpp>

#include <fmt/format.h>
#include <heddle_baselines.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Gradients of softmax and of norms.
namespace heddle::bench::cliffs {
namespace {

constexpr double u = 0x1p-24;

enum class operation { softmax, log_softmax, layer_norm, rms_norm };
constexpr std::string_view names[] = {"softmax_gradient", "log_softmax_gradient", "layer_norm_gradient",
                                      "rms_norm_gradient"};
enum class place_of_dx { apart, x, dy };

template <class T>
struct problem {
    operation op = operation::softmax;
    place_of_dx in_place = place_of_dx::apart;
    bool has_gamma = false, has_dx = true, has_columns = false;
    std::int64_t rows = 1, cols = 1;
    placement x, dy, dx;
    std::uint64_t seed = 0;

    [[nodiscard]] bool is_softmax() const { return op == operation::softmax || op == operation::log_softmax; }
    [[nodiscard]] bool has_dbeta() const { return has_columns && op == operation::layer_norm; }
    [[nodiscard]] bool is_apart() const { return has_dx && in_place == place_of_dx::apart; }
    /// The forward call's operand, or softmax's result, whose rows sum to about 1.
    [[nodiscard]] numbers elements() const {
        const auto n = static_cast<double>(cols);
        if (op == operation::softmax) return {0, 2 / n, 0};
        return op == operation::log_softmax ? numbers{-std::log(n) - 2, -std::log(n) / 2, 0}
                                            : numbers{-1, 2, 0};
    }
    /// Those of y: of a norm so small that half has room for the sum of a column.
    [[nodiscard]] numbers gradients() const {
        return is_softmax() ? numbers{-0.5, 1, 0} : numbers{-0x1p-9, 0x1p-8, 0};
    }
};

template <class T>
struct operands {
    operand<T> x, dy, gamma;  ///< gamma is ones where a call has none
    std::optional<operand<T>> dx, dgamma, dbeta;

    explicit operands(const problem<T>& p)
        : x(p.rows, p.cols, p.x, p.seed, p.elements()),
          dy(p.rows, p.cols, p.dy, p.seed + 1, p.gradients()),
          gamma(1, p.is_softmax() ? 1 : p.cols, {}, p.seed + 2,
                p.has_gamma ? numbers{-1, 1, 0} : numbers{1, 1, 0}) {
        if (p.is_apart()) dx.emplace(p.rows, p.cols, p.dx);
        if (p.has_columns) dgamma.emplace(1, p.cols, placement{});
        if (p.has_dbeta()) dbeta.emplace(1, p.cols, placement{});
    }
    operand<T>& result(const problem<T>& p) { return dx ? *dx : p.in_place == place_of_dx::x ? x : dy; }
};

template <class T>
void run(const problem<T>& p, operands<T>& o) {
    const matrix_view<const T> x = o.x.view(), dy = o.dy.view();
    const matrix_view<T> dx = p.has_dx ? o.result(p).view() : matrix_view<T>{};
    const vector_view<const T> gamma =
        p.has_gamma ? vector_view<const T>(o.gamma.vector()) : vector_view<const T>{};
    const vector_view<T> dgamma = o.dgamma ? o.dgamma->vector() : vector_view<T>{},
                         dbeta = o.dbeta ? o.dbeta->vector() : vector_view<T>{};
    switch (p.op) {
        case operation::softmax:
            return softmax_gradient<T>(x, dy, dx, stream());
        case operation::log_softmax:
            return log_softmax_gradient<T>(x, dy, dx, stream());
        case operation::layer_norm:
            return layer_norm_gradient<T>(x, gamma, dy, dx, dgamma, dbeta, stream());
        case operation::rms_norm:
            return rms_norm_gradient<T>(x, gamma, dy, dx, dgamma, stream());
    }
}

/// A row of a norm's operand: docs/accuracy.md has h and k.
struct norm_row {
    double mean, sigma, h, k;

    norm_row(bool is_layer, const line_facts& x, double n) {
        mean = is_layer ? x.sum / n : 0;
        sigma = std::sqrt((is_layer ? x.deviations : x.squares) / n +
                          static_cast<double>(norm_gradient_options{}.epsilon));
        const double along = (additions_of_row(n) + 8) * u;
        h = is_layer ? along * x.magnitudes / n / sigma : 0;
        k = (along + 2 * h + h * h) / 2 + 8 * u;
    }
    [[nodiscard]] double z(double x) const { return (x - mean) / sigma; }
    [[nodiscard]] double error_of_z(double of) const { return h * (1 + k) + std::abs(of) * (k + 3 * u); }
};

/// What a bound leaves for terms of u^2.
constexpr double second_order = 1.02;

template <class T>
expected_places expected_dx(const problem<T>& p, operands<T>& o) {
    const bool is_log = p.op == operation::log_softmax, is_layer = p.op == operation::layer_norm;
    const auto n = static_cast<double>(p.cols);
    const double additions = additions_of_row(n), along = (additions + 8) * u;
    expected_places expected{sampled_places(p.rows, p.cols, p.seed, 32), {}, {}};
    std::vector<line> of_x, of_dy, of_gamma;
    std::vector<place> columns;
    for (const place& at : expected.places) {
        of_x.push_back(row_of(o.x.view(), at.row));
        of_dy.push_back(row_of(o.dy.view(), at.row));
        of_gamma.push_back(row_of(o.gamma.view(), 0));
        columns.push_back({0, at.col});
    }
    const std::vector<T> xs = gathered(o.x.view(), expected.places),
                         dys = gathered(o.dy.view(), expected.places);
    if (p.is_softmax()) {
        const auto sums = facts_of(o.dy.data(), of_dy);
        const auto dots = dots_of(o.dy.data(), of_dy, o.x.data(), of_x);
        for (std::size_t i = 0; i < xs.size(); ++i) {
            const double y = as_double(xs[i]), dy = as_double(dys[i]);
            const double sum = is_log ? sums[i].sum : dots[i].sum,
                         magnitudes = is_log ? sums[i].magnitudes : dots[i].magnitudes;
            const double of_exponential = sizeof(T) == 2 ? 5 + 2.35 * std::abs(y) : 3;
            const double value = is_log ? dy - std::exp(y) * sum : y * (dy - sum);
            const double error =
                is_log ? std::exp(y) * magnitudes * (additions + 3 + of_exponential) + 2 * std::abs(dy)
                       : std::abs(y) * ((additions + 1) * magnitudes + 3 * (std::abs(dy) + magnitudes));
            expected.add(value, rounded<T>(value, second_order * u * error + 3 * least<T>()));
        }
        return expected;
    }
    const std::vector<T> gammas = gathered(o.gamma.view(), columns);
    const auto facts = facts_of(o.x.data(), of_x);
    const auto of_g = dots_of(o.dy.data(), of_dy, o.gamma.data(), of_gamma);
    const auto of_products = dots_of(o.dy.data(), of_dy, o.x.data(), of_x, o.gamma.data());
    for (std::size_t i = 0; i < xs.size(); ++i) {
        const norm_row row(is_layer, facts[i], n);
        const double g = as_double(dys[i]) * as_double(gammas[i]), z = row.z(as_double(xs[i]));
        const double mean_g = is_layer ? of_g[i].sum / n : 0, magnitudes = of_g[i].magnitudes / n;
        const double q = (of_products[i].sum - row.mean * of_g[i].sum) / row.sigma / n;
        // No factor is above 1, so that the squares of dy are at least those of g.
        const double products = (of_products[i].magnitudes / n + std::abs(row.mean) * magnitudes) / row.sigma,
                     root = std::sqrt(of_g[i].x_squares / n);
        const double errors = row.h * (1 + row.k) * magnitudes + (row.k + 3 * u) * products;
        const double error_of_mean = is_layer ? along * magnitudes : 0,
                     error_of_q = errors + along * (products + (is_layer ? 3 * root : 0));
        const double value = (g - mean_g - z * q) / row.sigma;
        const double error = error_of_mean + std::abs(z) * error_of_q +
                             (std::abs(q) + error_of_q) * row.error_of_z(z) +
                             (row.k + 6 * u) * (std::abs(g) + std::abs(mean_g) + std::abs(z * q));
        expected.add(value, rounded<T>(value, second_order * error / row.sigma + 3 * least<T>()));
    }
    return expected;
}

double additions_of_column(double m) {
    return std::min(m, 4096 + m / 4096 + 256);
}

template <class T>
expected_places expected_dbeta(const problem<T>& p, operands<T>& o) {
    const double down = additions_of_column(static_cast<double>(p.rows));
    expected_places expected{sampled_places(1, p.cols, p.seed, 32), {}, {}};
    std::vector<line> lines;
    for (const place& at : expected.places) lines.push_back(column_of(o.dy.view(), at.col));
    for (const line_facts& facts : facts_of(o.dy.data(), lines))
        expected.add(facts.sum, rounded<T>(facts.sum, error_of_additions(down, u) * facts.magnitudes));
    return expected;
}

/// All rows have to be known for it: where they are too many, it has no places.
template <class T>
expected_places expected_dgamma(const problem<T>& p, operands<T>& o) {
    constexpr std::int64_t most_rows = 1 << 16;
    if (p.rows > most_rows) return {};
    expected_places expected{sampled_places(1, p.cols, p.seed, 16), {}, {}};
    const auto n = static_cast<double>(p.cols);
    const double down = additions_of_column(static_cast<double>(p.rows));
    std::vector<line> lines;
    for (std::int64_t row = 0; row < p.rows; ++row) lines.push_back(row_of(o.x.view(), row));
    std::vector<norm_row> rows;
    for (const line_facts& facts : facts_of(o.x.data(), lines))
        rows.emplace_back(p.op == operation::layer_norm, facts, n);
    for (const place& at : expected.places) {
        std::vector<place> column;
        for (std::int64_t row = 0; row < p.rows; ++row) column.push_back({row, at.col});
        const std::vector<T> xs = gathered(o.x.view(), column), dys = gathered(o.dy.view(), column);
        double sum = 0, magnitudes = 0, of_z = 0;
        for (std::size_t i = 0; i < xs.size(); ++i) {
            const double z = rows[i].z(as_double(xs[i])), dy = as_double(dys[i]);
            sum += dy * z;
            magnitudes += std::abs(dy * z);
            of_z += std::abs(dy) * rows[i].error_of_z(z);
        }
        expected.add(sum,
                     rounded<T>(sum, second_order * (of_z + error_of_additions(down + 3, u) * magnitudes)));
    }
    return expected;
}

#if HEDDLE_HAS_CUDNN
template <class T>
void add_softmax(trial& t, const problem<T>& p, const std::shared_ptr<operands<T>>& o) {
    for (const placement& lie : {p.x, p.dy, p.dx})
        if (!is_aligned_for_cudnn<T>(lie)) return;
    t.add_peer("cudnn", [&] {
        struct descriptors {
            cudnn_tensor y, dy, dx;
        };
        const auto d = std::make_shared<descriptors>();
        const auto describe = [&p](const cudnn_tensor& tensor, const matrix_view<T>& m) {
            set_tensor<T>(tensor, p.rows, p.cols, 1, 1, m.row_stride, m.col_stride);
        };
        describe(d->y, o->x.view());
        describe(d->dy, o->dy.view());
        describe(d->dx, o->result(p).view());
        const auto how = p.op == operation::softmax ? CUDNN_SOFTMAX_ACCURATE : CUDNN_SOFTMAX_LOG;
        return [=] {
            const float alpha = 1, beta = 0;
            check(cudnnSoftmaxBackward(cudnn_handle(), how, CUDNN_SOFTMAX_MODE_INSTANCE, &alpha, d->y,
                                       o->x.data(), d->dy, o->dy.data(), &beta, d->dx, o->result(p).data()));
        };
    });
}
#endif

template <class T>
trial prepare(const problem<T>& p) {
    const auto o = std::make_shared<operands<T>>(p);
    trial t;
    t.is_in_place = p.has_dx && !p.is_apart();
    t.reset = [p, o] {
        if (p.has_dx && p.in_place == place_of_dx::x) o->x.fill(p.seed, p.elements());
        if (p.has_dx && p.in_place == place_of_dx::dy) o->dy.fill(p.seed + 1, p.gradients());
        for (auto* const result : {&o->dx, &o->dgamma, &o->dbeta})
            if (*result) (*result)->poison();
    };
    t.call = [p, o] { run(p, *o); };
#if HEDDLE_HAS_CUDNN
    if (p.is_softmax()) add_softmax(t, p, o);
#endif
    const auto dx = p.has_dx ? expected_dx(p, *o) : expected_places{};
    const auto dgamma = p.has_columns ? expected_dgamma(p, *o) : expected_places{};
    const auto dbeta = p.has_dbeta() ? expected_dbeta(p, *o) : expected_places{};
    t.wrong = [p, o, dx, dgamma, dbeta](double slack) {
        std::string wrong;
        if (p.has_dx) wrong = dx.wrong("dx", o->result(p), slack, p.is_apart());
        if (wrong.empty() && o->dgamma) wrong = dgamma.wrong("dgamma", *o->dgamma, slack);
        return wrong.empty() && o->dbeta ? dbeta.wrong("dbeta", *o->dbeta, slack) : wrong;
    };
    return t;
}

template <class T>
drawn_case draw(drawing& d) {
    problem<T> p;
    p.op = static_cast<operation>(d.index(std::size(names)));
    const std::int64_t wanted = d.integer(0, 5);  // mostly all
    p.has_columns = !p.is_softmax() && wanted != 0;
    p.has_dx = p.is_softmax() || wanted != 1;
    p.has_gamma = !p.is_softmax() && !d.one_in(4);
    p.in_place = d.one_of({place_of_dx::apart, place_of_dx::apart, place_of_dx::x, place_of_dx::dy});
    const placement lies[] = {d.lie(true), d.lie(true), d.lie(true)};
    const bool are_alike = d.one_in(2);
    p.x = lies[0];
    p.dy = are_alike ? p.x : lies[1];
    p.dx = p.in_place == place_of_dx::x ? p.x : p.in_place == place_of_dx::dy || are_alike ? p.dy : lies[2];
    p.seed = d.bits();
    const auto memory = [p](std::span<const std::int64_t> e) {
        return static_cast<double>(span_of(p.x, e[0], e[1]) + span_of(p.dy, e[0], e[1]) +
                                   (p.is_apart() ? span_of(p.dx, e[0], e[1]) : 0) + 3 * e[1]) *
               sizeof(T);
    };
    drawn_case c;
    c.extents = d.extents(2, [&](auto e) { return memory(e) <= most_bytes; });
    p.rows = c.extents[0];
    p.cols = c.extents[1];
    c.memory = memory(c.extents);
    c.operations = static_cast<double>(p.rows) * static_cast<double>(p.cols);
    const double vectors =
        (p.has_gamma && p.has_dx ? 1 : 0) + (p.has_columns ? 1 : 0) + (p.has_dbeta() ? 1 : 0);
    c.bytes = ((p.has_dx ? 3 : 2) * c.operations + vectors * static_cast<double>(p.cols)) * sizeof(T);
    c.words =
        fmt::format("{} {} of {} x {}", dtype<T>, names[static_cast<std::size_t>(p.op)], p.rows, p.cols);
    if (p.has_gamma) c.words += ", gamma";
    if (!p.has_dx) c.words += ", no dx";
    if (!p.is_softmax() && !p.has_columns) c.words += ", no columns";
    if (p.has_dx && !p.is_apart())
        c.words += p.in_place == place_of_dx::x ? ", in place" : ", in place of dy";
    c.words += to_string(p.x);
    if (p.dy != placement{}) c.words += fmt::format("; dy{}", to_string(p.dy));
    if (p.is_apart() && p.dx != placement{}) c.words += fmt::format("; dx{}", to_string(p.dx));
    c.prepare = [p] { return prepare(p); };
    return c;
}

}  // namespace

drawn_case draw_norm_gradients(drawing& d) {
    return with_type<float, half, bfloat16>(d.type(3), [&]<class T>() { return draw<T>(d); });
}

}  // namespace heddle::bench::cliffs
