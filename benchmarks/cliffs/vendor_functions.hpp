#pragma once

#include "benchmarks/support/cublas.hpp"
#include "benchmarks/support/cudnn.hpp"
#include "benchmarks/support/npp.hpp"
#include "benchmarks/support/rows.hpp"
#include "tests/fuzz/draw.hpp"
#include <heddle/buffer.hpp>
#include <heddle/copy.hpp>
#include <heddle/error.hpp>
#include <heddle/types.hpp>
#include <heddle/view.hpp>

#include <heddle_baselines.hpp>

#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

/// The vendors' functions that drawn cases alone call, loaded when the program runs.
namespace heddle::bench::cliffs {

using namespace fuzz;

#if HEDDLE_HAS_CUBLAS
HEDDLE_LOADED(cublas_library, cublasAsumEx_64);
HEDDLE_LOADED(cublas_library, cublasDaxpy_64);
HEDDLE_LOADED(cublas_library, cublasDgeam_64);
HEDDLE_LOADED(cublas_library, cublasDotEx_64);
HEDDLE_LOADED(cublas_library, cublasHSHgemvStridedBatched_64);
HEDDLE_LOADED(cublas_library, cublasHSSgemvStridedBatched_64);
HEDDLE_LOADED(cublas_library, cublasNrm2Ex_64);
HEDDLE_LOADED(cublas_library, cublasSgemv_64);
HEDDLE_LOADED(cublas_library, cublasTSSgemvStridedBatched_64);
HEDDLE_LOADED(cublas_library, cublasTSTgemvStridedBatched_64);

/// C = alpha A + beta B of float or double, each with its elements side by side along rows or columns.
template <class T>
void geam(matrix_view<T> a, double alpha, matrix_view<T> b, double beta, matrix_view<T> c) {
    if (!is_row_major(c)) {
        a = transposed(a);
        b = transposed(b);
        c = transposed(c);
    }
    for (const matrix_view<T>& m : {a, b, c})
        if (m.col_stride != 1 && m.row_stride != 1) throw unsupported("steps along both dimensions");
    const T factors[] = {static_cast<T>(alpha), static_cast<T>(beta)};
    if constexpr (std::is_same_v<T, double>)
        check(cublasDgeam_64(cublas_handle(), order_of(a), order_of(b), c.cols, c.rows, &factors[0], a.data,
                             leading_dimension(a), &factors[1], b.data, leading_dimension(b), c.data,
                             leading_dimension(c)));
    else
        check(cublasSgeam_64(cublas_handle(), order_of(a), order_of(b), c.cols, c.rows, &factors[0], a.data,
                             leading_dimension(a), &factors[1], b.data, leading_dimension(b), c.data,
                             leading_dimension(c)));
}
#endif

#if HEDDLE_HAS_CUDNN
HEDDLE_LOADED(cudnn_library, cudnnBatchNormalizationForwardTraining);
HEDDLE_LOADED(cudnn_library, cudnnSetTensor4dDescriptorEx);
HEDDLE_LOADED(cudnn_library, cudnnSoftmaxBackward);

template <class T>
constexpr cudnnDataType_t cudnn_type = std::is_same_v<T, float>  ? CUDNN_DATA_FLOAT
                                       : std::is_same_v<T, half> ? CUDNN_DATA_HALF
                                                                 : CUDNN_DATA_BFLOAT16;

/// cuDNN counts in ints.
inline int narrow(std::int64_t extent) {
    if (extent > std::numeric_limits<int>::max()) throw unsupported("more than an int counts");
    return static_cast<int>(extent);
}

/// Its last dimensions but those of one element are a matrix with these strides.
template <class T>
void set_tensor(const cudnn_tensor& tensor, std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w,
                std::int64_t row_stride, std::int64_t col_stride) {
    const bool is_of_rows = h == 1 && w == 1;  // n x c, or h x w
    const int strides[] = {narrow(is_of_rows ? row_stride : h * row_stride),
                           narrow(is_of_rows ? col_stride : h * row_stride),
                           narrow(is_of_rows ? 1 : row_stride), narrow(is_of_rows ? 1 : col_stride)};
    check(cudnnSetTensor4dDescriptorEx(tensor, cudnn_type<T>, narrow(n), narrow(c), narrow(h), narrow(w),
                                       strides[0], strides[1], strides[2], strides[3]));
}

/// It may read 16 bytes at a time.
template <class T>
bool is_aligned_for_cudnn(const placement& lie) {
    return lie.offset * std::int64_t{sizeof(T)} % 16 == 0;
}
#endif

#if HEDDLE_HAS_NPP
/// NPP's function for a number of channels.
template <class Function>
Function* npp_function(std::int64_t channels, const loaded_function<Function>& one,
                       const loaded_function<Function>& three, const loaded_function<Function>& four) {
    if (channels == 2) throw unsupported("two channels");
    return channels == 1 ? one : channels == 3 ? three : four;
}

/// In device memory, as NPP takes them: in reverse order.
inline std::shared_ptr<device_buffer<float>> npp_taps(const std::vector<double>& taps) {
    std::vector<float> reversed;
    for (auto tap = taps.rbegin(); tap != taps.rend(); ++tap) reversed.push_back(static_cast<float>(*tap));
    auto buffer =
        std::make_shared<device_buffer<float>>(static_cast<std::int64_t>(reversed.size()), stream());
    copy_and_wait(reversed, *buffer, stream());
    return buffer;
}
#endif

}  // namespace heddle::bench::cliffs
