#include "src/format.hpp"
#include "src/matmul/call.hpp"
#include <heddle/matmul.hpp>
#include <heddle/types.hpp>

#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#pragma GCC visibility push(default)

namespace heddle {

template <class Out, class In>
matmul_problem matmul_problem_of(matrix_view<const std::type_identity_t<In>> a,
                                 matrix_view<const std::type_identity_t<In>> b, matrix_view<Out> c,
                                 const matmul_epilogue<std::type_identity_t<Out>>& epilogue,
                                 const matmul_options& options) {
    constexpr bool have_elements = false;
    detail::validate_matmul<In, Out>("matmul_problem_of", a, b, c, have_elements);
    detail::validate_choice("matmul_problem_of", options);
    return detail::problem_of(detail::described<In, Out>(a, b, c, epilogue, {}, options), options);
}

template <class Out, class In>
matmul_problem matmul_problem_of(matrix_view<const std::type_identity_t<In>> a,
                                 matrix_view<const std::type_identity_t<In>> b, matrix_view<Out> c,
                                 const matmul_options& options) {
    return matmul_problem_of<Out, In>(a, b, c, {}, options);
}

template <class Out, class In>
void matmul(matrix_view<const std::type_identity_t<In>> a, matrix_view<const std::type_identity_t<In>> b,
            matrix_view<Out> c, cuda::stream_ref stream, const matmul_options& options) {
    detail::run<In, Out>(a, b, c, {}, {}, stream, options);
}

template <class Out, class In>
void matmul(matrix_view<const std::type_identity_t<In>> a, matrix_view<const std::type_identity_t<In>> b,
            matrix_view<Out> c, const matmul_epilogue<std::type_identity_t<Out>>& epilogue,
            cuda::stream_ref stream, const matmul_options& options) {
    detail::run<In, Out>(a, b, c, epilogue, {}, stream, options);
}

namespace detail {

template <class Out, class In>
std::optional<kernels::matmul::function_call<In, Out>> prepare_matmul(
    matrix_view<const In> a, matrix_view<const In> b, matrix_view<Out> c,
    const matmul_epilogue<Out>& epilogue, cuda::stream_ref stream, const matmul_options& options,
    bool (*is_compiled)()) {
    using matmul_algorithm::automatic, matmul_algorithm::fused, matmul_algorithm::tf32,
        matmul_algorithm::warp_tiled, matmul_algorithm::wmma;
    require(epilogue.activation == matmul_activation::none, "matmul", {"epilogue", "activation"},
            static_cast<int>(epilogue.activation), "none: the function stands in its place");
    auto product = checked<In, Out>(a, b, c, epilogue, {}, options);
    constexpr bool is_float = std::is_same_v<In, float>;
    constexpr matmul_algorithm any_rung = is_float ? warp_tiled : wmma, hopper_rung = is_float ? tf32 : fused;
    // The kernels that can be compiled with a function.
    const std::string_view any_name = to_string(any_rung), kernel = options.kernel;
    constexpr std::string_view hopper_name = is_float ? kernels::matmul::tf32_with_function[0].name : "fused";
    const bool names_any = !kernel.empty() && is_named(any_name, kernel),
               names_hopper =
                   !kernel.empty() && (is_named(hopper_name, kernel) || is_named(kernel, hopper_name));
    matmul_algorithm asked = options.algorithm;
    const bool takes_function = asked == automatic || asked == any_rung || asked == hopper_rung;
    if (!takes_function || (!kernel.empty() && !names_any && !names_hopper))
        throw unsupported(detail::format("matmul: {} takes no function: {} and {} do",
                                         kernel.empty() ? to_string(asked) : kernel, any_name, hopper_name));
    if (names_any) asked = any_rung;
    if (names_hopper) asked = hopper_rung;
    if (!product) return {};
    product->epilogue.is_identity = false;
    const stream_device device(stream);
    matmul_options by_hopper = options;
    by_hopper.algorithm = hopper_rung;
    by_hopper.kernel = is_named(kernel, hopper_name) ? kernel : hopper_name;
    bool by_warpgroups = false;
    const auto plan_function = [&](bool has_scratch) -> kernels::matmul::plan {
        matmul_problem problem = problem_of(*product, options);
        // No call tells the workspace size of a product with a function, so a caller's workspace is not planned with.
        problem.has_scratch = has_scratch && options.workspace.empty();
        problem.result = problem.operands;  // the user's .cu file compiles the kernel for its own types
        if constexpr (is_float) problem.has_scratch = false;  // with a function, blocks share no tile
        const bool fits = can_run(hopper_rung, problem, device.traits(), by_hopper.kernel);
        if (asked == hopper_rung && !fits)
            throw unsupported(why_not(hopper_rung, problem, device.traits(), by_hopper.kernel) +
                              (is_float ? "; with a function nothing is copied" : ""));
        const bool is_exact_enough =
            !is_float || asked == hopper_rung || options.precision == precision::tf32;
        const bool can_be = asked != any_rung && is_exact_enough && fits && problem.a.cols > 0;
        by_warpgroups = can_be && is_compiled();
        if (asked == hopper_rung && can_be && !by_warpgroups)
            throw unsupported(detail::format("matmul: {} needs the .cu file of its function compiled for 90a",
                                             to_string(hopper_rung)));
        if (!by_warpgroups) return {};
        return plan_matmul<In, In>(problem, device.traits(), by_hopper).plan;
    };
    auto [plan, workspace] = plan_with_workspace("matmul", options, stream, plan_function);
    product->workspace = {workspace.tickets(), workspace.scratch()};
    const bool is_transposed = is_row_major(c) == plan.is_turned;
    return {{arranged(*product, plan, stream.get()), plan, by_warpgroups, is_transposed,
             std::make_shared<const call_workspace>(std::move(workspace))}};
}

}  // namespace detail

#define INSTANTIATE(In, Out)                                                                             \
    template matmul_problem matmul_problem_of<Out, In>(matrix_view<const In>, matrix_view<const In>,     \
                                                       matrix_view<Out>, const matmul_options&);         \
    template matmul_problem matmul_problem_of<Out, In>(matrix_view<const In>, matrix_view<const In>,     \
                                                       matrix_view<Out>, const matmul_epilogue<Out>&,    \
                                                       const matmul_options&);                           \
    template void matmul<Out, In>(matrix_view<const In>, matrix_view<const In>, matrix_view<Out>,        \
                                  cuda::stream_ref, const matmul_options&);                              \
    template void matmul<Out, In>(matrix_view<const In>, matrix_view<const In>, matrix_view<Out>,        \
                                  const matmul_epilogue<Out>&, cuda::stream_ref, const matmul_options&); \
    template std::optional<kernels::matmul::function_call<In, Out>> detail::prepare_matmul(              \
        matrix_view<const In>, matrix_view<const In>, matrix_view<Out>, const matmul_epilogue<Out>&,     \
        cuda::stream_ref, const matmul_options&, bool (*)());
HEDDLE_PAIRS_OF_TYPES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace heddle

#pragma GCC visibility pop
