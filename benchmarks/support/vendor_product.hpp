#pragma once

#include "benchmarks/support/headers.hpp"

namespace heddle::bench {

/// Products C = alpha A B + beta C for cuBLAS. Each matrix has its elements side by side along rows or columns.
template <class Out, class In>
struct vendor_product {
    matrix_view<const In> a, b;
    matrix_view<Out> c;
    std::int64_t batches = 1;
    std::int64_t a_stride = 0, b_stride = 0, c_stride = 0;
    float alpha = 1, beta = 0;
    bool is_tf32 = false;

    // What cublasLt adds before it stores C; the residual with beta 1.
    matmul_activation activation = matmul_activation::none;  ///< none, relu or gelu_tanh
    const Out* row_bias = nullptr;
    matrix_view<Out> residual{};

    [[nodiscard]] bool has_epilogue() const {
        return activation != matmul_activation::none || row_bias != nullptr || residual.data != nullptr;
    }
};

}  // namespace heddle::bench
