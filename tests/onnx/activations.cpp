#include "tests/onnx/nodes.hpp"

/// Elementwise functions that heddle lacks, made of those that it has.
namespace heddle::test::onnx_nodes {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

using function = tensor (*)(processor& p, const tensor& x, const arguments& in);
template <function of>
tensors counted(processor& p, const arguments& in) {
    return {of(p, in[0].counted(), in)};
}

tensor negated(processor& p, const tensor& x) {
    return scale(p, -1, x);
}
/// Exact, except where errors leave the sign in doubt.
tensor sign(processor& p, const tensor& x) {
    tensor exact = x;
    exact.errors.clear();
    tensor y = subtract(p, step(p, exact), step(p, negated(p, exact)));
    for (std::int64_t i = 0; i < std::ssize(x.errors); ++i)
        y.errors.push_back(std::abs(x.elements[i]) > x.error(i) ? 0 : 2);
    return y;
}
tensor negative_part(processor& p, const tensor& x) {
    return clamp(p, x, -infinity, 0);
}

/// x where it is positive, otherwise a e^x - a.
tensor elu_of(processor& p, const tensor& x, double a) {
    const tensor below = subtract(p, exponential(p, negative_part(p, x)), scalar(1));
    return add(p, relu(p, x), scale(p, a, below));
}
tensor elu(processor& p, const tensor& x, const arguments& in) {
    return elu_of(p, x, in.number("alpha", 1));
}
tensor selu(processor& p, const tensor& x, const arguments& in) {
    const tensor y = elu_of(p, x, in.number("alpha", 1.67326319217681884765625));
    return scale(p, in.number("gamma", 1.05070102214813232421875), y);
}
tensor celu(processor& p, const tensor& x, const arguments& in) {
    const double alpha = in.number("alpha", 1);
    return scale(p, alpha, elu_of(p, scale(p, 1 / alpha, x), 1));
}
tensor leaky_relu(processor& p, const tensor& x, const arguments& in) {
    return add(p, relu(p, x), scale(p, in.number("alpha", 0.01), negative_part(p, x)));
}
tensor parametric_relu(processor& p, const tensor& x, const arguments& in) {
    return add(p, relu(p, x), multiply(p, negative_part(p, x), in[1]));
}
tensor thresholded_relu(processor& p, const tensor& x, const arguments& in) {
    return multiply(p, x, step(p, subtract(p, in[0], scalar(in.number("alpha", 1)))));
}
tensor hard_sigmoid_of(processor& p, const tensor& x, double alpha, double beta) {
    return clamp(p, add(p, scale(p, alpha, x), scalar(beta)), 0, 1);
}
tensor hard_sigmoid(processor& p, const tensor& x, const arguments& in) {
    return hard_sigmoid_of(p, x, in.number("alpha", 0.2), in.number("beta", 0.5));
}
tensor hard_swish(processor& p, const tensor& x, const arguments&) {
    return multiply(p, x, hard_sigmoid_of(p, x, 1 / 6., 0.5));
}
tensor shrink(processor& p, const tensor& x, const arguments& in) {
    const tensor bias = scalar(in.number("bias", 0)), lambda = scalar(in.number("lambd", 0.5));
    const tensor above = step(p, subtract(p, in[0], lambda)),
                 below = step(p, subtract(p, negated(p, in[0]), lambda));
    return add(p, multiply(p, subtract(p, x, bias), above), multiply(p, add(p, x, bias), below));
}
tensor softsign(processor& p, const tensor& x, const arguments&) {
    return over_root(p, x, multiply(p, x, x), 1);
}
tensor square_root(processor& p, const tensor& x, const arguments&) {
    return over_root(p, x, x, std::numeric_limits<float>::min());
}
tensor reciprocal(processor& p, const tensor& x, const arguments&) {
    tensor ones = x.counted();
    std::ranges::fill(ones.elements, 1);
    return quotient(p, ones, x);
}
tensor division(processor& p, const tensor& x, const arguments& in) {
    return quotient(p, x, in[1]);
}
tensor natural_logarithm(processor& p, const tensor& x, const arguments&) {
    return logarithm(p, x);
}
/// The loss of a class whose logit is 0 beside one whose logit is x. Its bound is that of a softmax of two.
tensor softplus(processor& p, const tensor& x, const arguments&) {
    const std::int64_t n = size_of(x.shape);
    numbers both(n);
    both.insert(both.end(), x.elements.begin(), x.elements.end());
    guarded<float> logits = p.operand(both), loss = p.operand({}, n);
    guarded<std::int32_t> labels = p.operand<std::int32_t>(numbers(n));
    p.run(loss_algorithms(), cross_entropy_options(), host::cross_entropy<float>, cross_entropy<float>,
          matrix_view{logits.data(), n, std::int64_t{2}, std::int64_t{1}, n}, labels.vector(), loss.vector(),
          matrix_view<float>());
    tensor y{x.type, x.shape, p.read(loss)};
    for (std::int64_t i = 0; i < n; ++i)
        y.errors.push_back(x.error(i) + u * (7 * 2 + 13 * std::log(2) + 17 + 9 * y.elements[i]));
    return y;
}

tensor mish(processor& p, const tensor& x, const arguments& in) {
    return multiply(p, x, tanh(p, softplus(p, x, in)));
}

/// One small common power as products, and any powers of positive numbers by their logarithms.
tensor power(processor& p, const tensor& x, const arguments& in) {
    if (in[0].type != "FLOAT" || in[1].type != "FLOAT") throw inexpressible("powers of another type");
    const double exponent = in[1].elements.at(0);
    const auto is_other = [&](double e) { return e != exponent; };
    const bool is_whole = exponent >= 1 && exponent <= 8 && exponent == std::floor(exponent);
    if (!is_whole || std::ranges::any_of(in[1].elements, is_other)) {
        if (std::ranges::min(x.elements) <= 0) throw inexpressible("powers of numbers that are not positive");
        return exponential(p, multiply(p, logarithm(p, x), in[1]));
    }
    tensor y = x;
    for (double i = 1; i < exponent; ++i) y = multiply(p, y, x);
    return y;
}

}  // namespace

