#include "src/random/rungs.hpp"

#include "src/validate.hpp"

#include <array>
#include <string>
#include <string_view>

namespace heddle {
namespace {

using namespace kernels::random;
using namespace detail;
using enum random_algorithm;

constexpr need<random_problem> unit_stride{[](auto& problem, auto&) { return problem.unit_stride; },
                                           "needs each row's elements side by side"};

constexpr auto table = std::to_array<random_rung>({
    {naive, "naive", any_problem, never, plan_naive, launch_naive},
    {counter_per_thread, "counter_per_thread", any_problem, always, plan_counter_per_thread,
     launch_counter_per_thread},
    {vectorized, "vectorized", needs<unit_stride>, always, plan_vectorized, launch_vectorized},
});

constexpr rung_table rungs(table, "random_algorithm");

void require_valid(const char* operation, const random_problem& problem, const device_traits& device) {
    validate_device(operation, device);
    validate_extents(operation, {{"rows", problem.rows}, {"cols", problem.cols}});
    const auto bytes = problem.element_bytes;
    require(bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8, operation, {"problem", "element_bytes"},
            bytes, "1, 2, 4 or 8");
    require(problem.block_elements == 2 || problem.block_elements == 4, operation,
            {"problem", "block_elements"}, problem.block_elements, "2 or 4");
}

}  // namespace

std::span<const random_algorithm> random_algorithms() {
    return detail::ids_of<table>;
}

std::string_view to_string(random_algorithm algorithm) {
    return rungs.name_of(algorithm);
}

random_algorithm select(const random_problem& problem, const device_traits& device) {
    require_valid("select", problem, device);
    return rungs.choose("select", automatic, problem, device).rung->id;
}

std::string why_not(random_algorithm algorithm, const random_problem& problem, const device_traits& device) {
    rungs.require_known("why_not", "algorithm", algorithm);
    require_valid("why_not", problem, device);
    return rungs.why_not("random", algorithm, problem, device);
}

detail::rung_table<detail::random_rung> detail::random_rungs() {
    return rungs;
}

}  // namespace heddle
