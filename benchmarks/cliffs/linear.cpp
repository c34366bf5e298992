#include "benchmarks/cliffs/family.hpp"
#include "benchmarks/cliffs/matmul_operands.hpp"
#include "tests/bounds/activations.hpp"

/// Fully connected layers, with bias and activation, and their gradients.
namespace heddle::bench::cliffs {
namespace {

/// Draws a matrix without a step, as cuBLAS has none.
placement draw_layer_matrix(drawing& d) {
    return d.one_in(2) ? placement{} : d.lie(true, never);
}

double span_in_double(const placement& lie, std::int64_t rows, std::int64_t cols) {
    return static_cast<double>(span_of(lie, rows, cols));
}

/// The problem in words, without the layouts of its matrices.
template <class T>
std::string words_of_layer(std::string_view what, precision precision, const std::vector<std::int64_t>& e) {
    return fmt::format("{} {} of {} x {} to {}{}", dtype<T>, what, e[0], e[1], e[2],
                       std::is_same_v<T, float> ? fmt::format(", {}", to_string(precision)) : "");
}

/// Calls f.operator()<T>(precision) with float and one of its two precisions, or with a 16-bit type.
template <class Function>
drawn_case draw_typed_layer(drawing& d, Function f) {
    const std::size_t type = d.type(4);
    if (type < 2) return f.template operator()<float>(type == 0 ? precision::fp32 : precision::tf32);
    return type == 2 ? f.template operator()<half>(precision::fp32)
                     : f.template operator()<bfloat16>(precision::fp32);
}

/// A layer is a product with an epilogue. B is the transposed matrix of weights.
template <class T>
trial prepare_layer(const product_problem<T, T>& p) {
    const auto o = std::make_shared<product_operands<T, T>>(p);
    trial t;
    t.reset = [o] { o->c.all.poison(); };
    t.call = [p, o] {
        linear<T>(o->a.first, transposed(o->b.first), o->epilogue(p).row_bias, o->c.first, stream(),
                  {.activation = p.activation, .precision = p.precision});
    };
    t.wrong = check_of(p, o);
    add_product_peers(t, p, o);
    return t;
}

template <class T>
drawn_case draw_layer_of(drawing& d, precision precision) {
    product_problem<T, T> p;
    p.precision = precision;
    p.activation = static_cast<matmul_activation>(d.index(std::size(activations)));
    p.has_row_bias = !d.one_in(4);
    p.has_epilogue = p.has_row_bias || p.activation != matmul_activation::none;
    p.a = draw_layer_matrix(d);
    p.b = draw_layer_matrix(d);
    p.b.column_major = !p.b.column_major;  // weights mostly lie in rows of `in`
    p.c = draw_layer_matrix(d);
    p.seed = d.bits();
    drawn_case c = draw_case_of(
        d, 3,
        [p](extents_view e) {
            return (span_in_double(p.a, e[0], e[1]) + span_in_double(p.b, e[1], e[2]) +
                    span_in_double(p.c, e[0], e[2]) + static_cast<double>(e[2])) *
                   sizeof(T);
        },
        [](extents_view e) { return 2 * product_of(e); });
    p.m = c.extents[0];
    p.k = c.extents[1];
    p.n = c.extents[2];
    c.bytes = (product_of({p.m, p.k}) + product_of({p.k, p.n}) + product_of({p.m, p.n}) +
               (p.has_row_bias ? static_cast<double>(p.n) : 0)) *
              sizeof(T);
    c.words = words_of_layer<T>("linear", precision, c.extents);
    if (p.activation != matmul_activation::none)
        c.words += fmt::format(", {}", name_of(activations, p.activation));
    if (p.has_row_bias) c.words += ", bias";
    placement weights = p.b;
    weights.column_major = !weights.column_major;
    c.words += words_of_placements({{"x", p.a}, {"weights", weights}, {"y", p.c}});
    c.prepare = [p] { return prepare_layer(p); };
    return c;
}

// The gradients.

struct problem {
    std::int64_t batch = 1, in = 1, out = 1;
    placement x, weights, gradient, dx;
    bool has_dx = true, has_dweights = true, has_dbias = true;
    linear_gradient_options options;
    std::uint64_t seed = 0;

    [[nodiscard]] double products() const { return (has_dx ? 1 : 0) + (has_dweights ? 1 : 0); }
};

/// Gradients are so small that no sum overflows half.
template <class T>
struct operands {
    operand<T> x, weights, gradient;
    std::optional<operand<T>> dx;
    std::optional<operand<float>> dweights, dbias;

