#include "src/elementwise.hpp"

#include <heddle/host.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace heddle::host {
namespace {

template <class T>
using compute_type = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// Elements a thread takes at a time: enough to hide the cost of starting it, small enough to share out.
constexpr std::int64_t block = 16384;

template <class T, class Function>
void for_each_element(const matrix_view<const T>& x, const matrix_view<const T>& y, const matrix_view<T>& z,
                      Function function) {
    const std::int64_t blocks_per_row = (z.cols + block - 1) / block;
    // Rows shorter than a block are grouped by the static schedule: neighbours go to one thread.
#pragma omp parallel for schedule(static) if (z.rows * z.cols > block)
    for (std::int64_t b = 0; b < z.rows * blocks_per_row; ++b) {
        const std::int64_t row = b / blocks_per_row;
        const std::int64_t first = b % blocks_per_row * block;
        const std::int64_t last = std::min(first + block, z.cols);
        const T* xs = x.data + row * x.row_stride;
        const T* ys = y.data + row * y.row_stride;
        T* zs = z.data + row * z.row_stride;
        if (x.col_stride == 1 && y.col_stride == 1 && z.col_stride == 1) {
#pragma omp simd
            for (std::int64_t i = first; i < last; ++i) zs[i] = function(xs[i], ys[i]);
        } else {
            for (std::int64_t i = first; i < last; ++i)
                zs[i * z.col_stride] = function(xs[i * x.col_stride], ys[i * y.col_stride]);
        }
    }
}

template <class T>
matrix_view<T> as_row(const vector_view<T>& v) {
    return {v.data, 1, v.size, v.size, v.stride};
}

// Types, not functions: a pointer to a function would hide it from the loop that calls it.

struct add_elements {
    template <class T>
    T operator()(T x, T y) const {
        return static_cast<T>(static_cast<compute_type<T>>(x) + static_cast<compute_type<T>>(y));
    }
};

struct sigmoid_element {
    template <class T>
    T operator()(T value, T) const {
        using compute = compute_type<T>;
        const auto x = static_cast<compute>(value);
        const compute e = std::exp(-std::abs(x));
        return static_cast<T>((x < 0 ? e : compute{1}) / (compute{1} + e));
    }
};

}  // namespace

template <class T>
void add(matrix_view<const std::type_identity_t<T>> x, matrix_view<const std::type_identity_t<T>> y,
         matrix_view<T> z) {
    detail::validate_binary("host::add", x, y, z);
    for_each_element(x, y, z, add_elements{});
}

template <class T>
void add(vector_view<const std::type_identity_t<T>> x, vector_view<const std::type_identity_t<T>> y,
         vector_view<T> z) {
    detail::validate_binary("host::add", x, y, z);
    for_each_element(as_row(x), as_row(y), as_row(z), add_elements{});
}

template <class T>
void sigmoid(matrix_view<const std::type_identity_t<T>> x, matrix_view<T> y) {
    detail::validate_unary("host::sigmoid", x, y);
    for_each_element(x, x, y, sigmoid_element{});
}

template <class T>
void sigmoid(vector_view<const std::type_identity_t<T>> x, vector_view<T> y) {
    detail::validate_unary("host::sigmoid", x, y);
    for_each_element(as_row(x), as_row(x), as_row(y), sigmoid_element{});
}

template void add<float>(vector_view<const float>, vector_view<const float>, vector_view<float>);
template void sigmoid<float>(vector_view<const float>, vector_view<float>);
template void add<float>(matrix_view<const float>, matrix_view<const float>, matrix_view<float>);
template void sigmoid<float>(matrix_view<const float>, matrix_view<float>);
template void add<double>(vector_view<const double>, vector_view<const double>, vector_view<double>);
template void sigmoid<double>(vector_view<const double>, vector_view<double>);
template void add<double>(matrix_view<const double>, matrix_view<const double>, matrix_view<double>);
template void sigmoid<double>(matrix_view<const double>, matrix_view<double>);
template void add<half>(vector_view<const half>, vector_view<const half>, vector_view<half>);
template void sigmoid<half>(vector_view<const half>, vector_view<half>);
template void add<half>(matrix_view<const half>, matrix_view<const half>, matrix_view<half>);
template void sigmoid<half>(matrix_view<const half>, matrix_view<half>);
template void add<bfloat16>(vector_view<const bfloat16>, vector_view<const bfloat16>, vector_view<bfloat16>);
template void sigmoid<bfloat16>(vector_view<const bfloat16>, vector_view<bfloat16>);
template void add<bfloat16>(matrix_view<const bfloat16>, matrix_view<const bfloat16>, matrix_view<bfloat16>);
template void sigmoid<bfloat16>(matrix_view<const bfloat16>, matrix_view<bfloat16>);

}  // namespace heddle::host
