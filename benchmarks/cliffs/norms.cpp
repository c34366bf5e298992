#include "benchmarks/cliffs/family.hpp"
#include "benchmarks/cliffs/vendor_functions.hpp"
#include "tests/bounds/norm.hpp"
#include "tests/bounds/softmax.hpp"

/// softmax and norms of rows, and their gradients.
namespace heddle::bench::cliffs {
namespace {

enum class operation { softmax, log_softmax, layer_norm, rms_norm };
constexpr std::string_view names[] = {"softmax", "log_softmax", "layer_norm", "rms_norm"};

bool is_softmax(operation op) {
    return op == operation::softmax || op == operation::log_softmax;
}

bounds::norm_operation norm_of(operation op) {
    return op == operation::layer_norm ? bounds::norm_operation::layer_norm
                                       : bounds::norm_operation::rms_norm;
}

/// The facts of a row from which the bounds of a norm are computed.
bounds::row_moments moments_of(bounds::norm_operation op, const line_facts& row, double cols) {
    const bool is_layer = op == bounds::norm_operation::layer_norm;
    return {is_layer ? row.sum / cols : 0, row.magnitudes / cols,
            (is_layer ? row.deviations : row.squares) / cols};
}

struct problem {
    operation op = operation::softmax;
    bool in_place = false;
    bool has_gamma = false, has_beta = false;
    std::int64_t rows = 1, cols = 1;
    placement x, y;
    std::uint64_t seed = 0;

    [[nodiscard]] numbers elements() const { return is_softmax(op) ? numbers{-8, 8, 0} : numbers{-1, 2, 0}; }
};

template <class T>
struct operands {
    operand<T> x;
    std::optional<operand<T>> y;  ///< none in place
    std::optional<operand<T>> gamma, beta;

