#pragma once

#include "benchmarks/support/headers.hpp"

#if HEDDLE_HAS_CUBLAS

namespace heddle::bench {

/// What is done to the sums, after `bias` of one element for each column of C is added: none, relu or gelu_tanh.
using lt_activation = matmul_activation;

/// C = A B, or activation(A B + bias), on stream(), by the fastest of cublasLt's heuristic candidates with 64 MiB of
/// workspace: they are timed when a problem is first met. In and Out are half or bfloat16, or Out is float, or both are: that
/// is multiplied as TF32.
template <class In, class Out>
std::function<void()> best_cublas_lt_matmul(matrix_view<const In> a, matrix_view<const In> b,
                                            matrix_view<Out> c, const Out* bias = nullptr,
                                            lt_activation activation = lt_activation::none);

}  // namespace heddle::bench

#endif
