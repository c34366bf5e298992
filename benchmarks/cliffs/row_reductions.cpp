#include "benchmarks/cliffs/family.hpp"
#include "benchmarks/cliffs/vendor_functions.hpp"
#include "benchmarks/support/cub.hpp"
#include "tests/bounds/reduce.hpp"

namespace heddle::bench::cliffs {
namespace {

enum class operation { sum, mean, variance, min, max, argmax };
constexpr std::string_view names[] = {"sum", "mean", "variance", "min", "max", "argmax"};

struct problem {
    operation op = operation::sum;
    bool of_rows = true;
    std::int64_t rows = 1, cols = 1;
    placement x, y;
    std::int64_t correction = 0;
    std::uint64_t seed = 0;

    [[nodiscard]] std::int64_t results() const { return of_rows ? rows : cols; }
    [[nodiscard]] std::int64_t length() const { return of_rows ? cols : rows; }
};

/// R is the type of the results. Elements do not cancel, so that a sum that lacks a part is far off.
template <class T, class R>
struct operands {
    operand<T> x;
    operand<R> y;

    explicit operands(const problem& p)
        : x(p.rows, p.cols, p.x, p.seed, {-0.5, 1, p.op == operation::argmax ? 0x1p-6 : 0}),
          y(1, p.results(), p.y) {}

