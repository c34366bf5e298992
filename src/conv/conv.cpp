#include "kernels/conv/kernels.hpp"
#include "kernels/conv/launch.hpp"
#include "kernels/conv/plan/mma_sync.hpp"
#include "kernels/conv/plan/windows.hpp"
#include "src/conv/rungs.hpp"
#include "src/conv/validate.hpp"
#include "src/format.hpp"
#include "src/workspace.hpp"
#include <heddle/conv.hpp>
#include <heddle/stream.hpp>
#include <heddle/types.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>

#pragma GCC visibility push(default)

namespace heddle {

static_assert(kernels::conv::max_tickets * sizeof(unsigned) == detail::workspace_ticket_bytes);

namespace {

/// Whether matmul supports this epilogue as well.
template <class Out>
bool is_matmul_epilogue(const conv_epilogue<Out>& e) {
    const bool adds_residual_last = !detail::is_given(e.residual) || !e.residual_before_activation ||
                                    e.activation == matmul_activation::none;
    return e.scale.size == 0 && adds_residual_last;
}

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
    if (detail::is_given(e.residual)) result.residual = e.residual;
    result.is_identity = e.activation == matmul_activation::none && e.bias.size == 0 && e.scale.size == 0 &&
                         !detail::is_given(e.residual);
    return result;
}

/// The arguments as kernels take them. Where alpha is 0, filters get no channels, so kernels do not read them or
/// the input. Without channels alpha becomes 0, as an infinite one would make NaN.
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
    const kernels::conv::epilogue<Out> e = described(epilogue);
    return {.input = layout_of(input),
            .filters = layout_of(filters),
            .output = layout_of(output),
            .geometry = options.geometry,
            .operands = element_type_of<In>,
            .result = element_type_of<Out>,
            .has_epilogue = !e.is_identity,
            .is_matmul_epilogue = is_matmul_epilogue(epilogue),
            .residual = layout_of(e.residual),
            .has_scratch = detail::has_scratch(options),
            .precision = options.precision};
}

/// All checks that need no device.
template <class In, class Out>
void validate_call(const tensor_view<const In>& input, const filter_view<const In>& filters,
                   const tensor_view<Out>& output, const conv_epilogue<Out>& epilogue,
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
}

/// The arguments that the rung's launch takes. If the plan says so, they are copies of the operands.
template <class In, class Out>
kernels::conv::arguments<In, Out> arranged(const kernels::conv::arguments<In, Out>& a,
                                           const kernels::conv::plan& plan, cudaStream_t stream) {
    if constexpr (HEDDLE_COMPILED_FOR_90 != 0)
        if (plan.copies != kernels::conv::operand_copies{})
            return kernels::conv::launch_copies(plan, a, stream);
    return a;
}

/// Whether a user's function can be compiled into the kernel.
bool takes_function(std::string_view kernel) {
    using namespace kernels::conv;
    return kernel == "naive" || kernel == "tiled" || kernel == mma_element_kernels[0].name ||
           std::ranges::any_of(persistent_kernels, [&](const window_kernel& each) {
               return each.takes_function && each.name == kernel;
           });
}

/// @throws unsupported  none of the kernels that the options allow takes a function
void require_takes_function(const conv_options& options) {
    std::string names;
    for (const std::string_view kernel : conv_kernels()) {
        if (!takes_function(kernel)) continue;
        names += detail::format("{}{}", names.empty() ? "" : ", ", kernel);
        const bool is_of_rung = options.algorithm == conv_algorithm::automatic ||
                                detail::rung_of(kernel) == to_string(options.algorithm);
        if (is_of_rung && detail::is_named(kernel, options.kernel)) return;
    }
    throw unsupported(detail::format("conv: {} takes no function; these do: {}",
                                     options.kernel.empty() ? to_string(options.algorithm) : options.kernel,
                                     names));
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
    validate_call<In, Out>(input, filters, output, epilogue, options);
    if (output.count == 0 || output.channels == 0) return;
    const detail::stream_device device(stream);
    auto arguments = described<In, Out>(input, filters, output, epilogue, options);
    const auto [chosen,
                workspace] = detail::plan_with_workspace("conv", options, stream, [&](bool has_scratch) {
        conv_problem problem = problem_of<In, Out>(input, filters, output, epilogue, options);
        problem.has_scratch = has_scratch;
        const auto rungs = detail::conv_rungs<In, Out>();
        const auto asked = rungs.choose("conv", options.algorithm, problem, device.traits(), options.kernel);
        // Without channels only the epilogue of 0 remains. naive computes it in place of the rung that was asked for.
        return arguments.filters.channels > 0
                   ? asked
                   : rungs.choose("conv", conv_algorithm::naive, problem, device.traits());
    });
    arguments.scratch = workspace.scratch();
    arguments.tickets = workspace.tickets();
    chosen.rung->launch(chosen.plan, arranged(arguments, chosen.plan, stream.get()), stream.get());
}

