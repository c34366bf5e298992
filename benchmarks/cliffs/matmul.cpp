#include "benchmarks/cliffs/family.hpp"
#include "benchmarks/cliffs/matmul_operands.hpp"
#include "benchmarks/support/cub.hpp"

namespace heddle::bench::cliffs {
namespace {

template <class Out, class In>
void run(const product_problem<Out, In>& p, product_operands<Out, In>& o, const matmul_options& options) {
    if (p.batches > 1)
        return batched_matmul<Out, In>(o.a_batch(p), o.b_batch(p), o.c_batch(p), stream(), options);
    if (p.has_epilogue)
        matmul<Out, In>(o.a.first, o.b.first, o.c.first, o.epilogue(p), stream(), options);
    else
        matmul<Out, In>(o.a.first, o.b.first, o.c.first, stream(), options);
}

/// What the choice of a kernel depends on, as benchmarks/tuning reads it.
std::string json_of(const matmul_problem& p) {
    const auto layout = [](const matrix_layout& m) {
        return fmt::format("[{}, {}, {}, {}, {}]", m.rows, m.cols, m.row_stride, m.col_stride, m.alignment());
    };
    const bool widens = p.result != p.operands;
    return fmt::format(
        R"({{"element_bytes": {}, "widens": {}, "precision": "{}", "a": {}, "b": {}, "c": {}, )"
        R"("batches": {}, "a_stride": {}, "b_stride": {}, "has_epilogue": {}, "adds_c": {}}})",
        p.a.element_bytes, widens, to_string(p.precision), layout(p.a), layout(p.b), layout(p.c), p.batches,
        p.a_stride, p.b_stride, p.has_epilogue, p.adds_c);
}

/// Adds each kernel that `automatic` may choose.
template <class Out, class In>
void add_choices(trial& t, const product_problem<Out, In>& p,
                 const std::shared_ptr<product_operands<Out, In>>& o) {
    const device_traits& device = traits_of(current_device());
    matmul_problem problem =
        matmul_problem_of<Out, In>(o->a.first, o->b.first, o->c.first, o->epilogue(p), p.options());
    if (p.batches > 1) {
        const bool is_turned = problem.c.row_stride != o->c.first.row_stride;  // the problem is that of C^T
        problem.batches = p.batches;
        problem.a_stride = is_turned ? o->b.stride : o->a.stride;
        problem.b_stride = is_turned ? o->a.stride : o->b.stride;
    }
    t.problem = json_of(problem);
    for (const matmul_algorithm algorithm : matmul_algorithms(element_type_of<In>)) {
        if (!may_stand_for(algorithm, problem, device)) continue;
        for (const std::string_view kernel : matmul_kernels(element_type_of<In>, algorithm)) {
            matmul_options asked = p.options();
            asked.kernel = kernel;
            t.peers.push_back({std::string(kernel), [p, o, asked] { run(p, *o, asked); }, true, false});
        }
    }
}

template <class Out, class In>
trial prepare(const product_problem<Out, In>& p, bool with_choices) {
    const auto o = std::make_shared<product_operands<Out, In>>(p);
    trial t;
    t.is_in_place = p.beta != 0;
    t.reset = [p, o] { p.beta == 0 ? o->c.all.poison() : o->c.all.reset(); };
    t.call = [p, o] { run(p, *o, p.options()); };
    t.wrong = check_of(p, o);
    with_choices ? add_choices(t, p, o) : add_product_peers(t, p, o);
    return t;
}

template <class Out, class In>
std::string words_of(const product_problem<Out, In>& p) {
    std::string words = fmt::format("{}{} matmul {}{} x {} x {} (m x n x k)", dtype<In>,
                                    std::is_same_v<In, Out> ? "" : fmt::format(" to {}", dtype<Out>),
                                    p.batches > 1 ? fmt::format("{} times ", p.batches) : "", p.m, p.n, p.k);
    if (std::is_same_v<In, float>) words += fmt::format(", {}", to_string(p.precision));
    if (p.alpha != 1) words += fmt::format(", alpha {}", p.alpha);
    if (p.beta != 0) words += fmt::format(", beta {}", p.beta);
    if (p.activation != matmul_activation::none)
        words += fmt::format(", {}", name_of(activations, p.activation));
    if (p.has_row_bias) words += ", row bias";
    if (p.has_column_bias) words += ", column bias";
    if (p.scale != 1) words += fmt::format(", scale {}", p.scale);
    if (p.has_residual) words += ", residual";
    if (p.is_b_shared) words += ", one B";
    words += words_of_placements({{"A", p.a}, {"B", p.b}, {"C", p.c}});
    return words;
}

template <class Out, class In>
void draw_epilogue(drawing& d, product_problem<Out, In>& p) {
    p.has_epilogue = true;
    p.activation = static_cast<matmul_activation>(d.index(std::size(activations)));
    p.has_row_bias = d.one_in(2);
    p.has_column_bias = d.one_in(8);
    p.has_residual = d.one_in(4);
    if (d.one_in(6)) p.scale = 0.5f;
}

template <class Out, class In>
drawn_case draw(drawing& d, precision precision = precision::fp32) {
    product_problem<Out, In> p;
    p.precision = precision;
    // cuBLAS has no steps.
    p.a = d.lie(true, never);
    p.b = d.lie(true, never);
    p.c = d.lie(true, never);
    if (d.one_in(2)) p.a.padding = p.b.padding = p.c.padding = 0;
    if (d.one_in(4)) p.alpha = d.one_of({2.0f, -1.0f, 0.5f, 0.0f});
    if (d.one_in(3)) p.beta = d.one_of({1.0f, 1.0f, -1.0f, 0.5f});
    const bool is_batched = d.one_in(8);
    if (is_batched)
        p.is_b_shared = d.one_in(4);
    else if (d.one_in(5))
        draw_epilogue(d, p);
    p.seed = d.bits();

    const auto memory = [p](extents_view e) {
        const std::int64_t m = e[0], n = e[1], k = e[2], count = e.size() > 3 ? e[3] : 1;
        const auto matrices = [](const placement& lie, std::int64_t rows, std::int64_t cols,
                                 std::int64_t many) {
            return static_cast<double>(lie.column_major ? span_of(lie, rows, bounded_product(cols, many))
                                                        : span_of(lie, bounded_product(rows, many), cols));
        };
        return (matrices(p.a, m, k, count) + matrices(p.b, k, n, p.is_b_shared ? 1 : count)) * sizeof(In) +
               (matrices(p.c, m, n, count) * (p.has_residual ? 2 : 1) + static_cast<double>(m + n)) *
                   sizeof(Out);
    };
    drawn_case c =
        draw_case_of(d, is_batched ? 4 : 3, memory, [](extents_view e) { return 2 * product_of(e); });
    p.m = c.extents[0];
    p.n = c.extents[1];
    p.k = c.extents[2];
    if (is_batched) p.batches = c.extents[3];
    c.bytes = (product_of({p.m, p.k, p.batches}) + product_of({p.k, p.n, p.is_b_shared ? 1 : p.batches})) *
                  sizeof(In) +
              product_of({p.m, p.n, p.batches}) * (1 + (p.beta != 0 ? 1 : 0) + (p.has_residual ? 1 : 0)) *
                  sizeof(Out);
    c.words = words_of(p);
    c.prepare = [p] { return prepare(p, false); };
    c.prepare_choices = [p] { return prepare(p, true); };
    return c;
}

}  // namespace

template <class Out, class In>
void add_product_peers(trial& t, const product_problem<Out, In>& p,
                       const std::shared_ptr<product_operands<Out, In>>& o) {
    vendor_product<Out, In> v{.a = o->a.first,
                              .b = o->b.first,
                              .c = o->c.first,
                              .batches = p.batches,
                              .a_stride = o->a.stride,
                              .b_stride = o->b.stride,
                              .c_stride = o->c.stride,
                              .alpha = p.alpha,
                              .beta = p.beta,
                              .is_tf32 = p.precision == precision::tf32};
    if (!p.has_epilogue) return add_vendor_products<Out, In>(t, v, {}, "", true);

    using enum matmul_activation;
    const bool is_fused = p.activation == none || p.activation == relu || p.activation == gelu_tanh;
    if (o->row_bias && !p.c.column_major) v.row_bias = o->row_bias->data();
    if (is_fused) v.activation = p.activation;
    const bool adds_residual = o->residual && p.activation == none && p.scale == 1 && p.beta == 0;
    if (adds_residual) v.residual = o->residual->view();
    std::function<void()> then;
    if (!is_fused && p.c.is_dense()) {
        using operation = elementwise_operation;
        const auto op = p.activation == gelu      ? operation::gelu
                        : p.activation == silu    ? operation::silu
                        : p.activation == sigmoid ? operation::sigmoid
                                                  : operation::tanh;
        then = [p, o, op] {
            const Out* const in[3] = {o->c.first.data};
            cub_elementwise<Out>(op, in, o->c.first.data, p.m * p.n);
        };
    }
    const bool is_whole = (is_fused || then) && !p.has_column_bias && p.scale == 1 &&
                          p.has_residual == adds_residual && p.has_row_bias == (v.row_bias != nullptr);
    const std::string what = fmt::format("{}{}", then ? " and cub" : "", is_whole ? "" : ", not all of it");
    add_vendor_products<Out, In>(t, v, then, what, is_whole);
}

template void add_product_peers(trial&, const product_problem<float, float>&,
                                const std::shared_ptr<product_operands<float, float>>&);
template void add_product_peers(trial&, const product_problem<half, half>&,
                                const std::shared_ptr<product_operands<half, half>>&);
template void add_product_peers(trial&, const product_problem<bfloat16, bfloat16>&,
                                const std::shared_ptr<product_operands<bfloat16, bfloat16>>&);

drawn_case draw_matmul(drawing& d) {
    const std::size_t kind = d.type(10);
    if (kind < 4) return draw<float, float>(d, static_cast<precision>(kind));
    if (kind < 6) return draw<half, half>(d);
    if (kind < 8) return draw<bfloat16, bfloat16>(d);
    return kind == 8 ? draw<float, half>(d) : draw<float, bfloat16>(d);
}

}  // namespace heddle::bench::cliffs
