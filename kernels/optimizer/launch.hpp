#pragma once

#include <heddle/device.hpp>
#include <heddle/optimizer.hpp>
#include <heddle/types.hpp>

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>

namespace heddle::kernels::optimizer {

/// Rules that update an element, defined for the device in update.cuh. `moments` is how many moments an element has.
struct plain_sgd;
struct momentum_sgd;
struct any_adam;

/// The options, as far as kernels need them.
struct settings {
    float learning_rate = 0;
    const float* device_learning_rate = nullptr;
    float gradient_scale = 1;
    float max_norm = 0;
    const float* norm = nullptr;  ///< of the gradients without their scale; null: no clipping
    float weight_decay = 0;
    bool is_decoupled = false;  ///< adam: the decay is no part of the gradient

    float momentum = 0;
    bool nesterov = false;

    float beta2 = 0;
    float beta1_rest = 0;  ///< 1 - beta1
    float beta2_rest = 0;
    double beta1_log = 0;
    double beta2_log = 0;
    float epsilon = 0;
    std::int64_t step = 0;
    const std::int64_t* device_step = nullptr;
};

/// Parameters without elements may be among them.
template <class Rule, class T, class Gradient>
struct arguments {
    std::span<const parameter<T, Gradient>> parameters;
    optimizer::settings settings;
};

/// How a rung computes a problem.
struct plan {
    std::int64_t threads = 0;  ///< per block
    std::int64_t most_blocks = 0;
};

/// Each rung has a plan and a launch. The plan is pure. It takes the problems that meet the needs in the rung's row.
/// The launch takes a step, by the plan for these arguments.
#define DECLARE(rung, ...)                                                              \
    plan plan_##rung(const optimizer_problem& problem, const device_traits& device);    \
    template <class Rule, class T, class Gradient>                                      \
    void launch_##rung(const plan& plan, const arguments<Rule, T, Gradient>& arguments, \
                       cudaStream_t stream);
HEDDLE_OPTIMIZER_RUNGS(DECLARE)
#undef DECLARE

void launch_advance(std::int64_t* step, cudaStream_t stream);

/// The most parameters of one launch; longer lists take several launches.
inline constexpr std::int64_t most_parameters = 512;

/// How gradient_norm() computes a problem.
struct norm_plan {
    std::int64_t blocks = 1;    ///< most blocks of a launch
    std::int64_t partials = 0;  ///< doubles in scratch memory; none for one block
};
inline std::int64_t scratch_bytes(const norm_plan& plan) {
    return plan.partials * std::int64_t{sizeof(double)};
}
inline bool needs_tickets(const norm_plan&) {
    return true;
}

/// Pure. Without scratch memory there are at most most_parameters.
norm_plan plan_gradient_norm(const optimizer_problem& problem, const device_traits& device, bool has_scratch);

template <class T, class Gradient>
struct norm_arguments {
    std::span<const parameter<T, Gradient>> parameters;
    float* result;
    unsigned* ticket = nullptr;  ///< zero before and after
    double* partials = nullptr;
};

template <class T, class Gradient>
void launch_gradient_norm(const norm_plan& plan, const norm_arguments<T, Gradient>& arguments,
                          cudaStream_t stream);

}  // namespace heddle::kernels::optimizer