/// A step without gradients. Its averages halve, and their corrections undo that.
tensor over_root(processor& p, const tensor& x, const tensor& y, double epsilon) {
    constexpr double roundings = 20;  // Adam's, as docs/accuracy.md counts them, and NumPy's
    const std::int64_t n = size_of(x.shape);
    guarded<float> weights = p.operand(numbers(n)), gradients = p.operand(numbers(n)),
                   first = p.operand(x.elements), second = p.operand(y.elements);
    const parameter<float> one{.master = weights.data(),
                               .gradient = gradients.data(),
                               .first_moment = first.data(),
                               .second_moment = second.data(),
                               .count = n};
    const adam_options options{.learning_rate = 1, .beta1 = 0.5, .beta2 = 0.5, .epsilon = epsilon};
    p.run(
        optimizer_algorithms(), options,
        [](auto of, const adam_options& with) {
            host::adam<float>({&of, 1}, with);
        },
        [](auto of, auto gpu, const adam_options& with) {
            adam<float>({&of, 1}, gpu, with);
        },
        one);
    tensor z = negated(p, {x.type, x.shape, p.read(weights)});
    for (std::int64_t i = 0; i < n; ++i) {
        const double root = std::sqrt(y.elements[i]), most = std::sqrt(y.error(i));
        const double off = most < root ? y.error(i) / root : most;
        const double error = (x.error(i) + std::abs(z.elements[i]) * off) / (root + epsilon - off);
        z.errors.push_back(off < root + epsilon
                               ? 1.01 * error + roundings * u * std::abs(z.elements[i]) + smallest<float>()
                               : std::numeric_limits<double>::quiet_NaN());
    }
    return z;
}

tensor quotient(processor& p, const tensor& x, const tensor& y) {
    const extents shape = joint_shape(x.shape, y.shape);
    const tensor a = expanded(p, x, shape), b = expanded(p, y, shape);
    return multiply(p, over_root(p, a, multiply(p, b.counted(), b)), sign(p, b));
}

/// Halley's steps towards e^y = x. The last are far smaller than a rounding.
tensor logarithm(processor& p, const tensor& x) {
    tensor exact = x;
    exact.errors.clear();
    tensor y{x.type, x.shape, numbers(x.elements.size())};
    for (int i = 0; i < 12; ++i) {
        const tensor e = exponential(p, y);
        const tensor step_of = scale(p, 2, quotient(p, subtract(p, exact, e), add(p, exact, e)));
        y = add(p, y, step_of);
        y.errors.clear();
    }
    for (std::int64_t i = 0; i < size_of(x.shape); ++i)
        y.errors.push_back(x.error(i) / (x.elements[i] - x.error(i)) +
                           u * (8 + 12 * std::abs(y.elements[i])));
    return y;
}

table activations() {
    return {
        {"Celu", counted<celu>},
        {"Div", counted<division>},
        {"Elu", counted<elu>},
        {"HardSigmoid", counted<hard_sigmoid>},
        {"HardSwish", counted<hard_swish>},
        {"LeakyRelu", counted<leaky_relu>},
        {"Log", counted<natural_logarithm>},
        {"Mish", counted<mish>},
        {"PRelu", counted<parametric_relu>},
        {"Pow", counted<power>},
        {"Reciprocal", counted<reciprocal>},
        {"Selu", counted<selu>},
        {"Shrink", counted<shrink>},
        {"Sign", [](processor& p, const arguments& in) { return tensors{sign(p, in[0])}; }},
        {"Softplus", counted<softplus>},
        {"Softsign", counted<softsign>},
        {"Sqrt", counted<square_root>},
        {"ThresholdedRelu", counted<thresholded_relu>},
    };
}

}  // namespace heddle::test::onnx_nodes
