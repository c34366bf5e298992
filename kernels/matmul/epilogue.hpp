#pragma once

#include <heddle/matmul.hpp>
#include <heddle/view.hpp>

#include <cstdint>
#include <type_traits>

namespace heddle::kernels::matmul {

/// A matmul_epilogue whose views are all of C's shape: a bias has a stride of 0 along one side. Null: none.
/// Activation: matmul_activation, or a user's function (epilogue.cuh).
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

/// float products have none.
struct no_epilogue {
    static constexpr bool is_identity = true;
};

constexpr no_epilogue transposed(no_epilogue e) {
    return e;
}

template <class In, class Out, class Activation>
using epilogue_of = std::conditional_t<std::is_same_v<In, float>, no_epilogue, epilogue<Out, Activation>>;

}  // namespace heddle::kernels::matmul
