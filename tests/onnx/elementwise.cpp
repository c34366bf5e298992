#include "tests/onnx/nodes.hpp"

namespace heddle::test::onnx_nodes {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// A function of matrices. Each input has the shape of the first, or its last dimensions, to be broadcast along rows.
template <class OnHost, class OnGpu, class... Others>
tensor apply(processor& p, const OnHost& on_host, const OnGpu& on_gpu, const tensor& x,
             const Others&... others) {
    const std::int64_t size = size_of(x.shape), cols = std::min({size, size_of(others.shape)...});
    const auto fits = [&](const tensor& other) {
        const extents& s = other.shape;
        const bool is_suffix =
            s.size() <= x.shape.size() && std::equal(s.rbegin(), s.rend(), x.shape.rbegin());
        return other.type == "FLOAT" && (is_suffix || size_of(s) == 1);
    };
    if (!(fits(x) && ... && fits(others))) throw inexpressible("another type or broadcast");
    guarded<float> to = p.operand({}, size);
    const auto with = [&](auto&&... from) {
        const auto view = [&](guarded<float>& of) {
            return matrix_view{of.data(), size / cols, cols, of.vector().size == size ? cols : 0};
        };
        p.run(elementwise_algorithms(), elementwise_options(), on_host, on_gpu, view(from)..., view(to));
    };
    with(p.operand(x.elements), p.operand(others.elements)...);
    return {x.type, x.shape, p.read(to)};
}

/// The error of a result. of(i) gives the part from its inputs' errors; `roundings` are its own and NumPy's.
template <class Of>
tensor off_by(double roundings, tensor y, const Of& of) {
    for (std::int64_t i = 0; i < std::ssize(y.elements); ++i)
        y.errors.push_back(1.01 * of(i) + roundings * u * std::abs(y.elements[i]) + smallest<float>());
    return y;
}
const auto nothing = [](std::int64_t) { return 0.0; };

/// A function that both round alike. The result has errors only where an input has.
template <class Of, class... Inputs>
tensor alike(double roundings, const tensor& y, const Of& of, const Inputs&... x) {
    return (x.errors.empty() && ...) ? y : off_by(roundings, y, of);
}

/// A function of two inputs; `of` gets their magnitudes and errors. Copies broadcast them where rows do not.
template <class OnHost, class OnGpu, class Of>
tensor of_two(processor& p, const OnHost& on_host, const OnGpu& on_gpu, const Of& of, const tensor& x,
              const tensor& y) {
    const extents shape = joint_shape(x.shape, y.shape);
    const bool is_row =
        y.shape.size() <= shape.size() && std::equal(y.shape.rbegin(), y.shape.rend(), shape.rbegin());
    const tensor a = expanded(p, x, shape), b = is_row || size_of(y.shape) == 1 ? y : expanded(p, y, shape);
    const auto size = std::ssize(b.elements);
    return alike(
        2, apply(p, on_host, on_gpu, a, b),
        [&](std::int64_t i) {
            return of(std::abs(a.elements[i]), a.error(i), std::abs(b.elements[i % size]), b.error(i % size));
        },
        a, b);
}
const auto both_errors = [](double, double x_error, double, double y_error) { return x_error + y_error; };

template <const auto& on_host, const auto& on_gpu>
tensor nearest(processor& p, const tensor& x) {
    return alike(
        0, apply(p, on_host, on_gpu, x), [&](std::int64_t i) { return x.error(i); }, x);
}
/// A function with so many roundings and a slope of at most `slope`.
template <const auto& on_host, const auto& on_gpu>
tensor smooth(processor& p, const tensor& x, double roundings, double slope) {
    return off_by(roundings, apply(p, on_host, on_gpu, x),
                  [&](std::int64_t i) { return slope * x.error(i); });
}

template <auto function>
tensors one(processor& p, const arguments& in) {
    return {function(p, in[0])};
}
template <auto function>
tensors two(processor& p, const arguments& in) {
    return {function(p, in[0], in[1])};
}

tensors sum(processor& p, const arguments& in) {
    tensor y = in[0];
    for (std::size_t i = 1; i < in.given.size(); ++i) y = add(p, y, in[i]);
    return {y};
}
/// The roundings are those of a reciprocal, its product and NumPy's quotient.
tensors mean(processor& p, const arguments& in) {
    return {off_by(3.01, scale(p, 1 / static_cast<double>(in.given.size()), sum(p, in)[0]), nothing)};
}
tensors clip(processor& p, const arguments& in) {
    const auto bound = [&](std::size_t i, double otherwise) {
        return in.has_input(i) ? in[i].elements.at(0) : otherwise;
    };
    return {clamp(p, in[0], bound(1, -infinity), bound(2, infinity))};
}

}  // namespace

