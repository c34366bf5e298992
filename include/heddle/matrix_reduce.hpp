#pragma once

#include <heddle/device.hpp>
#include <heddle/scratch.hpp>
#include <heddle/types.hpp>
#include <heddle/view.hpp>

#include <cuda/stream_ref>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace heddle {

/// The rungs of the reductions of a matrix along its rows or columns; kernels/matrix_reduce/README.md is their
/// ladder.
enum class matrix_reduce_algorithm { automatic, naive, coalesced, vectorized };

/// All rungs, without `automatic`: what tests, benchmarks and pages go through.
std::span<const matrix_reduce_algorithm> matrix_reduce_algorithms();
std::string_view to_string(matrix_reduce_algorithm algorithm);

struct matrix_reduce_options {
    matrix_reduce_algorithm algorithm = matrix_reduce_algorithm::automatic;
    /// Device scratch memory, zeroed before its first use (heddle::workspace is), of at least
    /// matrix_reduce_workspace_bytes(), 16-byte aligned, apart from x and y; ready for the next call when this
    /// one is done.
    std::span<std::byte> workspace{};
    /// Without a workspace, scratch memory that makes the call faster comes, stream-ordered, from heddle's pool of the stream's
    /// device (memory_pool::scratch_of); with a workspace nothing is allocated. scratch::none forbids it: then the call plans
    /// without scratch memory, and a rung that needs some throws unsupported.
    heddle::scratch scratch = heddle::scratch::pool;
    /// Variances divide by the length less this, 1 for the unbiased estimate. No other reduction uses it.
    std::int64_t correction = 0;
};

/// A reduction of a matrix without its memory: what its plan depends on. row_problem() and column_problem() make it.
struct matrix_reduce_problem {
    /// Its rows are reduced: where columns are, it is transposed.
    matrix_layout x{};
    /// Scratch memory is there: given, or from the pool.
    bool has_scratch = true;

    bool operator==(const matrix_reduce_problem&) const = default;
};

/// The problem of a reduction of the rows of x. What x points to is not read; it may be null.
template <class T>
matrix_reduce_problem row_problem(const matrix_view<T>& x, const matrix_reduce_options& options = {}) {
    return {layout_of(x), !options.workspace.empty() || options.scratch == scratch::pool};
}
/// The same of the columns of x.
template <class T>
matrix_reduce_problem column_problem(const matrix_view<T>& x, const matrix_reduce_options& options = {}) {
    return row_problem(transposed(x), options);
}

/// The rung that `automatic` stands for. Pure; throws as matrix_reduce_workspace_bytes().
matrix_reduce_algorithm select(const matrix_reduce_problem& problem, const device_traits& device);

/// Why a rung cannot run a problem on a device, as `unsupported` says it; empty where it can, and of `automatic`. Pure; throws
/// as matrix_reduce_workspace_bytes().
std::string why_not(matrix_reduce_algorithm algorithm, const matrix_reduce_problem& problem,
                    const device_traits& device);

/// The workspace, in bytes, that any of the reductions of this problem needs, whatever its alignment; 0 where no row is
/// shared by blocks. Pure.
/// @throws invalid_argument  a negative extent, more than 2^58 elements, an element size other than 2 or 4,
///                           device.sm_count below 1, an unknown algorithm
std::int64_t matrix_reduce_workspace_bytes(
    const matrix_reduce_problem& problem, const device_traits& device,
    matrix_reduce_algorithm algorithm = matrix_reduce_algorithm::automatic);

/// The same for any reduction of the rows or of the columns of x on the stream's device; options.workspace counts for nothing.
template <class T>
std::int64_t matrix_reduce_workspace_bytes(matrix_view<const T> x, cuda::stream_ref stream,
                                           const matrix_reduce_options& options = {}) {
    const device_traits& device = traits_of(device_of(stream));
    return std::max(matrix_reduce_workspace_bytes(row_problem(x), device, options.algorithm),
                    matrix_reduce_workspace_bytes(column_problem(x), device, options.algorithm));
}

/// The most additions (mergers, of a variance) that any one element goes through on its way to the result. A
/// sum is off by at most depth * u / (1 - depth * u) * (the sum of the row's |x|), u = 2^-24. Pure; throws as
/// matrix_reduce_workspace_bytes().
std::int64_t matrix_reduce_depth(const matrix_reduce_problem& problem, const device_traits& device,
                                 matrix_reduce_algorithm algorithm = matrix_reduce_algorithm::automatic);

