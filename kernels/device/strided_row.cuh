#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <type_traits>

namespace heddle::kernels {

/// A row of a matrix of any strides. The call operator reads an element as float.
template <class View>
class strided_row {
  public:
    __device__ strided_row(const View& matrix, std::int64_t row)
        : matrix_(matrix), data_(matrix.data + row * matrix.row_stride) {}

    __device__ float operator()(std::int64_t col) const {
        return static_cast<float>(data_[col * matrix_.col_stride]);
    }
    __device__ void store(std::int64_t col, float value) const {
        data_[col * matrix_.col_stride] = static_cast<std::remove_reference_t<decltype(*data_)>>(value);
    }

  private:
    const View& matrix_;
    decltype(View::data) data_;
};

}  // namespace heddle::kernels
