#include "src/softmax/gradient_rungs.hpp"

#include "src/rung_queries.hpp"
#include <heddle/types.hpp>

#include <array>

namespace heddle {
namespace {

using namespace kernels::softmax;
using namespace detail;
using enum softmax_gradient_algorithm;

template <bool logarithm, class T>
constexpr auto table = std::to_array<softmax_gradient_rung<T>>({
#define ROW(name, pays, additions, ...) \
    {name, #name, needs<__VA_ARGS__>, pays, plan_gradient_##name, launch_gradient_##name<logarithm, T>},
    HEDDLE_SOFTMAX_GRADIENT_RUNGS(ROW)
#undef ROW
});

constexpr const char* enumeration = "softmax_gradient_algorithm";
/// What does not depend on the type.
constexpr rung_table rungs(table<false, float>, enumeration);

gradient_facts valid_facts(const char* operation, const softmax_gradient_problem& p,
                           const device_traits& device) {
    validate_device(operation, device);
    validate_rows(operation, {p.dx, p.y, p.dy});
    return gradient_facts(p);
}

}  // namespace

HEDDLE_RUNG_QUERIES(softmax_gradient, table<false, float>)

HEDDLE_RUNG_TABLES_OF_BOTH(softmax_gradient)

}  // namespace heddle
