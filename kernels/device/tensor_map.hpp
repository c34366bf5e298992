#pragma once

#include "kernels/device/driver_function.hpp"
#include <heddle/error.hpp>
#include <heddle/types.hpp>

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <type_traits>

namespace heddle::kernels {

template <class T>
inline constexpr CUtensorMapDataType tensor_map_type =
    std::is_same_v<T, std::uint8_t> ? CU_TENSOR_MAP_DATA_TYPE_UINT8
    : std::is_same_v<T, float>      ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32
    : std::is_same_v<T, half>       ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
                                    : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;

/// Describes rows of `cols` elements that lie row_stride elements apart and begin at multiples of 16 bytes to the tensor
/// memory accelerator, which moves boxes of box_rows x box_cols elements to shared memory and back, there in swizzled rows of
/// 128 bytes, or 64, or in plain rows that are longer. A batch of such is batch_stride elements apart. As TFLOAT32, floats are
/// rounded to TF32 on their way.
template <class T>
CUtensorMap make_tensor_map(T* data, std::int64_t rows, std::int64_t cols, std::int64_t row_stride,
                            int box_rows, int box_cols, std::int64_t batches = 1,
                            std::int64_t batch_stride = 0,
                            CUtensorMapDataType type = tensor_map_type<std::remove_const_t<T>>) {
    using element = std::remove_const_t<T>;
    static const auto encode =
        driver_function<decltype(cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled", 12000);
    const auto unsigned_of = [](std::int64_t n) { return static_cast<cuuint64_t>(n); };
    constexpr std::int64_t any = 16;  // where there is but one
    const std::int64_t stride = rows > 1 ? row_stride * std::int64_t{sizeof(T)} : any;
    const std::int64_t step = batch_stride > 0 ? batch_stride * std::int64_t{sizeof(T)} : any;
    const cuuint64_t extents[] = {unsigned_of(cols), unsigned_of(rows), unsigned_of(batches)};
    const cuuint64_t strides[] = {unsigned_of(stride), unsigned_of(step)};
    const cuuint32_t box[] = {static_cast<cuuint32_t>(box_cols), static_cast<cuuint32_t>(box_rows), 1};
    const cuuint32_t steps[] = {1, 1, 1};
    const std::int64_t row_bytes = box_cols * std::int64_t{sizeof(T)};
    const CUtensorMapSwizzle swizzle = row_bytes <= 64    ? CU_TENSOR_MAP_SWIZZLE_64B
                                       : row_bytes <= 128 ? CU_TENSOR_MAP_SWIZZLE_128B
                                                          : CU_TENSOR_MAP_SWIZZLE_NONE;
    CUtensorMap map{};
    const CUresult status = encode(&map, type, 3, const_cast<element*>(data), extents, strides, box, steps,
                                   CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                                   CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    // The runtime gives its statuses the driver's numbers.
    check(static_cast<cudaError_t>(status));
    return map;
}

}  // namespace heddle::kernels
