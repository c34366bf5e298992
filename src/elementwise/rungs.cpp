#include "src/elementwise/rungs.hpp"

#include "src/validate.hpp"

#include <array>
#include <string>
#include <string_view>

namespace heddle {
namespace {

using namespace kernels::elementwise;
using namespace detail;
using enum elementwise_algorithm;

constexpr auto table = std::to_array<elementwise_rung>({
    {naive, "naive", any_problem, always, plan_naive, launch_naive},
    {grid_stride, "grid_stride", any_problem, always, plan_grid_stride, launch_grid_stride},
    {vectorized, "vectorized", any_problem, always, plan_vectorized, launch_vectorized},
});

constexpr rung_table rungs(table, "elementwise_algorithm");

void require_valid(const char* operation, const elementwise_problem& problem, const device_traits& device) {
    validate_device(operation, device);
    validate_extents(operation, {{"rows", problem.rows}, {"cols", problem.cols}});
    require(problem.inputs >= 1 && problem.inputs <= 3, operation, {"problem", "inputs"}, problem.inputs,
            "1 to 3");
    require(problem.broadcasts >= 0 && problem.broadcasts <= problem.inputs, operation,
            {"problem", "broadcasts"}, problem.broadcasts, "0 to {} (problem.inputs)", problem.inputs);
    const auto bytes = problem.element_bytes;
    require(bytes == 2 || bytes == 4 || bytes == 8, operation, {"problem", "element_bytes"}, bytes,
            "2, 4 or 8");
}

}  // namespace

std::span<const elementwise_algorithm> elementwise_algorithms() {
    return detail::ids_of<table>;
}

std::string_view to_string(elementwise_algorithm algorithm) {
    return rungs.name_of(algorithm);
}

elementwise_algorithm select(const elementwise_problem& problem, const device_traits& device) {
    require_valid("select", problem, device);
    return rungs.choose("select", automatic, problem, device).rung->id;
}

std::string why_not(elementwise_algorithm algorithm, const elementwise_problem& problem,
                    const device_traits& device) {
    rungs.require_known("why_not", "algorithm", algorithm);
    require_valid("why_not", problem, device);
    return rungs.why_not("elementwise", algorithm, problem, device);
}

detail::rung_table<detail::elementwise_rung> detail::elementwise_rungs() {
    return rungs;
}

}  // namespace heddle
