#pragma once

#include "kernels/conv/plan/layout.hpp"
#include "kernels/conv/plan/plan.hpp"
#include <heddle/conv.hpp>
#include <heddle/tensor.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace heddle::kernels::conv {

/// A conv_epilogue whose vectors are as long as the output has channels. Null: none.
/// Activation: matmul_activation, or a user's function (epilogue.cuh).
template <class Out, class Activation = matmul_activation>
struct epilogue {
    Activation activation{};
    const Out* bias = nullptr;
    std::int64_t bias_stride = 0;
    const Out* scale = nullptr;
    std::int64_t scale_stride = 0;
    tensor_view<const Out> residual{};
    bool residual_before_activation = true;
    bool is_identity = true;
};

/// Shapes in agreement, the output not empty. Where nothing is multiplied, alpha and the channels of the filters are 0.
template <class In, class Out, class Activation = matmul_activation>
struct arguments {
    tensor_view<const In> input;
    filter_view<const In> filters;
    tensor_view<Out> output;
    conv_geometry geometry{};
    float alpha = 1;
    float beta = 0;
    conv::epilogue<Out, Activation> epilogue{};
    std::byte* scratch = nullptr;  ///< as many bytes as the plan says
};

/// A convolution that is ready for a kernel with the user's function (heddle/conv.cuh).
template <class In, class Out>
struct function_call {
    conv::arguments<In, Out> arguments;
    conv::plan plan;
    conv_algorithm rung;
};

// Each takes its own plan. In is float, and Out then too; or half or bfloat16, and Out the same or float. Activation: also a
// user's function.

template <class In, class Out, class Activation = matmul_activation>
void launch_naive(const plan& plan, const arguments<In, Out, Activation>& arguments, cudaStream_t stream);
template <class In, class Out, class Activation = matmul_activation>
void launch_tiled(const plan& plan, const arguments<In, Out, Activation>& arguments, cudaStream_t stream);
/// float
template <class In, class Out>
void launch_register_tiled(const plan& plan, const arguments<In, Out>& arguments, cudaStream_t stream);
template <class In, class Out>
void launch_register_tiled_words(const plan& plan, const arguments<In, Out>& arguments, cudaStream_t stream);
template <class In, class Out>
void launch_depthwise(const plan& plan, const arguments<In, Out>& arguments, cudaStream_t stream);
/// What im2col does beside the products of matrices (src/conv/im2col.cpp): the windows of a group, as rows of a matrix.
template <class In, class Out>
void launch_lay_out(const plan& plan, const arguments<In, Out>& arguments, std::int64_t group, In* rows,
                    cudaStream_t stream);
/// Sums of all channels, pixel after pixel, become output.
template <class In, class Out>
void launch_store_sums(const arguments<In, Out>& arguments, const float* sums, cudaStream_t stream);
template <class In, class Out>
void launch_mma_sync(const plan& plan, const arguments<In, Out>& arguments, cudaStream_t stream);
template <class In, class Out>
void launch_mma_sync_words(const plan& plan, const arguments<In, Out>& arguments, cudaStream_t stream);
/// half and bfloat16
template <class In, class Out>
void launch_mma_rows(const plan& plan, const arguments<In, Out>& arguments, cudaStream_t stream);
template <class In, class Out>
void launch_mma_sync_elements(const plan& plan, const arguments<In, Out>& arguments, cudaStream_t stream);
template <class In, class Out>
void launch_grouped_fma(const plan& plan, const arguments<In, Out>& arguments, cudaStream_t stream);
/// half and bfloat16
template <class In, class Out>
void launch_grouped_mma(const plan& plan, const arguments<In, Out>& arguments, cudaStream_t stream);
/// half and bfloat16
template <class In, class Out>
void launch_wgmma(const plan& plan, const arguments<In, Out>& arguments, cudaStream_t stream);
/// float is rounded to TF32
template <class In, class Out, class Activation>
void launch_persistent(const plan& plan, const arguments<In, Out, Activation>& arguments,
                       cudaStream_t stream);

}  // namespace heddle::kernels::conv
