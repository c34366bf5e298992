#pragma once

#include <heddle/matmul.hpp>

#include <cstdint>

namespace heddle::kernels::frame {

/// A matmul_epilogue whose views all have the shape of C: a bias has stride 0 along one side. A null pointer means that
/// there is none. Activation is matmul_activation or a user's function (epilogue.cuh).
template <class Out, class Activation = matmul_activation>
struct epilogue {
    Activation activation{};
    float scale = 1;
    const Out* row_bias = nullptr;
    std::int64_t row_bias_stride = 0;
    const Out* column_bias = nullptr;
    std::int64_t column_bias_stride = 0;
    const Out* residual = nullptr;
    std::int64_t residual_row_stride = 0;
    std::int64_t residual_col_stride = 0;
    bool is_identity = true;
};

template <class Out>
epilogue<Out> transposed(const epilogue<Out>& e) {
    return {e.activation,      e.scale,    e.column_bias,         e.column_bias_stride,  e.row_bias,
            e.row_bias_stride, e.residual, e.residual_col_stride, e.residual_row_stride, e.is_identity};
}

}  // namespace heddle::kernels::frame
