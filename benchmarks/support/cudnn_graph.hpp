#pragma once

#include "benchmarks/support/headers.hpp"

#if HEDDLE_HAS_CUDNN && HEDDLE_HAS_CUDNN_FRONTEND

#include "benchmarks/support/layers.hpp"

namespace heddle::bench {

/// Dense tensors in device memory.
struct cudnn_operands {
    void* input = nullptr;
    void* filters = nullptr;
    void* bias = nullptr;
    void* output = nullptr;
};

/// relu(conv + bias), of one of conv_types, as one graph of cuDNN's. Of all plans that its heuristics offer (modes A and B, and
/// the fallback), each timed as rows of this temperature are, the fastest; they are tried once for each shape and type.
/// Sums in float32; f32 without tensor cores, so in FFMA, by Winograd's algorithm too.
/// @throws unsupported  cuDNN has no plan
std::function<void()> best_cudnn_conv(const conv_shape& shape, std::string_view type, temperature temperature,
                                      const cudnn_operands& operands);

}  // namespace heddle::bench

#endif
