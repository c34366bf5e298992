#include "tests/fuzz/products.hpp"

#include <deque>

namespace heddle::fuzz {
namespace {

template <class T>
std::vector<double> norms_of_rows(const std::vector<T>& by_rows, std::int64_t rows, std::int64_t cols) {
    std::vector<double> norms(static_cast<std::size_t>(rows));
    for (std::size_t i = 0; i < by_rows.size(); ++i)
        norms[i / static_cast<std::size_t>(cols)] += to_double(by_rows[i]) * to_double(by_rows[i]);
    for (double& norm : norms) norm = std::sqrt(norm);
    return norms;
}

/// Some rows of a matrix, `step` apart.
template <class T>
std::vector<T> rows_of(const std::vector<T>& all, std::int64_t rows, std::int64_t cols, std::int64_t first,
                       std::int64_t step) {
    std::vector<T> some;
    for (std::int64_t i = first; i < rows; i += step)
        some.insert(some.end(), all.begin() + i * cols, all.begin() + (i + 1) * cols);
    return some;
}

/// Where beta is 0, C holds NaN, and where nothing is multiplied, A and B do: they are not read. For large products,
/// only some rows of C are compared.
template <class In, class Out>
std::string wrong_matmul(const problem& p, processor where) {
    const std::int64_t m = p["m"], n = p["n"], k = p["k"];
    const auto seed = p.seed();
    auto kind = kind_of(p);
    const float nan = std::nanf("");
    // Where k is 0, there is no product for alpha to scale.
    const float alpha = k == 0 ? nan : factor_of[p["alpha"]], beta = factor_of[(p["beta"] + 1) % 4];
    const bool multiplies = k > 0 && alpha != 0;
    matmul_options options = options_of<In>(p, where, alpha, beta);
    const bool is_normwise = may_be_fp16x3<In>(where, options);
    if (is_normwise && kind == values::special) kind = values::uniform;  // infinities become NaN there
    auto as = draw_terms<In>(kind, m * k, seed), bs = draw_terms<In>(beside(kind), k * n, seed + 1);
    auto cs = draw_values<Out>(values::uniform, m * n, seed + 2);
    const auto across = draw_values<Out>(values::uniform, n, seed + 3),
               down = draw_values<Out>(values::uniform, m, seed + 4),
               residuals = draw_values<Out>(values::uniform, m * n, seed + 5);
    const bool adds_c = p["residual"] == 2;
    if (beta == 0 && !adds_c) std::ranges::fill(cs, static_cast<Out>(nan));
    if (!multiplies) std::ranges::fill(as, static_cast<In>(nan)), std::ranges::fill(bs, static_cast<In>(nan));
    operand<In> a(where, matrix_of(p, "a", m, k), as), b(where, matrix_of(p, "b", k, n), bs);
    operand<Out> c(where, matrix_of(p, "c", m, n), cs), residual(where, matrix_of(p, "r", m, n), residuals);
    operand<Out> row_bias(where, lie({n}, p["bias_offset"], 0, p["bias_step"]), across),
        column_bias(where, lie({m}, p["bias_offset"], 0, p["bias_step"]), down);

    const bool has_row = p["bias"] % 2 == 1, has_column = p["bias"] >= 2;
    matmul_epilogue<Out> epilogue{.activation = static_cast<matmul_activation>(p["activation"]),
                                  .scale = p["scale"] == 1 ? 1.5f : 1.0f};
    if (has_row) epilogue.row_bias = row_bias.vector();
    if (has_column) epilogue.column_bias = column_bias.vector();
    if (p["residual"] > 0) epilogue.residual = adds_c ? c.matrix() : residual.matrix();
    const bool has_epilogue = p["bias"] + p["activation"] + p["scale"] + p["residual"] > 0;
    std::string fault;
    if (where == processor::cpu)
        has_epilogue ? host::matmul<Out, In>(a.matrix(), b.matrix(), c.matrix(), epilogue, alpha, beta)
                     : host::matmul<Out, In>(a.matrix(), b.matrix(), c.matrix(), alpha, beta);
    else {
        const std::string reason =
            why_not(options.algorithm,
                    matmul_problem_of<Out, In>(a.matrix(), b.matrix(), c.matrix(), epilogue, options),
                    traits_of(current_device()), options.kernel);
        try {
            fault = run_in_memory(
                p, where, options,
                [&] {
                    return matmul_workspace_bytes<Out, In>(a.matrix(), b.matrix(), c.matrix(), epilogue,
                                                           stream(), options);
                },
                [&] {
                    has_epilogue
                        ? matmul<Out, In>(a.matrix(), b.matrix(), c.matrix(), epilogue, calls(), options)
                        : matmul<Out, In>(a.matrix(), b.matrix(), c.matrix(), calls(), options);
                });
        } catch (const unsupported&) {
            if (reason.empty()) return "was refused, and why_not() has no reason";
            if (const std::string change = c.change(); !change.empty()) return "was refused, and c " + change;
            throw;
        }
        if (!reason.empty() && m * n > 0) return "was not refused: " + reason;
    }

    constexpr std::int64_t most_terms = 1 << 22;
    const std::int64_t step =
        std::clamp<std::int64_t>(m * n * k / most_terms, 1, std::max<std::int64_t>(m, 1));
    const std::int64_t first = static_cast<std::int64_t>(seed) % step;
    const auto some = [&](const auto& all, std::int64_t cols) { return rows_of(all, m, cols, first, step); };
    const auto checked_as = some(as, k);
    const auto checked_cs = some(cs, n), checked_residuals = some(residuals, n);
    const std::int64_t rows = m == 0 ? 0 : (m - first + step - 1) / step;
    const sums s = products_of(checked_as, bs, rows, n, k);
    std::vector<double> norms_of_a, norms_of_b;
    if (is_normwise) {
        norms_of_a = norms_of_rows(checked_as, rows, k);
        norms_of_b = norms_of_rows(transposed(bs, k, n), n, k);
    }
    const double share = error_of_products<In>(k, where, options.algorithm, options.precision);
    const auto result = [&](std::size_t i) {
        const std::size_t row = i / static_cast<std::size_t>(n), col = i % static_cast<std::size_t>(n);
        const double added = beta == 0 ? 0 : beta * to_double(checked_cs[i]),
                     of_row = has_row ? to_double(across[col]) : 0,
                     of_column = has_column ? to_double(down[static_cast<std::size_t>(first) +
                                                             row * static_cast<std::size_t>(step)])
                                            : 0,
                     sum = (multiplies ? alpha * s.values[i] : 0) + added + of_row + of_column,
                     magnitude = (multiplies ? std::abs(alpha) * s.magnitudes[i] : 0) + std::abs(added);
        double of_sum = share * magnitude;
        if (has_epilogue)
            of_sum += bounds::u * (magnitude + 2 * (std::abs(of_row) + std::abs(of_column)) + std::abs(sum));
        if (is_normwise && multiplies)
            of_sum += 0x1p-35 * std::abs(alpha) * norms_of_a[row] * norms_of_b[col];
        approximate x = activated_on<Out>(where, epilogue.activation, {sum, std::isinf(sum) ? 0 : of_sum});
        const double scale{epilogue.scale};
        if (scale != 1) x = bounds::rounded({scale * x.value, scale * x.bound});
        if (p["residual"] > 0)
            x = bounds::rounded(x + to_double(adds_c ? checked_cs[i] : checked_residuals[i]));
        return x;
    };
    return first_of({mismatch(
                         "c", some(c.read(), n), [&](std::size_t i) { return result(i).value; },
                         [&](std::size_t i) { return error_of_result<Out>(result(i)); }),
                     fault, c.damage(), a.change(), b.change(), row_bias.change(), column_bias.change(),
                     residual.change()});
}

const std::vector<std::string_view> without_epilogue = {
    "coalesced", "tiled",     "shared_memory",    "register_tiled", "tma_pipelined",
    "tf32x3",    "wgmma_tma", "warp_specialized", "persistent",     "cluster_multicast",
    "stream_k"};

void draw_matmul(drawing& d, problem& p) {
    if (d.one_in(2)) p.draw_word("type", d);
    set_shape(p, {"m", "n", "k"}, draw_product(d, 1 << 22));
    draw_rung(d, p, "m", "n", "k");
    const std::int64_t m = p["m"], n = p["n"], k = p["k"];
    draw_matrices(d, p, {{"a", m, k}, {"b", k, n}, {"c", m, n}, {"r", m, n}});
    for (const char* const word : {"alpha", "beta"})
        if (d.one_in(2)) p.draw_word(word, d);
    const bool takes_epilogue = std::ranges::find(without_epilogue, p.word("rung")) == without_epilogue.end();
    if (takes_epilogue && d.one_in(2)) {
        p.draw_word("bias", d);
        for (const char* const word : {"activation", "scale", "residual"})
            if (d.one_in(2)) p.draw_word(word, d);
        p.set({{"bias_offset", d.integer(0, 1)}, {"bias_step", d.integer(1, 2)}});
    }
    p.draw_word("values", d);
    draw_plan(d, p);
    p.set("seed", d.integer(0, 1 << 30));
}

/// Such matrices one after another, or one shared by all products.
lattice batch_of(const lattice& one, std::int64_t count, std::int64_t gap) {
    const std::int64_t span =
        std::max({one.extents[0] * one.strides[0], one.extents[1] * one.strides[1], std::int64_t{1}});
    return {
        {count, one.extents[0], one.extents[1]}, {span + gap, one.strides[0], one.strides[1]}, one.offset};
}

/// The expected results of products without an epilogue, one after another.
struct products {
    std::vector<double> expected, bounds;

