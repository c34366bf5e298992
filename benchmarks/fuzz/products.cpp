#include "tests/bounds/products.hpp"

#include "benchmarks/fuzz/operand.hpp"
#include "benchmarks/fuzz/operations.hpp"
#include "benchmarks/support/rows.hpp"
#include <heddle/batched_matmul.hpp>
#include <heddle/host.hpp>
#include <heddle/linear.hpp>
#include <heddle/matmul.hpp>

namespace heddle::bench::fuzz {
namespace {

using bounds::activated;

const std::vector<std::string_view> orders = {"rows", "columns"};
const std::vector<std::string_view> factors = {"1", "0", "-0.5", "2"};
constexpr float factor_of[] = {1, 0, -0.5f, 2};

/// A matrix of a product, in either order: the names of its fields begin with `prefix`.
lattice matrix_of(const problem& p, const std::string& prefix, std::int64_t rows, std::int64_t cols) {
    const bool in_columns = p[prefix + "_order"] == 1;
    lattice lines = lie(in_columns ? std::vector{cols, rows} : std::vector{rows, cols}, p[prefix + "_offset"],
                        p[prefix + "_padding"], p[prefix + "_step"]);
    if (in_columns) {
        std::swap(lines.extents[0], lines.extents[1]);
        std::swap(lines.strides[0], lines.strides[1]);
    }
    return lines;
}

std::vector<field> fields_of(std::initializer_list<std::string> matrices, std::vector<field> fields) {
    for (const std::string& matrix : matrices) {
        fields.push_back({matrix + "_order", 0, orders});
        fields.push_back({matrix + "_offset", 0});
        fields.push_back({matrix + "_padding", 0});
        fields.push_back({matrix + "_step", 1});
    }
    return fields;
}

void draw_matrices(drawing& d, problem& p, std::initializer_list<const char*> matrices) {
    for (const std::string matrix : matrices) {
        const cliffs::placement at = d.lie(true, 12);
        p.set(matrix + "_order", at.column_major ? 1 : 0);
        p.set(matrix + "_offset", at.offset);
        p.set(matrix + "_padding", at.padding);
        p.set(matrix + "_step", at.step);
    }
}

/// What additions of a product of k terms may be off by, beside the sum of their magnitudes.
template <class In>
double error_of_products(std::int64_t k, processor where,
                         matmul_algorithm rung = matmul_algorithm::automatic) {
    const auto terms = static_cast<double>(k);
    return where == processor::cpu ? bounds::of_fmas(terms) : bounds::of_matmul<In>(rung, terms);
}

/// What a result may be off by.
template <class Out>
double error_of_result(const bounds::approximate& sum,
                       matmul_activation activation = matmul_activation::none) {
    return bounds::stored_as<Out>(bounds::activated(activation, sum)) + 0x1p-126;
}

struct sums {
    std::vector<double> values, magnitudes;
};

/// The sums of a (m x k) times b (k x n), both by rows.
template <class In>
sums products_of(const std::vector<In>& a, const std::vector<In>& b, std::int64_t m, std::int64_t n,
                 std::int64_t k) {
    sums s;
    s.values.resize(static_cast<std::size_t>(m * n));
    s.magnitudes = s.values;
    for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t l = 0; l < k; ++l) {
            const In x = a[static_cast<std::size_t>(i * k + l)];
            for (std::int64_t j = 0; j < n; ++j) {
                const In y = b[static_cast<std::size_t>(l * n + j)];
                s.values[static_cast<std::size_t>(i * n + j)] += as_double(x) * as_double(y);
                s.magnitudes[static_cast<std::size_t>(i * n + j)] +=
                    bounds::counted_magnitude(x) * bounds::counted_magnitude(y);
            }
        }
    return s;
}

template <class In, class Out>
std::string wrong_matmul(const problem& p, processor where) {
    const std::int64_t m = p["m"], n = p["n"], k = p["k"];
    const auto seed = static_cast<std::uint64_t>(p["seed"]);
    const auto kind = static_cast<values>(p["values"]);
    const float alpha = factor_of[p["alpha"]], beta = factor_of[(p["beta"] + 1) % 4];
    const auto as = draw_values<In>(kind, m * k, seed), bs = draw_values<In>(kind, k * n, seed + 1);
    const auto cs = draw_values<Out>(values::uniform, m * n, seed + 2);
    const auto biases = draw_values<Out>(values::uniform, std::max(m, n), seed + 3);
    operand<In> a(where, matrix_of(p, "a", m, k), as), b(where, matrix_of(p, "b", k, n), bs);
    operand<Out> c(where, matrix_of(p, "c", m, n), cs), bias(where, lie({std::max(m, n)}, 0, 0, 1), biases);

    const auto activation = static_cast<matmul_activation>(p["activation"]);
    matmul_epilogue<Out> epilogue{.activation = activation};
    const bool has_bias = p["bias"] > 0;
    if (p["bias"] == 1) epilogue.row_bias = {bias.data(), n, 1};
    if (p["bias"] == 2) epilogue.column_bias = {bias.data(), m, 1};
    const bool has_epilogue = has_bias || activation != matmul_activation::none;
    const matmul_algorithm rung = rung_of(p, where, matmul_algorithms(element_type_of<In>));
    if (where == processor::cpu)
        has_epilogue ? host::matmul<Out, In>(a.matrix(), b.matrix(), c.matrix(), epilogue, alpha, beta)
                     : host::matmul<Out, In>(a.matrix(), b.matrix(), c.matrix(), alpha, beta);
    else {
        const matmul_options options{.alpha = alpha, .beta = beta, .algorithm = rung};
        has_epilogue ? matmul<Out, In>(a.matrix(), b.matrix(), c.matrix(), epilogue, stream(), options)
                     : matmul<Out, In>(a.matrix(), b.matrix(), c.matrix(), stream(), options);
    }

    const sums s = products_of(as, bs, m, n, k);
    const double u = unit_roundoff<float>(), share = error_of_products<In>(k, where, rung);
    const auto bias_of = [&](std::size_t i) {
        const std::size_t at =
            p["bias"] == 1 ? i % static_cast<std::size_t>(n) : i / static_cast<std::size_t>(n);
        return has_bias ? as_double(biases[at]) : 0;
    };
    const auto added = [&](std::size_t i) { return beta == 0 ? 0 : beta * as_double(cs[i]); };
    const auto sum = [&](std::size_t i) {
        return (k == 0 ? 0 : alpha * s.values[i]) + added(i) + bias_of(i);
    };
    const auto expected = [&](std::size_t i) { return activated(activation, sum(i)); };
    const auto bound = [&](std::size_t i) {
        const double magnitude = (k == 0 ? 0 : std::abs(alpha) * s.magnitudes[i]) + std::abs(added(i));
        const double of_sum =
            share * magnitude + u * (magnitude + 2 * std::abs(bias_of(i)) + std::abs(sum(i)));
        return error_of_result<Out>({sum(i), of_sum}, activation);
    };
    return first_of(
        {mismatch("c", c.read(), expected, bound), c.damage(), a.change(), b.change(), bias.change()});
}

/// Calls f.operator()<In, Out>() with the types of this place.
template <class Function>
std::string with_types(std::int64_t type, Function f) {
    switch (type) {
        case 0:
            return f.template operator()<float, float>();
        case 1:
            return f.template operator()<half, half>();
        case 2:
            return f.template operator()<bfloat16, bfloat16>();
        case 3:
            return f.template operator()<half, float>();
        default:
            return f.template operator()<bfloat16, float>();
    }
}

void draw_matmul(drawing& d, problem& p) {
    p.draw_word("type", d);
    const auto shape = draw_shape(d, 3, 1 << 20);
    p.set("m", shape[0]);
    p.set("n", shape[1]);
    p.set("k", shape[2]);
    draw_matrices(d, p, {"a", "b", "c"});
    for (const char* const word : {"alpha", "beta", "bias", "activation"})
        if (d.one_in(3)) p.draw_word(word, d);
    p.draw_word("values", d);
    if (d.one_in(2)) p.draw_word("rung", d);
    p.set("seed", d.integer(0, 1 << 30));
}

template <class T>
std::vector<T> transposed(const std::vector<T>& by_rows, std::int64_t rows, std::int64_t cols) {
    std::vector<T> result(by_rows.size());
    for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < cols; ++c)
            result[static_cast<std::size_t>(c * rows + r)] = by_rows[static_cast<std::size_t>(r * cols + c)];
    return result;
}

