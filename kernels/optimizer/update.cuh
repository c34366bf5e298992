#pragma once

#include "kernels/device/ptx/store.cuh"
#include "kernels/device/vector.cuh"
#include "kernels/optimizer/table.cuh"

#include <cstdint>

/// The update of an element. A product that is added to something is an fmaf(), and __fmul_rn() keeps other products from
/// becoming one. So all kernels give the same bits.
namespace heddle::kernels::optimizer {

struct element {
    float weight;
    float gradient;
    float first_moment;
    float second_moment;
};

__device__ inline float learning_rate_of(const settings& s) {
    return s.device_learning_rate == nullptr ? s.learning_rate : *s.device_learning_rate;
}

/// The factor of the gradients. A NaN is not above 1, and so stays.
__device__ inline float gradient_factor(const settings& s) {
    if (s.norm == nullptr) return s.gradient_scale;
    const float clip = s.max_norm / fmaf(s.gradient_scale, *s.norm, 1e-6f);
    return __fmul_rn(s.gradient_scale, clip > 1 ? 1.0f : clip);
}

/// A decay of zero leaves infinite weights out of the gradient.
__device__ inline float decayed(float gradient, float weight, float decay) {
    return decay == 0 ? gradient : fmaf(decay, weight, gradient);
}

template <int moment_count>
class sgd_rule {
  public:
    static constexpr int moments = moment_count;

    __device__ explicit sgd_rule(const settings& s)
        : rate_(learning_rate_of(s)),
          factor_(gradient_factor(s)),
          decay_(s.weight_decay),
          momentum_(s.momentum),
          nesterov_(s.nesterov) {}

    __device__ void operator()(element& e) const {
        float direction = decayed(__fmul_rn(factor_, e.gradient), e.weight, decay_);
        if constexpr (moments > 0) {
            const float gradient = direction;
            direction = e.first_moment = fmaf(momentum_, e.first_moment, gradient);
            if (nesterov_) direction = fmaf(momentum_, direction, gradient);
        }
        e.weight = fmaf(-rate_, direction, e.weight);
    }

  private:
    float rate_, factor_, decay_, momentum_;
    bool nesterov_;
};

struct plain_sgd : sgd_rule<0> {
    using sgd_rule<0>::sgd_rule;
};
struct momentum_sgd : sgd_rule<1> {
    using sgd_rule<1>::sgd_rule;
};

struct any_adam {
  public:
    static constexpr int moments = 2;

    __device__ explicit any_adam(const settings& s)
        : factor_(gradient_factor(s)),
          decay_(s.is_decoupled ? 0 : s.weight_decay),
          beta1_rest_(s.beta1_rest),
          beta2_(s.beta2),
          beta2_rest_(s.beta2_rest),
          epsilon_(s.epsilon) {
        const float rate = learning_rate_of(s);
        kept_ = s.is_decoupled ? fmaf(-rate, s.weight_decay, 1) : 1;
        const auto step = static_cast<double>(s.device_step == nullptr ? s.step : *s.device_step);
        rate_ = rate / correction(s.beta1_log, step);
        root_ = 1 / sqrtf(correction(s.beta2_log, step));
    }

    __device__ void operator()(element& e) const {
        const float gradient = decayed(__fmul_rn(factor_, e.gradient), e.weight, decay_);
        e.first_moment = fmaf(beta1_rest_, __fsub_rn(gradient, e.first_moment), e.first_moment);
        e.second_moment =
            fmaf(__fmul_rn(beta2_rest_, gradient), gradient, __fmul_rn(beta2_, e.second_moment));
        const float scale = fmaf(sqrtf(e.second_moment), root_, epsilon_);
        e.weight = fmaf(-rate_, e.first_moment / scale, __fmul_rn(kept_, e.weight));
    }

  private:
    /// 1 - beta^step, with the same relative error where it is small.
    static __device__ float correction(double beta_log, double step) {
        return -expm1f(static_cast<float>(beta_log * step));
    }

    float factor_, decay_, beta1_rest_, beta2_, beta2_rest_, epsilon_;
    float kept_;  ///< factor of the weight: 1 less its decoupled decay
    float rate_, root_;
};

/// Updates `width` elements from i on. In each array they are one packet in memory.
template <int width, class Rule, class T, class Gradient>
__device__ void update(const entry<T, Gradient>& p, std::int64_t i, const Rule& rule) {
    using floats = vector<float, width>;
    const auto at = [i]<class U>(U * array) -> auto& {
        return *reinterpret_cast<vector<U, width>*>(array + i);
    };
    floats weights = at(p.master);
    const auto gradients = *reinterpret_cast<const vector<Gradient, width>*>(p.gradient + i);
    floats first{}, second{};
    if constexpr (Rule::moments > 0) first = at(p.first_moment);
    if constexpr (Rule::moments > 1) second = at(p.second_moment);

    vector<T, width> values;
#pragma unroll
    for (int k = 0; k < width; ++k) {
        element e{weights[k], static_cast<float>(gradients[k]), first[k], second[k]};
        rule(e);
        weights[k] = e.weight;
        first[k] = e.first_moment;
        second[k] = e.second_moment;
        values[k] = static_cast<T>(e.weight);
    }
    ptx::store(&at(p.master), weights);
    if constexpr (Rule::moments > 0) ptx::store(&at(p.first_moment), first);
    if constexpr (Rule::moments > 1) ptx::store(&at(p.second_moment), second);
    if (p.value != nullptr) ptx::store(&at(p.value), values);
}

/// Updates the elements from begin to end, each by one thread.
template <int threads, class Rule, class T, class Gradient>
__device__ void update_by_elements(const entry<T, Gradient>& p, std::int64_t begin, std::int64_t end,
                                   const Rule& rule) {
    for (std::int64_t i = begin + threadIdx.x; i < end; i += threads) update<1>(p, i, rule);
}

}  // namespace heddle::kernels::optimizer
