#pragma once

#include "tests/bounds/approximate.hpp"
#include <heddle/optimizer.hpp>

#include <algorithm>
#include <cmath>

/// docs/accuracy.md, Optimizers.
namespace heddle::bounds {

/// The state of an element of a parameter; g is its gradient times the factor.
struct weight_and_moments {
    approximate weight, first, second;

    void step(const sgd_options& o, approximate g) {
        if (o.weight_decay != 0) g = rounded(rounded(rounded(o.weight_decay) * weight) + g);
        approximate direction = g;
        if (o.momentum != 0) {
            const approximate momentum = rounded(o.momentum);
            direction = first = rounded(rounded(momentum * first) + g);
            if (o.nesterov) direction = rounded(rounded(momentum * first) + g);
        }
        weight = rounded(weight - rounded(rounded(o.learning_rate) * direction));
    }

    void step(const adam_options& o, bool is_decoupled, approximate g) {
        const approximate rate = rounded(o.learning_rate), decay = rounded(o.weight_decay);
        if (!is_decoupled && o.weight_decay != 0) g = rounded(rounded(decay * weight) + g);
        const approximate kept = is_decoupled ? rounded(1 - rounded(rate * decay)) : approximate(1);

        // m + rest (g - m), in which m has the weight 1 - rest. The difference, the product and the sum are rounded.
        const double rest = 1 - o.beta1;
        const double distance = std::abs(g.value - first.value) + g.bound + first.bound;
        first = approximate(o.beta1) * first + approximate(rest) * g;
        first.bound += 3 * u * rest * distance;
        first = rounded(first);
        second = rounded(rounded(rounded(o.beta2) * second) + rounded(rounded(rounded(1 - o.beta2) * g) * g));

        // The argument of expm1f is rounded, and the result is off by at most an ulp.
        const auto correction = [&o](double beta) {
            return rounded(1 - std::pow(beta, static_cast<double>(o.step)), 4);
        };
        const approximate root = rounded(1 / rounded(root_of(correction(o.beta2))));
        const approximate scale = rounded(rounded(rounded(root_of(second)) * root) + rounded(o.epsilon));
        const approximate direction = rounded(first / scale);
        const approximate corrected_rate = rounded(rate / correction(o.beta1));
        weight = rounded(rounded(kept * weight) - rounded(corrected_rate * direction));
    }
};

/// The factor of the gradients, given the norm that clips them.
inline approximate gradient_factor(double scale, double max_norm, const approximate& norm) {
    const approximate clip =
        rounded(rounded(max_norm) / rounded(rounded(rounded(scale) * norm) + rounded(1e-6)));
    return rounded(rounded(scale) *
                   (clip.value > 1 ? approximate(1, std::max(0.0, 1 - clip.value + clip.bound)) : clip));
}

}  // namespace heddle::bounds
