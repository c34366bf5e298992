#pragma once

#include "kernels/frame/epilogue.hpp"

#include <cuda.h>

#include <cstdint>

namespace heddle::kernels::frame {

/// A product as its kernel takes it: by value, maps too.
template <class Out, class Activation = matmul_activation>
struct tensor_product {
    CUtensorMap a{};
    CUtensorMap b{};
    CUtensorMap c{};
    int c_map_cols = 0;  ///< tiles that end here at the latest are stored with the map
    Out* c_data = nullptr;
    std::int64_t c_row_stride = 0;
    std::int64_t c_col_stride = 0;
    std::int64_t c_batch_stride = 0;
    int a_batch_step = 0;  ///< 0 where one A serves all
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