/// The reductions of the rows of a matrix, one result a row, and of its columns, one result a column.
///
/// x is a matrix in device memory with any strides, transposed or not; y is a vector of any stride with one
/// element for each row (column), apart from x. T is float, half or bfloat16; all arithmetic is float's. The
/// order of the combinations depends on the shape, strides and alignment of x, the rung and the device alone,
/// so the same call gives the same bits each time. One launch. Enqueued on `stream` and its device; never synchronises; safe
/// under stream capture; allocates only as matrix_reduce_options says.
///
/// @throws invalid_argument  a negative extent, strides by which elements share an address, y.size is not
///                           x.rows (x.cols), a null or misaligned pointer, a y or a workspace that overlaps
///                           x, a workspace that is null, misaligned or too small, a negative correction, an
///                           unknown algorithm
///                           (nothing is enqueued)
/// @throws unsupported       `vectorized` was asked for and neither stride of x is 1
/// @throws cuda_error        the launch or the allocation failed

/// y[i] = the sum of row i of x; 0 where the rows are empty. Accumulated in float; matrix_reduce_depth() bounds the
/// error.
template <class T>
void row_sum(matrix_view<const T> x, vector_view<float> y, cuda::stream_ref stream,
             const matrix_reduce_options& options = {});

/// y[i] = the sum of row i over its length; NaN where the rows are empty.
template <class T>
void row_mean(matrix_view<const T> x, vector_view<float> y, cuda::stream_ref stream,
              const matrix_reduce_options& options = {});

/// y[i] = the smallest element of row i; NaN where any is NaN, +Inf where the rows are empty. Zeros are equal, whatever
/// their sign.
template <class T>
void row_min(matrix_view<const T> x, vector_view<std::type_identity_t<T>> y, cuda::stream_ref stream,
             const matrix_reduce_options& options = {});

/// y[i] = the largest element of row i; NaN where any is NaN, -Inf where the rows are empty. Zeros are equal, whatever
/// their sign.
template <class T>
void row_max(matrix_view<const T> x, vector_view<std::type_identity_t<T>> y, cuda::stream_ref stream,
             const matrix_reduce_options& options = {});

/// y[i] = the place of the first NaN of row i, or else of the first of its largest elements; -1 where the rows are empty.
/// Zeros are equal, whatever their sign.
template <class T>
void row_argmax(matrix_view<const T> x, vector_view<std::int64_t> y, cuda::stream_ref stream,
                const matrix_reduce_options& options = {});

/// y[i] = the sum of squared distances of row i's elements from their mean, over (length - options.correction); NaN where
/// that is 0 or less and no distance is left, and where any element is NaN or infinite. The mean is never squared, so a
/// large one costs few digits: means and squared distances of short runs are merged pair by pair (Chan, Golub, LeVeque,
/// 1979; the bound is in docs/accuracy.md).
template <class T>
void row_variance(matrix_view<const T> x, vector_view<float> y, cuda::stream_ref stream,
                  const matrix_reduce_options& options = {});

/// The same of columns: y[j] is of column j of x.
template <class T>
void column_sum(matrix_view<const T> x, vector_view<float> y, cuda::stream_ref stream,
                const matrix_reduce_options& options = {});
template <class T>
void column_mean(matrix_view<const T> x, vector_view<float> y, cuda::stream_ref stream,
                 const matrix_reduce_options& options = {});
template <class T>
void column_min(matrix_view<const T> x, vector_view<std::type_identity_t<T>> y, cuda::stream_ref stream,
                const matrix_reduce_options& options = {});
template <class T>
void column_max(matrix_view<const T> x, vector_view<std::type_identity_t<T>> y, cuda::stream_ref stream,
                const matrix_reduce_options& options = {});
template <class T>
void column_argmax(matrix_view<const T> x, vector_view<std::int64_t> y, cuda::stream_ref stream,
                   const matrix_reduce_options& options = {});
template <class T>
void column_variance(matrix_view<const T> x, vector_view<float> y, cuda::stream_ref stream,
                     const matrix_reduce_options& options = {});

}  // namespace heddle