    explicit operands(const problem& p) : x(p.rows, p.cols, p.x, p.seed, p.elements()) {
        if (!p.in_place) y.emplace(p.rows, p.cols, p.y);
        if (p.has_gamma) gamma.emplace(1, p.cols, placement{}, p.seed + 1);
        if (p.has_beta) beta.emplace(1, p.cols, placement{}, p.seed + 2);
    }
    operand<T>& result() { return y ? *y : x; }
};

template <class T>
void run(const problem& p, operands<T>& o) {
    const matrix_view<const T> x = o.x.view();
    const matrix_view<T> y = o.result().view();
    const auto vector_of = [](std::optional<operand<T>>& v) {
        return v ? vector_view<const T>(v->vector()) : vector_view<const T>{};
    };
    if (p.op == operation::softmax) return softmax<T>(x, y, stream());
    if (p.op == operation::log_softmax) return log_softmax<T>(x, y, stream());
    if (p.op == operation::layer_norm)
        return layer_norm<T>(x, vector_of(o.gamma), vector_of(o.beta), y, stream());
    rms_norm<T>(x, vector_of(o.gamma), y, stream());
}

template <class T>
bounds::approximate expected(operation op, T x, double gamma, double beta, const line_facts& row,
                             std::int64_t cols) {
    const std::int64_t counted = counted_columns(cols);
    if (is_softmax(op)) {
        const bounds::expected_softmax all(x, row.largest, row.exponentials, cols,
                                           bounds::softmax_steps_of(softmax_algorithm::automatic, counted));
        return op == operation::softmax
                   ? bounds::approximate(all.softmax.front(), all.bounds.front())
                   : bounds::approximate(all.log_softmax.front(), all.log_bounds.front());
    }
    const auto norm = norm_of(op);
    const bounds::expected_norm all(norm, x, moments_of(norm, row, static_cast<double>(cols)),
                                    norm_options{}.epsilon,
                                    bounds::norm_depth(norm_algorithm::automatic, counted), gamma, beta);
    return {all.values.front(), all.bounds.front()};
}

#if HEDDLE_HAS_CUDNN
template <class T>
void add_softmax(trial& t, const problem& p, const std::shared_ptr<operands<T>>& o) {
    t.add_peer("cudnn", [&] {
        const auto softmax = std::make_shared<cudnn_softmax<T>>(o->x.view(), o->result().view(),
                                                                p.op == operation::log_softmax);
        return [softmax, o] { (*softmax)(o->x.data(), o->result().data()); };
    });
}

/// Batch normalisation of one image, whose channels are the rows. So each row is normalised by itself. It has no gamma and
/// beta for each column.
template <class T>
void add_layer_norm(trial& t, const problem& p, const std::shared_ptr<operands<T>>& o) {
    if (p.x != p.y && !p.in_place) return;
    constexpr bool is_stand_in = true;
    t.add_peer(
        "cudnn batch norm",
        [&] {
            const auto tensor = std::make_shared<cudnn_tensor>(), of_rows = std::make_shared<cudnn_tensor>();
            const matrix_view<T> x = o->x.view();
            check(cudnnSetTensor4dDescriptorEx(*tensor, cudnn_type<T>, 1, narrow(p.rows), narrow(p.cols), 1,
                                               narrow(p.rows * x.row_stride), narrow(x.row_stride),
                                               narrow(x.col_stride), 1));
            set_tensor<float>(*of_rows, 1, p.rows, 1, 1, p.rows, 1);
            const auto ones = std::make_shared<operand<float>>(1, p.rows, placement{}, 0, numbers{1, 1, 0});
            const auto zeros = std::make_shared<operand<float>>(1, p.rows, placement{}, 0, numbers{0, 0, 0});
            return [=] {
                check(cudnnBatchNormalizationForwardTraining(
                    cudnn_handle(), CUDNN_BATCHNORM_SPATIAL, &cudnn_alpha, &cudnn_beta, *tensor, o->x.data(),
                    *tensor, o->result().data(), *of_rows, ones->data(), zeros->data(), 1, nullptr, nullptr,
                    static_cast<double>(norm_options{}.epsilon), nullptr, nullptr));
            };
        },
        !p.has_gamma && !p.has_beta, is_stand_in);
}
#endif

template <class T>
trial prepare(const problem& p) {
    const auto o = std::make_shared<operands<T>>(p);
    expected_places results{sampled_places(p.rows, p.cols, p.seed)};
    std::vector<place> columns;
    for (const place& at : results.places) columns.push_back({0, at.col});
    const std::vector<T> x = gathered(o->x.view(), results.places);
    const std::vector<T> gamma = o->gamma ? gathered(o->gamma->view(), columns) : std::vector<T>{};
    const std::vector<T> beta = o->beta ? gathered(o->beta->view(), columns) : std::vector<T>{};
    const std::vector<line_facts> rows = facts_of(o->x.data(), rows_of(o->x.view(), results.places));
    for (std::size_t i = 0; i < x.size(); ++i)
        results.add(expected(p.op, x[i], gamma.empty() ? 1 : to_double(gamma[i]),
                             beta.empty() ? 0 : to_double(beta[i]), rows[i], p.cols));
    trial t = trial_of(o, "result", results, [p, o] { run(p, *o); });
#if HEDDLE_HAS_CUDNN
    if (is_aligned_for_cudnn<T>(p.x) && is_aligned_for_cudnn<T>(p.y)) {
        if (is_softmax(p.op)) add_softmax(t, p, o);
        if (p.op == operation::layer_norm) add_layer_norm(t, p, o);
    }
#endif
    return t;
}

template <class T>
drawn_case draw(drawing& d) {
    problem p;
    p.op = static_cast<operation>(d.index(std::size(names)));
    p.in_place = d.one_in(5);
    p.has_gamma = !is_softmax(p.op) && !d.one_in(3);
    p.has_beta = p.op == operation::layer_norm && p.has_gamma;
    p.x = d.lie(true);
    p.y = d.one_in(2) || p.in_place ? p.x : d.lie(true);
    p.seed = d.bits();
    drawn_case c = draw_case_of(d, 2, [p](extents_view e) {
        const double matrices = spans_of(e[0], e[1], {{p.x, true}, {p.y, !p.in_place}});
        return (matrices + 2 * static_cast<double>(e[1])) * sizeof(T);
    });
    p.rows = c.extents[0];
    p.cols = c.extents[1];
    c.bytes =
        (2 * c.operations + ((p.has_gamma ? 1 : 0) + (p.has_beta ? 1 : 0)) * static_cast<double>(p.cols)) *
        sizeof(T);
    c.words = fmt::format("{} {} of {} x {}{}{}{}", dtype<T>, name_of(names, p.op), p.rows, p.cols,
                          p.has_beta    ? ", gamma and beta"
                          : p.has_gamma ? ", gamma"
                                        : "",
                          p.in_place ? ", in place" : "", to_string(p.x));
    c.words += words_of_placements({{"result", p.y, !p.in_place}});
    c.prepare = [p] { return prepare<T>(p); };
    return c;
}

}  // namespace

drawn_case draw_row_normalisation(drawing& d) {
    return with_type<float, half, bfloat16>(d.type(3), [&]<class T>() { return draw<T>(d); });
}

// The gradients.
namespace gradients {
namespace {

enum class place_of_dx { apart, x, dy };

struct problem {
    operation op = operation::softmax;
    place_of_dx in_place = place_of_dx::apart;
    bool has_gamma = false, has_dx = true, has_columns = false;
    std::int64_t rows = 1, cols = 1;
    placement x, dy, dx;
    std::uint64_t seed = 0;

