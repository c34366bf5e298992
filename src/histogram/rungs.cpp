#include "src/histogram/rungs.hpp"

#include "kernels/histogram/plan/parts.hpp"
#include "src/rung_queries.hpp"
#include "src/validate.hpp"

#include <array>
#include <cstdint>

namespace heddle {
namespace {

using namespace kernels::histogram;
using namespace detail;
using enum histogram_algorithm;

constexpr need<histogram_facts> few_bins{
    [](auto& problem, auto&) { return problem.bins <= histogram_max_shared_bins; },
    "takes at most 12288 bins"};
static_assert(histogram_max_shared_bins == 12288);
constexpr need<histogram_facts> parted_bins{
    [](auto& problem, auto&) { return problem.bins <= histogram_max_parted_bins; },
    "takes at most 1048576 bins"};
static_assert(histogram_max_parted_bins == 1048576);
constexpr need<histogram_facts> unit_stride{[](auto& problem, auto&) { return problem.stride == 1; },
                                            "needs x.stride 1"};

/// Where one part of 48 KB holds the bins, `vectorized` is the quickest. With more bins it is where it is predicted to take less
/// than an addition in L2 for each element.
constexpr auto is_quicker_in_parts = [](const histogram_facts& problem, const device_traits& device) {
    return problem.bins <= histogram_max_shared_bins ||
           parts(problem, device).time < time_of_additions(problem);
};

template <class T>
constexpr auto table = std::to_array<histogram_rung<T>>({HEDDLE_HISTOGRAM_RUNGS(HEDDLE_ROW_OF_TYPE)});

constexpr const char* enumeration = "histogram_algorithm";
/// What does not depend on the type.
constexpr rung_table rungs(table<std::uint8_t>, enumeration);

histogram_facts valid_facts(const char* operation, const histogram_problem& p, const device_traits& device) {
    validate_device(operation, device);
    validate_vectors(operation, p.x, p.x);
    require(p.bins >= 1, operation, {"problem", "bins"}, p.bins, "one or more");
    require(p.x.element_bytes == 1 || p.x.element_bytes == 4, operation, {"problem", "element_bytes"},
            p.x.element_bytes, "1 or 4");
    return histogram_facts(p);
}

}  // namespace

HEDDLE_RUNG_QUERIES(histogram, table<std::uint8_t>)

namespace detail {

template <class T>
rung_table<histogram_rung<T>> histogram_rungs() {
    return {table<T>, enumeration};
}

template rung_table<histogram_rung<std::uint8_t>> histogram_rungs();
template rung_table<histogram_rung<float>> histogram_rungs();

}  // namespace detail
}  // namespace heddle
