#pragma once

#include "kernels/conv/plan/depthwise.hpp"
#include "kernels/conv/plan/layout.hpp"
#include "kernels/device/launch.hpp"
#include "kernels/frame/tile_scheduler.hpp"
#include <heddle/conv.hpp>
#include <heddle/device.hpp>
#include <heddle/tensor.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace heddle::kernels::conv {

/// A conv_epilogue whose vectors are as long as the output has channels. Null: none.
template <class Out>
struct epilogue {
    matmul_activation activation = matmul_activation::none;
    const Out* bias = nullptr;
    std::int64_t bias_stride = 0;
    const Out* scale = nullptr;
    std::int64_t scale_stride = 0;
    tensor_view<const Out> residual{};
    bool residual_before_activation = true;
    bool is_identity = true;
};

/// Shapes in agreement, the output not empty. Where nothing is multiplied, alpha and the channels of the filters are 0.
template <class In, class Out>
struct arguments {
    tensor_view<const In> input;
    filter_view<const In> filters;
    tensor_view<Out> output;
    conv_geometry geometry{};
    float alpha = 1;
    float beta = 0;
    conv::epilogue<Out> epilogue{};
};

/// How a rung does a problem.
struct plan {
    launch_extents blocks;
    launch_extents threads;
    depthwise_kernel depthwise{};
    std::int64_t depthwise_rows = 0, depthwise_runs = 0;  ///< of tiles, in an image and in a row
    std::size_t tile = 0;  ///< of persistent_tiles
    frame::tile_schedule schedule{};
    std::int64_t scratch = 0;  ///< bytes
};

constexpr std::int64_t scratch_bytes(const plan& plan) {
    return plan.scratch;
}

/// Pure. These take any problem.
plan plan_naive(const conv_problem& problem, const device_traits& device);
plan plan_tiled(const conv_problem& problem, const device_traits& device);

/// Needs as many groups as input channels, and as output channels; filters of at most depthwise_most_taps.
plan plan_depthwise(const conv_problem& problem, const device_traits& device);

/// Need windows and filters that maps describe (plan/windows.hpp).
plan plan_wgmma(const conv_problem& problem, const device_traits& device);
plan plan_persistent(const conv_problem& problem, const device_traits& device);

// Each takes its own plan. In is float, and Out then too; or half or bfloat16, and Out the same or float.

template <class In, class Out>
void launch_naive(const plan& plan, const arguments<In, Out>& arguments, cudaStream_t stream);
template <class In, class Out>
void launch_tiled(const plan& plan, const arguments<In, Out>& arguments, cudaStream_t stream);
template <class In, class Out>
void launch_depthwise(const plan& plan, const arguments<In, Out>& arguments, cudaStream_t stream);
/// half and bfloat16
template <class In, class Out>
void launch_wgmma(const plan& plan, const arguments<In, Out>& arguments, cudaStream_t stream);
template <class In, class Out>
void launch_persistent(const plan& plan, const arguments<In, Out>& arguments, cudaStream_t stream);

}  // namespace heddle::kernels::conv