    [[nodiscard]] bool has_dbeta() const { return has_columns && op == operation::layer_norm; }
    [[nodiscard]] bool is_apart() const { return has_dx && in_place == place_of_dx::apart; }
    /// The numbers of x: the operand of the forward call, or the result of softmax, whose rows sum to about 1.
    [[nodiscard]] numbers elements() const {
        const auto n = static_cast<double>(cols);
        if (op == operation::softmax) return {0, 2 / n, 0};
        return op == operation::log_softmax ? numbers{-std::log(n) - 2, -std::log(n) / 2, 0}
                                            : numbers{-1, 2, 0};
    }
    /// The numbers of dy. For a norm they are so small that the sum of a column does not overflow half.
    [[nodiscard]] numbers gradients() const {
        return is_softmax(op) ? numbers{-0.5, 1, 0} : numbers{-0x1p-9, 0x1p-8, 0};
    }
};

template <class T>
struct operands {
    operand<T> x, dy, gamma;  ///< gamma holds ones if a call has no gamma
    std::optional<operand<T>> dx, dgamma, dbeta;

    explicit operands(const problem& p)
        : x(p.rows, p.cols, p.x, p.seed, p.elements()),
          dy(p.rows, p.cols, p.dy, p.seed + 1, p.gradients()),
          gamma(1, is_softmax(p.op) ? 1 : p.cols, {}, p.seed + 2,
                p.has_gamma ? numbers{-1, 1, 0} : numbers{1, 1, 0}) {
        if (p.is_apart()) dx.emplace(p.rows, p.cols, p.dx);
        if (p.has_columns) dgamma.emplace(1, p.cols, placement{});
        if (p.has_dbeta()) dbeta.emplace(1, p.cols, placement{});
    }
    operand<T>& result(const problem& p) { return dx ? *dx : p.in_place == place_of_dx::x ? x : dy; }
};

template <class T>
void run(const problem& p, operands<T>& o) {
    const matrix_view<const T> x = o.x.view(), dy = o.dy.view();
    const matrix_view<T> dx = p.has_dx ? o.result(p).view() : matrix_view<T>{};
    const vector_view<const T> gamma =
        p.has_gamma ? vector_view<const T>(o.gamma.vector()) : vector_view<const T>{};
    const vector_view<T> dgamma = o.dgamma ? o.dgamma->vector() : vector_view<T>{},
                         dbeta = o.dbeta ? o.dbeta->vector() : vector_view<T>{};
    if (p.op == operation::softmax) return softmax_gradient<T>(x, dy, dx, stream());
    if (p.op == operation::log_softmax) return log_softmax_gradient<T>(x, dy, dx, stream());
    if (p.op == operation::layer_norm)
        return layer_norm_gradient<T>(x, gamma, dy, dx, dgamma, dbeta, stream());
    rms_norm_gradient<T>(x, gamma, dy, dx, dgamma, stream());
}

bounds::normalised_row row_of_norm(const problem& p, const line_facts& x) {
    const auto op = norm_of(p.op);
    return {op, moments_of(op, x, static_cast<double>(p.cols)), norm_gradient_options{}.epsilon,
            bounds::norm_gradient_depth(norm_gradient_algorithm::automatic, counted_columns(p.cols))};
}

template <class T>
expected_places expected_dx(const problem& p, operands<T>& o) {
    const auto n = static_cast<double>(p.cols);
    expected_places expected{sampled_places(p.rows, p.cols, p.seed, 32)};
    const auto of_x = rows_of(o.x.view(), expected.places), of_dy = rows_of(o.dy.view(), expected.places);
    const std::vector<T> xs = gathered(o.x.view(), expected.places),
                         dys = gathered(o.dy.view(), expected.places);
    if (is_softmax(p.op)) {
        const auto sums = facts_of(o.dy.data(), of_dy);
        const auto dots = dots_of(o.dy.data(), of_dy, o.x.data(), of_x);
        const double depth =
            bounds::softmax_gradient_depth(softmax_gradient_algorithm::automatic, counted_columns(p.cols));
        for (std::size_t i = 0; i < xs.size(); ++i) {
            const bounds::expected_softmax_gradient all(
                xs[i], dys[i], {dots[i].sum, sums[i].sum, dots[i].magnitudes, sums[i].magnitudes}, depth);
            p.op == operation::softmax ? expected.add(all.softmax.front(), all.bounds.front())
                                       : expected.add(all.log_softmax.front(), all.log_bounds.front());
        }
        return expected;
    }
    std::vector<place> columns;
    for (const place& at : expected.places) columns.push_back({0, at.col});
    const std::vector<line> of_gamma = rows_of(o.gamma.view(), columns);
    const std::vector<T> gammas = gathered(o.gamma.view(), columns);
    const auto facts = facts_of(o.x.data(), of_x);
    const auto of_g = dots_of(o.dy.data(), of_dy, o.gamma.data(), of_gamma);
    const auto of_products = dots_of(o.dy.data(), of_dy, o.x.data(), of_x, o.gamma.data());
    for (std::size_t i = 0; i < xs.size(); ++i) {
        const bounds::normalised_row row = row_of_norm(p, facts[i]);
        const double g = to_double(dys[i]) * to_double(gammas[i]), magnitude = of_g[i].magnitudes / n;
        // No factor is above 1. So the squares of dy bound those of g, and |g x| + |g mean| bounds |g z| sigma.
        const bounds::norm_gradient_means means{
            row.is_centred ? of_g[i].sum / n : 0,
            (of_products[i].sum - row.mean * of_g[i].sum) / row.sigma / n, magnitude,
            (of_products[i].magnitudes / n + std::abs(row.mean) * magnitude) / row.sigma,
            of_g[i].x_squares / n};
        expected.add(bounds::norm_gradient<T>(row, means, g, row.z(to_double(xs[i]))));
    }
    return expected;
}

template <class T>
expected_places expected_dbeta(const problem& p, operands<T>& o) {
    const double down = bounds::norm_gradient_column_depth(p.rows);
    expected_places expected{sampled_places(1, p.cols, p.seed, 32)};
    const std::vector<line> columns = columns_of(o.dy.view(), expected.places);
    for (const line_facts& facts : facts_of(o.dy.data(), columns))
        expected.add(facts.sum,
                     bounds::stored_as<T>(facts.sum, error_of_additions(down, bounds::u) * facts.magnitudes));
    return expected;
}

/// This needs the facts of all rows. If there are too many rows, no place is compared.
template <class T>
expected_places expected_dgamma(const problem& p, operands<T>& o) {
    constexpr std::int64_t most_rows = 1 << 16;
    if (p.rows > most_rows) return {};
    expected_places expected{sampled_places(1, p.cols, p.seed, 16)};
    const double down = bounds::norm_gradient_column_depth(p.rows);
    std::vector<line> lines;
    for (std::int64_t row = 0; row < p.rows; ++row) lines.push_back(row_of(o.x.view(), row));
    std::vector<bounds::normalised_row> rows;
    for (const line_facts& facts : facts_of(o.x.data(), lines)) rows.push_back(row_of_norm(p, facts));
    for (const place& at : expected.places) {
        std::vector<place> column;
        for (std::int64_t row = 0; row < p.rows; ++row) column.push_back({row, at.col});
        const std::vector<T> xs = gathered(o.x.view(), column), dys = gathered(o.dy.view(), column);
        double sum = 0, magnitudes = 0, of_z = 0;
        for (std::size_t i = 0; i < xs.size(); ++i) {
            const double z = rows[i].z(to_double(xs[i])), dy = to_double(dys[i]);
            sum += dy * z;
            magnitudes += std::abs(dy * z);
            of_z += std::abs(dy) * rows[i].error_of_z(z);
        }
        expected.add(sum, bounds::of_norm_gradient<T>(
                              sum, of_z + error_of_additions(down + 3, bounds::u) * magnitudes));
    }
    return expected;
}

#if HEDDLE_HAS_CUDNN
template <class T>
void add_softmax(trial& t, const problem& p, const std::shared_ptr<operands<T>>& o) {
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
            check(cudnnSoftmaxBackward(cudnn_handle(), how, CUDNN_SOFTMAX_MODE_INSTANCE, &cudnn_alpha, d->y,
                                       o->x.data(), d->dy, o->dy.data(), &cudnn_beta, d->dx,
                                       o->result(p).data()));
        };
    });
}
#endif

