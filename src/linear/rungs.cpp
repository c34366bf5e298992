#include "src/linear/rungs.hpp"

#include "kernels/linear/launch.hpp"
#include "src/matmul/call.hpp"
#include "src/rung_queries.hpp"
#include <heddle/types.hpp>

#include <array>
#include <type_traits>

namespace heddle {
namespace {

using namespace detail;
using enum linear_gradient_algorithm;
using problem_type = linear_gradient_problem;

/// The product as `fused` has it: with an epilogue, and the scratch memory that it does not take.
matmul_problem with_epilogue(matmul_problem product, bool has_scratch) {
    product.has_epilogue = true;
    product.has_scratch = has_scratch;
    return product;
}

constexpr need<problem_type> derivative{[](auto& problem, auto&) { return problem.has_derivative; },
                                        "needs a dx, and an activation_of_x that is not none"};
constexpr need<problem_type> of_16_bits{
    [](auto& problem, auto&) { return problem.product.operands != element_type::f32; },
    "needs half or bfloat16"};
constexpr const auto& hopper_device = hopper<problem_type>;
constexpr need<problem_type> readable{
    [](auto& problem, auto& device) {
        return can_run(matmul_algorithm::fused, with_epilogue(problem.product, false), device);
    },
    "needs a gradient, weights and dx that matmul's fused takes without scratch memory"};

/// Where the product is best as matmul's fused without scratch memory, the derivative costs no kernel.
constexpr auto fused_pays = [](const problem_type& problem, const device_traits& device) {
    const matmul_problem product = with_epilogue(problem.product, true);
    return heddle::select(product, device) == matmul_algorithm::fused &&
           matmul_workspace_bytes(product, device) == 0;
};

template <class T>
linear_gradient_plan plan_separate(const linear_gradient_problem&, const device_traits&) {
    return {};
}

template <class T>
void launch_separate(const linear_gradient_plan&, const derivative_arguments<T>& a, cudaStream_t stream) {
    matmul<T>(a.gradient, a.weights, a.dx, cuda::stream_ref(stream), a.options);
    if (a.activation != matmul_activation::none)
        kernels::linear::launch_derivative(a.x, a.dx, a.activation, stream);
}

constexpr matmul_options by_fused{.algorithm = matmul_algorithm::fused, .scratch = scratch::none};

template <class T>
linear_gradient_plan plan_fused(const linear_gradient_problem& problem, const device_traits& device) {
    return {plan_matmul<T, T>(with_epilogue(problem.product, false), device, by_fused).plan};
}

template <class T>
constexpr auto launch_fused =
    launch_if<[](const linear_gradient_plan& plan, const derivative_arguments<T>& a, cudaStream_t stream) {
        if constexpr (!std::is_same_v<T, float>) {
            auto product = described<T, T>(a.gradient, a.weights, a.dx, {.residual = a.x}, {}, by_fused);
            product.epilogue.is_identity = false;
            if (plan.product.is_turned) product = transposed(product);
            kernels::linear::launch_fused<T>({product, plan.product, true, false}, a.activation, stream);
        }
    },
              HEDDLE_COMPILED_FOR_90 != 0 && !std::is_same_v<T, float>>;

template <class T>
constexpr auto table = std::to_array<linear_gradient_rung<T>>({
#define ROW(name, pays, ...) {name, #name, needs<__VA_ARGS__>, pays, plan_##name<T>, launch_##name<T>},
    HEDDLE_LINEAR_GRADIENT_RUNGS(ROW)
#undef ROW
});

constexpr const char* enumeration = "linear_gradient_algorithm";
/// What does not depend on the type.
constexpr rung_table rungs(table<half>, enumeration);

problem_type valid_facts(const char* operation, const problem_type& problem, const device_traits& device) {
    validate_problem(operation, problem.product, device);
    return problem;
}

}  // namespace

HEDDLE_RUNG_QUERIES(linear_gradient, table<half>)

HEDDLE_RUNG_TABLES(linear_gradient, HEDDLE_ELEMENT_TYPES)

}  // namespace heddle
