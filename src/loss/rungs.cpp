#include "src/loss/rungs.hpp"

#include "src/rung_queries.hpp"
#include <heddle/types.hpp>

#include <array>

namespace heddle {
namespace {

using namespace kernels::loss;
using namespace detail;
using enum loss_algorithm;

/// The plan of a rung, for either operation.
template <auto plan, class Arguments>
constexpr auto plan_of = plan;
template <class T>
constexpr auto plan_of<plan_vectorized, mean_squared_error_arguments<T>> = plan_vectorized_squares;

template <class Arguments>
constexpr auto table = std::to_array<loss_rung<Arguments>>({
#define ROW(name, pays, additions, rescalings, ...) \
    {name, #name, needs<__VA_ARGS__>, pays, plan_of<plan_##name, Arguments>, launch_##name},
    HEDDLE_LOSS_RUNGS(ROW)
#undef ROW
});

constexpr const char* enumeration = "loss_algorithm";
/// What does not depend on the operation and the type.
constexpr rung_table rungs(table<cross_entropy_arguments<float>>, enumeration);

loss_facts valid_facts(const char* operation, const loss_problem& p, const device_traits& device) {
    validate_device(operation, device);
    const bool has_target = p.target != matrix_layout{};
    validate_rows(operation, {p.x, has_target ? p.target : p.x, p.gradient});
    return loss_facts(p);
}

}  // namespace

HEDDLE_RUNG_QUERIES(loss, table<cross_entropy_arguments<float>>)

namespace detail {

template <class Arguments>
rung_table<loss_rung<Arguments>> loss_rungs() {
    return {table<Arguments>, enumeration};
}

#define INSTANTIATE(T)                                                       \
    template rung_table<loss_rung<cross_entropy_arguments<T>>> loss_rungs(); \
    template rung_table<loss_rung<mean_squared_error_arguments<T>>> loss_rungs();
HEDDLE_ELEMENT_TYPES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace detail
}  // namespace heddle
