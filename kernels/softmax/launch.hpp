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

/// x and y have the same shape and at least one element; y is x or apart from it.
template <class T>
struct arguments {
    matrix_view<const T> x;
    matrix_view<T> y;
};

/// How a rung does a problem.
struct plan {
    row_plan rows;  ///< all of it for vectorized, the blocks and threads alone for naive and online
    int width = 1;  ///< elements that are loaded at once
    strip_plan strips = {};
};

/// Pure. These take any problem.
plan plan_naive(const softmax_facts& problem, const device_traits& device);
plan plan_online(const softmax_facts& problem, const device_traits& device);
plan plan_strips(const softmax_facts& problem, const device_traits& device);
/// Needs unit_stride.
plan plan_vectorized(const softmax_facts& problem, const device_traits& device);

/// These compute softmax or its logarithm, by the rung's plan for these arguments.
template <bool logarithm, class T>
void launch_naive(const plan& plan, const arguments<T>& arguments, cudaStream_t stream);
template <bool logarithm, class T>
void launch_online(const plan& plan, const arguments<T>& arguments, cudaStream_t stream);
template <bool logarithm, class T>
void launch_strips(const plan& plan, const arguments<T>& arguments, cudaStream_t stream);
template <bool logarithm, class T>
void launch_vectorized(const plan& plan, const arguments<T>& arguments, cudaStream_t stream);

/// What a gradient takes: all have the same shape and at least one element; dx is y, dy or apart from both.
template <class T>
struct gradient_arguments {
    matrix_view<const T> y;
    matrix_view<const T> dy;
    matrix_view<T> dx;
};

struct gradient_plan {
    row_plan rows;  ///< of naive and block_per_row, the blocks and threads alone
    int width = 1;  ///< elements that are loaded at once
};

/// Pure. These take any problem.
gradient_plan plan_gradient_naive(const gradient_facts& problem, const device_traits& device);
gradient_plan plan_gradient_block_per_row(const gradient_facts& problem, const device_traits& device);
/// Needs unit_stride.
gradient_plan plan_gradient_vectorized(const gradient_facts& problem, const device_traits& device);

template <bool logarithm, class T>
void launch_gradient_naive(const gradient_plan& plan, const gradient_arguments<T>& arguments,
                           cudaStream_t stream);
template <bool logarithm, class T>
void launch_gradient_block_per_row(const gradient_plan& plan, const gradient_arguments<T>& arguments,
                                   cudaStream_t stream);
template <bool logarithm, class T>
void launch_gradient_vectorized(const gradient_plan& plan, const gradient_arguments<T>& arguments,
                                cudaStream_t stream);

}  // namespace heddle::kernels::softmax
