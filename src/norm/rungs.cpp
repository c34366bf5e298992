#include "src/norm/rungs.hpp"

#include "src/rung_queries.hpp"
#include <heddle/types.hpp>

#include <array>

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

HEDDLE_RUNG_QUERIES(norm, table<true, float>)

HEDDLE_RUNG_TABLES_OF_BOTH(norm)

}  // namespace heddle
