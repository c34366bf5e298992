#include "src/random/rungs.hpp"

#include "src/rung_queries.hpp"
#include "src/validate.hpp"

#include <array>
#include <cstdint>

namespace heddle {
namespace {

using namespace kernels::random;
using namespace detail;
using enum random_algorithm;

constexpr auto table = std::to_array<random_rung>({HEDDLE_RANDOM_RUNGS(HEDDLE_ROW)});

constexpr rung_table rungs(table, "random_algorithm");

random_facts valid_facts(const char* operation, const random_problem& p, const device_traits& device) {
    validate_device(operation, device);
    validate_extents(operation, {{"rows", p.y.rows}, {"cols", p.y.cols}});
    const std::int64_t bytes = p.y.element_bytes;
    require(bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8, operation, {"problem", "element_bytes"},
            bytes, "1, 2, 4 or 8");
    const bool agree = p.x.rows == p.y.rows && p.x.cols == p.y.cols && p.x.element_bytes == bytes;
    require(agree || p.x == matrix_layout{}, operation, "problem", "one of operands that disagree",
            "one that a _problem_of() makes");
    validate_reach(operation, p.y);
    validate_reach(operation, p.x);
    return random_facts(p);
}

}  // namespace

HEDDLE_RUNG_QUERIES(random, table)

detail::rung_table<detail::random_rung> detail::random_rungs() {
    return rungs;
}

}  // namespace heddle