template <class T>
std::string wrong_linear(const problem& p, processor where) {
    const std::int64_t batch = p["batch"], in = p["in"], out = p["out"];
    const auto seed = static_cast<std::uint64_t>(p["seed"]);
    const auto kind = static_cast<values>(p["values"]);
    const auto xs = draw_values<T>(kind, batch * in, seed),
               weights = draw_values<T>(kind, out * in, seed + 1),
               biases = draw_values<T>(values::uniform, out, seed + 2);
    operand<T> x(where, matrix_of(p, "x", batch, in), xs), w(where, matrix_of(p, "w", out, in), weights),
        bias(where, lie({out}, 1, 0, 2), biases), y(where, matrix_of(p, "y", batch, out));
    const bool has_bias = p["bias"] == 1;
    const auto of_bias = has_bias ? bias.vector() : vector_view<T>{};
    linear_options options{.activation = static_cast<matmul_activation>(p["activation"]),
                           .algorithm = rung_of(p, where, matmul_algorithms(element_type_of<T>))};
    where == processor::cpu ? host::linear<T>(x.matrix(), w.matrix(), of_bias, y.matrix(), options)
                            : linear<T>(x.matrix(), w.matrix(), of_bias, y.matrix(), stream(), options);

    const sums s = products_of(xs, transposed(weights, out, in), batch, out, in);
    const double u = unit_roundoff<float>(), share = error_of_products<T>(in, where, options.algorithm);
    const auto bias_of = [&](std::size_t i) {
        return has_bias ? as_double(biases[i % static_cast<std::size_t>(out)]) : 0;
    };
    const auto expected = [&](std::size_t i) {
        return activated(options.activation, s.values[i] + bias_of(i));
    };
    const auto bound = [&](std::size_t i) {
        const double of_sum = share * s.magnitudes[i] + u * (s.magnitudes[i] + std::abs(bias_of(i)));
        return error_of_result<T>({s.values[i] + bias_of(i), of_sum}, options.activation);
    };
    return first_of(
        {mismatch("y", y.read(), expected, bound), y.damage(), x.change(), w.change(), bias.change()});
}

