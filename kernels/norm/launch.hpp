#pragma once

#include "kernels/device/launch.hpp"
#include "kernels/device/row_plan.hpp"
#include "kernels/device/strip_plan.hpp"
#include <heddle/device.hpp>
#include <heddle/norm.hpp>
#include <heddle/view.hpp>

#include <cuda_runtime_api.h>

namespace heddle::kernels::norm {

/// x and y are of equal shape, with at least one element; y is x or apart from all others. gamma and beta have
/// x.cols elements, or none.
template <class T>
struct arguments {
    matrix_view<const T> x;
    vector_view<const T> gamma;
    vector_view<const T> beta;
    matrix_view<T> y;
    float epsilon;
};

/// How a rung does a problem.
struct plan {
    row_plan rows;  ///< of naive and block_per_row, the blocks and threads alone
    int width = 1;  ///< elements that are loaded at once
    strip_plan strips = {};
};

/// Pure. These take any problem.
plan plan_naive(const norm_problem& problem, const device_traits& device);
plan plan_block_per_row(const norm_problem& problem, const device_traits& device);
plan plan_strips(const norm_problem& problem, const device_traits& device);
/// Needs unit_stride.
plan plan_vectorized(const norm_problem& problem, const device_traits& device);

/// These compute layer_norm, which subtracts the mean, where `centred`, and else rms_norm, by the rung's plan for these
/// arguments.
template <bool centred, class T>
void launch_naive(const plan& plan, const arguments<T>& arguments, cudaStream_t stream);
template <bool centred, class T>
void launch_block_per_row(const plan& plan, const arguments<T>& arguments, cudaStream_t stream);
template <bool centred, class T>
void launch_strips(const plan& plan, const arguments<T>& arguments, cudaStream_t stream);
template <bool centred, class T>
void launch_vectorized(const plan& plan, const arguments<T>& arguments, cudaStream_t stream);

}  // namespace heddle::kernels::norm
