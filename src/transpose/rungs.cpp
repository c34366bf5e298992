#include "src/transpose/rungs.hpp"

#include "kernels/transpose/tuning/tuning.hpp"
#include "src/rung_queries.hpp"
#include "src/validate.hpp"
#include <heddle/types.hpp>

#include <algorithm>
#include <array>
#include <cstdint>

namespace heddle {
namespace {

using namespace kernels::transpose;
using namespace detail;
using enum transpose_algorithm;

constexpr need<transpose_facts> unit_stride{
    [](auto& problem, auto&) { return problem.is_copy || problem.unit_stride; },
    "needs the elements of source and of destination side by side along one dimension"};

bool is_narrow(const transpose_facts& problem, const device_traits&) {
    return std::min(problem.rows, problem.cols) * problem.element_bytes < narrow_bytes;
}
bool fills_tiles(const transpose_facts& problem, const device_traits& device) {
    return !is_narrow(problem, device);
}

template <class T>
constexpr auto table = std::to_array<transpose_rung<T>>({HEDDLE_TRANSPOSE_RUNGS(HEDDLE_ROW_OF_TYPE)});

constexpr const char* enumeration = "transpose_algorithm";
/// What does not depend on the type.
constexpr rung_table rungs(table<std::uint32_t>, enumeration);

transpose_facts valid_facts(const char* operation, const transpose_problem& p, const device_traits& device) {
    validate_device(operation, device);
    validate_extents(operation, {{"rows", p.source.rows}, {"cols", p.source.cols}});
    require(p.source.element_bytes >= 1 && p.source.element_bytes <= 8, operation,
            {"problem", "element_bytes"}, p.source.element_bytes, "1 to 8");
    const matrix_layout to = transposed(p.destination);
    require(
        to.rows == p.source.rows && to.cols == p.source.cols && to.element_bytes == p.source.element_bytes,
        operation, "problem", "one of operands that disagree", "one that a _problem_of() makes");
    return facts_of(p);
}

}  // namespace

HEDDLE_RUNG_QUERIES(transpose, table<std::uint32_t>)

HEDDLE_RUNG_TABLES(transpose, HEDDLE_WORD_TYPES)

}  // namespace heddle
