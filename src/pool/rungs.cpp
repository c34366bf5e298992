#include "src/pool/rungs.hpp"

#include "kernels/pool/tuning/tuning.hpp"
#include "src/pool/validate.hpp"
#include "src/rung_queries.hpp"
#include <heddle/types.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace heddle {
namespace {

using namespace kernels::pool;
using namespace detail;
using enum pool_algorithm;

bool has_large_windows(const pool_problem& problem, const device_traits&) {
    return window_pixels(problem) >= shared_window_pixels;
}

template <class T>
constexpr auto table = std::to_array<pool_rung<T>>({
#define ROW(rung, pays) {rung, #rung, any_problem, pays, plan_##rung, launch_##rung<T>},
#define KERNEL(rung, kernel, pays) \
    {rung, #rung " " #kernel, any_problem, pays, plan_##rung##_##kernel, launch_##rung##_##kernel<T>},
    HEDDLE_POOL_RUNGS(ROW, HEDDLE_NOTHING, KERNEL)
#undef ROW
#undef KERNEL
});

constexpr const char* enumeration = "pool_algorithm";
/// What does not depend on the type.
constexpr rung_table rungs(table<float>, enumeration);

void require_valid(const char* operation, const pool_problem& problem, const device_traits& device) {
    validate_device(operation, device);
    validate_pool_shapes(operation, "problem", problem);
}

bool is_empty_pool(const pool_problem& p) {
    return p.output.count == 0 || p.output.channels == 0;
}

}  // namespace

std::span<const pool_algorithm> pool_algorithms() {
    return ids_of<table<float>>;
}

std::string_view to_string(pool_algorithm algorithm) {
    return rungs.name_of(algorithm);
}

std::span<const std::string_view> pool_kernels(pool_algorithm algorithm) {
    return kernels_of<table<float>>(algorithm);
}

pool_algorithm select(const pool_problem& problem, const device_traits& device) {
    require_valid("select", problem, device);
    if (is_empty_pool(problem)) return naive;
    return rungs.choose("pool", automatic, problem, device).rung->id;
}

std::string why_not(pool_algorithm algorithm, const pool_problem& problem, const device_traits& device,
                    std::string_view kernel) {
    rungs.require_known("why_not", "algorithm", algorithm);
    rungs.require_kernel("why_not", "kernel", algorithm, kernel);
    require_valid("why_not", problem, device);
    return rungs.why_not("pool", algorithm, problem, device, kernel);
}

HEDDLE_RUNG_TABLES(pool, HEDDLE_ELEMENT_TYPES)

}  // namespace heddle
