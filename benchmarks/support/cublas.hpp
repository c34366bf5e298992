#pragma once

#include "benchmarks/support/headers.hpp"

#if HEDDLE_HAS_CUBLAS

#include "benchmarks/support/loaded_library.hpp"
#include "benchmarks/support/vendor_product.hpp"

#include <cublas_v2.h>

namespace heddle::bench {

const loaded_library& cublas_library();

HEDDLE_LOADED(cublas_library, cublasCreate, cublasDnrm2_64, cublasGemmEx_64, cublasGemmGroupedBatchedEx_64,
              cublasGemmStridedBatchedEx_64, cublasGetProperty, cublasGetStatusString, cublasIsamax_64,
              cublasSasum_64, cublasSaxpy_64, cublasSdgmm_64, cublasSdot_64, cublasSetPointerMode,
              cublasSetStream, cublasSetWorkspace, cublasSgeam_64, cublasSgemm_64, cublasSnrm2_64);

inline void check(cublasStatus_t status, std::source_location where = std::source_location::current()) {
    if (status != CUBLAS_STATUS_SUCCESS) fail("cuBLAS", cublasGetStatusString(status), where);
}

/// On stream(), with a workspace of 64 MiB; lives until the program ends. Its default mathematics is strict
/// FP32: TF32 has to be asked for.
cublasHandle_t cublas_handle();

/// While one exists, scalars of cuBLAS are in device memory: its reductions then wait for nothing.
class scalars_on_device {
  public:
    scalars_on_device() { check(cublasSetPointerMode(cublas_handle(), CUBLAS_POINTER_MODE_DEVICE)); }
    ~scalars_on_device() { (void)cublasSetPointerMode(cublas_handle(), CUBLAS_POINTER_MODE_HOST); }
    scalars_on_device(const scalars_on_device&) = delete;
    scalars_on_device& operator=(const scalars_on_device&) = delete;
};

template <class T>
constexpr cudaDataType_t cuda_type = std::is_same_v<T, double>  ? CUDA_R_64F
                                     : std::is_same_v<T, float> ? CUDA_R_32F
                                     : std::is_same_v<T, half>  ? CUDA_R_16F
                                                                : CUDA_R_16BF;

/// To cuBLAS a row-major matrix is the transpose of itself, and C^T = B^T A^T.
template <class T>
bool is_row_major(const matrix_view<T>& m) {
    return m.col_stride == 1;
}
template <class T>
std::int64_t leading_dimension(const matrix_view<T>& m) {
    // The stride of a single line may be anything.
    return is_row_major(m) ? std::max(m.row_stride, m.cols) : std::max(m.col_stride, m.rows);
}
template <class T>
cublasOperation_t order_of(const matrix_view<T>& m) {
    return is_row_major(m) ? CUBLAS_OP_N : CUBLAS_OP_T;
}

/// C = alpha A B + beta C, of one matrix or of a batch.
template <class Out, class In>
void gemm(const vendor_product<Out, In>& p) {
    const auto compute = p.is_tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    if (p.batches == 1)
        check(cublasGemmEx_64(cublas_handle(), order_of(p.b), order_of(p.a), p.c.cols, p.c.rows, p.a.cols,
                              &p.alpha, p.b.data, cuda_type<In>, leading_dimension(p.b), p.a.data,
                              cuda_type<In>, leading_dimension(p.a), &p.beta, p.c.data, cuda_type<Out>,
                              leading_dimension(p.c), compute, CUBLAS_GEMM_DEFAULT));
    else
        check(cublasGemmStridedBatchedEx_64(
            cublas_handle(), order_of(p.b), order_of(p.a), p.c.cols, p.c.rows, p.a.cols, &p.alpha, p.b.data,
            cuda_type<In>, leading_dimension(p.b), p.b_stride, p.a.data, cuda_type<In>,
            leading_dimension(p.a), p.a_stride, &p.beta, p.c.data, cuda_type<Out>, leading_dimension(p.c),
            p.c_stride, p.batches, compute, CUBLAS_GEMM_DEFAULT));
}

}  // namespace heddle::bench

#endif
