#include "tests/bounds/elementwise.hpp"

#include "benchmarks/cliffs/family.hpp"
#include "benchmarks/cliffs/vendor_functions.hpp"
#include "benchmarks/support/cub.hpp"
#include "benchmarks/support/kernels.hpp"

namespace heddle::bench::cliffs {
namespace {

using operation = elementwise_operation;

/// The operands are the inputs and the output, which may be the last input.
struct problem {
    operation op = operation::add;
    bool is_functor = false;  ///< gelu through heddle::transform
    bool is_vector = false;
    bool in_place = false;
    std::int64_t rows = 1, cols = 1;
    double p = 0, q = 0;
    std::vector<placement> lies;
    std::uint64_t seed = 0;

    /// axpy's output is its second input.
    [[nodiscard]] std::size_t inputs() const { return static_cast<std::size_t>(input_count(op)); }
};

/// The result in float64.
double exact(operation op, const std::array<double, 3>& in, double p, double q) {
    using enum elementwise_operation;
    if (op == add) return in[0] + in[1];
    if (op == subtract) return in[0] - in[1];
    if (op == multiply) return in[0] * in[1];
    if (op == scale) return p * in[0];
    if (op == axpy) return p * in[0] + in[1];
    if (op == fused_multiply_add) return in[0] * in[1] + in[2];
    if (op == elementwise_operation::sigmoid)
        return static_cast<double>(bounds::logistic(static_cast<long double>(in[0])));
    return static_cast<double>(bounds::expect(op, {}, in[0], p, q).value);
}

bool is_rounded_once(operation op) {
    using enum elementwise_operation;
    constexpr operation all[] = {add, subtract, multiply, scale, clamp, abs, relu, relu_derivative};
    return std::ranges::find(all, op) != std::end(all);
}

/// Arguments are at most 4. The error of a function is some dozens of u of the type that it is computed in. Where terms of
/// both signs are added, it is relative to the terms. docs/accuracy.md has each bound.
template <class T>
double bound(operation op, double value) {
    // A result of 16 bits was rounded to float before.
    if (is_rounded_once(op)) return (1 + 0x1p-10) * unit_roundoff<T>() * std::abs(value) + smallest<T>();
    const double u = sizeof(T) == 2 ? 0x1p-13 : 64 * unit_roundoff<compute_type<T>>();
    using enum elementwise_operation;
    constexpr operation cancelling[] = {gelu_derivative,   gelu_tanh_derivative, silu_derivative,
                                        tanh_derivative,   sigmoid_derivative,   axpy,
                                        fused_multiply_add};
    const bool may_cancel = std::ranges::find(cancelling, op) != std::end(cancelling);
    return (unit_roundoff<T>() + u) * std::abs(value) + (may_cancel ? u : 0) + smallest<T>();
}

template <class T>
struct operands {
    std::vector<operand<T>> inputs;
    std::optional<operand<T>> output;  ///< none in place

