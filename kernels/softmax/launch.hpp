#pragma once

#include "kernels/device/launch.hpp"
#include "kernels/device/row_plan.hpp"
#include "kernels/device/strip_plan.hpp"
#include "kernels/softmax/facts.hpp"
#include <heddle/device.hpp>
#include <heddle/softmax.hpp>
#include <heddle/view.hpp>

#include <cuda_runtime_api.h>

namespace heddle::kernels::softmax {

/// x and y have one shape, with at least one element. y is x, or overlaps nothing of it.
template <class T>
struct arguments {
    matrix_view<const T> x;
    matrix_view<T> y;
};

/// How a rung computes a problem.
struct plan {
    row_plan rows;  ///< naive and online use only its blocks and threads
    int width = 1;  ///< elements per load
    strip_plan strips = {};
};

/// Each rung has a plan and a launch. The plan is pure. It takes the problems that meet the needs in the rung's row.
/// The launch computes softmax or its logarithm, by the plan for these arguments.
#define DECLARE(rung, ...)                                                       \
    plan plan_##rung(const softmax_facts& problem, const device_traits& device); \
    template <bool logarithm, class T>                                           \
    void launch_##rung(const plan& plan, const arguments<T>& arguments, cudaStream_t stream);
HEDDLE_SOFTMAX_RUNGS(DECLARE)
#undef DECLARE

/// y, dy and dx have one shape, with at least one element. dx is y or dy, or overlaps neither.
template <class T>
struct gradient_arguments {
    matrix_view<const T> y;
    matrix_view<const T> dy;
    matrix_view<T> dx;
};

/// How a rung of a gradient computes a problem.
struct gradient_plan {
    row_plan rows;  ///< naive and block_per_row use only its blocks and threads
    int width = 1;  ///< elements per load
};

/// The same for the rungs of the gradients.
#define DECLARE(rung, ...)                                                                          \
    gradient_plan plan_gradient_##rung(const gradient_facts& problem, const device_traits& device); \
    template <bool logarithm, class T>                                                              \
    void launch_gradient_##rung(const gradient_plan& plan, const gradient_arguments<T>& arguments,  \
                                cudaStream_t stream);
HEDDLE_SOFTMAX_GRADIENT_RUNGS(DECLARE)
#undef DECLARE

}  // namespace heddle::kernels::softmax
