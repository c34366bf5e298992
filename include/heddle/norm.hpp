#pragma once

#include <heddle/device.hpp>
#include <heddle/types.hpp>
#include <heddle/view.hpp>

#include <cuda/stream_ref>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace heddle {

/// The rungs of layer_norm and rms_norm; kernels/norm/README.md is their ladder.
enum class norm_algorithm { automatic, naive, block_per_row, strips, vectorized };

/// All rungs, without `automatic`: what tests, benchmarks and pages go through.
std::span<const norm_algorithm> norm_algorithms();
std::string_view to_string(norm_algorithm algorithm);

struct norm_options {
    norm_algorithm algorithm = norm_algorithm::automatic;
    float epsilon = 1e-5f;  ///< added to the variance or mean square; zero or more
};

/// What the choice of a rung depends on.
struct norm_problem {
    std::int64_t rows = 0;
    std::int64_t cols = 0;
    /// The elements of each row lie side by side, in x and in y, and those of gamma and beta.
    bool unit_stride = true;
    std::size_t element_bytes = 4;
    /// Each row begins at a multiple of 16 bytes and is as long as one, in x and in y; gamma and beta begin at one.
    bool in_packets = true;
    /// Neighbours in memory are elements of one column, in x and in y.
    bool x_in_columns = false;
    bool y_in_columns = false;
};

/// The rung that `automatic` stands for. Pure.
/// @throws invalid_argument  a negative extent, more than 2^58 elements, elements not of 2 or 4 bytes, device.sm_count below 1
norm_algorithm select(const norm_problem& problem, const device_traits& device);

/// Why a rung cannot run a problem on a device, as `unsupported` says it; empty where it can, and of `automatic`. Pure.
/// @throws invalid_argument  as select(), and for an unknown algorithm
std::string why_not(norm_algorithm algorithm, const norm_problem& problem, const device_traits& device);

/// y[i][j] = (x[i][j] - mean) / sqrt(variance + epsilon) * gamma[j] + beta[j], of row i's mean and variance
/// (the mean of squared deviations).
///
/// x and y are matrices of equal shape with any row and column strides, in device memory; in place is
/// allowed: y may be exactly x; any other overlap is an error. gamma and beta are vectors of x.cols elements
/// of any stride, or empty: no factor, nothing added. Computed in float, whatever T is: float, half or
/// bfloat16; rounded once. The variance is that of the deviations from the mean, never a difference of
/// squares. Errors in docs/accuracy.md. A NaN or an infinity makes its whole row NaN, and no other, as does a
/// sum of the row's elements beyond float's largest number, 3.4e38; where only the sum of the squared deviations
/// is beyond it, as it is from a deviation of 1.8e19 on, the row is beta (or 0). Where the magnitudes sum to more
/// than 3.4e38 and the elements do not, the row may be NaN; host::layer_norm() gives numbers there, and else the same. A row of equal
/// elements where epsilon is 0 has no scale: NaN where the mean is exact, else what its rounding makes of it.
/// The same call gives the same bits each time. Enqueued on `stream` and its device; never synchronises, never allocates;
/// safe under stream capture. Empty matrices do nothing.
///
/// @throws invalid_argument  shapes disagree, a negative extent, a null or misaligned pointer, a stride
///                           smaller than a row, a partial overlap, a gamma or beta that overlaps y, an
///                           epsilon that is negative or NaN, an unknown algorithm (nothing is enqueued)
/// @throws unsupported       `vectorized` was asked for and the elements of a row, of gamma or of beta do
///                           not lie side by side
/// @throws cuda_error        the launch failed
template <class T>
void layer_norm(matrix_view<const std::type_identity_t<T>> x,
                vector_view<const std::type_identity_t<T>> gamma,
                vector_view<const std::type_identity_t<T>> beta, matrix_view<T> y, cuda::stream_ref stream,
                const norm_options& options = {});

/// y[i][j] = x[i][j] / sqrt(mean of squares of row i + epsilon) * gamma[j]. The squares are summed in float: where
/// they sum to more than its largest number, 3.4e38, as they do from an element of 1.8e19 on, the row's results are
/// 0, or NaN where x is infinite. A NaN makes its whole row NaN. All else is as for layer_norm().
template <class T>
void rms_norm(matrix_view<const std::type_identity_t<T>> x, vector_view<const std::type_identity_t<T>> gamma,
              matrix_view<T> y, cuda::stream_ref stream, const norm_options& options = {});

}  // namespace heddle
