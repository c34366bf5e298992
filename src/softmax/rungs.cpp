#include "src/softmax/rungs.hpp"

#include <heddle/types.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace heddle {
namespace {

using namespace kernels::softmax;
using namespace detail;
using enum softmax_algorithm;

constexpr need<softmax_facts> unit_stride{[](auto& problem, auto&) { return problem.unit_stride; },
                                          "needs each row's elements side by side"};

template <bool logarithm, class T>
constexpr auto table = std::to_array<softmax_rung<T>>({
#define ROW(name, pays, additions, rescalings, ...) \
    {name, #name, needs<__VA_ARGS__>, pays, plan_##name, launch_##name<logarithm, T>},
    HEDDLE_SOFTMAX_RUNGS(ROW)
#undef ROW
});

constexpr const char* enumeration = "softmax_algorithm";
/// What does not depend on the type.
constexpr rung_table rungs(table<false, float>, enumeration);

softmax_facts valid_facts(const char* operation, const softmax_problem& p, const device_traits& device) {
    validate_device(operation, device);
    validate_rows(operation, {p.y, p.x});
    return softmax_facts(p);
}

}  // namespace

std::span<const softmax_algorithm> softmax_algorithms() {
    return detail::ids_of<table<false, float>>;
}

std::string_view to_string(softmax_algorithm algorithm) {
    return rungs.name_of(algorithm);
}

softmax_algorithm select(const softmax_problem& problem, const device_traits& device) {
    return rungs.choose("select", automatic, valid_facts("select", problem, device), device).rung->id;
}

std::string why_not(softmax_algorithm algorithm, const softmax_problem& problem,
                    const device_traits& device) {
    rungs.require_known("why_not", "algorithm", algorithm);
    return rungs.why_not("softmax", algorithm, valid_facts("why_not", problem, device), device);
}

namespace detail {

template <bool logarithm, class T>
rung_table<softmax_rung<T>> softmax_rungs() {
    return {table<logarithm, T>, enumeration};
}

#define INSTANTIATE(T)                                           \
    template rung_table<softmax_rung<T>> softmax_rungs<false>(); \
    template rung_table<softmax_rung<T>> softmax_rungs<true>();
HEDDLE_ELEMENT_TYPES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace detail
}  // namespace heddle
