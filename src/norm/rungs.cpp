#include "src/norm/rungs.hpp"

#include <heddle/types.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace heddle {
namespace {

using namespace kernels::norm;
using namespace detail;
using enum norm_algorithm;

constexpr need<norm_facts> unit_stride{[](auto& problem, auto&) { return problem.unit_stride; },
                                       "needs the elements of each row, of gamma and of beta side by side"};

template <bool centred, class T>
constexpr auto table = std::to_array<norm_rung<T>>({
#define ROW(name, pays, additions, ...) \
    {name, #name, needs<__VA_ARGS__>, pays, plan_##name, launch_##name<centred, T>},
    HEDDLE_NORM_RUNGS(ROW)
#undef ROW
});

constexpr const char* enumeration = "norm_algorithm";
/// What does not depend on the type.
constexpr rung_table rungs(table<true, float>, enumeration);

norm_facts valid_facts(const char* operation, const norm_problem& p, const device_traits& device) {
    validate_device(operation, device);
    validate_rows(operation, {p.y, p.x}, {p.gamma, p.beta});
    return norm_facts(p);
}

}  // namespace

std::span<const norm_algorithm> norm_algorithms() {
    return detail::ids_of<table<true, float>>;
}

std::string_view to_string(norm_algorithm algorithm) {
    return rungs.name_of(algorithm);
}

norm_algorithm select(const norm_problem& problem, const device_traits& device) {
    return rungs.choose("select", automatic, valid_facts("select", problem, device), device).rung->id;
}

std::string why_not(norm_algorithm algorithm, const norm_problem& problem, const device_traits& device) {
    rungs.require_known("why_not", "algorithm", algorithm);
    return rungs.why_not("norm", algorithm, valid_facts("why_not", problem, device), device);
}

namespace detail {

template <bool centred, class T>
rung_table<norm_rung<T>> norm_rungs() {
    return {table<centred, T>, enumeration};
}

#define INSTANTIATE(T)                                     \
    template rung_table<norm_rung<T>> norm_rungs<false>(); \
    template rung_table<norm_rung<T>> norm_rungs<true>();
HEDDLE_ELEMENT_TYPES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace detail
}  // namespace heddle