void draw_linear(drawing& d, problem& p) {
    const auto shape = draw_shape(d, 3, 1 << 19);
    p.set("batch", shape[0]);
    p.set("in", shape[1]);
    p.set("out", shape[2]);
    draw_matrices(d, p, {"x", "w", "y"});
    for (const char* const word : {"type", "bias", "activation", "values"}) p.draw_word(word, d);
    if (d.one_in(2)) p.draw_word("rung", d);
    p.set("seed", d.integer(0, 1 << 30));
}

/// Such matrices one after another, or one for all.
lattice batch_of(const lattice& one, std::int64_t count, std::int64_t gap) {
    std::int64_t span = 1;
    for (std::size_t i = 0; i < one.extents.size(); ++i)
        span += std::max<std::int64_t>(one.extents[i] - 1, 0) * one.strides[i];
    return {
        {count, one.extents[0], one.extents[1]}, {span + gap, one.strides[0], one.strides[1]}, one.offset};
}

template <class In, class Out>
std::string wrong_batched_matmul(const problem& p, processor where) {
    const std::int64_t count = p["count"], m = p["m"], n = p["n"], k = p["k"];
    const auto seed = static_cast<std::uint64_t>(p["seed"]);
    const auto kind = static_cast<values>(p["values"]);
    const float alpha = factor_of[p["alpha"]], beta = factor_of[(p["beta"] + 1) % 4];
    const bool shares_a = p["shared"] == 1 || p["shared"] == 3, shares_b = p["shared"] >= 2;
    const std::int64_t count_a = shares_a ? 1 : count, count_b = shares_b ? 1 : count;
    const auto as = draw_values<In>(kind, count_a * m * k, seed),
               bs = draw_values<In>(kind, count_b * k * n, seed + 1);
    auto cs = draw_values<Out>(values::uniform, count * m * n, seed + 2);
    if (beta == 0) std::ranges::fill(cs, static_cast<Out>(std::nanf("")));  // it is not read
    const lattice of_a = batch_of(matrix_of(p, "a", m, k), count_a, p["gap"]),
                  of_b = batch_of(matrix_of(p, "b", k, n), count_b, p["gap"]),
                  of_c = batch_of(matrix_of(p, "c", m, n), count, p["gap"]);
    operand<In> a(where, of_a, as), b(where, of_b, bs);
    operand<Out> c(where, of_c, cs);
    const batch_view<const In> from_a{a.matrix(), count, shares_a ? 0 : of_a.strides[0]},
        from_b{b.matrix(), count, shares_b ? 0 : of_b.strides[0]};
    const batch_view<Out> to_c{c.matrix(), count, of_c.strides[0]};
    const matmul_algorithm rung = rung_of(p, where, matmul_algorithms(element_type_of<In>));
    where == processor::cpu ? host::batched_matmul<Out, In>(from_a, from_b, to_c, alpha, beta)
                            : batched_matmul<Out, In>(from_a, from_b, to_c, stream(),
                                                      {.alpha = alpha, .beta = beta, .algorithm = rung});

    std::vector<double> expected, bounds;
    const double share = error_of_products<In>(k, where, rung);
    const auto one_of = [](const std::vector<In>& all, std::int64_t at, std::int64_t size) {
        return std::vector<In>(all.begin() + at * size, all.begin() + (at + 1) * size);
    };
    for (std::int64_t i = 0; i < count; ++i) {
        const sums s =
            products_of(one_of(as, shares_a ? 0 : i, m * k), one_of(bs, shares_b ? 0 : i, k * n), m, n, k);
        for (std::size_t j = 0; j < s.values.size(); ++j) {
            const double added = beta == 0 ? 0 : beta * as_double(cs[expected.size()]),
                         value = alpha * s.values[j] + added,
                         magnitude = std::abs(alpha) * s.magnitudes[j] + std::abs(added);
            bounds.push_back(error_of_result<Out>({value, share * magnitude}));
            expected.push_back(value);
        }
    }
    return first_of({mismatch(
                         "c", c.read(), [&](std::size_t i) { return expected[i]; },
                         [&](std::size_t i) { return bounds[i]; }),
                     c.damage(), a.change(), b.change()});
}

