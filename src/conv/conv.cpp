#include "kernels/conv/launch.hpp"
#include "src/conv/rungs.hpp"
#include "src/conv/validate.hpp"
#include "src/workspace.hpp"
#include <heddle/conv.hpp>
#include <heddle/stream.hpp>
#include <heddle/types.hpp>

namespace heddle {
namespace {

template <class Out>
kernels::conv::epilogue<Out> described(const conv_epilogue<Out>& e) {
    kernels::conv::epilogue<Out> result{.activation = e.activation,
                                        .residual_before_activation = e.residual_before_activation};
    if (e.bias.size > 0) {
        result.bias = e.bias.data;
        result.bias_stride = e.bias.stride;
    }
    if (e.scale.size > 0) {
        result.scale = e.scale.data;
        result.scale_stride = e.scale.stride;
    }
    const tensor_view<const Out>& r = e.residual;
    if (r.count != 0 || r.height != 0 || r.width != 0 || r.channels != 0) result.residual = r;
    result.is_identity = e.activation == matmul_activation::none && result.bias == nullptr &&
                         result.scale == nullptr && result.residual.data == nullptr;
    return result;
}

/// Where nothing is multiplied or nothing counts, filters have no channels: then neither they and the input nor an infinite
/// alpha are read.
template <class In, class Out>
kernels::conv::arguments<In, Out> described(const tensor_view<const In>& input,
                                            const filter_view<const In>& filters,
                                            const tensor_view<Out>& output,
                                            const conv_epilogue<Out>& epilogue, const conv_options& options) {
    kernels::conv::arguments<In, Out> a{
        input, filters, output, options.geometry, options.alpha, options.beta, described(epilogue)};
    if (options.alpha == 0) a.filters.channels = 0;
    if (a.filters.channels == 0) a.alpha = 0;
    return a;
}

template <class In, class Out>
conv_problem problem_of(const tensor_view<const In>& input, const filter_view<const In>& filters,
                        const tensor_view<Out>& output, const conv_epilogue<Out>& epilogue,
                        const conv_options& options) {
    using kernels::conv::layout_of;
    return {.input = layout_of(input),
            .filters = layout_of(filters),
            .output = layout_of(output),
            .geometry = options.geometry,
            .operands = element_type_of<In>,
            .result = element_type_of<Out>,
            .has_epilogue = !described(epilogue).is_identity,
            .residual = layout_of(described(epilogue).residual),
            .has_scratch = !options.workspace.empty() || options.scratch == scratch::pool,
            .tile = options.tile,
            .precision = options.precision};
}

}  // namespace

template <class Out, class In>
conv_problem conv_problem_of(tensor_view<const std::type_identity_t<In>> input,
                             filter_view<const std::type_identity_t<In>> filters, tensor_view<Out> output,
                             const conv_epilogue<std::type_identity_t<Out>>& epilogue,
                             const conv_options& options) {
    constexpr bool have_elements = false;
    detail::validate_conv<In, Out>("conv_problem_of", input, filters, output, epilogue, options.geometry,
                                   have_elements);
    detail::validate_choice("conv_problem_of", options);
    return problem_of<In, Out>(input, filters, output, epilogue, options);
}

template <class Out, class In>
conv_problem conv_problem_of(tensor_view<const std::type_identity_t<In>> input,
                             filter_view<const std::type_identity_t<In>> filters, tensor_view<Out> output,
                             const conv_options& options) {
    return conv_problem_of<Out, In>(input, filters, output, {}, options);
}

template <class Out, class In>
void conv(tensor_view<const std::type_identity_t<In>> input,
          filter_view<const std::type_identity_t<In>> filters, tensor_view<Out> output,
          const conv_epilogue<std::type_identity_t<Out>>& epilogue, cuda::stream_ref stream,
          const conv_options& options) {
    using detail::footprint_of;
    detail::validate_conv<In, Out>("conv", input, filters, output, epilogue, options.geometry);
    detail::validate_choice("conv", options);
    detail::validate_workspace("conv", options.workspace,
                               {{"input", footprint_of(input)},
                                {"filters", footprint_of(filters)},
                                {"output", footprint_of(output)},
                                {"epilogue.bias", footprint_of(epilogue.bias)},
                                {"epilogue.scale", footprint_of(epilogue.scale)},
                                {"epilogue.residual", footprint_of(epilogue.residual)}});
    if (output.count == 0 || output.channels == 0) return;
    const detail::stream_device device(stream);
    auto arguments = described<In, Out>(input, filters, output, epilogue, options);
    const auto [chosen,
                workspace] = detail::plan_with_workspace("conv", options, stream, [&](bool has_scratch) {
        conv_problem problem = problem_of<In, Out>(input, filters, output, epilogue, options);
        problem.has_scratch = has_scratch;
        const auto rungs = detail::conv_rungs<In, Out>();
        const auto asked = rungs.choose("conv", options.algorithm, problem, device.traits(), options.variant);
        // Where nothing is multiplied, the epilogue of 0 is left, and any rung that can run does it as the first.
        return arguments.filters.channels > 0
                   ? asked
                   : rungs.choose("conv", conv_algorithm::naive, problem, device.traits());
    });
    arguments.scratch = workspace.scratch();
    chosen.rung->launch(chosen.plan, arguments, stream.get());
}

template <class Out, class In>
void conv(tensor_view<const std::type_identity_t<In>> input,
          filter_view<const std::type_identity_t<In>> filters, tensor_view<Out> output,
          cuda::stream_ref stream, const conv_options& options) {
    conv<Out, In>(input, filters, output, {}, stream, options);
}

#define INSTANTIATE(Out, In)                                                                     \
    template conv_problem conv_problem_of<Out, In>(tensor_view<const In>, filter_view<const In>, \
                                                   tensor_view<Out>, const conv_options&);       \
    template conv_problem conv_problem_of<Out, In>(tensor_view<const In>, filter_view<const In>, \
                                                   tensor_view<Out>, const conv_epilogue<Out>&,  \
                                                   const conv_options&);                         \
    template void conv<Out, In>(tensor_view<const In>, filter_view<const In>, tensor_view<Out>,  \
                                cuda::stream_ref, const conv_options&);                          \
    template void conv<Out, In>(tensor_view<const In>, filter_view<const In>, tensor_view<Out>,  \
                                const conv_epilogue<Out>&, cuda::stream_ref, const conv_options&);
INSTANTIATE(float, float)
INSTANTIATE(half, half)
INSTANTIATE(float, half)
INSTANTIATE(bfloat16, bfloat16)
INSTANTIATE(float, bfloat16)
#undef INSTANTIATE

}  // namespace heddle
