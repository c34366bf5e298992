#include "src/host/parallel.hpp"
#include "src/optimizer/validate.hpp"
#include <heddle/host.hpp>
#include <heddle/types.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

#pragma GCC visibility push(default)

namespace heddle::host {
namespace {

template <class Options>
float learning_rate_of(const Options& options) {
    return options.device_learning_rate == nullptr ? static_cast<float>(options.learning_rate)
                                                   : *options.device_learning_rate;
}

/// The factor of all gradients. A NaN clip is not above 1, so the factor becomes NaN.
template <class Options>
float gradient_factor(const Options& options) {
    const auto scale = static_cast<float>(options.gradient_scale);
    if (options.clip_norm_of == nullptr) return scale;
    const float clip = static_cast<float>(options.max_norm) / (scale * *options.clip_norm_of + 1e-6f);
    return scale * (clip > 1 ? 1.0f : clip);
}

/// Stores the new weight, update(p, i, weight, gradient), for each element.
template <class T, class Gradient, class Update>
void each_element(std::span<const parameter<T, Gradient>> parameters, float factor, Update update) {
    for (const auto& p : parameters) {
#pragma omp parallel for schedule(static) if (p.count > elements_to_share)
        for (std::int64_t i = 0; i < p.count; ++i) {
            const float weight = update(p, i, p.master[i], factor * static_cast<float>(p.gradient[i]));
            p.master[i] = weight;
            if (p.value != nullptr) p.value[i] = static_cast<T>(weight);
        }
    }
}

template <class T, class Gradient>
void step_of_adam(const char* operation, std::span<const parameter<T, Gradient>> parameters,
                  bool is_decoupled, const adam_options& options) {
    detail::validate_adam(operation, options);
    detail::validate_parameters(operation, parameters, 2);
    const auto step =
        static_cast<double>(options.device_step == nullptr ? options.step : *options.device_step);
    const auto correction = [step](double beta) {
        return static_cast<float>(-std::expm1(step * std::log(beta)));
    };
    const float rate = learning_rate_of(options), decay = static_cast<float>(options.weight_decay);
    const float kept = is_decoupled ? 1 - rate * decay : 1, added = is_decoupled ? 0 : decay;
    const float corrected_rate = rate / correction(options.beta1);
    const float root = 1 / std::sqrt(correction(options.beta2));
    const auto rest1 = static_cast<float>(1 - options.beta1), rest2 = static_cast<float>(1 - options.beta2);
    const auto beta2 = static_cast<float>(options.beta2), epsilon = static_cast<float>(options.epsilon);
    const auto update = [=](const auto& p, std::int64_t i, float weight, float gradient) {
        if (added != 0) gradient += added * weight;
        float& m = p.first_moment[i];
        float& v = p.second_moment[i];
        m += rest1 * (gradient - m);
        v = beta2 * v + rest2 * gradient * gradient;
        return kept * weight - corrected_rate * (m / (std::sqrt(v) * root + epsilon));
    };
    each_element(parameters, gradient_factor(options), update);
}

}  // namespace

template <class T, class Gradient>
void sgd(std::type_identity_t<std::span<const parameter<T, Gradient>>> parameters,
         const sgd_options& options) {
    constexpr const char* operation = "host::sgd";
    const auto momentum = static_cast<float>(options.momentum);
    detail::validate_sgd(operation, options);
    detail::validate_parameters<T, Gradient>(operation, parameters, options.momentum != 0 ? 1 : 0);
    const float rate = learning_rate_of(options), decay = static_cast<float>(options.weight_decay);
    const auto update = [=, has_momentum = options.momentum != 0, nesterov = options.nesterov](
                            const auto& p, std::int64_t i, float weight, float gradient) {
        if (decay != 0) gradient += decay * weight;
        float direction = gradient;
        if (has_momentum) {
            float& b = p.first_moment[i];
            b = momentum * b + gradient;
            direction = nesterov ? gradient + momentum * b : b;
        }
        return weight - rate * direction;
    };
    each_element<T, Gradient>(parameters, gradient_factor(options), update);
}

template <class T, class Gradient>
void adam(std::type_identity_t<std::span<const parameter<T, Gradient>>> parameters,
          const adam_options& options) {
    step_of_adam<T, Gradient>("host::adam", parameters, false, options);
}

template <class T, class Gradient>
void adamw(std::type_identity_t<std::span<const parameter<T, Gradient>>> parameters,
           const adam_options& options) {
    step_of_adam<T, Gradient>("host::adamw", parameters, true, options);
}

template <class T, class Gradient>
void gradient_norm(std::type_identity_t<std::span<const parameter<T, Gradient>>> parameters, float* result) {
    detail::validate_gradients<T, Gradient>("host::gradient_norm", parameters, result);
    double sum = 0;
    for (const auto& p : parameters)
        for (std::int64_t i = 0; i < p.count; ++i) {
            const auto g = static_cast<double>(static_cast<float>(p.gradient[i]));
            sum += g * g;
        }
    *result = static_cast<float>(std::sqrt(sum));
}

#define INSTANTIATE(T, GRADIENT)                                                                    \
    template void sgd<T, GRADIENT>(std::span<const parameter<T, GRADIENT>>, const sgd_options&);    \
    template void adam<T, GRADIENT>(std::span<const parameter<T, GRADIENT>>, const adam_options&);  \
    template void adamw<T, GRADIENT>(std::span<const parameter<T, GRADIENT>>, const adam_options&); \
    template void gradient_norm<T, GRADIENT>(std::span<const parameter<T, GRADIENT>>, float*);
HEDDLE_PAIRS_OF_TYPES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace heddle::host

#pragma GCC visibility pop