void draw_batched_matmul(drawing& d, problem& p) {
    const std::int64_t count = d.one_in(16) ? 0 : static_cast<std::int64_t>(d.log_uniform(1, 40));
    const auto shape = draw_shape(d, 3, (1 << 20) / std::max<std::int64_t>(count, 1));
    p.set("count", count);
    p.set("m", shape[0]);
    p.set("n", shape[1]);
    p.set("k", shape[2]);
    draw_matrices(d, p, {"a", "b", "c"});
    p.set("gap", d.one_in(2) ? 0 : d.integer(0, 20));
    for (const char* const word : {"alpha", "beta", "shared"})
        if (d.one_in(3)) p.draw_word(word, d);
    for (const char* const word : {"type", "values", "rung"}) p.draw_word(word, d);
    p.set("seed", d.integer(0, 1 << 30));
}

template <class T>
std::string wrong_linear_gradient(const problem& p, processor where) {
    const std::int64_t batch = p["batch"], in = p["in"], out = p["out"];
    const auto seed = static_cast<std::uint64_t>(p["seed"]);
    const auto kind = static_cast<values>(p["values"]);
    const auto xs = draw_values<T>(kind, batch * in, seed),
               weights = draw_values<T>(kind, out * in, seed + 1);
    const auto gradients = draw_values<T>(kind, batch * out, seed + 2);
    operand<T> x(where, matrix_of(p, "x", batch, in), xs), w(where, matrix_of(p, "w", out, in), weights);
    operand<T> gradient(where, matrix_of(p, "g", batch, out), gradients),
        dx(where, lie({batch, in}, 0, 0, 1));
    operand<float> dw(where, lie({out, in}, 0, 0, 1)), db(where, lie({out}, 0, 0, 1));
    const bool has_relu = p["relu"] == 1;
    linear_gradient_options options{.activation_of_x =
                                        has_relu ? matmul_activation::relu : matmul_activation::none};
    if (where == processor::cpu)
        host::linear_gradient<T>(x.matrix(), w.matrix(), gradient.matrix(), dx.matrix(), dw.matrix(),
                                 db.vector(), options);
    else {
        options.algorithm = rung_of(p, where, linear_gradient_algorithms());
        linear_gradient<T>(x.matrix(), w.matrix(), gradient.matrix(), dx.matrix(), dw.matrix(), db.vector(),
                           stream(), options);
    }

    const auto of_gradient = transposed(gradients, batch, out);
    const sums to_x = products_of(gradients, weights, batch, in, out),
               to_w = products_of(of_gradient, xs, out, in, batch);
    const sums to_b = products_of(
        of_gradient, std::vector<T>(static_cast<std::size_t>(batch), static_cast<T>(1.0f)), out, 1, batch);
    const auto passes = [&](std::size_t i) { return !has_relu || !(as_double(xs[i]) <= 0); };
    const auto expected_dx = [&](std::size_t i) {
        return has_relu && std::isnan(as_double(xs[i])) ? std::nan("") : passes(i) ? to_x.values[i] : 0;
    };
    const auto near = [&](const sums& s, std::int64_t terms) {
        return [&s, share = error_of_products<T>(terms, where)](std::size_t i) {
            return share * s.magnitudes[i] + 0x1p-126;
        };
    };
    const auto of_dx = near(to_x, out);
    return first_of(
        {mismatch("dx", dx.read(), expected_dx,
                  [&](std::size_t i) {
                      return of_dx(i) + 2 * unit_roundoff<T>() * (std::abs(to_x.values[i]) + of_dx(i)) +
                             smallest<T>();
                  }),
         mismatch(
             "dweights", dw.read(), [&](std::size_t i) { return to_w.values[i]; }, near(to_w, batch)),
         mismatch(
             "dbias", db.read(), [&](std::size_t i) { return to_b.values[i]; }, near(to_b, batch)),
         dx.damage(), dw.damage(), db.damage(), x.change(), w.change(), gradient.change()});
}