    template <class Out>
    void add(const sums& s, float alpha, float beta, const Out* cs, double share) {
        for (std::size_t i = 0; i < s.values.size(); ++i) {
            const double added = beta == 0 ? 0 : beta * to_double(cs[i]),
                         value = (alpha == 0 ? 0 : alpha * s.values[i]) + added,
                         magnitude = (alpha == 0 ? 0 : std::abs(alpha) * s.magnitudes[i]) + std::abs(added);
            bounds.push_back(error_of_result<Out>({value, share * magnitude}));
            expected.push_back(value);
        }
    }
    template <class Out>
    [[nodiscard]] std::string mismatch(const std::vector<Out>& actual) const {
        return fuzz::mismatch("c", actual, expected, bounds);
    }
};

template <class In, class Out>
std::string wrong_batched_matmul(const problem& p, processor where) {
    const std::int64_t count = p["count"], m = p["m"], n = p["n"], k = p["k"];
    const auto seed = p.seed();
    const auto kind = kind_of(p);
    const float alpha = factor_of[p["alpha"]], beta = factor_of[(p["beta"] + 1) % 4];
    matmul_options options = options_of<In>(p, where, alpha, beta);
    const bool shares_a = p["shared"] == 1 || p["shared"] == 3, shares_b = p["shared"] >= 2;
    const std::int64_t count_a = shares_a ? 1 : count, count_b = shares_b ? 1 : count;
    const auto as = draw_terms<In>(kind, count_a * m * k, seed),
               bs = draw_terms<In>(beside(kind), count_b * k * n, seed + 1);
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
    std::string fault;
    if (where == processor::cpu)
        host::batched_matmul<Out, In>(from_a, from_b, to_c, alpha, beta);
    else
        fault = run_in_memory(
            p, where, options,
            [&] { return batched_matmul_workspace_bytes<Out, In>(from_a, from_b, to_c, stream(), options); },
            [&] { batched_matmul<Out, In>(from_a, from_b, to_c, calls(), options); });

    products right;
    const double share = error_of_products<In>(k, where, options.algorithm, options.precision);
    const auto one_of = [](const std::vector<In>& all, std::int64_t at, std::int64_t size) {
        return std::vector<In>(all.begin() + at * size, all.begin() + (at + 1) * size);
    };
    for (std::int64_t i = 0; i < count; ++i)
        right.add(
            products_of(one_of(as, shares_a ? 0 : i, m * k), one_of(bs, shares_b ? 0 : i, k * n), m, n, k),
            alpha, beta, cs.data() + i * m * n, share);
    return first_of({right.mismatch(c.read()), fault, c.damage(), a.change(), b.change()});
}

/// At most so many products of a shape: large batches of small products, and small batches of large ones.
std::int64_t fitting_count(std::int64_t most, const std::vector<std::int64_t>& shape) {
    constexpr std::int64_t most_elements = 1 << 20;
    const std::int64_t elements = shape[0] * shape[1] + (shape[0] + shape[1]) * shape[2];
    return std::min(most, std::max<std::int64_t>(most_elements / std::max<std::int64_t>(elements, 1), 1));
}

void draw_batched_matmul(drawing& d, problem& p) {
    if (d.one_in(2)) p.draw_word("type", d);
    p.draw_word("values", d);
    std::int64_t count = d.one_in(16) ? 0 : draw_length(d, 1, 160);
    auto shape = draw_product(d, (1 << 21) / std::max<std::int64_t>(count, 1));
    if (d.one_in(32)) {  // more than the depth of a grid
        count = d.integer(65536, 66000);
        shape = {d.integer(1, 4), d.integer(1, 4), d.integer(1, 5)};
    }
    p.set("count", fitting_count(count, shape));
    set_shape(p, {"m", "n", "k"}, shape);
    draw_rung(d, p, "m", "n", "k");
    const std::int64_t m = p["m"], n = p["n"], k = p["k"];
    draw_matrices(d, p, {{"a", m, k}, {"b", k, n}, {"c", m, n}});
    p.set("gap", d.one_in(2) ? 0 : d.one_in(2) ? 8 * d.integer(1, 2) : d.integer(1, 9));
    for (const char* const word : {"alpha", "beta", "shared"})
        if (d.one_in(3)) p.draw_word(word, d);
    draw_plan(d, p);
    p.set("seed", d.integer(0, 1 << 30));
}

/// A product of a list.
template <class In, class Out>
struct one_of_list {
    std::int64_t m, n, k;
    std::vector<In> as, bs;
    std::vector<Out> cs;
    operand<In> a, b;
    operand<Out> c;

