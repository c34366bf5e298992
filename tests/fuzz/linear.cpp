#include "tests/bounds/reduce.hpp"
#include "tests/fuzz/products.hpp"

namespace heddle::fuzz {
namespace {

template <class T>
std::string wrong_linear(const problem& p, processor where) {
    const std::int64_t batch = p["batch"], in = p["in"], out = p["out"];
    const auto seed = p.seed();
    const auto kind = kind_of(p);
    const auto xs = draw_values<T>(kind, batch * in, seed),
               weights = draw_values<T>(beside(kind), out * in, seed + 1),
               biases = draw_values<T>(values::uniform, out, seed + 2);
    operand<T> x(where, matrix_of(p, "x", batch, in), xs), w(where, matrix_of(p, "w", out, in), weights),
        bias(where, lie({out}, p["bias_offset"], 0, p["bias_step"]), biases),
        y(where, matrix_of(p, "y", batch, out));
    const bool has_bias = p["bias"] == 1;
    const auto of_bias = has_bias ? bias.vector() : vector_view<T>{};
    linear_options options{.activation = static_cast<matmul_activation>(p["activation"]),
                           .algorithm = rung_of(p, where, matmul_algorithms(element_type_of<T>))};
    set_plan(p, options);
    std::string fault;
    if (where == processor::cpu)
        host::linear<T>(x.matrix(), w.matrix(), of_bias, y.matrix(), options);
    else
        fault = run_in_memory(
            p, where, options,
            [&] {
                return linear_workspace_bytes<T>(x.matrix(), w.matrix(), of_bias, y.matrix(), stream(),
                                                 options);
            },
            [&] { linear<T>(x.matrix(), w.matrix(), of_bias, y.matrix(), calls(), options); });

    const sums s = products_of(xs, transposed(weights, out, in), batch, out, in);
    const double u = bounds::u, share = error_of_products<T>(in, where, options.algorithm, options.precision);
    const auto bias_of = [&](std::size_t i) {
        return has_bias ? to_double(biases[i % static_cast<std::size_t>(out)]) : 0;
    };
    const auto expected = [&](std::size_t i) {
        return activated(options.activation, s.values[i] + bias_of(i));
    };
    const auto bound = [&](std::size_t i) {
        const double of_sum = share * s.magnitudes[i] + u * (s.magnitudes[i] + std::abs(bias_of(i)));
        return error_of_result<T>(
            activated_on<T>(where, options.activation, {s.values[i] + bias_of(i), of_sum}));
    };
    return first_of(
        {mismatch("y", y.read(), expected, bound), fault, y.damage(), x.change(), w.change(), bias.change()});
}

void draw_linear(drawing& d, problem& p) {
    for (const char* const word : {"type", "bias", "activation", "values"}) p.draw_word(word, d);
    set_shape(p, {"batch", "out", "in"}, draw_product(d, 1 << 20));
    draw_rung(d, p, "batch", "out", "in");
    const std::int64_t batch = p["batch"], in = p["in"], out = p["out"];
    draw_matrices(d, p, {{"x", batch, in}, {"w", out, in}, {"y", batch, out}});
    p.set({{"bias_offset", d.integer(0, 1)}, {"bias_step", d.integer(1, 2)}});
    draw_plan(d, p);
    p.set("seed", d.integer(0, 1 << 30));
}

const matmul_activation activations_of_x[] = {matmul_activation::none, matmul_activation::relu,
                                              matmul_activation::sigmoid, matmul_activation::tanh};

/// x holds possible results of the activation; relu's may be any numbers. `separate` rounds sums to 16 bits, so sums
/// that it multiplies by a slope stay small.
template <class T>
std::string wrong_linear_gradient(const problem& p, processor where) {
    const std::int64_t batch = p["batch"], in = p["in"], out = p["out"];
    const auto seed = p.seed();
    const matmul_activation activation = activations_of_x[p["activation_of_x"]];
    const bool has_slope = p["activation_of_x"] >= 2;
    auto kind = kind_of(p);
    if (has_slope && (kind == values::spread || kind == values::integers)) kind = values::uniform;
    auto xs = draw_values<T>(has_slope ? values::uniform : kind, batch * in, seed);
    if (activation == matmul_activation::sigmoid)
        for (T& x : xs) x = static_cast<T>(std::abs(static_cast<float>(x)));
    const auto weights = draw_values<T>(beside(kind), out * in, seed + 1),
               gradients = draw_values<T>(has_slope ? kind : beside(kind), batch * out, seed + 2);
    operand<T> x(where, matrix_of(p, "x", batch, in), xs), w(where, matrix_of(p, "w", out, in), weights);
    operand<T> gradient(where, matrix_of(p, "g", batch, out), gradients),
        dx(where, matrix_of(p, "dx", batch, in));
    operand<float> dw(where, matrix_of(p, "dw", out, in)),
        db(where, lie({out}, p["bias_offset"], 0, p["bias_step"]));
    const bool wants_dx = p["wants_dx"] == 0, wants_dw = p["wants_dweights"] == 0,
               wants_db = p["wants_dbias"] == 0;
    const auto to_dx = wants_dx ? dx.matrix() : matrix_view<T>{};
    const auto to_dw = wants_dw ? dw.matrix() : matrix_view<float>{};
    const auto to_db = wants_db ? db.vector() : vector_view<float>{};
    linear_gradient_options options{.algorithm = rung_of(p, where, linear_gradient_algorithms()),
                                    .activation_of_x = activation};
    set_plan(p, options);
    std::string fault;
    if (where == processor::cpu)
        host::linear_gradient<T>(x.matrix(), w.matrix(), gradient.matrix(), to_dx, to_dw, to_db, options);
    else
        fault = run_in_memory(
            p, where, options,
            [&] {
                return linear_gradient_workspace_bytes<T>(x.matrix(), w.matrix(), gradient.matrix(), to_dx,
                                                          to_dw, to_db, stream(), options);
            },
            [&] {
                linear_gradient<T>(x.matrix(), w.matrix(), gradient.matrix(), to_dx, to_dw, to_db, calls(),
                                   options);
            });

    const auto of_gradient = transposed(gradients, batch, out);
    const sums to_x = products_of(gradients, weights, batch, in, out),
               to_w = products_of(of_gradient, xs, out, in, batch);
    const sums to_b = products_of(
        of_gradient, std::vector<T>(static_cast<std::size_t>(batch), static_cast<T>(1.0f)), out, 1, batch);
    const auto slope = [&](std::size_t i) {
        return bounds::derivative_of_result(activation, to_double(xs[i]));
    };
    const auto expected_dx = [&](std::size_t i) { return slope(i) * to_x.values[i]; };
    const auto error_of = [&](std::int64_t terms) {
        return error_of_products<T>(terms, where, matmul_algorithm::automatic, options.precision);
    };
    const auto chosen = [&] {
        if (options.algorithm != linear_gradient_algorithm::automatic) return options.algorithm;
        return select(
            linear_gradient_problem_of<T>(x.matrix(), w.matrix(), gradient.matrix(), to_dx, options),
            traits_of(current_device()));
    };
    const bool rounds_sums = sizeof(T) == 2 && p["activation_of_x"] > 0 && where != processor::cpu &&
                             chosen() != linear_gradient_algorithm::fused;
    const auto bound_of_dx = [&, share = error_of(out)](std::size_t i) {
        const double sum = std::abs(to_x.values[i]), v = unit_roundoff<T>();
        double error = share * to_x.magnitudes[i];
        if (rounds_sums) error += v * (sum + error) + smallest<T>();
        const double of_value = slope(i) * (error + 3 * bounds::u * (sum + error)) + 0x1p-126;
        return bounds::stored_as<T>(expected_dx(i), of_value);
    };
    const auto near = [](const sums& s, double share) {
        return [&s, share](std::size_t i) { return share * s.magnitudes[i] + 0x1p-126; };
    };
    if (wants_dx) fault = first_of({fault, mismatch("dx", dx.read(), expected_dx, bound_of_dx)});
    if (wants_dw)
        fault = first_of({fault, mismatch("dweights", dw.read(), to_w.values, near(to_w, error_of(batch)))});
    if (wants_db)
        fault = first_of(
            {fault, mismatch("dbias", db.read(), to_b.values,
                             near(to_b, bounds::of_additions(static_cast<double>(batch), bounds::u)))});
    return first_of({fault, wants_dx ? dx.damage() : dx.change(), wants_dw ? dw.damage() : dw.change(),
                     wants_db ? db.damage() : db.change(), x.change(), w.change(), gradient.change()});
}

std::string wrong_linear_gradient(const problem& p, processor where) {
    return with_single<std::string>(p["type"], [&]<class T>() { return wrong_linear_gradient<T>(p, where); });
}

void draw_linear_gradient(drawing& d, problem& p) {
    for (const char* const word : {"type", "activation_of_x", "values"}) p.draw_word(word, d);
    set_shape(p, {"batch", "in", "out"}, draw_product(d, 1 << 20));
    const std::int64_t batch = p["batch"], in = p["in"], out = p["out"];
    draw_matrices(d, p,
                  {{"g", batch, out}, {"w", out, in}, {"x", batch, in}, {"dx", batch, in}, {"dw", out, in}});
    p.set({{"bias_offset", d.integer(0, 1)}, {"bias_step", d.integer(1, 2)}});
    for (const char* const word : {"wants_dx", "wants_dweights", "wants_dbias"})
        if (d.one_in(5)) p.set(word, 1);
    if (d.one_in(2)) p.draw_word("rung", d);
    draw_plan(d, p);
    p.set("seed", d.integer(0, 1 << 30));
}

const std::vector<std::string_view> wanted = {"yes", "no"};

}  // namespace

operation linear_cases() {
    return {"linear",
            fields_of({"x", "w", "y"}, with_numbers({{"type", 0, single_types},
                                                     {"bias", 0, {"none", "there"}},
                                                     {"activation", 0, activations},
                                                     {"values", 0, finite_values},
                                                     {"rung", 0, rungs_without_norms()},
                                                     {"precision", 0, precisions_without_norms},
                                                     scratch_field},
                                                    "batch in out bias_offset=0 bias_step seed=0")),
            draw_linear, of_single_type<[]<class T>(auto&... a) { return wrong_linear<T>(a...); }>};
}

operation linear_gradient_cases() {
    return {"linear_gradient",
            fields_of({"x", "w", "g", "dx", "dw"},
                      with_numbers({{"type", 0, single_types},
                                    {"activation_of_x", 0, {"none", "relu", "sigmoid", "tanh"}},
                                    {"wants_dx", 0, wanted},
                                    {"wants_dweights", 0, wanted},
                                    {"wants_dbias", 0, wanted},
                                    {"values", 0, finite_values},
                                    {"rung", 0, rung_words(linear_gradient_algorithms())},
                                    {"precision", 0, precisions_without_norms},
                                    scratch_field},
                                   "batch in out bias_offset=0 bias_step seed=0")),
            draw_linear_gradient, wrong_linear_gradient};
}

}  // namespace heddle::fuzz
