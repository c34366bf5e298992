#pragma once

#include <heddle/device.hpp>
#include <heddle/rungs.hpp>
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

#pragma GCC visibility push(default)

namespace heddle {

/// The rungs of the reductions of a matrix along its rows or columns; kernels/matrix_reduce/README.md is their ladder.
/// For each kernel, the list has its rung, its own name where the rung has several, when `automatic` may take it, and
/// what it needs of a problem, if anything.
#define HEDDLE_MATRIX_REDUCE_RUNGS(RUNG, KERNELS, KERNEL) \
    RUNG(naive, never)                                    \
    RUNG(coalesced, always)                               \
    KERNELS(vectorized)                                   \
    KERNEL(vectorized, rows, always, unit_col_stride)     \
    KERNEL(vectorized, columns, has_none_in_rows)         \
    KERNEL(vectorized, short, always, short_rows)

/// The rung that a call asks for; `automatic` leaves the choice to heddle.
enum class matrix_reduce_algorithm {
    automatic,
    HEDDLE_MATRIX_REDUCE_RUNGS(HEDDLE_ENUMERATOR, HEDDLE_ENUMERATOR, HEDDLE_NOTHING)
};

/// All rungs except `automatic`. Tests, benchmarks and pages iterate over them.
std::span<const matrix_reduce_algorithm> matrix_reduce_algorithms();
std::string_view to_string(matrix_reduce_algorithm algorithm);

struct matrix_reduce_options {
    matrix_reduce_algorithm algorithm = matrix_reduce_algorithm::automatic;
    /// Device scratch memory, as in heddle::workspace: at least matrix_reduce_workspace_bytes(), 16-byte aligned,
    /// zeroed before first use, apart from x and y. Each call leaves it ready for the next.
    std::span<std::byte> workspace{};
    /// The source of scratch memory without a workspace. With a workspace nothing is allocated.
    heddle::scratch scratch = heddle::scratch::pool;
    /// Variances divide by the length minus this; 1 gives the unbiased estimate. Other reductions ignore it.
    std::int64_t correction = 0;
};

/// The facts by which a reduction of a matrix is planned. row_problem() and column_problem() make it.
struct matrix_reduce_problem {
    /// The matrix whose rows are reduced. A reduction of columns has the transposed matrix.
    matrix_layout x{};
    /// Scratch memory is available: a workspace, or the pool.
    bool has_scratch = true;

