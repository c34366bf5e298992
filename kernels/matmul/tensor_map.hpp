#pragma once

#include "kernels/matmul/tensor_layout.hpp"
#include <heddle/error.hpp>
#include <heddle/types.hpp>
#include <heddle/view.hpp>

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <type_traits>

namespace heddle::kernels::matmul {

template <class T>
inline constexpr CUtensorMapDataType tensor_map_type =
    std::is_same_v<T, float>  ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32
    : std::is_same_v<T, half> ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
                              : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;

/// Describes a matrix of which has_tensor_rows() holds to the tensor memory accelerator, which moves boxes of box_rows x
/// box_cols elements to shared memory and back, there in swizzled rows of 128 bytes, or 64, or in plain rows that are longer. A
/// batch of matrices is batch_stride elements apart. As TFLOAT32, floats are rounded to TF32 on their way. The driver's function
/// comes through the runtime: heddle does not link the driver.
template <class T>
CUtensorMap make_tensor_map(const matrix_view<T>& m, int box_rows, int box_cols, std::int64_t batches = 1,
                            std::int64_t batch_stride = 0,
                            CUtensorMapDataType type = tensor_map_type<std::remove_const_t<T>>) {
    using element = std::remove_const_t<T>;
    static const auto encode = [] {
        void* function = nullptr;
        cudaDriverEntryPointQueryResult result{};
        check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault,
                                               &result));
        return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function);
    }();
    const auto unsigned_of = [](std::int64_t n) { return static_cast<cuuint64_t>(n); };
    const std::int64_t stride = m.rows > 1 ? m.row_stride * std::int64_t{sizeof(T)} : tensor_alignment;
    const std::int64_t step = batch_stride > 0 ? batch_stride * std::int64_t{sizeof(T)} : tensor_alignment;
    const cuuint64_t extents[] = {unsigned_of(m.cols), unsigned_of(m.rows), unsigned_of(batches)};
    const cuuint64_t strides[] = {unsigned_of(stride), unsigned_of(step)};
    const cuuint32_t box[] = {static_cast<cuuint32_t>(box_cols), static_cast<cuuint32_t>(box_rows), 1};
    const cuuint32_t steps[] = {1, 1, 1};
    const std::int64_t row_bytes = box_cols * std::int64_t{sizeof(T)};
    const CUtensorMapSwizzle swizzle = row_bytes <= 64    ? CU_TENSOR_MAP_SWIZZLE_64B
                                       : row_bytes <= 128 ? CU_TENSOR_MAP_SWIZZLE_128B
                                                          : CU_TENSOR_MAP_SWIZZLE_NONE;
    CUtensorMap map{};
    const CUresult status = encode(&map, type, 3, const_cast<element*>(m.data), extents, strides, box, steps,
                                   CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                                   CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    check(status == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue);
    return map;
}

}  // namespace heddle::kernels::matmul