    explicit operands(const problem& p) {
        for (std::size_t i = 0; i < p.inputs(); ++i)
            inputs.emplace_back(p.rows, p.cols, p.lies[i], p.seed + i, numbers{-4, 4, 0});
        if (!p.in_place) output.emplace(p.rows, p.cols, p.lies[p.inputs()]);
    }
    operand<T>& result() { return output ? *output : inputs.back(); }
};

template <class T>
void run(const problem& p, operands<T>& o) {
    constexpr const char* names[] = {"x", "y", "z", "w"};
    const auto described = [&](std::size_t number, operand<T>& of) {
        return p.is_vector ? heddle::detail::operand_of(names[number], of.vector())
                           : heddle::detail::operand_of(names[number], of.view());
    };
    std::vector<heddle::detail::operand> all;
    for (operand<T>& input : o.inputs) all.push_back(described(all.size(), input));
    all.push_back(described(all.size(), o.result()));
    heddle::detail::run({p.op, element_type_of<T>, all, p.p, p.q}, stream(), {});
}

/// Whether the operands have no gaps and the same order, so that they are vectors to CUB.
bool is_dense(const problem& p) {
    const std::span<const placement> used(p.lies.data(), p.inputs() + (p.in_place ? 0 : 1));
    return std::ranges::all_of(used, [&](const placement& lie) {
        const bool is_line = (lie.column_major ? p.cols : p.rows) == 1;
        return lie.step == 1 && (lie.padding == 0 || is_line) &&
               lie.column_major == used.front().column_major;
    });
}

#if HEDDLE_HAS_CUBLAS
template <class T>
void add_cublas(trial& t, const problem& p, const std::shared_ptr<operands<T>>& o) {
    if constexpr (sizeof(T) >= 4) {
        if (p.op == operation::axpy && p.is_vector)
            t.add_call("cublas axpy", [p, o] {
                const T alpha = static_cast<T>(p.p);
                const vector_view<T> x = o->inputs[0].vector(), y = o->result().vector();
                const auto call = [&](const auto& function) {
                    check(function(cublas_handle(), x.size, &alpha, x.data, x.stride, y.data, y.stride));
                };
                if constexpr (std::is_same_v<T, double>)
                    call(cublasDaxpy_64);
                else
                    call(cublasSaxpy_64);
            });
        const bool is_sum = p.op == operation::add || p.op == operation::subtract;
        // In place, geam needs operands with the same layout.
        if ((is_sum || p.op == operation::scale) && !p.is_vector && !p.in_place)
            t.add_call("cublas geam", [p, o, is_sum] {
                const double alpha = p.op == operation::scale ? p.p : 1;
                const double beta = p.op == operation::add ? 1 : p.op == operation::subtract ? -1 : 0;
                geam(o->inputs[0].view(), alpha, o->inputs[is_sum ? 1 : 0].view(), beta, o->result().view());
            });
    }
}
#endif

template <class T>
trial prepare(const problem& p) {
    const auto o = std::make_shared<operands<T>>(p);
    expected_places expected{sampled_places(p.rows, p.cols, p.seed)};
    std::vector<std::array<double, 3>> in(expected.places.size());
    for (std::size_t i = 0; i < p.inputs(); ++i) {
        const auto elements = gathered(o->inputs[i].view(), expected.places);
        for (std::size_t at = 0; at < in.size(); ++at) in[at][i] = to_double(elements[at]);
    }
    for (const auto& of_place : in) {
        const double value = exact(p.op, of_place, p.p, p.q);
        expected.add(value, bound<T>(p.op, value));
    }
    trial t = trial_of(o, "result", expected, [p, o] { run(p, *o); });
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, half>)
        if (p.is_functor) t.call = [p, o] { own_gelu<T>(o->inputs[0].vector(), o->result().vector()); };
    if (is_dense(p))
        t.add_call("cub", [p, o] {
            const T* all[3] = {};
            for (std::size_t i = 0; i < p.inputs(); ++i) all[i] = o->inputs[i].data();
            cub_elementwise<T>(p.op, all, o->result().data(), p.rows * p.cols, p.p, p.q);
        });
#if HEDDLE_HAS_CUBLAS
    add_cublas(t, p, o);
#endif
    return t;
}

template <class T>
drawn_case draw(drawing& d) {
    problem p;
    constexpr bool has_functor = std::is_same_v<T, float> || std::is_same_v<T, half>;
    p.is_functor = d.one_in(12) && has_functor;
    p.op =
        p.is_functor ? operation::gelu : elementwise_operations()[d.index(elementwise_operations().size())];
    p.is_vector = d.one_in(2) || p.is_functor;
    p.in_place = (d.one_in(5) && !p.is_functor) || p.op == operation::axpy;
    // These numbers are exact in every type.
    p.p = p.op == operation::clamp ? -1 : d.one_of({2.0, -1.0, 0.5});
    p.q = 1.5;
    const bool all_alike = d.one_in(2);
    for (std::size_t i = 0; i <= p.inputs(); ++i) {
        const placement lie = p.is_vector ? d.vector_lie() : d.lie(true);
        p.lies.push_back(all_alike && i > 0 ? p.lies.front() : lie);
    }
    p.seed = d.bits();
    const std::size_t held = p.inputs() + (p.in_place ? 0 : 1);
    drawn_case c = draw_case_of(d, p.is_vector ? 1 : 2, [p, held](extents_view e) {
        double elements = 0;
        for (std::size_t i = 0; i < held; ++i)
            elements += static_cast<double>(span_of(p.lies[i], p.is_vector ? 1 : e[0], e.back()));
        return elements * sizeof(T);
    });
    p.cols = c.extents.back();
    p.rows = p.is_vector ? 1 : c.extents.front();
    c.bytes = static_cast<double>(p.inputs() + 1) * c.operations * sizeof(T);
    c.words = fmt::format("{} {} of {}{}", dtype<T>, p.is_functor ? "gelu by a functor" : to_string(p.op),
                          p.is_vector ? std::to_string(p.cols) : fmt::format("{} x {}", p.rows, p.cols),
                          p.in_place ? ", in place" : "");
    for (std::size_t i = 0; i < held; ++i)
        if (p.lies[i] != placement{}) c.words += fmt::format("; operand {}{}", i + 1, to_string(p.lies[i]));
    c.prepare = [p] { return prepare<T>(p); };
    return c;
}

}  // namespace

drawn_case draw_elementwise(drawing& d) {
    return with_type<float, half, bfloat16, double>(d.type(4), [&]<class T>() { return draw<T>(d); });
}

}  // namespace heddle::bench::cliffs
