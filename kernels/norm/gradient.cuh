#pragma once

#include "kernels/norm/launch.hpp"
#include "kernels/norm/scale.cuh"

#include <cstdint>

namespace heddle::kernels::norm {

/// A row's element x is normalised to (x - mean) * scale.
struct row_statistics {
    float mean;
    float scale;
};

/// Two sums: of g and of g z over a row, or of the terms of dbeta and of dgamma over a column.
struct sum_pair {
    float plain;
    float scaled;

    __device__ friend sum_pair operator+(const sum_pair& a, const sum_pair& b) {
        return {a.plain + b.plain, a.scaled + b.scaled};
    }
};

/// dx of an element, from the means of g and of g z over its row.
__device__ inline float gradient_of(float g, float z, float scale, float mean_of_g, float mean_of_gz) {
    return (g - mean_of_g - z * mean_of_gz) * scale;
}

/// The elements of a row of x and dy as floats, whatever their strides.
template <class T>
struct gradient_row {
    const gradient_arguments<T>& a;
    const T* x_data;
    const T* dy_data;

    __device__ gradient_row(const gradient_arguments<T>& arguments, std::int64_t row)
        : a(arguments), x_data(a.x.data + row * a.x.row_stride), dy_data(a.dy.data + row * a.dy.row_stride) {}

    __device__ float x(std::int64_t col) const { return static_cast<float>(x_data[col * a.x.col_stride]); }
    __device__ float dy(std::int64_t col) const { return static_cast<float>(dy_data[col * a.dy.col_stride]); }
    __device__ float g(std::int64_t col) const { return dy(col) * parameter(a.gamma, col, 1.0f); }
};

/// The term of a row in the sums of a column.
template <class T>
__device__ sum_pair column_term(const gradient_arguments<T>& a, const row_statistics* statistics,
                                std::int64_t row, std::int64_t col) {
    const gradient_row<T> in_row(a, row);
    const float dy = in_row.dy(col);
    return {dy, dy * ((in_row.x(col) - statistics[row].mean) * statistics[row].scale)};
}

/// Writes those of a column's sums that are wanted.
template <class T>
__device__ void store_column(const gradient_arguments<T>& a, std::int64_t col, const sum_pair& sums) {
    if (a.dgamma.size > 0) a.dgamma.data[col * a.dgamma.stride] = static_cast<T>(sums.scaled);
    if (a.dbeta.size > 0) a.dbeta.data[col * a.dbeta.stride] = static_cast<T>(sums.plain);
}

template <class T>
bool has_column_sums(const gradient_arguments<T>& a) {
    return a.dgamma.size > 0 || a.dbeta.size > 0;
}

}  // namespace heddle::kernels::norm
