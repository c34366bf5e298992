#pragma once

#include "kernels/conv/plan/layout.hpp"
#include "kernels/conv/plan/plan.hpp"
#include "kernels/device/launchers.hpp"
#include <heddle/conv.hpp>
#include <heddle/tensor.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace heddle::kernels::conv {

/// A conv_epilogue whose vectors have as many elements as the output has channels. A null pointer means that there is none.
/// Activation is matmul_activation or a user's function (epilogue.cuh).
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

/// The shapes agree, and the output is not empty. If there is nothing to multiply, alpha and the filters' channels are 0.
template <class In, class Out, class Activation = matmul_activation>
struct arguments {
    tensor_view<const In> input;
    filter_view<const In> filters;
    tensor_view<Out> output;
    conv_geometry geometry{};
    float alpha = 1;
    float beta = 0;
    conv::epilogue<Out, Activation> epilogue{};
    std::byte* scratch = nullptr;  ///< as many bytes as the plan asks for
    unsigned* tickets = nullptr;   ///< zero between calls
};

/// A convolution that is ready for a kernel with the user's function (heddle/conv.cuh).
template <class In, class Out>
struct function_call {
    conv::arguments<In, Out> arguments;
    conv::plan plan;
    conv_algorithm rung;
};

/// Makes the plan's copies in the scratch memory. Returns the arguments whose operands are the copies.
template <class In, class Out>
arguments<In, Out> launch_copies(const plan& plan, const arguments<In, Out>& arguments, cudaStream_t stream);

// Each rung takes its own plan. If In is float, Out is float. If In is half or bfloat16, Out is the same type or float.
// Activation may also be a user's function where it is a parameter.

template <class In, class Out, class Activation = matmul_activation>
void launch_naive(const plan& plan, const arguments<In, Out, Activation>& arguments, cudaStream_t stream);
template <class In, class Out, class Activation = matmul_activation>
void launch_tiled(const plan& plan, const arguments<In, Out, Activation>& arguments, cudaStream_t stream);

HEDDLE_LAUNCHER_OF_PAIRS(depthwise)
HEDDLE_LAUNCHER_OF_PAIRS(mma_sync)
HEDDLE_LAUNCHER_OF_PAIRS(mma_sync_words)
HEDDLE_LAUNCHER_OF_PAIRS(grouped_fma)
// For float.
HEDDLE_LAUNCHER_OF_PAIRS(register_tiled)
HEDDLE_LAUNCHER_OF_PAIRS(register_tiled_words)
// For half and bfloat16.
HEDDLE_LAUNCHER_OF_PAIRS(mma_rows)
HEDDLE_LAUNCHER_OF_PAIRS(mma_sync_elements)
HEDDLE_LAUNCHER_OF_PAIRS(grouped_mma)
HEDDLE_LAUNCHER_OF_PAIRS(wgmma)

/// For im2col, beside matrix products (src/conv/im2col.cpp). Copies the windows of a group to the rows of a matrix.
template <class In, class Out>
void launch_lay_out(const plan& plan, const arguments<In, Out>& arguments, std::int64_t group, In* rows,
                    cudaStream_t stream);
/// For im2col. Stores output from the sums of all channels, pixel after pixel.
template <class In, class Out>
void launch_store_sums(const arguments<In, Out>& arguments, const float* sums, cudaStream_t stream);
/// For kn2row. Stores the shares of a pixel of padding in `taps` outputs: zero times the terms of each tap.
template <class In>
void launch_shares_of_padding(const In* filters, std::int64_t tap_stride, std::int64_t taps,
                              std::int64_t channels, float* shares, cudaStream_t stream);
/// For kn2row. Stores output from the shares of all pixels, `pitch` elements apart, and those of a pixel of padding.
template <class In, class Out>
void launch_add_shares(const arguments<In, Out>& arguments, const float* shares, std::int64_t pitch,
                       const float* of_padding, cudaStream_t stream);
/// For half, bfloat16, and float, which is rounded to TF32.
template <class In, class Out, class Activation>
void launch_persistent(const plan& plan, const arguments<In, Out, Activation>& arguments,
                       cudaStream_t stream);

}  // namespace heddle::kernels::conv
