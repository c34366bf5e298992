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

/// The rungs of the matrix product; kernels/matmul/README.md is their ladder.
enum class matmul_algorithm { automatic, naive, coalesced, tiled, shared_memory, register_tiled, pipelined };

/// All rungs, without `automatic`: what tests, benchmarks and pages go through.
std::span<const matmul_algorithm> matmul_algorithms();
std::string_view to_string(matmul_algorithm algorithm);

struct matmul_options {
    float alpha = 1;
    /// Where it is 0, C is not read: it may hold anything, NaN too.
    float beta = 0;
    matmul_algorithm algorithm = matmul_algorithm::automatic;
};

/// What the choice of a rung depends on.
struct matmul_problem {
    std::int64_t m = 0;
    std::int64_t n = 0;
    std::int64_t k = 0;
    /// A and B each have their elements side by side along a row or along a column.
    bool unit_stride = true;
};

/// The rung that `automatic` stands for. Pure.
matmul_algorithm select(const matmul_problem& problem, const device_traits& device);

/// C (m x n) = alpha * A (m x k) * B (k x n) + beta * C.
///
/// Matrices in device memory with any row and column strides; transposed(v) swaps the roles at no cost, and a
/// column-major BLAS matrix is the transposed view of a row-major one. C must not overlap A or B. As in BLAS,
/// A and B are not read where alpha is 0. Enqueued on `stream`; never synchronises, never allocates; safe
/// under stream capture. Nothing is done where m or n is 0; where k is 0, C = beta * C. float: every product
/// and sum in float32; the error bound is in docs/accuracy.md. T is float.
///
/// @throws invalid_argument  shapes disagree or are negative, a null or misaligned pointer, a stride
///                           smaller than a row, an overlap, an unknown algorithm (nothing is enqueued)
/// @throws unsupported       the algorithm that was asked for cannot run this problem on this device;
///                           says why
/// @throws cuda_error        the launch failed
template <class T>
void matmul(matrix_view<const std::type_identity_t<T>> a, matrix_view<const std::type_identity_t<T>> b,
            matrix_view<T> c, cuda::stream_ref stream, const matmul_options& options = {});

}  // namespace heddle
