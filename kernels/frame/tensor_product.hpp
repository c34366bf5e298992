#pragma once

#include "kernels/frame/epilogue.hpp"

#include <cuda.h>

#include <cstdint>

namespace heddle::kernels::frame {

/// A product in the form that kernels take: by value, with its tensor maps.
template <class Out, class Activation = matmul_activation>
struct tensor_product {
    CUtensorMap a{};
    CUtensorMap b{};
    CUtensorMap c{};
    int c_map_cols = 0;  ///< tiles that end at this column or before are stored by the map
    Out* c_data = nullptr;
    std::int64_t c_row_stride = 0;
    std::int64_t c_col_stride = 0;
    std::int64_t c_batch_stride = 0;
    int a_batch_step = 0;  ///< 0 where all products have the same A
    int b_batch_step = 0;
    int m = 0;
    int n = 0;
    int k = 0;
    bool a_k_major = true;  ///< rows of A, and columns of B, lie along k
    bool b_k_major = true;
    float alpha = 0;
    float beta = 0;
    frame::epilogue<Out, Activation> epilogue;
};

}  // namespace heddle::kernels::frame
