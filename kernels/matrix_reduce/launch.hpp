#pragma once

#include "kernels/device/launchers.hpp"
#include "kernels/matrix_reduce/facts.hpp"
#include "kernels/matrix_reduce/tuning/generic.hpp"
#include <heddle/device.hpp>
#include <heddle/matrix_reduce.hpp>
#include <heddle/types.hpp>
#include <heddle/view.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace heddle::kernels::matrix_reduce {

/// The operations, defined for the device in operations.cuh. A mean is a sum with a divisor.
#define HEDDLE_MATRIX_REDUCE_OPERATIONS(OPERATION, ...) \
    OPERATION(sum __VA_OPT__(, ) __VA_ARGS__)           \
    OPERATION(min __VA_OPT__(, ) __VA_ARGS__)           \
    OPERATION(max __VA_OPT__(, ) __VA_ARGS__)           \
    OPERATION(argmax __VA_OPT__(, ) __VA_ARGS__)        \
    OPERATION(variance __VA_OPT__(, ) __VA_ARGS__)
#define DECLARE(Operation) struct Operation;
HEDDLE_MATRIX_REDUCE_OPERATIONS(DECLARE)
#undef DECLARE

template <class Operation, class T>
using result_type = std::conditional_t<
    std::is_same_v<Operation, argmax>, std::int64_t,
    std::conditional_t<std::is_same_v<Operation, min> || std::is_same_v<Operation, max>, T, float>>;

/// The largest state of any operation.
inline constexpr std::int64_t max_state_bytes = 16;
/// Row i has ticket i % max_tickets. Where blocks share rows, the last block to draw a ticket combines the partials of
/// all rows that have it.
inline constexpr int max_tickets = 1024;

/// The rows of x are reduced; there is at least one. col_stride is 1 where x has one column or none;
/// row_stride is 1 where it has one row and col_stride is not 1.
template <class Operation, class T>
struct arguments {
    matrix_view<const T> x;
    vector_view<result_type<Operation, T>> y;
    float divisor = 1;              ///< for sums and variances
    unsigned* tickets = nullptr;    ///< max_tickets, zero before and after; null without partials
    std::byte* partials = nullptr;  ///< as many states as the plan says; null where there are none
};

/// Whether rows are so short that a thread takes each. Lanes take rows of whole packets. x's address does not matter.
inline bool has_short_rows(const matrix_facts& x) {
    using limits = row_sharing;
    if (is_across_rows(x)) return x.cols <= limits::thread_elements_across;
    const std::int64_t bytes = x.cols * x.element_bytes;
    return x.col_stride == 1 && x.row_stride == x.cols && x.cols <= limits::thread_bytes &&
           bytes <= limits::thread_bytes && bytes % packet_bytes != 0;
}

/// How a rung computes a problem.
struct plan {
    std::int64_t blocks = 1;   ///< each has one row or several
    std::int64_t sharers = 1;  ///< vectorized: blocks that share the same rows
    std::int64_t threads = 0;  ///< per block
    bool is_across = false;    ///< coalesced and short rows: a warp reads across rows
    int lanes = 0;             ///< vectorized rows: lanes per row, 0 for a block; columns: lanes side by side
    int width = 1;             ///< vectorized columns: elements per load
    std::int64_t range = 0;    ///< vectorized columns: elements of each row that a block takes

    // Upper bounds, the same at any alignment and for all operations:
    std::int64_t partials = 0;  ///< states in the workspace
    std::int64_t depth = 0;     ///< combinations from any one element to the result
};

inline std::int64_t scratch_bytes(const plan& plan) {
    return plan.partials * max_state_bytes;
}

/// Each kernel has a plan and a launch. The plan is pure. It takes the problems that meet the needs in the kernel's row.
/// The launch reduces the rows by the plan for these arguments.
#define DECLARE(rung, ...)                                                      \
    template <class Operation>                                                  \
    plan plan_##rung(const matrix_facts& problem, const device_traits& device); \
    template <class Operation, class T>                                         \
    void launch_##rung(const plan& plan, const arguments<Operation, T>& arguments, cudaStream_t stream);
#define DECLARE_KERNEL(rung, kernel, ...) DECLARE(rung##_##kernel)
HEDDLE_MATRIX_REDUCE_RUNGS(DECLARE, HEDDLE_NOTHING, DECLARE_KERNEL)
#undef DECLARE
#undef DECLARE_KERNEL

}  // namespace heddle::kernels::matrix_reduce
