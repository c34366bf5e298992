#include "src/matrix_reduce/rungs.hpp"

#include "src/validate.hpp"
#include "src/workspace.hpp"
#include <heddle/types.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

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
    {naive, "naive", any_problem, never, plan_naive, launch_naive<Operation, T>},
    {coalesced, "coalesced", any_problem, always, plan_coalesced, launch_coalesced<Operation, T>},
    {vectorized, "vectorized rows", needs<unit_col_stride>, always, plan_vectorized_rows<Operation>,
     launch_vectorized_rows<Operation, T>},
    {vectorized, "vectorized columns", any_problem, has_none_in_rows, plan_vectorized_columns<Operation>,
     launch_vectorized_columns<Operation, T>},
    {vectorized, "vectorized short", needs<short_rows>, always, plan_vectorized_short,
     launch_vectorized_short<Operation, T>},
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
    matrix_facts of = valid_facts(operation, problem, device);
    if (of.rows == 0) return {};
    if (!rungs.can_run(algorithm, of, device)) {
        of.col_stride = 1;
        of.has_scratch = true;
    }
    return rungs.choose(operation, algorithm, of, device).plan;
}

}  // namespace

std::span<const matrix_reduce_algorithm> matrix_reduce_algorithms() {
    return detail::ids_of<table<sum, float>>;
}

std::string_view to_string(matrix_reduce_algorithm algorithm) {
    return rungs.name_of(algorithm);
}

matrix_reduce_algorithm select(const matrix_reduce_problem& problem, const device_traits& device) {
    return rungs.choose("select", automatic, valid_facts("select", problem, device), device).rung->id;
}

std::string why_not(matrix_reduce_algorithm algorithm, const matrix_reduce_problem& problem,
                    const device_traits& device) {
    rungs.require_known("why_not", "algorithm", algorithm);
    return rungs.why_not("matrix_reduce", algorithm, valid_facts("why_not", problem, device), device);
}

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

#define INSTANTIATE(Operation)                                                       \
    template rung_table<matrix_reduce_rung<Operation, float>> matrix_reduce_rungs(); \
    template rung_table<matrix_reduce_rung<Operation, half>> matrix_reduce_rungs();  \
    template rung_table<matrix_reduce_rung<Operation, bfloat16>> matrix_reduce_rungs()

INSTANTIATE(sum);
INSTANTIATE(min);
INSTANTIATE(max);
INSTANTIATE(argmax);
INSTANTIATE(variance);

#undef INSTANTIATE

}  // namespace detail
}  // namespace heddle
