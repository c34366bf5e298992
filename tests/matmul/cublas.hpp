#pragma once

#include "tests/matmul/operands.hpp"
#include "tests/support/headers.hpp"

#include <cublas_v2.h>

namespace heddle::test {

class cublas {
  public:
    explicit cublas(const stream& on) {
        EXPECT_EQ(cublasCreate(&handle_), CUBLAS_STATUS_SUCCESS);
        EXPECT_EQ(cublasSetStream(handle_, on.get()), CUBLAS_STATUS_SUCCESS);
    }
    ~cublas() { EXPECT_EQ(cublasDestroy(handle_), CUBLAS_STATUS_SUCCESS); }
    cublas(const cublas&) = delete;
    cublas& operator=(const cublas&) = delete;

    // Row-major C = A B, of matrices without gaps, is column-major C^T = B^T A^T.
    void multiply(const shape& s, const float* a, const float* b, float* c) {
        const float one = 1, zero = 0;
        ASSERT_EQ(cublasSgemm_64(handle_, CUBLAS_OP_N, CUBLAS_OP_N, s.n, s.m, s.k, &one, b, s.n, a, s.k,
                                 &zero, c, s.n),
                  CUBLAS_STATUS_SUCCESS);
    }

  private:
    cublasHandle_t handle_ = nullptr;
};

}  // namespace heddle::test
