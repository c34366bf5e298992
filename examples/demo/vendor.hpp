#pragma once

#include "examples/demo/race.hpp"
#include "examples/demo/work.hpp"
#include <heddle/view.hpp>

#include <cuda/stream_ref>

#include <cstdint>
#include <span>

/// The calls of NVIDIA's libraries on `stream`; empty where a library is not installed.
namespace demo::vendor {

// The library's handle is made here and kept until the program ends.

/// cuBLAS: C = A B, square and row-major.
call sgemm(const float* a, const float* b, float* c, int size, cuda::stream_ref stream);

/// cuBLAS: Z = X + Y, square, with rows `row_stride` elements apart.
call sgeam(const float* x, const float* y, float* z, int size, int row_stride, cuda::stream_ref stream);

/// cuBLAS: Y = X^T, square and row-major.
call transposing_sgeam(const float* x, float* y, int size, cuda::stream_ref stream);

/// cuBLAS: the sums of each row or column of X, square and row-major, as its product with `ones`.
call sgemv(along direction, const float* x, const float* ones, float* sums, int size,
           cuda::stream_ref stream);

/// cuDNN: the softmax of each row of X, square and row-major.
call softmax(const float* x, float* y, int size, cuda::stream_ref stream);

/// NPP: a blur with these taps, in device memory, of 8-bit RGB; the border is replicated.
call gauss(heddle::image_view<const std::uint8_t> source, heddle::image_view<std::uint8_t> destination,
           std::span<const float> taps, cuda::stream_ref stream);

}  // namespace demo::vendor
