#include "src/norm/gradient_rungs.hpp"

#include "src/workspace.hpp"
#include <heddle/types.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace heddle {
namespace {

using namespace kernels::norm;
using namespace detail;
using enum norm_gradient_algorithm;

constexpr need<gradient_facts> unit_stride{[](auto& problem, auto&) { return problem.unit_stride; },
                                           "needs the elements of each row and of gamma side by side"};
constexpr need<gradient_facts> row_in_registers{
    holds_gradient_row,
    "takes rows of at most 8192 elements, 65536 where blocks form clusters, and of what shared memory has "
    "room for"};

template <bool centred, class T>
constexpr auto table = std::to_array<norm_gradient_rung<T>>({
#define ROW(name, pays, additions, ...) \
    {name, #name, needs<__VA_ARGS__>, pays, plan_gradient_##name, launch_gradient_##name<centred, T>},
    HEDDLE_NORM_GRADIENT_RUNGS(ROW)
#undef ROW
});

constexpr const char* enumeration = "norm_gradient_algorithm";
/// What does not depend on the type.
constexpr rung_table rungs(table<true, float>, enumeration);

gradient_facts valid_facts(const char* operation, const norm_gradient_problem& p,
                           const device_traits& device) {
    validate_device(operation, device);
    validate_rows(operation, {p.x, p.dy, p.dx}, {p.gamma, p.dgamma, p.dbeta});
    return gradient_facts(p);
}

}  // namespace

std::span<const norm_gradient_algorithm> norm_gradient_algorithms() {
    return detail::ids_of<table<true, float>>;
}

std::string_view to_string(norm_gradient_algorithm algorithm) {
    return rungs.name_of(algorithm);
}

norm_gradient_algorithm select(const norm_gradient_problem& problem, const device_traits& device) {
    return rungs.choose("select", automatic, valid_facts("select", problem, device), device).rung->id;
}

std::string why_not(norm_gradient_algorithm algorithm, const norm_gradient_problem& problem,
                    const device_traits& device) {
    rungs.require_known("why_not", "algorithm", algorithm);
    return rungs.why_not("norm_gradient", algorithm, valid_facts("why_not", problem, device), device);
}

std::int64_t norm_gradient_workspace_bytes(const norm_gradient_problem& problem, const device_traits& device,
                                           norm_gradient_algorithm algorithm) {
    constexpr const char* operation = "norm_gradient_workspace_bytes";
    rungs.require_known(operation, "algorithm", algorithm);
    gradient_facts of = valid_facts(operation, problem, device);
    if (of.rows == 0 || of.cols == 0) return 0;
    of.has_scratch = true;
    std::int64_t bytes = 0;
    for (const bool unit_stride : {true, false})
        for (const bool in_packets : {true, false}) {
            of.unit_stride = unit_stride;
            of.in_packets = in_packets;
            if (!rungs.can_run(algorithm, of, device)) continue;
            bytes = std::max(bytes, scratch_bytes(rungs.choose(operation, algorithm, of, device).plan));
        }
    return workspace_bytes_for(bytes);
}

namespace detail {

template <bool centred, class T>
rung_table<norm_gradient_rung<T>> norm_gradient_rungs() {
    return {table<centred, T>, enumeration};
}

#define INSTANTIATE(T)                                                       \
    template rung_table<norm_gradient_rung<T>> norm_gradient_rungs<false>(); \
    template rung_table<norm_gradient_rung<T>> norm_gradient_rungs<true>();
HEDDLE_ELEMENT_TYPES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace detail
}  // namespace heddle
