#pragma once

#include <heddle/device.hpp>
#include <heddle/types.hpp>
#include <heddle/view.hpp>

#include <cuda/stream_ref>

#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace heddle {

/// The rungs of every elementwise operation; kernels/elementwise/README.md is their ladder.
enum class elementwise_algorithm { automatic, naive, grid_stride, vectorized };

/// All rungs, without `automatic`: what tests, benchmarks and pages go through.
std::span<const elementwise_algorithm> elementwise_algorithms();
std::string_view to_string(elementwise_algorithm algorithm);

struct elementwise_options {
    elementwise_algorithm algorithm = elementwise_algorithm::automatic;
};

/// What the choice of a rung depends on.
struct elementwise_problem {
    std::int64_t rows = 0;
    std::int64_t cols = 0;
    /// Every operand has its elements side by side along the same dimension.
    bool unit_stride = true;
};

/// The rung that `automatic` stands for. Pure.
elementwise_algorithm select(const elementwise_problem& problem, const device_traits& device);

/// z = x + y, element by element; half and bfloat16 are added in float and rounded once.
///
/// Vectors of equal size with any strides, or matrices of equal shape with any row and column strides, in
/// device memory. In place is allowed: z may be exactly x or y; any other overlap of z with an input is an
/// error. Enqueued on `stream`; never synchronises, never allocates; safe under stream capture. Empty views
/// do nothing. T is float, double, half or bfloat16.
///
/// @throws invalid_argument  sizes disagree or are negative, a null or misaligned pointer, a stride
///                           smaller than a row, an overlap, an unknown algorithm (nothing is enqueued)
/// @throws unsupported       `vectorized` was asked for and the operands are not side by side along
///                           one dimension
/// @throws cuda_error        the launch failed
template <class T>
void add(vector_view<const std::type_identity_t<T>> x, vector_view<const std::type_identity_t<T>> y,
         vector_view<T> z, cuda::stream_ref stream, const elementwise_options& options = {});
template <class T>
void add(matrix_view<const std::type_identity_t<T>> x, matrix_view<const std::type_identity_t<T>> y,
         matrix_view<T> z, cuda::stream_ref stream, const elementwise_options& options = {});

/// y = 1 / (1 + exp(-x)), element by element. Right at +-Inf, NaN and denormals; errors in docs/accuracy.md.
///
/// Shapes, aliasing, stream behaviour, types and errors are those of add().
template <class T>
void sigmoid(vector_view<const std::type_identity_t<T>> x, vector_view<T> y, cuda::stream_ref stream,
             const elementwise_options& options = {});
template <class T>
void sigmoid(matrix_view<const std::type_identity_t<T>> x, matrix_view<T> y, cuda::stream_ref stream,
             const elementwise_options& options = {});

}  // namespace heddle
