#include "tests/onnx/nodes.hpp"

namespace heddle::test::onnx_nodes {
namespace {

/// A parameter's tensors: weights, gradient and the optimizer's state.
struct trained {
    guarded<float> weights, gradient, first, second;

    trained(processor& p, const tensor& x, const tensor& g, const numbers& of_first, const numbers& of_second)
        : weights(p.operand(x.elements)),
          gradient(p.operand(g.elements)),
          first(p.operand(of_first)),
          second(p.operand(of_second)) {}
    parameter<float> one() {
        return {.master = weights.data(),
                .gradient = gradient.data(),
                .first_moment = first.data(),
                .second_moment = second.vector().size > 0 ? second.data() : nullptr,
                .count = weights.vector().size};
    }
};

/// The inputs are the rate, the number of the step, and tensors. Those of one kind are consecutive, as in the results.
template <class By>
tensors for_each_parameter(const arguments& in, std::size_t kinds, std::size_t results, const By& by) {
    const std::size_t count = (in.given.size() - 2) / kinds;
    tensors all(count * results);
    for (std::size_t i = 0; i < count; ++i) {
        std::vector<const tensor*> of;
        for (std::size_t kind = 0; kind < kinds; ++kind) of.push_back(&in[2 + kind * count + i]);
        const tensors now = by(of);
        for (std::size_t kind = 0; kind < results; ++kind) all[kind * count + i] = now.at(kind);
    }
    return all;
}

/// The error of an average of gradients, or of squares, is some roundings of its terms.
tensor with_errors(const tensor& like, const numbers& now, const numbers& made_of) {
    tensor y{like.type, like.shape, now};
    for (const double e : made_of) y.errors.push_back(8 * u * e);
    return y;
}
numbers magnitudes(const tensor& x, const tensor& g, const tensor& before, double decay) {
    numbers all;
    for (std::int64_t i = 0; i < size_of(x.shape); ++i)
        all.push_back(std::abs(g.elements[i]) + decay * std::abs(x.elements[i]) +
                      std::abs(before.elements[i]));
    return all;
}
/// The error of a step is that of its terms, and its own roundings, of which adam has the most.
tensor stepped(const tensor& x, const numbers& now, const tensor& along) {
    tensor y{x.type, x.shape, now};
    for (std::int64_t i = 0; i < size_of(x.shape); ++i) {
        const double way = std::abs(now[i] - x.elements[i]);
        const double off = along.elements[i] == 0 ? 0 : along.errors[i] / std::abs(along.elements[i]);
        y.errors.push_back(4 * u * (std::abs(now[i]) + std::abs(x.elements[i])) + way * (off + 30 * u));
    }
    return y;
}

template <class Options, class OnHost, class OnGpu>
void take(processor& p, const Options& options, const OnHost& on_host, const OnGpu& on_gpu,
          const parameter<float>& one) {
    p.run(
        optimizer_algorithms(), options,
        [=](auto of, const Options& with) { on_host(std::span<const parameter<float>>(&of, 1), with); },
        [=](auto of, auto gpu, const Options& with) {
            on_gpu(std::span<const parameter<float>>(&of, 1), gpu, with);
        },
        one);
}

struct step_of {
    double rate, number, decay;
    explicit step_of(const arguments& in)
        : rate(in[0].elements.at(0)), number(in[1].elements.at(0)), decay(in.number("norm_coefficient", 0)) {}
};

/// In the first step, gradients count in full.
tensors momentum(processor& p, const arguments& in) {
    const step_of now(in);
    const bool is_nesterov = in.text("mode") == "nesterov";
    const double beta = now.number > 0 ? in.number("beta", 1) : 1;
    if (is_nesterov && beta != 1) throw inexpressible("a gradient that counts twice");
    return for_each_parameter(in, 3, 2, [&](const std::vector<const tensor*>& of) -> tensors {
        trained one(p, *of[0], *of[1], of[2]->elements, {});
        const sgd_options options{.learning_rate = now.rate,
                                  .momentum = in.number("alpha", 0),
                                  .nesterov = is_nesterov,
                                  .weight_decay = now.decay * beta,
                                  .gradient_scale = beta};
        take(p, options, host::sgd<float>, sgd<float>, one.one());
        const tensor v =
            with_errors(*of[2], p.read(one.first), magnitudes(*of[0], *of[1], *of[2], now.decay));
        return {stepped(*of[0], p.read(one.weights), v), v};
    });
}

/// In the first step, averages are not corrected: the rate and epsilon undo heddle's corrections.
tensors adam_operator(processor& p, const arguments& in) {
    const step_of now(in);
    if (in.number("norm_coefficient_post", 0) != 0) throw inexpressible("decay after a step");
    // The test without an epsilon was computed with another epsilon than the default.
    if (!in.has("epsilon")) throw inexpressible("an epsilon that is not given");
    const double alpha = in.number("alpha", 0.9), beta = in.number("beta", 0.999);
    const double steps = std::max(now.number, 1.), root = std::sqrt(1 - std::pow(beta, steps));
    return for_each_parameter(in, 4, 3, [&](const std::vector<const tensor*>& of) -> tensors {
        trained one(p, *of[0], *of[1], of[2]->elements, of[3]->elements);
        const adam_options options{.learning_rate = now.number > 0 ? now.rate : now.rate * (1 - alpha) / root,
                                   .beta1 = alpha,
                                   .beta2 = beta,
                                   .epsilon = in.number("epsilon", 1e-6) / root,
                                   .weight_decay = now.decay,
                                   .step = static_cast<std::int64_t>(steps)};
        take(p, options, host::adam<float>, adam<float>, one.one());
        const numbers of_v = magnitudes(*of[0], *of[1], *of[2], now.decay);
        numbers of_h = magnitudes(*of[0], *of[1], *of[2], now.decay);
        for (std::size_t i = 0; i < of_h.size(); ++i) of_h[i] = of_h[i] * of_h[i] + of[3]->elements[i];
        const tensor v = with_errors(*of[2], p.read(one.first), of_v),
                     h = with_errors(*of[3], p.read(one.second), of_h);
        return {stepped(*of[0], p.read(one.weights), v), v, h};
    });
}

/// A step of Adam whose average of squares halves their sum, and whose gradients are not averaged.
tensors adagrad(processor& p, const arguments& in) {
    const step_of now(in);
    return for_each_parameter(in, 3, 2, [&](const std::vector<const tensor*>& of) -> tensors {
        const std::int64_t n = size_of(of[0]->shape);
        trained one(p, *of[0], *of[1], numbers(n), of[2]->elements);
        const adam_options options{
            .learning_rate = now.rate / (1 + now.number * in.number("decay_factor", 0)),
            .beta1 = 0,
            .beta2 = 0.5,
            .epsilon = in.number("epsilon", 1e-6),
            .weight_decay = now.decay};
        take(p, options, host::adam<float>, adam<float>, one.one());
        tensor gradient =
            with_errors(*of[1], p.read(one.first),
                        magnitudes(*of[0], *of[1], {"FLOAT", of[1]->shape, numbers(n)}, now.decay));
        numbers of_h;
        for (std::int64_t i = 0; i < n; ++i)
            of_h.push_back(gradient.elements[i] * gradient.elements[i] + of[2]->elements[i]);
        const tensor h = scale(p, 2, {of[2]->type, of[2]->shape, p.read(one.second)});
        return {stepped(*of[0], p.read(one.weights), gradient), with_errors(*of[2], h.elements, of_h)};
    });
}

/// Sums of one element have the type's sum type. A step that moves nothing rounds weights to the type of their values.
tensors cast_to(processor& p, const tensor& x, const std::string& type) {
    const std::int64_t n = size_of(x.shape);
    if (x.type == type) return {reshaped(p, x, x.shape)};
    if (x.type == "FLOAT16" && type == "FLOAT") {
        guarded<half> from = p.operand<half>(x.elements);
        guarded<float> to = p.operand({}, n);
        p.run(matrix_reduce_algorithms(), matrix_reduce_options(), host::row_sum<half>, row_sum<half>,
              matrix_view<const half>{from.data(), n, 1}, to.vector());
        return {{type, x.shape, p.read(to)}};
    }
    if (x.type != "FLOAT" || type != "FLOAT16") throw inexpressible("a cast from " + x.type + " to " + type);
    guarded<float> master = p.operand(x.elements);
    guarded<half> gradient = p.operand<half>(numbers(n)), value = p.operand<half>({}, n);
    const parameter<half> one{
        .master = master.data(), .value = value.data(), .gradient = gradient.data(), .count = n};
    p.run(
        optimizer_algorithms(), sgd_options{.learning_rate = 0},
        [](auto of, const sgd_options& with) {
            host::sgd<half>({&of, 1}, with);
        },
        [](auto of, auto gpu, const sgd_options& with) {
            sgd<half>({&of, 1}, gpu, with);
        },
        one);
    return {{type, x.shape, p.read(value)}};
}
tensors cast(processor& p, const arguments& in) {
    const double to = in.number("to", 0);
    return cast_to(p, in[0], to == 1 ? "FLOAT" : to == 10 ? "FLOAT16" : "another");
}

}  // namespace

table optimizers() {
    return {
        {"Cast", cast},
        {"CastLike", [](processor& p, const arguments& in) { return cast_to(p, in[0], in[1].type); }},
        {"Adagrad", adagrad},
        {"Adam", adam_operator},
        {"Momentum", momentum},
    };
}

}  // namespace heddle::test::onnx_nodes
