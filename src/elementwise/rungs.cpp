#include "src/elementwise/rungs.hpp"

#include "src/rung_queries.hpp"
#include "src/validate.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace heddle {
namespace {

using namespace kernels::elementwise;
using namespace detail;
using enum elementwise_algorithm;

constexpr auto table = std::to_array<elementwise_rung>({HEDDLE_ELEMENTWISE_RUNGS(HEDDLE_ROW)});

constexpr rung_table rungs(table, "elementwise_algorithm");

elementwise_facts valid_facts(const char* operation, const elementwise_problem& p,
                              const device_traits& device) {
    validate_device(operation, device);
    require(p.inputs >= 1 && p.inputs <= 3, operation, {"problem", "inputs"}, p.inputs, "1 to 3");
    const auto inputs = std::span(p.operands).first(static_cast<std::size_t>(p.inputs));
    const matrix_layout& output = p.operands[inputs.size()];
    validate_extents(operation, {{"rows", output.rows}, {"cols", output.cols}});
    const std::int64_t bytes = output.element_bytes;
    require(bytes == 2 || bytes == 4 || bytes == 8, operation, {"problem", "element_bytes"}, bytes,
            "2, 4 or 8");
    validate_reach(operation, output);
    for (const matrix_layout& m : inputs) {
        require(m.rows == output.rows && m.cols == output.cols && m.element_bytes == bytes, operation,
                "problem", "one of operands that disagree", "one that a _problem_of() makes");
        validate_reach(operation, m);
    }
    return facts_of(p);
}

}  // namespace

HEDDLE_RUNG_QUERIES(elementwise, table)

detail::rung_table<detail::elementwise_rung> detail::elementwise_rungs() {
    return rungs;
}

}  // namespace heddle
