#include "src/norm/gradient_rungs.hpp"

#include "src/rung_queries.hpp"
#include "src/workspace.hpp"
#include <heddle/types.hpp>

#include <algorithm>
#include <array>
#include <cstdint>

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

HEDDLE_RUNG_QUERIES(norm_gradient, table<true, float>)

std::int64_t norm_gradient_workspace_bytes(const norm_gradient_problem& problem, const device_traits& device,
                                           norm_gradient_algorithm algorithm) {
    constexpr const char* operation = "norm_gradient_workspace_bytes";
    rungs.require_known(operation, "algorithm", algorithm);
    gradient_facts facts = valid_facts(operation, problem, device);
    if (facts.rows == 0 || facts.cols == 0) return 0;
    facts.has_scratch = true;
    std::int64_t bytes = 0;
    for (const bool unit_stride : {true, false})
        for (const bool in_packets : {true, false}) {
            facts.unit_stride = unit_stride;
            facts.in_packets = in_packets;
            if (!rungs.can_run(algorithm, facts, device)) continue;
            bytes = std::max(bytes, scratch_bytes(rungs.choose(operation, algorithm, facts, device).plan));
        }
    return workspace_bytes_for(bytes);
}

HEDDLE_RUNG_TABLES_OF_BOTH(norm_gradient)

}  // namespace heddle
