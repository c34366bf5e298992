#include "src/optimizer/rungs.hpp"
#include "src/optimizer/validate.hpp"
#include "src/workspace.hpp"
#include <heddle/optimizer.hpp>
#include <heddle/stream.hpp>
#include <heddle/types.hpp>

#include <cmath>
#include <cstdint>
#include <span>
#include <type_traits>

#pragma GCC visibility push(default)

namespace heddle {
namespace {

using kernels::optimizer::settings;

template <class Options>
settings common_settings(const Options& options) {
    return {.learning_rate = static_cast<float>(options.learning_rate),
            .device_learning_rate = options.device_learning_rate,
            .gradient_scale = static_cast<float>(options.gradient_scale),
            .max_norm = static_cast<float>(options.max_norm),
            .norm = options.clip_norm_of,
            .weight_decay = static_cast<float>(options.weight_decay)};
}

settings settings_of(const sgd_options& options) {
    settings result = common_settings(options);
    result.momentum = static_cast<float>(options.momentum);
    result.nesterov = options.nesterov;
    return result;
}

settings settings_of(const adam_options& options) {
    settings result = common_settings(options);
    result.beta2 = static_cast<float>(options.beta2);
    result.beta1_rest = static_cast<float>(1 - options.beta1);
    result.beta2_rest = static_cast<float>(1 - options.beta2);
    result.beta1_log = std::log(options.beta1);
    result.beta2_log = std::log(options.beta2);
    result.epsilon = static_cast<float>(options.epsilon);
    result.step = options.step;
    result.device_step = options.device_step;
    return result;
}

template <class Rule, class T, class Gradient>
void run(const char* operation, std::span<const parameter<T, Gradient>> parameters, const settings& settings,
         cuda::stream_ref stream, optimizer_algorithm algorithm) {
    const auto rungs = detail::optimizer_rungs<Rule, T, Gradient>();
    rungs.require_known(operation, {"options", "algorithm"}, algorithm);
    const optimizer_problem problem = detail::problem_of(operation, parameters);
    if (problem.elements == 0) return;
    const detail::stream_device device(stream);
    const auto [rung, plan] = rungs.choose(operation, algorithm, problem, device.traits());
    rung->launch(plan, {parameters, settings}, stream.get());
}

template <class T, class Gradient>
void run_adam(const char* operation, std::span<const parameter<T, Gradient>> parameters, bool is_decoupled,
              cuda::stream_ref stream, const adam_options& options) {
    detail::validate_adam(operation, options);
    detail::validate_parameters(operation, parameters, 2);
    settings settings = settings_of(options);
    settings.is_decoupled = is_decoupled;
    run<kernels::optimizer::any_adam, T, Gradient>(operation, parameters, settings, stream,
                                                   options.algorithm);
}

}  // namespace

template <class T, class Gradient>
void sgd(std::type_identity_t<std::span<const parameter<T, Gradient>>> parameters, cuda::stream_ref stream,
         const sgd_options& options) {
    constexpr const char* operation = "sgd";
    const bool has_momentum = options.momentum != 0;
    detail::validate_sgd(operation, options);
    detail::validate_parameters<T, Gradient>(operation, parameters, has_momentum ? 1 : 0);
    if (has_momentum)
        run<kernels::optimizer::momentum_sgd, T, Gradient>(operation, parameters, settings_of(options),
                                                           stream, options.algorithm);
    else
        run<kernels::optimizer::plain_sgd, T, Gradient>(operation, parameters, settings_of(options), stream,
                                                        options.algorithm);
}

template <class T, class Gradient>
void adam(std::type_identity_t<std::span<const parameter<T, Gradient>>> parameters, cuda::stream_ref stream,
          const adam_options& options) {
    run_adam<T, Gradient>("adam", parameters, false, stream, options);
}

template <class T, class Gradient>
void adamw(std::type_identity_t<std::span<const parameter<T, Gradient>>> parameters, cuda::stream_ref stream,
           const adam_options& options) {
    run_adam<T, Gradient>("adamw", parameters, true, stream, options);
}

void advance(std::int64_t* step, cuda::stream_ref stream) {
    detail::validate_number_pointer("advance", "step", step);
    const detail::stream_device device(stream);
    kernels::optimizer::launch_advance(step, stream.get());
}

template <class T, class Gradient>
void gradient_norm(std::type_identity_t<std::span<const parameter<T, Gradient>>> parameters, float* result,
                   cuda::stream_ref stream, const gradient_norm_options& options) {
    constexpr const char* operation = "gradient_norm";
    detail::validate_gradients<T, Gradient>(operation, parameters, result);
    const optimizer_problem problem = detail::problem_of<T, Gradient>(operation, parameters);
    detail::validate_workspace(operation, options.workspace,
                               {{"result", detail::footprint_of(result, 1, {})}});
    for (const auto& p : parameters)
        if (p.count > 0)
            detail::validate_workspace(operation, options.workspace,
                                       {{"gradients", detail::footprint_of(p.gradient, p.count, {})}});

    const detail::stream_device device(stream);
    const auto [plan, workspace] =
        detail::plan_with_workspace(operation, options, stream, [&](bool has_scratch) {
            constexpr std::int64_t most = kernels::optimizer::most_parameters;
            if (!has_scratch && problem.parameters > most)
                throw unsupported(
                    detail::format("{}: more than {} parameters need scratch memory{}", operation, most,
                                   detail::facts({detail::fact("parameters", problem.parameters)}).given()));
            return kernels::optimizer::plan_gradient_norm(problem, device.traits(), has_scratch);
        });
    kernels::optimizer::launch_gradient_norm<T, Gradient>(
        plan, {parameters, result, workspace.tickets(), reinterpret_cast<double*>(workspace.scratch())},
        stream.get());
}

#define INSTANTIATE(T, GRADIENT)                                                                \
    template void sgd<T, GRADIENT>(std::span<const parameter<T, GRADIENT>>, cuda::stream_ref,   \
                                   const sgd_options&);                                         \
    template void adam<T, GRADIENT>(std::span<const parameter<T, GRADIENT>>, cuda::stream_ref,  \
                                    const adam_options&);                                       \
    template void adamw<T, GRADIENT>(std::span<const parameter<T, GRADIENT>>, cuda::stream_ref, \
                                     const adam_options&);                                      \
    template void gradient_norm<T, GRADIENT>(std::span<const parameter<T, GRADIENT>>, float*,   \
                                             cuda::stream_ref, const gradient_norm_options&);
HEDDLE_PAIRS_OF_TYPES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace heddle

#pragma GCC visibility pop