template <class T>
trial prepare(const problem& p) {
    const auto o = std::make_shared<operands<T>>(p);
    trial t;
    t.is_in_place = p.has_dx && !p.is_apart();
    t.reset = [p, o] {
        if (p.has_dx) o->result(p).reset();
        for (auto* const result : {&o->dgamma, &o->dbeta})
            if (*result) (*result)->reset();
    };
    t.call = [p, o] { run(p, *o); };
#if HEDDLE_HAS_CUDNN
    if (is_softmax(p.op)) add_softmax(t, p, o);
#endif
    const auto dx = p.has_dx ? expected_dx(p, *o) : expected_places{};
    const auto dgamma = p.has_columns ? expected_dgamma(p, *o) : expected_places{};
    const auto dbeta = p.has_dbeta() ? expected_dbeta(p, *o) : expected_places{};
    t.wrong = [p, o, dx, dgamma, dbeta](double slack) {
        return first_wrong({p.has_dx ? dx.wrong("dx", o->result(p), slack) : "",
                            dgamma.wrong("dgamma", o->dgamma, slack), dbeta.wrong("dbeta", o->dbeta, slack)});
    };
    return t;
}

template <class T>
drawn_case draw(drawing& d) {
    problem p;
    p.op = static_cast<operation>(d.index(std::size(names)));
    const std::int64_t wanted = d.integer(0, 5);  // mostly all
    p.has_columns = !is_softmax(p.op) && wanted != 0;
    p.has_dx = is_softmax(p.op) || wanted != 1;
    p.has_gamma = !is_softmax(p.op) && !d.one_in(4);
    p.in_place = d.one_of({place_of_dx::apart, place_of_dx::apart, place_of_dx::x, place_of_dx::dy});
    const placement lies[] = {d.lie(true), d.lie(true), d.lie(true)};
    const bool are_alike = d.one_in(2);
    p.x = lies[0];
    p.dy = are_alike ? p.x : lies[1];
    p.dx = p.in_place == place_of_dx::x ? p.x : p.in_place == place_of_dx::dy || are_alike ? p.dy : lies[2];
    p.seed = d.bits();
    drawn_case c = draw_case_of(d, 2, [p](extents_view e) {
        const double matrices = spans_of(e[0], e[1], {{p.x, true}, {p.dy, true}, {p.dx, p.is_apart()}});
        return (matrices + 3 * static_cast<double>(e[1])) * sizeof(T);
    });
    p.rows = c.extents[0];
    p.cols = c.extents[1];
    const double vectors =
        (p.has_gamma && p.has_dx ? 1 : 0) + (p.has_columns ? 1 : 0) + (p.has_dbeta() ? 1 : 0);
    c.bytes = ((p.has_dx ? 3 : 2) * c.operations + vectors * static_cast<double>(p.cols)) * sizeof(T);
    c.words = fmt::format("{} {}_gradient of {} x {}", dtype<T>, name_of(names, p.op), p.rows, p.cols);
    if (p.has_gamma) c.words += ", gamma";
    if (!p.has_dx) c.words += ", no dx";
    if (!is_softmax(p.op) && !p.has_columns) c.words += ", no columns";
    if (p.has_dx && !p.is_apart())
        c.words += p.in_place == place_of_dx::x ? ", in place" : ", in place of dy";
    c.words += to_string(p.x) + words_of_placements({{"dy", p.dy}, {"dx", p.dx, p.is_apart()}});
    c.prepare = [p] { return prepare<T>(p); };
    return c;
}

}  // namespace
}  // namespace gradients

drawn_case draw_norm_gradients(drawing& d) {
    return with_type<float, half, bfloat16>(d.type(3), [&]<class T>() { return gradients::draw<T>(d); });
}

}  // namespace heddle::bench::cliffs
