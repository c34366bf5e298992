#include "src/softmax/rungs.hpp"

#include "src/rung_queries.hpp"
#include <heddle/types.hpp>

#include <array>

namespace heddle {
namespace {

using namespace kernels::softmax;
using namespace detail;
using enum softmax_algorithm;

template <bool logarithm, class T>
constexpr auto table = std::to_array<softmax_rung<T>>({
#define ROW(name, pays, additions, rescalings, ...) \
    {name, #name, needs<__VA_ARGS__>, pays, plan_##name, launch_##name<logarithm, T>},
    HEDDLE_SOFTMAX_RUNGS(ROW)
#undef ROW
});

constexpr const char* enumeration = "softmax_algorithm";
/// What does not depend on the type.
constexpr rung_table rungs(table<false, float>, enumeration);

softmax_facts valid_facts(const char* operation, const softmax_problem& p, const device_traits& device) {
    validate_device(operation, device);
    validate_rows(operation, {p.y, p.x});
    return softmax_facts(p);
}

}  // namespace

HEDDLE_RUNG_QUERIES(softmax, table<false, float>)

HEDDLE_RUNG_TABLES_OF_BOTH(softmax)

}  // namespace heddle
