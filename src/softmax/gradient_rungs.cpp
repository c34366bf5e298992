#include "src/softmax/gradient_rungs.hpp"

#include "src/validate.hpp"
#include <heddle/types.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace heddle {
namespace {

using namespace kernels::softmax;
using namespace detail;
using enum softmax_gradient_algorithm;

constexpr need<softmax_gradient_problem> unit_stride{[](auto& problem, auto&) { return problem.unit_stride; },
                                                     "needs each row's elements side by side"};

template <bool logarithm, class T>
constexpr auto table = std::to_array<softmax_gradient_rung<T>>({
    {naive, "naive", any_problem, never, plan_gradient_naive, launch_gradient_naive<logarithm, T>},
    {block_per_row, "block_per_row", any_problem, always, plan_gradient_block_per_row,
     launch_gradient_block_per_row<logarithm, T>},
    {vectorized, "vectorized", needs<unit_stride>, always, plan_gradient_vectorized,
     launch_gradient_vectorized<logarithm, T>},
});

constexpr const char* enumeration = "softmax_gradient_algorithm";
/// What does not depend on the type.
constexpr rung_table rungs(table<false, float>, enumeration);

void require_valid(const char* operation, const softmax_gradient_problem& problem,
                   const device_traits& device) {
    validate_device(operation, device);
    validate_extents(operation, {{"rows", problem.rows}, {"cols", problem.cols}});
    require(problem.element_bytes == 2 || problem.element_bytes == 4, operation, {"problem", "element_bytes"},
            problem.element_bytes, "2 or 4");
}

}  // namespace

std::span<const softmax_gradient_algorithm> softmax_gradient_algorithms() {
    return detail::ids_of<table<false, float>>;
}

std::string_view to_string(softmax_gradient_algorithm algorithm) {
    return rungs.name_of(algorithm);
}

softmax_gradient_algorithm select(const softmax_gradient_problem& problem, const device_traits& device) {
    require_valid("select", problem, device);
    return rungs.choose("select", automatic, problem, device).rung->id;
}

std::string why_not(softmax_gradient_algorithm algorithm, const softmax_gradient_problem& problem,
                    const device_traits& device) {
    rungs.require_known("why_not", "algorithm", algorithm);
    require_valid("why_not", problem, device);
    return rungs.why_not("softmax_gradient", algorithm, problem, device);
}

namespace detail {

template <bool logarithm, class T>
rung_table<softmax_gradient_rung<T>> softmax_gradient_rungs() {
    return {table<logarithm, T>, enumeration};
}

template rung_table<softmax_gradient_rung<float>> softmax_gradient_rungs<false>();
template rung_table<softmax_gradient_rung<float>> softmax_gradient_rungs<true>();
template rung_table<softmax_gradient_rung<half>> softmax_gradient_rungs<false>();
template rung_table<softmax_gradient_rung<half>> softmax_gradient_rungs<true>();
template rung_table<softmax_gradient_rung<bfloat16>> softmax_gradient_rungs<false>();
template rung_table<softmax_gradient_rung<bfloat16>> softmax_gradient_rungs<true>();

}  // namespace detail
}  // namespace heddle
