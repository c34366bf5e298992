#pragma once

#include "kernels/device/launchers.hpp"
#include "kernels/reduce/facts.hpp"
#include <heddle/device.hpp>
#include <heddle/reduce.hpp>
#include <heddle/types.hpp>
#include <heddle/view.hpp>

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <type_traits>

namespace heddle::kernels::reduce {

/// The operations, defined for the device in operations.cuh.
struct sum;
struct mean;
struct min;
struct max;
struct argmin;
struct argmax;
struct dot;
struct norm1;
struct norm2;
struct count_nonzero;

/// REDUCTION(T, Operation, ...) for each operation that all rungs have, and each of its types.
#define HEDDLE_REDUCTIONS_ON_ALL_RUNGS(REDUCTION, ...)             \
    HEDDLE_NUMBER_TYPES(REDUCTION, sum __VA_OPT__(, ) __VA_ARGS__) \
    HEDDLE_NUMBER_TYPES(REDUCTION, min __VA_OPT__(, ) __VA_ARGS__) \
    HEDDLE_NUMBER_TYPES(REDUCTION, max __VA_OPT__(, ) __VA_ARGS__)

/// The same for all operations.
#define HEDDLE_REDUCTIONS(REDUCTION, ...)                                    \
    HEDDLE_REDUCTIONS_ON_ALL_RUNGS(REDUCTION __VA_OPT__(, ) __VA_ARGS__)     \
    HEDDLE_NUMBER_TYPES(REDUCTION, mean __VA_OPT__(, ) __VA_ARGS__)          \
    HEDDLE_NUMBER_TYPES(REDUCTION, argmin __VA_OPT__(, ) __VA_ARGS__)        \
    HEDDLE_NUMBER_TYPES(REDUCTION, argmax __VA_OPT__(, ) __VA_ARGS__)        \
    HEDDLE_NUMBER_TYPES(REDUCTION, dot __VA_OPT__(, ) __VA_ARGS__)           \
    HEDDLE_NUMBER_TYPES(REDUCTION, norm1 __VA_OPT__(, ) __VA_ARGS__)         \
    HEDDLE_NUMBER_TYPES(REDUCTION, count_nonzero __VA_OPT__(, ) __VA_ARGS__) \
    HEDDLE_FLOATING_TYPES(REDUCTION, norm2 __VA_OPT__(, ) __VA_ARGS__)

template <class Operation, class... Others>
inline constexpr bool is_any_of = (std::is_same_v<Operation, Others> || ...);

/// The operations that have a rung, as the list of rungs names them. The state of sum, min and max is an element, or is
/// added up like one.
template <class Operation>
inline constexpr bool sum_min_max = is_any_of<Operation, sum, min, max>;
template <class Operation>
inline constexpr bool every_operation = true;

template <class Operation, class T>
struct result_of {
    using type = sum_type<T>;
};
template <class T>
struct result_of<mean, T> {
    using type = mean_type<T>;
};
template <class T>
struct result_of<min, T> {
    using type = T;
};
template <class T>
struct result_of<max, T> {
    using type = T;
};
template <class T>
struct result_of<argmin, T> {
    using type = std::int64_t;
};
template <class T>
struct result_of<argmax, T> {
    using type = std::int64_t;
};
template <class T>
struct result_of<count_nonzero, T> {
    using type = std::int64_t;
};

template <class Operation, class T>
using result_type = result_of<Operation, T>::type;

/// The largest size of a partial.
inline constexpr std::int64_t max_state_bytes = 16;

/// The memory that `ticket` points at.
inline constexpr std::int64_t ticket_bytes = 4096;

/// x may be empty; its stride is 1 where it has one element or none. Only dot has y, which is as large as x.
template <class Operation, class T>
struct arguments {
    vector_view<const T> x;
    vector_view<const T> y;
    result_type<Operation, T>* result;
    unsigned* ticket = nullptr;  ///< zero before and after
    void* partials = nullptr;    ///< plan.partials states; if 0, both are null
};

/// Enough for any size: each launch makes one value of at least 256.
inline constexpr int max_launches = 8;

/// How a rung computes a problem.
struct plan {
    /// Blocks of each launch, and 0 after the last. The first launch reads x, others read the results of the one before.
    std::array<std::int64_t, max_launches> blocks{};
    std::int64_t threads = 0;  ///< per block
    std::int64_t cluster = 1;  ///< single_pass: blocks per cluster, a divisor of all blocks
    bool has_rings = false;    ///< single_pass: x comes through rings in shared memory
    int width = 1;             ///< single_pass: elements per load
    bool y_is_alike = false;   ///< single_pass: loads of y are as wide as those of x

    // Upper bounds, the same for all operations:
    std::int64_t partials = 0;  ///< states in the workspace
    std::int64_t depth = 0;     ///< combinations from any one element to the result
};

inline std::int64_t scratch_bytes(const plan& plan) {
    return plan.partials * max_state_bytes;
}

/// Each rung has a plan and a launch. The plan is pure. It takes the problems that meet the needs in the rung's row. The
/// launch reduces x by the plan for these arguments; the rung's row names the operations that have it.
#define DECLARE(rung, ...)                                                      \
    plan plan_##rung(const reduce_facts& problem, const device_traits& device); \
    template <class Operation, class T>                                         \
    void launch_##rung(const plan& plan, const arguments<Operation, T>& arguments, cudaStream_t stream);
HEDDLE_REDUCE_RUNGS(DECLARE)
#undef DECLARE

}  // namespace heddle::kernels::reduce