    bool operator==(const matrix_reduce_problem&) const = default;
};

/// The problem of a reduction of the rows of x. Elements are not read; the pointer may be null.
template <class T>
matrix_reduce_problem row_problem(const matrix_view<T>& x, const matrix_reduce_options& options = {}) {
    return {layout_of(x), !options.workspace.empty() || options.scratch == scratch::pool};
}
/// The same for the columns of x.
template <class T>
matrix_reduce_problem column_problem(const matrix_view<T>& x, const matrix_reduce_options& options = {}) {
    return row_problem(transposed(x), options);
}

/// The rung that `automatic` chooses. Pure; throws as matrix_reduce_workspace_bytes().
matrix_reduce_algorithm select(const matrix_reduce_problem& problem, const device_traits& device);

/// The reason, as in `unsupported`, why a rung cannot run a problem; empty if it can, and for `automatic`. Pure; throws
/// as matrix_reduce_workspace_bytes().
std::string why_not(matrix_reduce_algorithm algorithm, const matrix_reduce_problem& problem,
                    const device_traits& device);

/// The bytes of workspace that any reduction of this problem needs, for any alignment; 0 where no row is shared by
/// blocks. Pure.
/// @throws invalid_argument  a negative extent, more than 2^58 elements, an element size other than 2 or 4,
///                           device.sm_count below 1, an unknown algorithm
std::int64_t matrix_reduce_workspace_bytes(
    const matrix_reduce_problem& problem, const device_traits& device,
    matrix_reduce_algorithm algorithm = matrix_reduce_algorithm::automatic);

/// The same for any reduction of the rows or columns of x on the stream's device. options.workspace is ignored.
template <class T>
std::int64_t matrix_reduce_workspace_bytes(matrix_view<const T> x, cuda::stream_ref stream,
                                           const matrix_reduce_options& options = {}) {
    const device_traits& device = traits_of(device_of(stream));
    return std::max(matrix_reduce_workspace_bytes(row_problem(x), device, options.algorithm),
                    matrix_reduce_workspace_bytes(column_problem(x), device, options.algorithm));
}

/// The largest number of additions from any element to the result (of mergers, for a variance). The error of a sum is
/// at most depth * u / (1 - depth * u) * (the sum of the row's |x|), u = 2^-24. Pure; throws as
/// matrix_reduce_workspace_bytes().
std::int64_t matrix_reduce_depth(const matrix_reduce_problem& problem, const device_traits& device,
                                 matrix_reduce_algorithm algorithm = matrix_reduce_algorithm::automatic);

/// The reductions of a matrix along its rows, with one result a row, and along its columns, with one result a column.
///
/// x is a matrix in device memory with any strides, transposed or not. y is a vector of any stride with one element
/// for each row (column), apart from x. T is float, half or bfloat16; all arithmetic is in float. The order of the
/// combinations depends on the shape, strides and alignment of x, the rung and the device alone. So the same call
/// gives the same bits each time. There is one launch. The call is enqueued on `stream` and its device. It never
/// synchronises, is safe under stream capture, and allocates only as matrix_reduce_options says.
///
/// @throws invalid_argument  a negative extent, strides by which elements share an address, y.size is not x.rows
///                           (x.cols), a null or misaligned pointer, a y or a workspace that overlaps x, a workspace
///                           that is null, misaligned or too small, a negative correction, an unknown algorithm
///                           (nothing is enqueued)
/// @throws cuda_error        the launch or the allocation failed

/// y[i] = the sum of row i of x; 0 where the rows are empty. Accumulated in float; matrix_reduce_depth() bounds the
/// error.
template <class T>
void row_sum(matrix_view<const T> x, vector_view<float> y, cuda::stream_ref stream,
             const matrix_reduce_options& options = {});

/// y[i] = the sum of row i divided by its length; NaN where the rows are empty.
template <class T>
void row_mean(matrix_view<const T> x, vector_view<float> y, cuda::stream_ref stream,
              const matrix_reduce_options& options = {});

/// y[i] = the smallest element of row i; NaN where any is NaN, +Inf where the rows are empty. +0 equals -0.
template <class T>
void row_min(matrix_view<const T> x, vector_view<std::type_identity_t<T>> y, cuda::stream_ref stream,
             const matrix_reduce_options& options = {});

/// y[i] = the largest element of row i; NaN where any is NaN, -Inf where the rows are empty. +0 equals -0.
template <class T>
void row_max(matrix_view<const T> x, vector_view<std::type_identity_t<T>> y, cuda::stream_ref stream,
             const matrix_reduce_options& options = {});

/// y[i] = the index of the first NaN of row i; without NaN, that of the first largest element; -1 where the rows are
/// empty. +0 equals -0.
template <class T>
void row_argmax(matrix_view<const T> x, vector_view<std::int64_t> y, cuda::stream_ref stream,
                const matrix_reduce_options& options = {});

/// y[i] = the sum of squared distances of row i's elements from their mean, divided by (length - options.correction).
/// It is NaN where any element is NaN or infinite, and where that divisor is 0 or less and the sum is 0. The mean is
/// never squared, so a large mean costs few digits. Means and squared distances of short runs are merged pair by pair
/// (Chan, Golub, LeVeque, 1979; the bound is in docs/accuracy.md).
template <class T>
void row_variance(matrix_view<const T> x, vector_view<float> y, cuda::stream_ref stream,
                  const matrix_reduce_options& options = {});

/// The same for columns: y[j] is the result of column j of x.
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

#pragma GCC visibility pop
