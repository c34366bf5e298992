#pragma once

#include "kernels/device/launch.hpp"
#include "kernels/elementwise/facts.hpp"
#include <heddle/device.hpp>
#include <heddle/elementwise.hpp>

#include <cuda_runtime_api.h>

namespace heddle::kernels::elementwise {

/// Operands as heddle::detail::prepare_elementwise() leaves them, none of them empty.
using arguments = detail::elementwise_call;

/// How a rung computes a problem.
struct plan {
    launch_extents blocks{1};
    launch_extents threads{1};
    // Only vectorized uses these.
    detail::elementwise_way way = detail::elementwise_way::along_rows;
    int lead = 0;  ///< elements that the first packet of a row lacks
};

/// Each rung has a plan and a launch. The plan is pure. It takes the problems that meet the needs in the rung's row.
/// The launch computes the operation of the arguments, by the plan for them.
#define DECLARE(rung, ...)                                                           \
    plan plan_##rung(const elementwise_facts& problem, const device_traits& device); \
    void launch_##rung(const plan& plan, const arguments& arguments, cudaStream_t stream);
HEDDLE_ELEMENTWISE_RUNGS(DECLARE)
#undef DECLARE

}  // namespace heddle::kernels::elementwise
