#pragma once

#include "kernels/device/tensor_map.hpp"
#include <heddle/view.hpp>

#include <cstdint>
#include <type_traits>

namespace heddle::kernels::matmul {

/// The map of a matrix of which has_tensor_rows() holds, or of a batch; where the stride is 0, one matrix serves all.
template <class T>
CUtensorMap make_tensor_map(const matrix_view<T>& m, int box_rows, int box_cols, std::int64_t batches = 1,
                            std::int64_t batch_stride = 0,
                            CUtensorMapDataType type = tensor_map_type<std::remove_const_t<T>>) {
    return kernels::make_tensor_map(m.data, m.rows, m.cols, m.row_stride, box_rows, box_cols,
                                    batch_stride == 0 ? 1 : batches, batch_stride, type);
}

}  // namespace heddle::kernels::matmul