std::string wrong_linear_gradient(const problem& p, processor where) {
    return with_single<std::string>(p["type"], [&]<class T>() { return wrong_linear_gradient<T>(p, where); });
}

void draw_linear_gradient(drawing& d, problem& p) {
    p.draw_word("type", d);
    const auto shape = draw_shape(d, 3, 1 << 19);
    p.set("batch", shape[0]);
    p.set("in", shape[1]);
    p.set("out", shape[2]);
    draw_matrices(d, p, {"x", "w", "g"});
    p.draw_word("relu", d);
    p.draw_word("values", d);
    if (d.one_in(2)) p.draw_word("rung", d);
    p.set("seed", d.integer(0, 1 << 30));
}

/// The rungs of all types but fp16x3, whose bound is one of norms.
std::vector<std::string_view> all_rungs() {
    std::vector<std::string_view> words = rung_words(matmul_algorithms(element_type::f32));
    for (const std::string_view word : rung_words(matmul_algorithms(element_type::f16)))
        if (std::ranges::find(words, word) == words.end()) words.push_back(word);
    std::erase(words, to_string(matmul_algorithm::fp16x3));
    return words;
}

const std::vector<std::string_view> types = {"f32", "f16", "bf16", "f16_to_f32", "bf16_to_f32"};
const std::vector<std::string_view> activations = {"none", "relu",    "gelu", "gelu_tanh",
                                                   "silu", "sigmoid", "tanh"};

}  // namespace

