#include "tests/onnx/nodes.hpp"
#include <heddle/elementwise.hpp>
#include <heddle/host.hpp>

#include <limits>

namespace heddle::test::onnx_nodes {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// A function of matrices. Each input has the shape of the first, or its last dimensions: a row that stands for all.
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

tensor off_by(double roundings, tensor y) {
    for (const double e : y.elements) y.errors.push_back(roundings * u * std::abs(e) + smallest<float>());
    return y;
}

template <const auto& on_host, const auto& on_gpu>
tensors binary(processor& p, const arguments& in) {
    return {apply(p, on_host, on_gpu, in[0], in[1])};
}
template <const auto& on_host, const auto& on_gpu>
tensors unary(processor& p, const arguments& in) {
    return {apply(p, on_host, on_gpu, in[0])};
}
/// NumPy's functions of float are within 4 ulp, by which it tests them: 8 u.
template <const auto& on_host, const auto& on_gpu, int roundings>
tensors inexact(processor& p, const arguments& in) {
    return {off_by(roundings, apply(p, on_host, on_gpu, in[0]))};
}

tensors sum(processor& p, const arguments& in) {
    tensor y = in[0];
    for (std::size_t i = 1; i < in.given.size(); ++i) y = add(p, y, in[i]);
    return {y};
}
/// A reciprocal, its product and NumPy's quotient are rounded.
tensors mean(processor& p, const arguments& in) {
    return {off_by(3.01, scale(p, 1 / static_cast<double>(in.given.size()), sum(p, in)[0]))};
}
tensors clip(processor& p, const arguments& in) {
    const auto bound = [&](std::size_t i, float otherwise) {
        return in.has_input(i) ? static_cast<float>(in[i].elements.at(0)) : otherwise;
    };
    const float low = bound(1, -infinity), high = bound(2, infinity);
    return {apply(
        p, [=](auto x, auto y) { host::clamp<float>(x, low, high, y); },
        [=](auto x, auto... y) { heddle::clamp<float>(x, low, high, y...); }, in[0])};
}

}  // namespace

tensor add(processor& p, const tensor& x, const tensor& y) {
    return apply(p, host::add<float>, heddle::add<float>, x, y);
}
tensor multiply(processor& p, const tensor& x, const tensor& y) {
    return apply(p, host::multiply<float>, heddle::multiply<float>, x, y);
}
tensor scale(processor& p, double alpha, const tensor& x) {
    const auto a = static_cast<float>(alpha);
    return apply(
        p, [=](auto from, auto to) { host::scale<float>(a, from, to); },
        [=](auto... of) { heddle::scale<float>(a, of...); }, x);
}

table elementwise_operators() {
    return {
        {"Abs", unary<host::abs<float>, heddle::abs<float>>},
        {"Add", binary<host::add<float>, heddle::add<float>>},
        {"Clip", clip},
        {"Exp", inexact<host::exp<float>, heddle::exp<float>, 3 + 8>},
        {"Mean", onnx_nodes::mean},
        {"Mul", binary<host::multiply<float>, heddle::multiply<float>>},
        {"Neg", [](processor& p, const arguments& in) { return tensors{scale(p, -1, in[0])}; }},
        {"Relu", unary<host::relu<float>, heddle::relu<float>>},
        {"Sigmoid", inexact<host::sigmoid<float>, heddle::sigmoid<float>, 5 + 8 + 3>},
        {"Sub", binary<host::subtract<float>, heddle::subtract<float>>},
        {"Sum", onnx_nodes::sum},
        {"Tanh", inexact<host::tanh<float>, heddle::tanh<float>, 5 + 8>},
    };
}

}  // namespace heddle::test::onnx_nodes
