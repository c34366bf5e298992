#pragma once

#include "kernels/device/driver_function.hpp"
#include "kernels/device/tensor_map_limits.hpp"
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

/// A tensor map of a matrix, or of a batch of matrices, for the tensor memory accelerator. Rows of `cols` elements lie
/// row_stride elements apart and begin at multiples of 16 bytes. Matrices of a batch lie batch_stride elements apart. The
/// accelerator moves boxes of box_rows x box_cols elements to and from shared memory. Rows of a box are swizzled where they
/// have up to 128 bytes, and plain where they are longer. With the type TFLOAT32 it rounds floats to TF32.
template <class T>
CUtensorMap make_tensor_map(T* data, std::int64_t rows, std::int64_t cols, std::int64_t row_stride,
                            int box_rows, int box_cols, std::int64_t batches = 1,
                            std::int64_t batch_stride = 0,
                            CUtensorMapDataType type = tensor_map_type<std::remove_const_t<T>>) {
    using element = std::remove_const_t<T>;
    static const auto encode =
        driver_function<decltype(cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled", 12000);
    const auto unsigned_of = [](std::int64_t n) { return static_cast<cuuint64_t>(n); };
    constexpr std::int64_t any = tensor_alignment;  // the stride of a dimension with one element
    const std::int64_t stride = rows > 1 ? row_stride * std::int64_t{sizeof(T)} : any;
    const std::int64_t step = batch_stride > 0 ? batch_stride * std::int64_t{sizeof(T)} : any;
    const cuuint64_t extents[] = {unsigned_of(cols), unsigned_of(rows), unsigned_of(batches)};
    const cuuint64_t strides[] = {unsigned_of(stride), unsigned_of(step)};
    const cuuint32_t box[] = {static_cast<cuuint32_t>(box_cols), static_cast<cuuint32_t>(box_rows), 1};
    const cuuint32_t steps[] = {1, 1, 1};
    const int swizzled = swizzle_of_rows(box_cols * std::int64_t{sizeof(T)});
    const CUtensorMapSwizzle swizzle = swizzled == 64    ? CU_TENSOR_MAP_SWIZZLE_64B
                                       : swizzled == 128 ? CU_TENSOR_MAP_SWIZZLE_128B
                                                         : CU_TENSOR_MAP_SWIZZLE_NONE;
    CUtensorMap map{};
    const CUresult status = encode(&map, type, 3, const_cast<element*>(data), extents, strides, box, steps,
                                   CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                                   CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    // The runtime's error codes have the same numbers as the driver's.
    check(static_cast<cudaError_t>(status));
    return map;
}

/// The positions of convolution windows over NHWC images, and the pixels and channels that one copy reads.
struct window_map {
    std::int64_t channels, width, height, images;
    std::int64_t col_stride, row_stride, image_stride;  ///< elements
    int first_x, first_y;  ///< the first pixel of the first window; negative in the padding
    int last_x, last_y;    ///< the first pixel of the last window, less the last pixel of the image
    int step_x, step_y;    ///< from one window to the next
    int pixels, box_channels;
};

/// A tensor map of the windows of a convolution. The tensor memory accelerator reads the same pixel of `pixels` consecutive
/// windows, box_channels of each, into swizzled rows of 128 bytes. Pixels outside of the images are read as zeros. Pixels
/// begin at multiples of 16 bytes. With the type TFLOAT32 floats are rounded to TF32.
template <class T>
CUtensorMap make_window_map(T* data, const window_map& w,
                            CUtensorMapDataType type = tensor_map_type<std::remove_const_t<T>>) {
    using element = std::remove_const_t<T>;
    static const auto encode =
        driver_function<decltype(cuTensorMapEncodeIm2col)>("cuTensorMapEncodeIm2col", 12000);
    const auto unsigned_of = [](std::int64_t n) { return static_cast<cuuint64_t>(n); };
    constexpr std::int64_t any = tensor_alignment;  // the stride of a dimension with one element
    const auto stride = [&](std::int64_t extent, std::int64_t elements) {
        return unsigned_of(extent > 1 ? elements * std::int64_t{sizeof(T)} : any);
    };
    const cuuint64_t extents[] = {unsigned_of(w.channels), unsigned_of(w.width), unsigned_of(w.height),
                                  unsigned_of(w.images)};
    const cuuint64_t strides[] = {stride(w.width, w.col_stride), stride(w.height, w.row_stride),
                                  stride(w.images, w.image_stride)};
    const int first[] = {w.first_x, w.first_y}, last[] = {w.last_x, w.last_y};
    const cuuint32_t steps[] = {1, static_cast<cuuint32_t>(w.step_x), static_cast<cuuint32_t>(w.step_y), 1};
    CUtensorMap map{};
    const CUresult status = encode(&map, type, 4, const_cast<element*>(data), extents, strides, first, last,
                                   static_cast<cuuint32_t>(w.box_channels), static_cast<cuuint32_t>(w.pixels),
                                   steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                   CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    check(static_cast<cudaError_t>(status));
    return map;
}

}  // namespace heddle::kernels