operation matmul_cases() {
    return {"matmul",
            fields_of({"a", "b", "c"}, {{"type", 0, types},
                                        {"m"},
                                        {"n"},
                                        {"k"},
                                        {"alpha", 0, factors},
                                        {"beta", 0, {"0", "-0.5", "2", "1"}},
                                        {"bias", 0, {"none", "row", "column"}},
                                        {"activation", 0, activations},
                                        {"values", 0, finite_values},
                                        {"rung", 0, all_rungs()},
                                        {"seed", 0}}),
            draw_matmul, [](const problem& p, processor where) {
                return with_types(p["type"],
                                  [&]<class In, class Out>() { return wrong_matmul<In, Out>(p, where); });
            }};
}

operation batched_matmul_cases() {
    // Those that take batches.
    const std::vector<std::string_view> rungs = {
        "automatic",         "naive",    "wmma",   "mma_sync",   "persistent",
        "cluster_multicast", "stream_k", "vector", "warp_tiled", "pipelined",
        "split_k",           "thin",     "skinny", "bf16x6",     "tf32"};
    return {"batched_matmul",
            fields_of({"a", "b", "c"}, {{"type", 0, types},
                                        {"count"},
                                        {"m"},
                                        {"n"},
                                        {"k"},
                                        {"gap", 0},
                                        {"alpha", 0, factors},
                                        {"beta", 0, {"0", "-0.5", "2", "1"}},
                                        {"shared", 0, {"none", "a", "b", "both"}},
                                        {"values", 0, finite_values},
                                        {"rung", 0, rungs},
                                        {"seed", 0}}),
            draw_batched_matmul, [](const problem& p, processor where) {
                return with_types(p["type"], [&]<class In, class Out>() {
                    return wrong_batched_matmul<In, Out>(p, where);
                });
            }};
}

operation linear_cases() {
    return {"linear",
            fields_of({"x", "w", "y"}, {{"type", 0, single_types},
                                        {"batch"},
                                        {"in"},
                                        {"out"},
                                        {"bias", 0, {"none", "there"}},
                                        {"activation", 0, activations},
                                        {"values", 0, finite_values},
                                        {"rung", 0, all_rungs()},
                                        {"seed", 0}}),
            draw_linear, [](const problem& p, processor where) {
                return with_single<std::string>(p["type"],
                                                [&]<class T>() { return wrong_linear<T>(p, where); });
            }};
}

operation linear_gradient_cases() {
    return {"linear_gradient",
            fields_of({"x", "w", "g"}, {{"type", 0, single_types},
                                        {"batch"},
                                        {"in"},
                                        {"out"},
                                        {"relu", 0, {"no", "yes"}},
                                        {"values", 0, finite_values},
                                        {"rung", 0, rung_words(linear_gradient_algorithms())},
                                        {"seed", 0}}),
            draw_linear_gradient, wrong_linear_gradient};
}

}  // namespace heddle::bench::fuzz