template <class Out, class In>
void conv(tensor_view<const std::type_identity_t<In>> input,
          filter_view<const std::type_identity_t<In>> filters, tensor_view<Out> output,
          cuda::stream_ref stream, const conv_options& options) {
    conv<Out, In>(input, filters, output, {}, stream, options);
}

namespace detail {

template <class Out, class In>
std::optional<kernels::conv::function_call<In, Out>> prepare_conv(
    tensor_view<const In> input, filter_view<const In> filters, tensor_view<Out> output,
    const conv_epilogue<Out>& epilogue, cuda::stream_ref stream, const conv_options& options,
    bool (*is_compiled)()) {
    using enum conv_algorithm;
    require(epilogue.activation == matmul_activation::none, "conv", {"epilogue", "activation"},
            static_cast<int>(epilogue.activation), "none: the function stands in its place");
    validate_call<In, Out>(input, filters, output, epilogue, options);
    validate_scratch("conv", options.scratch);
    if (output.count == 0 || output.channels == 0) return {};
    require_takes_function(options);
    const stream_device device(stream);
    auto arguments = described<In, Out>(input, filters, output, epilogue, options);
    arguments.epilogue.is_identity = false;
    conv_problem problem = problem_of<In, Out>(input, filters, output, epilogue, options);
    problem.has_epilogue = true;
    problem.has_scratch = false;
    const auto rungs = conv_rungs<In, Out>();
    const auto is_asked = [&](const conv_rung<In, Out>& row) {
        return (options.algorithm == automatic || row.id == options.algorithm) &&
               is_named(row.name, options.kernel) && takes_function(row.name);
    };
    const bool is_automatic = options.algorithm == automatic && options.kernel.empty();
    auto chosen = rungs.choose_if(
        [&](const auto& row) { return is_asked(row) && (row.id != persistent || is_compiled != nullptr); },
        is_automatic, problem, device.traits());
    const bool is_missing = chosen && chosen->rung->id == persistent && !is_compiled();
    if (is_missing)
        chosen = rungs.choose_if([&](const auto& row) { return is_asked(row) && row.id != persistent; },
                                 is_automatic, problem, device.traits());
    if (!chosen) {
        const bool asks_persistent =
            options.algorithm == persistent || rung_of(options.kernel) == "persistent";
        if (asks_persistent && is_compiled == nullptr)
            throw unsupported(
                "conv: persistent takes a function with half and bfloat16 alone; given: operands float");
        if (is_missing)
            throw unsupported("conv: persistent needs the .cu file of its function compiled for 90a");
        for (const std::string_view kernel : conv_kernels(options.algorithm))
            if (takes_function(kernel) && is_named(kernel, options.kernel))
                throw unsupported(rungs.why_not("conv", options.algorithm, problem, device.traits(), kernel));
    }
    if (arguments.filters.channels == 0)  // only the epilogue remains, as in conv()
        chosen = rungs.choose("conv", naive, problem, device.traits());
    return {{arguments, chosen->plan, chosen->rung->id}};
}

}  // namespace detail

#define INSTANTIATE(In, Out)                                                                       \
    template conv_problem conv_problem_of<Out, In>(tensor_view<const In>, filter_view<const In>,   \
                                                   tensor_view<Out>, const conv_options&);         \
    template conv_problem conv_problem_of<Out, In>(tensor_view<const In>, filter_view<const In>,   \
                                                   tensor_view<Out>, const conv_epilogue<Out>&,    \
                                                   const conv_options&);                           \
    template void conv<Out, In>(tensor_view<const In>, filter_view<const In>, tensor_view<Out>,    \
                                cuda::stream_ref, const conv_options&);                            \
    template void conv<Out, In>(tensor_view<const In>, filter_view<const In>, tensor_view<Out>,    \
                                const conv_epilogue<Out>&, cuda::stream_ref, const conv_options&); \
    template std::optional<kernels::conv::function_call<In, Out>> detail::prepare_conv(            \
        tensor_view<const In>, filter_view<const In>, tensor_view<Out>, const conv_epilogue<Out>&, \
        cuda::stream_ref, const conv_options&, bool (*)());
HEDDLE_PAIRS_OF_TYPES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace heddle

#pragma GCC visibility pop
