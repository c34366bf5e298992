#pragma once

#include <heddle/optimizer.hpp>

#include <algorithm>
#include <cmath>

/// What steps of optimizers are compared with, in float64, each with its bound.
namespace heddle::bench::cliffs {

/// A number, and what the float that stands for it may be off by at most (docs/accuracy.md, Optimizers).
struct approximate {
    double value = 0, bound = 0;

    approximate(double v = 0, double b = 0) : value(v), bound(b) {}
    friend approximate operator+(const approximate& a, const approximate& b) {
        return {a.value + b.value, a.bound + b.bound};
    }
    friend approximate operator-(const approximate& a, const approximate& b) {
        return {a.value - b.value, a.bound + b.bound};
    }
    friend approximate operator*(const approximate& a, const approximate& b) {
        return {a.value * b.value,
                std::abs(a.value) * b.bound + std::abs(b.value) * a.bound + a.bound * b.bound};
    }
    friend approximate operator/(const approximate& a, const approximate& b) {
        const double quotient = a.value / b.value;
        return {quotient,
                (a.bound + std::abs(quotient) * b.bound) / std::max(std::abs(b.value) - b.bound, 0.0)};
    }
};

inline approximate in_float(const approximate& a, double roundings = 1) {
    constexpr double u = 0x1p-24;
    const double share = roundings * u / (1 - roundings * u);
    return {a.value, a.bound + share * (std::abs(a.value) + a.bound) + roundings * 0x1p-149};
}

inline approximate root_of(const approximate& a) {
    const double root = std::sqrt(a.value), most = std::sqrt(a.bound);
    return {root, root > 0 ? std::min(a.bound / root, most) : most};
}

/// An element of a parameter, and the step that is expected of it.
struct weight_state {
    approximate weight, first, second;

    void step(const sgd_options& o, approximate g) {
        if (o.weight_decay != 0) g = in_float(in_float(in_float(o.weight_decay) * weight) + g);
        approximate direction = g;
        if (o.momentum != 0) {
            const approximate momentum = in_float(o.momentum);
            direction = first = in_float(in_float(momentum * first) + g);
            if (o.nesterov) direction = in_float(in_float(momentum * first) + g);
        }
        weight = in_float(weight - in_float(in_float(o.learning_rate) * direction));
    }
    void step(const adam_options& o, bool is_decoupled, approximate g) {
        const approximate rate = in_float(o.learning_rate), decay = in_float(o.weight_decay);
        if (!is_decoupled && o.weight_decay != 0) g = in_float(in_float(decay * weight) + g);
        const approximate kept = is_decoupled ? in_float(1 - in_float(rate * decay)) : 1;
        const double rest = 1 - o.beta1, distance = std::abs(g.value - first.value) + g.bound + first.bound;
        first = approximate(o.beta1) * first + approximate(rest) * g;
        first.bound += 3 * 0x1p-24 * rest * distance;
        first = in_float(first);
        second = in_float(in_float(in_float(o.beta2) * second) +
                          in_float(in_float(in_float(1 - o.beta2) * g) * g));
        const auto correction = [&](double beta) {
            return in_float(1 - std::pow(beta, static_cast<double>(o.step)), 4);
        };
        const approximate root = in_float(1 / in_float(root_of(correction(o.beta2))));
        const approximate scale = in_float(in_float(in_float(root_of(second)) * root) + in_float(o.epsilon));
        const approximate direction = in_float(first / scale);
        weight =
            in_float(in_float(kept * weight) - in_float(in_float(rate / correction(o.beta1)) * direction));
    }
};

/// What gradients are multiplied by.
inline approximate factor_of(double scale, double max_norm, double norm) {
    const approximate sum = in_float(in_float(in_float(scale) * norm) + in_float(1e-6));
    const approximate clip = in_float(in_float(max_norm) / sum);
    const bool is_short = clip.value > 1;
    return in_float(in_float(scale) *
                    (is_short ? approximate(1, std::max(0.0, 1 - clip.value + clip.bound)) : clip));
}

}  // namespace heddle::bench::cliffs
