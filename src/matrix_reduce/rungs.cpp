#include "src/matrix_reduce/rungs.hpp"

#include "src/rung_queries.hpp"
#include "src/validate.hpp"
#include "src/workspace.hpp"
#include <heddle/types.hpp>

#include <array>
#include <cstdint>

namespace heddle {
namespace {

using namespace kernels::matrix_reduce;
using namespace detail;
using enum matrix_reduce_algorithm;

constexpr need<matrix_facts> unit_col_stride{[](auto& problem, auto&) { return problem.col_stride == 1; },
                                             "needs a stride of 1"};
constexpr need<matrix_facts> short_rows{[](auto& problem, auto&) { return has_short_rows(problem); },
                                        "needs rows of a few elements without gaps"};
bool has_none_in_rows(const matrix_facts& problem, const device_traits&) {
    return is_across_rows(problem) || problem.col_stride != 1;
}

template <class Operation, class T>
constexpr auto table = std::to_array<matrix_reduce_rung<Operation, T>>({
#define ROW(rung, pays, ...) \
    {rung, #rung, needs<__VA_ARGS__>, pays, plan_##rung<Operation>, launch_##rung<Operation, T>},
#define KERNEL(rung, kernel, pays, ...) \
    {rung,                              \
     #rung " " #kernel,                 \
     needs<__VA_ARGS__>,                \
     pays,                              \
     plan_##rung##_##kernel<Operation>, \
     launch_##rung##_##kernel<Operation, T>},
    HEDDLE_MATRIX_REDUCE_RUNGS(ROW, HEDDLE_NOTHING, KERNEL)
#undef ROW
#undef KERNEL
});

constexpr const char* enumeration = "matrix_reduce_algorithm";
/// What depends neither on the operation nor on the type.
constexpr rung_table rungs(table<sum, float>, enumeration);

matrix_facts valid_facts(const char* operation, const matrix_reduce_problem& p, const device_traits& device) {
    validate_device(operation, device);
    validate_extents(operation, {{"rows", p.x.rows}, {"cols", p.x.cols}});
    require(p.x.element_bytes == 2 || p.x.element_bytes == 4, operation, {"problem", "element_bytes"},
            p.x.element_bytes, "2 or 4");
    return matrix_facts(p);
}

/// What a rung would do with a problem that it cannot run is what it does with a dense matrix, and with scratch memory.
plan plan_of(const char* operation, matrix_reduce_algorithm algorithm, const matrix_reduce_problem& problem,
             const device_traits& device) {
    rungs.require_known(operation, {"options", "algorithm"}, algorithm);
    matrix_facts facts = valid_facts(operation, problem, device);
    if (facts.rows == 0) return {};
    if (!rungs.can_run(algorithm, facts, device)) {
        facts.col_stride = 1;
        facts.has_scratch = true;
    }
    return rungs.choose(operation, algorithm, facts, device).plan;
}

}  // namespace

HEDDLE_RUNG_QUERIES(matrix_reduce, table<sum, float>)

std::int64_t matrix_reduce_workspace_bytes(const matrix_reduce_problem& problem, const device_traits& device,
                                           matrix_reduce_algorithm algorithm) {
    matrix_reduce_problem with = problem;
    with.has_scratch = true;
    return detail::workspace_bytes_for(
        scratch_bytes(plan_of("matrix_reduce_workspace_bytes", algorithm, with, device)));
}

std::int64_t matrix_reduce_depth(const matrix_reduce_problem& problem, const device_traits& device,
                                 matrix_reduce_algorithm algorithm) {
    return plan_of("matrix_reduce_depth", algorithm, problem, device).depth;
}

namespace detail {

template <class Operation, class T>
rung_table<matrix_reduce_rung<Operation, T>> matrix_reduce_rungs() {
    return {table<Operation, T>, enumeration};
}

#define INSTANTIATE(T, Operation) template rung_table<matrix_reduce_rung<Operation, T>> matrix_reduce_rungs();
#define INSTANTIATE_OPERATION(Operation) HEDDLE_ELEMENT_TYPES(INSTANTIATE, Operation)
HEDDLE_MATRIX_REDUCE_OPERATIONS(INSTANTIATE_OPERATION)
#undef INSTANTIATE_OPERATION
#undef INSTANTIATE

}  // namespace detail
}  // namespace heddle
