#include "kernels/device/math.hpp"
#include "src/matrix_reduce/validate.hpp"
#include "src/require.hpp"
#include <heddle/host.hpp>
#include <heddle/types.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#pragma GCC visibility push(default)

namespace heddle::host {
namespace {

/// How many rows a thread reduces side by side. It is fixed so that the result does not depend on the thread count.
constexpr std::int64_t chunk = 256;
/// Fewer elements run on one thread: starting threads would take longer.
constexpr std::int64_t elements_to_share = 1 << 16;

constexpr double infinity = std::numeric_limits<double>::infinity();

struct plus {
    static constexpr double identity = 0;
    double operator()(double a, double b) const { return a + b; }
};

/// NaN if either is NaN: a NaN in `b` is returned, and every comparison with a NaN in `a` is false.
struct smaller {
    static constexpr double identity = infinity;
    double operator()(double a, double b) const { return b < a || b != b ? b : a; }
};
struct larger {
    static constexpr double identity = -infinity;
    double operator()(double a, double b) const { return b > a || b != b ? b : a; }
};

/// Calls body(first, count) for each chunk of rows.
template <class T, class Body>
void for_each_chunk(const matrix_view<const T>& x, Body body) {
    const std::int64_t chunks = kernels::divide_up(x.rows, chunk);
#pragma omp parallel for schedule(static) if (chunks > 1 && x.rows * x.cols >= elements_to_share)
    for (std::int64_t c = 0; c < chunks; ++c) body(c * chunk, std::min(chunk, x.rows - c * chunk));
}

/// Calls body(i, j, element) for all elements of `count` rows from `first` on, in the order of memory. The elements
/// of each row come in order.
template <class T, class Body>
void for_each_element(const matrix_view<const T>& x, std::int64_t first, std::int64_t count, Body body) {
    const T* data = x.data + first * x.row_stride;
    const auto element = [&](std::int64_t i, std::int64_t j) {
        return static_cast<double>(static_cast<float>(data[i * x.row_stride + j * x.col_stride]));
    };
    if (x.row_stride < x.col_stride)
        for (std::int64_t j = 0; j < x.cols; ++j)
            for (std::int64_t i = 0; i < count; ++i) body(i, j, element(i, j));
    else
        for (std::int64_t i = 0; i < count; ++i)
            for (std::int64_t j = 0; j < x.cols; ++j) body(i, j, element(i, j));
}

template <class Operation, class T>
void combine(const matrix_view<const T>& x, std::int64_t first, std::int64_t count, double* totals) {
    std::fill_n(totals, count, Operation::identity);
    for_each_element(x, first, count,
                     [=](std::int64_t i, std::int64_t, double e) { totals[i] = Operation{}(totals[i], e); });
}

/// Sums are in double, which holds elements of all types exactly and has 29 bits more than float.
template <class Operation, class T, class Result>
void reduce(const matrix_view<const T>& x, const vector_view<Result>& y, std::int64_t divisor) {
    for_each_chunk(x, [&](std::int64_t first, std::int64_t count) {
        double totals[chunk];
        combine<Operation>(x, first, count, totals);
        for (std::int64_t i = 0; i < count; ++i)
            y.data[(first + i) * y.stride] =
                static_cast<Result>(static_cast<float>(totals[i] / static_cast<double>(divisor)));
    });
}

template <class T>
void find_largest(const matrix_view<const T>& x, const vector_view<std::int64_t>& y) {
    for_each_chunk(x, [&](std::int64_t first, std::int64_t count) {
        double largest[chunk];
        std::int64_t* indices = y.data + first * y.stride;
        for (std::int64_t i = 0; i < count; ++i) indices[i * y.stride] = -1;
        for_each_element(x, first, count, [&](std::int64_t i, std::int64_t j, double e) {
            if (j == 0 || e > largest[i] || (e != e && largest[i] == largest[i])) {
                largest[i] = e;
                indices[i * y.stride] = j;
            }
        });
    });
}

/// Takes two passes: the mean, then the squared distances from it.
template <class T>
void variance(const matrix_view<const T>& x, const vector_view<float>& y, std::int64_t divisor) {
    for_each_chunk(x, [&](std::int64_t first, std::int64_t count) {
        double means[chunk], squares[chunk] = {};
        combine<plus>(x, first, count, means);
        for (std::int64_t i = 0; i < count; ++i) means[i] /= static_cast<double>(x.cols);
        for_each_element(x, first, count, [&](std::int64_t i, std::int64_t, double e) {
            squares[i] += (e - means[i]) * (e - means[i]);
        });
        for (std::int64_t i = 0; i < count; ++i)
            y.data[(first + i) * y.stride] = static_cast<float>(squares[i] / static_cast<double>(divisor));
    });
}

}  // namespace

template <class T>
void row_sum(matrix_view<const T> x, vector_view<float> y, const matrix_reduce_options&) {
    heddle::detail::validate_matrix_reduction("host::row_sum", x, x, y);
    reduce<plus>(x, y, 1);
}

template <class T>
void row_mean(matrix_view<const T> x, vector_view<float> y, const matrix_reduce_options&) {
    heddle::detail::validate_matrix_reduction("host::row_mean", x, x, y);
    reduce<plus>(x, y, x.cols);
}

template <class T>
void row_min(matrix_view<const T> x, vector_view<std::type_identity_t<T>> y, const matrix_reduce_options&) {
    heddle::detail::validate_matrix_reduction("host::row_min", x, x, y);
    reduce<smaller>(x, y, 1);
}

template <class T>
void row_max(matrix_view<const T> x, vector_view<std::type_identity_t<T>> y, const matrix_reduce_options&) {
    heddle::detail::validate_matrix_reduction("host::row_max", x, x, y);
    reduce<larger>(x, y, 1);
}

template <class T>
void row_argmax(matrix_view<const T> x, vector_view<std::int64_t> y, const matrix_reduce_options&) {
    heddle::detail::validate_matrix_reduction("host::row_argmax", x, x, y);
    find_largest(x, y);
}

template <class T>
void row_variance(matrix_view<const T> x, vector_view<float> y, const matrix_reduce_options& options) {
    heddle::detail::validate_matrix_reduction("host::row_variance", x, x, y);
    heddle::detail::require(options.correction >= 0, "host::row_variance", {"options", "correction"},
                            options.correction, "zero or more");
    variance(x, y, std::max<std::int64_t>(x.cols - options.correction, 0));
}

template <class T>
void column_sum(matrix_view<const T> x, vector_view<float> y, const matrix_reduce_options&) {
    heddle::detail::validate_matrix_reduction("host::column_sum", x, transposed(x), y);
    reduce<plus>(transposed(x), y, 1);
}

template <class T>
void column_mean(matrix_view<const T> x, vector_view<float> y, const matrix_reduce_options&) {
    heddle::detail::validate_matrix_reduction("host::column_mean", x, transposed(x), y);
    reduce<plus>(transposed(x), y, x.rows);
}

template <class T>
void column_min(matrix_view<const T> x, vector_view<std::type_identity_t<T>> y,
                const matrix_reduce_options&) {
    heddle::detail::validate_matrix_reduction("host::column_min", x, transposed(x), y);
    reduce<smaller>(transposed(x), y, 1);
}

template <class T>
void column_max(matrix_view<const T> x, vector_view<std::type_identity_t<T>> y,
                const matrix_reduce_options&) {
    heddle::detail::validate_matrix_reduction("host::column_max", x, transposed(x), y);
    reduce<larger>(transposed(x), y, 1);
}

template <class T>
void column_argmax(matrix_view<const T> x, vector_view<std::int64_t> y, const matrix_reduce_options&) {
    heddle::detail::validate_matrix_reduction("host::column_argmax", x, transposed(x), y);
    find_largest(transposed(x), y);
}

template <class T>
void column_variance(matrix_view<const T> x, vector_view<float> y, const matrix_reduce_options& options) {
    heddle::detail::validate_matrix_reduction("host::column_variance", x, transposed(x), y);
    heddle::detail::require(options.correction >= 0, "host::column_variance", {"options", "correction"},
                            options.correction, "zero or more");
    variance(transposed(x), y, std::max<std::int64_t>(x.rows - options.correction, 0));
}

#define INSTANTIATE(T)                                                                                     \
    template void row_sum<T>(matrix_view<const T>, vector_view<float>, const matrix_reduce_options&);      \
    template void row_mean<T>(matrix_view<const T>, vector_view<float>, const matrix_reduce_options&);     \
    template void row_min<T>(matrix_view<const T>, vector_view<T>, const matrix_reduce_options&);          \
    template void row_max<T>(matrix_view<const T>, vector_view<T>, const matrix_reduce_options&);          \
    template void row_argmax<T>(matrix_view<const T>, vector_view<std::int64_t>,                           \
                                const matrix_reduce_options&);                                             \
    template void row_variance<T>(matrix_view<const T>, vector_view<float>, const matrix_reduce_options&); \
    template void column_sum<T>(matrix_view<const T>, vector_view<float>, const matrix_reduce_options&);   \
    template void column_mean<T>(matrix_view<const T>, vector_view<float>, const matrix_reduce_options&);  \
    template void column_min<T>(matrix_view<const T>, vector_view<T>, const matrix_reduce_options&);       \
    template void column_max<T>(matrix_view<const T>, vector_view<T>, const matrix_reduce_options&);       \
    template void column_argmax<T>(matrix_view<const T>, vector_view<std::int64_t>,                        \
                                   const matrix_reduce_options&);                                          \
    template void column_variance<T>(matrix_view<const T>, vector_view<float>, const matrix_reduce_options&);
HEDDLE_ELEMENT_TYPES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace heddle::host

#pragma GCC visibility pop