    explicit operands(const problem& p)
        : x(p.batch, p.in, p.x, p.seed, product_elements),
          weights(p.out, p.in, p.weights, p.seed + 1, product_elements),
          gradient(p.batch, p.out, p.gradient, p.seed + 2, {-0x1p-6, 0x1p-5, 0}) {
        if (p.has_dx) dx.emplace(p.batch, p.in, p.dx);
        if (p.has_dweights) dweights.emplace(p.out, p.in, placement{});
        if (p.has_dbias) dbias.emplace(1, p.out, placement{});
    }
    void reset() {
        if (dx) dx->reset();
        if (dweights) dweights->reset();
        if (dbias) dbias->reset();
    }
    void run(const linear_gradient_options& options) {
        linear_gradient<T>(x.view(), weights.view(), gradient.view(), dx ? dx->view() : matrix_view<T>{},
                           dweights ? dweights->view() : matrix_view<float>{},
                           dbias ? dbias->vector() : vector_view<float>{}, stream(), options);
    }
};

template <class T>
expected_places expected_dx(const problem& p, operands<T>& o) {
    using bounds::u;
    expected_places expected{sampled_places(p.batch, p.in, p.seed, 32)};
    const auto rows = rows_of(o.gradient.view(), expected.places),
               cols = columns_of(o.weights.view(), expected.places);
    const std::vector<T> x = gathered(o.x.view(), expected.places);
    const auto dots = dots_of(o.gradient.data(), rows, o.weights.data(), cols);
    for (std::size_t i = 0; i < dots.size(); ++i) {
        const double norms = std::sqrt(dots[i].x_squares) * std::sqrt(dots[i].y_squares);
        const double of_sum =
            product_bound<T>(p.options.precision, static_cast<double>(p.out), dots[i].magnitudes, norms);
        const double factor = bounds::derivative_of_result(p.options.activation_of_x, to_double(x[i]));
        // The sum may be rounded to T first.
        const double before = bounds::stored_as<T>(dots[i].sum, of_sum), value = factor * dots[i].sum;
        const double error = std::abs(factor) * (before + 3 * u * (std::abs(dots[i].sum) + before));
        expected.add(value, bounds::stored_as<T>(value, error));
    }
    return expected;
}

template <class T>
expected_places expected_dweights(const problem& p, operands<T>& o) {
    expected_places expected{sampled_places(p.out, p.in, p.seed, 32)};
    std::vector<line> of_gradient, of_x;
    for (const auto& [row, col] : expected.places) {
        of_gradient.push_back(column_of(o.gradient.view(), row));
        of_x.push_back(column_of(o.x.view(), col));
    }
    for (const dot_facts& dot : dots_of(o.gradient.data(), of_gradient, o.x.data(), of_x)) {
        const double norms = std::sqrt(dot.x_squares) * std::sqrt(dot.y_squares);
        expected.add(dot.sum, product_bound<T>(p.options.precision, static_cast<double>(p.batch),
                                               dot.magnitudes, norms) +
                                  smallest<float>());
    }
    return expected;
}

template <class T>
expected_places expected_dbias(const problem& p, operands<T>& o) {
    expected_places expected{sampled_places(1, p.out, p.seed, 32)};
    const std::vector<line> columns = columns_of(o.gradient.view(), expected.places);
    for (const line_facts& facts : facts_of(o.gradient.data(), columns))
        expected.add(facts.sum,
                     error_of_additions(static_cast<double>(p.batch), bounds::u) * facts.magnitudes);
    return expected;
}

/// Adds the products alone, by cuBLAS and by cublasLt.
template <class T>
void add_products(trial& t, const problem& p, const std::shared_ptr<operands<T>>& o) {
    const bool is_tf32 = p.options.precision == precision::tf32;
    trial to_x, to_weights;
    if (p.has_dx)
        add_vendor_products<T, T>(
            to_x, {.a = o->gradient.view(), .b = o->weights.view(), .c = o->dx->view(), .is_tf32 = is_tf32},
            {}, "", true);
    if (p.has_dweights)
        add_vendor_products<float, T>(to_weights,
                                      {.a = transposed(o->gradient.view()),
                                       .b = o->x.view(),
                                       .c = o->dweights->view(),
                                       .is_tf32 = is_tf32},
                                      {}, "", true);
    for (const char* const name : {"cublas", "cublaslt"}) {
        std::vector<std::function<void()>> calls;
        for (const trial* const of : {&to_x, &to_weights}) {
            const auto found = std::ranges::find(of->peers, name, &peer::name);
            if (found != of->peers.end()) calls.push_back(found->call);
        }
        if (static_cast<double>(calls.size()) < p.products() || calls.empty()) continue;
        const bool is_whole = !p.has_dbias && p.options.activation_of_x == matmul_activation::none;
        t.peers.push_back({fmt::format("{}{}", name, is_whole ? "" : ", the products alone"),
                           [o, calls] {
                               for (const auto& call : calls) call();
                           },
                           is_whole, false});
    }
}

template <class T>
trial prepare(const problem& p) {
    const auto o = std::make_shared<operands<T>>(p);
    trial t;
    t.reset = [o] { o->reset(); };
    t.call = [p, o] { o->run(p.options); };
    add_products(t, p, o);
    const auto dx = p.has_dx ? expected_dx(p, *o) : expected_places{};
    const auto dweights = p.has_dweights ? expected_dweights(p, *o) : expected_places{};
    const auto dbias = p.has_dbias ? expected_dbias(p, *o) : expected_places{};
    t.wrong = [o, dx, dweights, dbias](double slack) {
        return first_wrong({dx.wrong("dx", o->dx, slack), dweights.wrong("dweights", o->dweights, slack),
                            dbias.wrong("dbias", o->dbias, slack)});
    };
    return t;
}

template <class T>
drawn_case draw(drawing& d, precision precision) {
    using enum matmul_activation;
    problem p;
    p.options.precision = precision;
    p.options.activation_of_x = d.one_of({none, relu, relu, sigmoid, tanh});
    const std::int64_t wanted = d.integer(0, 5);  // mostly all
    p.has_dx = wanted != 1;
    p.has_dweights = wanted != 2;
    p.has_dbias = wanted > 2;
    p.x = draw_layer_matrix(d);
    p.weights = draw_layer_matrix(d);
    p.gradient = draw_layer_matrix(d);
    p.dx = draw_layer_matrix(d);
    p.seed = d.bits();
    drawn_case c = draw_case_of(
        d, 3,
        [p](extents_view e) {
            return (span_in_double(p.x, e[0], e[1]) + span_in_double(p.weights, e[2], e[1]) +
                    span_in_double(p.gradient, e[0], e[2]) +
                    (p.has_dx ? span_in_double(p.dx, e[0], e[1]) : 0)) *
                       sizeof(T) +
                   ((p.has_dweights ? product_of({e[1], e[2]}) : 0) + static_cast<double>(e[2])) *
                       sizeof(float);
        },
        [p](extents_view e) { return 2 * p.products() * product_of(e); });
    p.batch = c.extents[0];
    p.in = c.extents[1];
    p.out = c.extents[2];
    const double of_x = product_of({p.batch, p.in}), of_weights = product_of({p.in, p.out});
    const bool reads_x = p.has_dweights || p.options.activation_of_x != none;
    c.bytes =
        ((reads_x ? of_x : 0) + (p.has_dx ? of_x + of_weights : 0) + product_of({p.batch, p.out})) *
            sizeof(T) +
        ((p.has_dweights ? of_weights : 0) + (p.has_dbias ? static_cast<double>(p.out) : 0)) * sizeof(float);
    c.words = words_of_layer<T>("linear_gradient", precision, c.extents);
    if (p.options.activation_of_x != none)
        c.words += fmt::format(", {}", name_of(activations, p.options.activation_of_x));
    if (!p.has_dx) c.words += ", no dx";
    if (!p.has_dweights) c.words += ", no dweights";
    if (!p.has_dbias) c.words += ", no dbias";
    c.words += words_of_placements(
        {{"x", p.x}, {"weights", p.weights}, {"gradient", p.gradient}, {"dx", p.dx, p.has_dx}});
    c.prepare = [p] { return prepare<T>(p); };
    return c;
}

}  // namespace

drawn_case draw_layer(drawing& d) {
    return draw_typed_layer(d, [&]<class T>(precision precision) { return draw_layer_of<T>(d, precision); });
}

drawn_case draw_layer_gradient(drawing& d) {
    return draw_typed_layer(d, [&]<class T>(precision precision) { return draw<T>(d, precision); });
}

}  // namespace heddle::bench::cliffs
