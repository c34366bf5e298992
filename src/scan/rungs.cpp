#include "src/scan/rungs.hpp"

#include "src/rung_queries.hpp"
#include "src/validate.hpp"
#include "src/workspace.hpp"
#include <heddle/types.hpp>

#include <array>
#include <cstdint>

namespace heddle {
namespace {

using namespace kernels::scan;
using namespace detail;
using enum scan_algorithm;

/// look_back is one launch that moves each element once, at any stride; a small scan is one block of it. Without scratch memory
/// one block of reduce_then_scan does a large one.
template <class T>
constexpr auto table = std::to_array<scan_rung<T>>({HEDDLE_SCAN_RUNGS(HEDDLE_ROW_OF_TYPE)});

constexpr const char* enumeration = "scan_algorithm";
/// What does not depend on the type.
constexpr rung_table rungs(table<float>, enumeration);

scan_facts valid_facts(const char* operation, const scan_problem& p, const device_traits& device) {
    validate_device(operation, device);
    validate_vectors(operation, p.x, p.y);
    require(p.y.element_bytes == 4 || p.y.element_bytes == 8, operation, {"problem", "element_bytes"},
            p.y.element_bytes, "4 or 8");
    return scan_facts(p);
}

/// What a rung would do without scratch memory that it needs is what it does with it.
plan plan_of(const char* operation, scan_algorithm algorithm, const scan_problem& problem,
             const device_traits& device) {
    rungs.require_known(operation, {"options", "algorithm"}, algorithm);
    scan_facts facts = valid_facts(operation, problem, device);
    if (!rungs.can_run(algorithm, facts, device)) facts.has_scratch = true;
    return rungs.choose(operation, algorithm, facts, device).plan;
}

}  // namespace

HEDDLE_RUNG_QUERIES(scan, table<float>)

std::int64_t scan_workspace_bytes(const scan_problem& problem, const device_traits& device,
                                  scan_algorithm algorithm) {
    scan_problem with = problem;
    with.has_scratch = true;
    return detail::workspace_bytes_for(
        scratch_bytes(plan_of("scan_workspace_bytes", algorithm, with, device)));
}

std::int64_t scan_depth(const scan_problem& problem, const device_traits& device, scan_algorithm algorithm) {
    return plan_of("scan_depth", algorithm, problem, device).depth;
}

HEDDLE_RUNG_TABLES(scan, HEDDLE_WIDE_TYPES)

}  // namespace heddle