    one_of_list(const problem& p, processor where, const std::vector<std::int64_t>& shape, std::uint64_t seed)
        : m(shape[0]),
          n(shape[1]),
          k(shape[2]),
          as(draw_terms<In>(kind_of(p), m * k, seed)),
          bs(draw_terms<In>(beside(kind_of(p)), k * n, seed + 1)),
          cs(draw_values<Out>(values::uniform, m * n, seed + 2)),
          a(where, matrix_of(p, "a", m, k), as),
          b(where, matrix_of(p, "b", k, n), bs),
          c(where, matrix_of(p, "c", m, n), cs) {}
};

/// The first product has the problem's shape; those after it are smaller. Each has a layout of its own.
template <class In, class Out>
std::string wrong_matmul_list(const problem& p, processor where) {
    const auto seed = p.seed();
    const float alpha = factor_of[p["alpha"]], beta = factor_of[(p["beta"] + 1) % 4];
    matmul_options options = options_of<In>(p, where, alpha, beta);
    drawing d({"matmul_list", seed, 0});
    std::deque<one_of_list<In, Out>> all;
    std::vector<matmul_operands<Out, In>> list;
    for (std::int64_t i = 0; i < p["count"]; ++i) {
        problem one = p;
        std::vector<std::int64_t> shape{p["m"], p["n"], p["k"]};
        if (i > 0 && !d.one_in(3)) {
            for (std::int64_t& extent : shape)
                extent = d.integer(d.one_in(16) ? 0 : std::min<std::int64_t>(extent, 1), extent);
            draw_matrices(d, one,
                          {{"a", shape[0], shape[2]}, {"b", shape[2], shape[1]}, {"c", shape[0], shape[1]}});
        }
        auto& added = all.emplace_back(one, where, shape, seed + 3 * static_cast<std::uint64_t>(i));
        list.push_back({added.a.matrix(), added.b.matrix(), added.c.matrix()});
    }
    std::string fault;
    if (where == processor::cpu)
        host::batched_matmul<Out, In>(list, alpha, beta);
    else
        fault = run_in_memory(
            p, where, options,
            [&] { return batched_matmul_workspace_bytes<Out, In>(list, stream(), options); },
            [&] { batched_matmul<Out, In>(list, calls(), options); });
    for (auto& each : all) {
        products right;
        right.add(products_of(each.as, each.bs, each.m, each.n, each.k), alpha, beta, each.cs.data(),
                  error_of_products<In>(each.k, where, options.algorithm, options.precision));
        fault = first_of(
            {fault, right.mismatch(each.c.read()), each.c.damage(), each.a.change(), each.b.change()});
    }
    return fault;
}

void draw_matmul_list(drawing& d, problem& p) {
    for (const char* const word : {"type", "values"}) p.draw_word(word, d);
    const std::int64_t count = draw_length(d, 1, 160);
    const auto shape = draw_product(d, (1 << 22) / count);
    p.set("count", fitting_count(count, shape));
    set_shape(p, {"m", "n", "k"}, shape);
    draw_rung(d, p, "m", "n", "k");
    const std::int64_t m = p["m"], n = p["n"], k = p["k"];
    draw_matrices(d, p, {{"a", m, k}, {"b", k, n}, {"c", m, n}});
    if (d.one_in(2)) p.set("rung", 0);  // many products in one launch
    for (const char* const word : {"alpha", "beta"})
        if (d.one_in(2)) p.draw_word(word, d);
    draw_plan(d, p);
    p.set("seed", d.integer(0, 1 << 30));
}

const std::vector<std::string_view> types = {"f32", "f16", "bf16", "f16_to_f32", "bf16_to_f32"};

}  // namespace

operation matmul_cases() {
    return {"matmul",
            fields_of({"a", "b", "c", "r"}, with_numbers({{"type", 0, types},
                                                          {"alpha", 0, factors},
                                                          {"beta", 0, factors_of_c},
                                                          {"bias", 0, {"none", "row", "column", "both"}},
                                                          {"activation", 0, activations},
                                                          {"scale", 0, {"1", "1.5"}},
                                                          {"residual", 0, {"none", "apart", "c"}},
                                                          {"values", 0, all_values},
                                                          {"rung", 0, all_rungs()},
                                                          {"precision", 0, precisions},
                                                          scratch_field},
                                                         "m n k bias_offset=0 bias_step kernel=0 seed=0")),
            draw_matmul,
            of_types<[]<class In, class Out>(auto&... a) { return wrong_matmul<In, Out>(a...); }>, 5};
}

operation batched_matmul_cases() {
    // The rungs that take batches.
    const std::vector<std::string_view> rungs = {
        "automatic", "naive",  "wmma",       "mma_sync",  "persistent", "cluster_multicast",
        "stream_k",  "vector", "warp_tiled", "pipelined", "split_k",    "thin",
        "stream",    "packed", "skinny",     "bf16x6",    "tf32"};
    return {"batched_matmul",
            fields_of({"a", "b", "c"}, with_numbers({{"type", 0, types},
                                                     {"alpha", 0, factors},
                                                     {"beta", 0, factors_of_c},
                                                     {"shared", 0, {"none", "a", "b", "both"}},
                                                     {"values", 0, all_values},
                                                     {"rung", 0, rungs},
                                                     {"precision", 0, precisions_without_norms},
                                                     scratch_field},
                                                    "count m n k gap=0 kernel=0 seed=0")),
            draw_batched_matmul,
            of_types<[]<class In, class Out>(auto&... a) { return wrong_batched_matmul<In, Out>(a...); }>, 2};
}

operation matmul_list_cases() {
    return {"matmul_list",
            fields_of({"a", "b", "c"}, with_numbers({{"type", 0, types},
                                                     {"alpha", 0, factors},
                                                     {"beta", 0, factors_of_c},
                                                     {"values", 0, all_values},
                                                     {"rung", 0, rungs_without_norms()},
                                                     {"precision", 0, precisions_without_norms},
                                                     scratch_field},
                                                    "count m n k seed=0")),
            draw_matmul_list,
            of_types<[]<class In, class Out>(auto&... a) { return wrong_matmul_list<In, Out>(a...); }>};
}

}  // namespace heddle::fuzz
