#pragma once

#include "benchmarks/support/cublas.hpp"
#include "benchmarks/support/cudnn.hpp"
#include "benchmarks/support/npp.hpp"
#include "tests/fuzz/draw.hpp"

/// Vendors' functions that only drawn cases call. They are loaded when the program runs.
namespace heddle::bench::cliffs {

using namespace fuzz;

#if HEDDLE_HAS_CUBLAS
HEDDLE_LOADED(cublas_library, cublasAsumEx_64, cublasDaxpy_64, cublasDgeam_64, cublasDotEx_64,
              cublasHSHgemvStridedBatched_64, cublasHSSgemvStridedBatched_64, cublasNrm2Ex_64, cublasSgemv_64,
              cublasTSSgemvStridedBatched_64, cublasTSTgemvStridedBatched_64);

/// C = alpha A + beta B of float or double. The elements of each lie side by side along rows or columns.
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

/// A product whose C is a column.
template <class Out, class In>
void gemv(const vendor_product<Out, In>& p) {
    const bool by_rows = is_row_major(p.a);
    const auto order = by_rows ? CUBLAS_OP_T : CUBLAS_OP_N;
    const std::int64_t m = by_rows ? p.a.cols : p.a.rows, n = by_rows ? p.a.rows : p.a.cols;
    const std::int64_t ld = leading_dimension(p.a);
    const auto call = [&](const auto& function) {
        check(function(cublas_handle(), order, m, n, &p.alpha, p.a.data, ld, 0, p.b.data, p.b.row_stride, 0,
                       &p.beta, p.c.data, p.c.row_stride, 0, 1));
    };
    if constexpr (std::is_same_v<In, float>)
        check(cublasSgemv_64(cublas_handle(), order, m, n, &p.alpha, p.a.data, ld, p.b.data, p.b.row_stride,
                             &p.beta, p.c.data, p.c.row_stride));
    else if constexpr (std::is_same_v<In, half> && std::is_same_v<Out, half>)
        call(cublasHSHgemvStridedBatched_64);
    else if constexpr (std::is_same_v<In, half>)
        call(cublasHSSgemvStridedBatched_64);
    else if constexpr (std::is_same_v<Out, bfloat16>)
        call(cublasTSTgemvStridedBatched_64);
    else
        call(cublasTSSgemvStridedBatched_64);
}
#endif

#if HEDDLE_HAS_CUDNN
HEDDLE_LOADED(cudnn_library, cudnnBatchNormalizationForwardTraining, cudnnSoftmaxBackward);

/// cuDNN may read 16 bytes at a time.
template <class T>
bool is_aligned_for_cudnn(const placement& lie) {
    return lie.offset * std::int64_t{sizeof(T)} % 16 == 0;
}
#endif

#if HEDDLE_HAS_NPP
/// The taps in device memory and in reverse order, as NPP takes them.
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
