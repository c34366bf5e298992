#pragma once

#if HEDDLE_HAS_CUBLAS

#include "benchmarks/support/rows.hpp"

#include <cublas_v2.h>

#include <source_location>
#include <string>

namespace heddle::bench {

inline void check(cublasStatus_t status, std::source_location where = std::source_location::current()) {
    if (status != CUBLAS_STATUS_SUCCESS) fail("cuBLAS", cublasGetStatusString(status), where);
}

/// On stream(), with a workspace of 64 MiB; lives until the program ends. Its default mathematics is strict
/// FP32: TF32 has to be asked for.
cublasHandle_t cublas_handle();

std::string cublas_version();

}  // namespace heddle::bench

#endif
