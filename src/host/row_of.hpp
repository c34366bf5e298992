#pragma once

#include <heddle/view.hpp>

#include <cstdint>

namespace heddle::host {

/// A row of a matrix. Its data is null where the matrix has none.
template <class T>
struct row_of {
    T* data;
    std::int64_t stride;

    row_of(const matrix_view<T>& m, std::int64_t row) : data(m.data), stride(m.col_stride) {
        if (data != nullptr) data += row * m.row_stride;
    }
    T& operator[](std::int64_t col) const { return data[col * stride]; }
};

}  // namespace heddle::host
