#include "src/loss/rungs.hpp"

#include "src/validate.hpp"
#include <heddle/types.hpp>

#include <array>
#include <string>
#include <string_view>

namespace heddle {
namespace {

using namespace kernels::loss;
using namespace detail;
using enum loss_algorithm;

constexpr need<loss_problem> unit_stride{[](auto& problem, auto&) { return problem.unit_stride; },
                                         "needs each row's elements side by side"};

template <class Arguments>
constexpr auto plan_of_vectorized = plan_vectorized;
template <class T>
constexpr auto plan_of_vectorized<mean_squared_error_arguments<T>> = plan_vectorized_squares;

template <class Arguments>
constexpr auto table = std::to_array<loss_rung<Arguments>>({
    {naive, "naive", any_problem, never, plan_naive, launch_naive},
    {warp_per_row, "warp_per_row", any_problem, always, plan_warp_per_row, launch_warp_per_row},
    {vectorized, "vectorized", needs<unit_stride>, always, plan_of_vectorized<Arguments>, launch_vectorized},
});

constexpr const char* enumeration = "loss_algorithm";
/// What does not depend on the operation and the type.
constexpr rung_table rungs(table<cross_entropy_arguments<float>>, enumeration);

void require_valid(const char* operation, const loss_problem& problem, const device_traits& device) {
    validate_device(operation, device);
    validate_extents(operation, {{"rows", problem.rows}, {"cols", problem.cols}});
    require(problem.element_bytes == 2 || problem.element_bytes == 4, operation, {"problem", "element_bytes"},
            problem.element_bytes, "2 or 4");
}

}  // namespace

std::span<const loss_algorithm> loss_algorithms() {
    return detail::ids_of<table<cross_entropy_arguments<float>>>;
}

std::string_view to_string(loss_algorithm algorithm) {
    return rungs.name_of(algorithm);
}

loss_algorithm select(const loss_problem& problem, const device_traits& device) {
    require_valid("select", problem, device);
    return rungs.choose("select", automatic, problem, device).rung->id;
}

std::string why_not(loss_algorithm algorithm, const loss_problem& problem, const device_traits& device) {
    rungs.require_known("why_not", "algorithm", algorithm);
    require_valid("why_not", problem, device);
    return rungs.why_not("loss", algorithm, problem, device);
}

namespace detail {

template <class Arguments>
rung_table<loss_rung<Arguments>> loss_rungs() {
    return {table<Arguments>, enumeration};
}

template rung_table<loss_rung<cross_entropy_arguments<float>>> loss_rungs();
template rung_table<loss_rung<cross_entropy_arguments<half>>> loss_rungs();
template rung_table<loss_rung<cross_entropy_arguments<bfloat16>>> loss_rungs();
template rung_table<loss_rung<mean_squared_error_arguments<float>>> loss_rungs();
template rung_table<loss_rung<mean_squared_error_arguments<half>>> loss_rungs();
template rung_table<loss_rung<mean_squared_error_arguments<bfloat16>>> loss_rungs();

}  // namespace detail
}  // namespace heddle
