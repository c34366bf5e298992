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

/// Pure. These take any problem.
plan plan_naive(const elementwise_facts& problem, const device_traits& device);
plan plan_grid_stride(const elementwise_facts& problem, const device_traits& device);
plan plan_vectorized(const elementwise_facts& problem, const device_traits& device);

/// These compute the operation of the arguments. The plan is the rung's for these arguments.
void launch_naive(const plan& plan, const arguments& arguments, cudaStream_t stream);
void launch_grid_stride(const plan& plan, const arguments& arguments, cudaStream_t stream);
void launch_vectorized(const plan& plan, const arguments& arguments, cudaStream_t stream);

}  // namespace heddle::kernels::elementwise