    static matrix_reduce_problem described(const problem& p, const matrix_view<T>& m) {
        return p.of_rows ? row_problem(m) : column_problem(m);
    }
    operand<R>& result() { return y; }
    /// The matrix of which the rows are reduced.
    matrix_view<T> by_rows(const problem& p) { return p.of_rows ? x.view() : transposed(x.view()); }
};

template <class T, class R>
void run(const problem& p, operands<T, R>& o) {
    const matrix_view<const T> x = o.x.view();
    const vector_view<R> y = o.y.vector();
    const matrix_reduce_options options{.correction = p.correction};
    const auto call = [&](auto rows, auto columns) {
        p.of_rows ? rows(x, y, stream(), options) : columns(x, y, stream(), options);
    };
    if constexpr (std::is_same_v<R, float>) {
        if (p.op == operation::sum) return call(row_sum<T>, column_sum<T>);
        if (p.op == operation::mean) return call(row_mean<T>, column_mean<T>);
        if (p.op == operation::variance) return call(row_variance<T>, column_variance<T>);
    }
    if constexpr (std::is_same_v<R, T>) {
        if (p.op == operation::min) return call(row_min<T>, column_min<T>);
        if (p.op == operation::max) return call(row_max<T>, column_max<T>);
    }
    if constexpr (std::is_same_v<R, std::int64_t>) return call(row_argmax<T>, column_argmax<T>);
}

bounds::approximate expected_of(const problem& p, const line_facts& facts, double depth) {
    using bounds::u;
    const auto n = static_cast<double>(p.length());
    if (p.op == operation::sum) return {facts.sum, error_of_additions(depth, u) * facts.magnitudes};
    if (p.op == operation::mean)
        return {facts.sum / n, error_of_additions(depth + 3, u) * facts.magnitudes / n};
    if (p.op == operation::min) return {facts.smallest, 0};
    if (p.op == operation::max) return {facts.largest, 0};
    if (p.op == operation::argmax) return {static_cast<double>(facts.first_largest), 0};
    const double largest = std::max(std::abs(facts.smallest), std::abs(facts.largest));
    const double left = n - static_cast<double>(p.correction);
    return {facts.deviations / left, bounds::of_variance(depth, n, facts.deviations, largest, left)};
}

#if HEDDLE_HAS_CUBLAS
/// Adds sums and means as products with a vector of ones, by gemv and by gemm.
template <class T>
void add_products(trial& t, const problem& p, const std::shared_ptr<operands<T, float>>& o) {
    if ((p.op != operation::sum && p.op != operation::mean) || p.x.step != 1 || p.y.step != 1) return;
    const auto ones = std::make_shared<operand<T>>(1, p.length(), placement{}, 0, numbers{1, 1, 0});
    const float alpha = p.op == operation::mean ? 1 / static_cast<float>(p.length()) : 1;
    const matrix_view<T> m = o->by_rows(p), row = ones->view();
    const matrix_view<float> y{o->y.data(), 1, p.results()};
    const vendor_product<float, T> by_gemv{.a = m, .b = transposed(row), .c = transposed(y), .alpha = alpha};
    const vendor_product<float, T> by_gemm{.a = row, .b = transposed(m), .c = y, .alpha = alpha};
    t.add_call("cublas gemv with ones", [o, ones, by_gemv] { gemv(by_gemv); });
    t.add_call("cublas gemm with ones", [o, ones, by_gemm] { gemm(by_gemm); });
}
#endif

#if HEDDLE_HAS_CUDNN
template <class T, class R>
void add_cudnn(trial& t, const problem& p, const std::shared_ptr<operands<T, R>>& o) {
    if constexpr (!std::is_same_v<R, std::int64_t>) {
        if (p.op == operation::variance || p.y.step != 1 || !is_aligned_for_cudnn<T>(p.x)) return;
        t.add_peer("cudnn", [&] {
            const auto op = p.op == operation::sum    ? CUDNN_REDUCE_TENSOR_ADD
                            : p.op == operation::mean ? CUDNN_REDUCE_TENSOR_AVG
                            : p.op == operation::min  ? CUDNN_REDUCE_TENSOR_MIN
                                                      : CUDNN_REDUCE_TENSOR_MAX;
            const auto reduction = std::make_shared<cudnn_matrix_reduction<T, R>>(
                op, o->by_rows(p), matrix_view<R>{o->y.data(), p.results(), 1});
            return [reduction, o] { (*reduction)(o->x.data(), o->y.data()); };
        });
    }
}
#endif

template <class T, class R>
void add_cub(trial& t, const problem& p, const std::shared_ptr<operands<T, R>>& o) {
    if constexpr (std::is_same_v<T, float> && std::is_same_v<R, float>) {
        const matrix_view<T> m = o->by_rows(p);
        const bool is_dense = m.col_stride == 1 && m.row_stride == m.cols && p.y.step == 1;
        if (!is_dense || (p.op != operation::sum && p.op != operation::max)) return;
        t.add_peer("cub segmented", [&] {
            const auto scratch = std::make_shared<workspace>(cub_scratch_bytes, stream());
            return [=, is_sum = p.op == operation::sum] {
                cub_row_reduction(is_sum, m.data, m.rows, m.cols, o->y.data(), *scratch);
            };
        });
    }
}

template <class T, class R>
trial prepare(const problem& p) {
    const auto o = std::make_shared<operands<T, R>>(p);
    expected_places expected{sampled_places(1, p.results(), p.seed)};
    std::vector<line> lines;
    for (const place& at : expected.places)
        lines.push_back(p.of_rows ? row_of(o->x.view(), at.col) : column_of(o->x.view(), at.col));
    const double depth = static_cast<double>(
        matrix_reduce_depth(operands<T, R>::described(p, o->x.view()), traits_of(current_device())));
    for (const line_facts& facts : facts_of(o->x.data(), lines)) expected.add(expected_of(p, facts, depth));
    trial t = trial_of(o, "result", expected, [p, o] { run(p, *o); });
    add_cub(t, p, o);
#if HEDDLE_HAS_CUDNN
    add_cudnn(t, p, o);
#endif
#if HEDDLE_HAS_CUBLAS
    if constexpr (std::is_same_v<R, float>) add_products(t, p, o);
#endif
    return t;
}

template <class T>
drawn_case draw(drawing& d) {
    problem p;
    p.op = static_cast<operation>(d.index(std::size(names)));
    p.of_rows = d.one_in(2);
    p.x = d.lie(true);
    p.y = d.vector_lie(16);
    p.seed = d.bits();
    const double result_bytes = p.op == operation::argmax ? 8 : 4;
    drawn_case c = draw_case_of(d, 2, [=](extents_view e) {
        return static_cast<double>(span_of(p.x, e[0], e[1])) * sizeof(T) +
               static_cast<double>(span_of(p.y, 1, p.of_rows ? e[0] : e[1])) * result_bytes;
    });
    p.rows = c.extents[0];
    p.cols = c.extents[1];
    if (p.op == operation::variance && p.length() > 1) p.correction = d.integer(0, 1);
    c.bytes = c.operations * sizeof(T) + static_cast<double>(p.results()) * result_bytes;
    c.words = fmt::format("{} {}_{} of {} x {}{}", dtype<T>, p.of_rows ? "row" : "column",
                          name_of(names, p.op), p.rows, p.cols, to_string(p.x));
    c.words += words_of_placements({{"result", p.y}});
    c.prepare = [p] {
        if (p.op == operation::argmax) return prepare<T, std::int64_t>(p);
        return p.op == operation::min || p.op == operation::max ? prepare<T, T>(p) : prepare<T, float>(p);
    };
    return c;
}

}  // namespace

drawn_case draw_row_reduction(drawing& d) {
    return with_type<float, half, bfloat16>(d.type(3), [&]<class T>() { return draw<T>(d); });
}

}  // namespace heddle::bench::cliffs