tensor add(processor& p, const tensor& x, const tensor& y) {
    return of_two(p, host::add<float>, heddle::add<float>, both_errors, x, y);
}
tensor subtract(processor& p, const tensor& x, const tensor& y) {
    return of_two(p, host::subtract<float>, heddle::subtract<float>, both_errors, x, y);
}
tensor multiply(processor& p, const tensor& x, const tensor& y) {
    const auto of = [](double a, double a_error, double b, double b_error) {
        return a * b_error + b * a_error + a_error * b_error;
    };
    return of_two(p, host::multiply<float>, heddle::multiply<float>, of, x, y);
}
/// The factor is rounded too.
tensor scale(processor& p, double alpha, const tensor& x) {
    const auto a = static_cast<float>(alpha);
    const tensor y = apply(
        p, [=](auto from, auto to) { host::scale<float>(a, from, to); },
        [=](auto... of) { heddle::scale<float>(a, of...); }, x);
    return alike(
        3, y, [&](std::int64_t i) { return std::abs(alpha) * x.error(i); }, x);
}
tensor clamp(processor& p, const tensor& x, double low, double high) {
    const auto from = static_cast<float>(low), to = static_cast<float>(high);
    const tensor y = apply(
        p, [=](auto a, auto b) { host::clamp<float>(a, from, to, b); },
        [=](auto a, auto... b) { heddle::clamp<float>(a, from, to, b...); }, x);
    return alike(
        0, y, [&](std::int64_t i) { return x.error(i); }, x);
}
tensor relu(processor& p, const tensor& x) {
    return nearest<host::relu<float>, heddle::relu<float>>(p, x);
}
tensor step(processor& p, const tensor& x) {
    const tensor y = apply(p, host::relu_derivative<float>, heddle::relu_derivative<float>, x);
    return alike(
        0, y, [&](std::int64_t i) { return x.error(i) == 0 || std::abs(x.elements[i]) > x.error(i) ? 0 : 1; },
        x);
}
/// NumPy's functions of float are within 4 ulp, the limit of its own tests: 8 u.
tensor exponential(processor& p, const tensor& x) {
    const tensor y = apply(p, host::exp<float>, heddle::exp<float>, x);
    return off_by(3 + 8, y, [&](std::int64_t i) { return y.elements[i] * std::expm1(x.error(i)); });
}
tensor sigmoid(processor& p, const tensor& x) {
    return smooth<host::sigmoid<float>, heddle::sigmoid<float>>(p, x, 5 + 8 + 3, 0.25);
}
tensor tanh(processor& p, const tensor& x) {
    return smooth<host::tanh<float>, heddle::tanh<float>>(p, x, 5 + 8, 1);
}

table elementwise_operators() {
    return {
        {"Abs", one<nearest<host::abs<float>, heddle::abs<float>>>},
        {"Add", two<add>},
        {"Clip", clip},
        {"Exp", one<exponential>},
        {"Mean", onnx_nodes::mean},
        {"Mul", two<multiply>},
        {"Neg", [](processor& p, const arguments& in) { return tensors{scale(p, -1, in[0])}; }},
        {"Relu", one<relu>},
        {"Sigmoid", one<onnx_nodes::sigmoid>},
        {"Sub", two<subtract>},
        {"Sum", onnx_nodes::sum},
        {"Tanh", one<onnx_nodes::tanh>},
    };
}

}  // namespace heddle::test::onnx_nodes
