#include "src/optimizer/rungs.hpp"

#include "src/rung_queries.hpp"
#include "src/validate.hpp"
#include "src/workspace.hpp"
#include <heddle/types.hpp>

#include <array>
#include <cstdint>

namespace heddle {
namespace {

using namespace kernels::optimizer;
using namespace detail;
using enum optimizer_algorithm;

template <class Rule, class T, class Gradient>
constexpr auto table = std::to_array<optimizer_rung<Rule, T, Gradient>>({
#define ROW(name, pays, ...) \
    {name, #name, needs<__VA_ARGS__>, pays, plan_##name, launch_##name<Rule, T, Gradient>},
    HEDDLE_OPTIMIZER_RUNGS(ROW)
#undef ROW
});

constexpr const char* enumeration = "optimizer_algorithm";
/// What depends neither on the rule nor on the types.
constexpr rung_table rungs(table<any_adam, float, float>, enumeration);

optimizer_problem valid_facts(const char* operation, const optimizer_problem& problem,
                              const device_traits& device) {
    validate_optimizer_problem(operation, problem, device);
    return problem;
}

}  // namespace

HEDDLE_RUNG_QUERIES(optimizer, table<any_adam, float, float>)

std::int64_t gradient_norm_workspace_bytes(const optimizer_problem& problem, const device_traits& device) {
    validate_optimizer_problem("gradient_norm_workspace_bytes", problem, device);
    return detail::workspace_bytes_for(scratch_bytes(plan_gradient_norm(problem, device, true)));
}

namespace detail {

void validate_optimizer_problem(const char* operation, const optimizer_problem& problem,
                                const device_traits& device) {
    validate_device(operation, device);
    validate_extents(operation, {{"parameters", problem.parameters}});
    validate_extents(operation, {{"elements", problem.elements}});
}

template <class Rule, class T, class Gradient>
rung_table<optimizer_rung<Rule, T, Gradient>> optimizer_rungs() {
    return {table<Rule, T, Gradient>, enumeration};
}

#define INSTANTIATE(T, GRADIENT)                                                      \
    template rung_table<optimizer_rung<plain_sgd, T, GRADIENT>> optimizer_rungs();    \
    template rung_table<optimizer_rung<momentum_sgd, T, GRADIENT>> optimizer_rungs(); \
    template rung_table<optimizer_rung<any_adam, T, GRADIENT>> optimizer_rungs();
HEDDLE_PAIRS_OF_TYPES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace detail
}  // namespace heddle
