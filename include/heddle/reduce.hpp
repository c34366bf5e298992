#pragma once

#include <heddle/device.hpp>
#include <heddle/rungs.hpp>
#include <heddle/scratch.hpp>
#include <heddle/types.hpp>
#include <heddle/view.hpp>

#include <cuda/stream_ref>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#pragma GCC visibility push(default)

namespace heddle {

/// The reductions of a vector to a scalar. Each has the name of its function below.
enum class reduce_operation { sum, mean, min, max, argmin, argmax, dot, norm1, norm2, count_nonzero };

/// All operations. Tests and benchmarks iterate over them.
std::span<const reduce_operation> reduce_operations();
std::string_view to_string(reduce_operation operation);

/// The rungs of the reductions of a vector to a scalar; kernels/reduce/README.md is their ladder. For each rung, the
/// list has:
/// - the name;
/// - the operations that have it: every one, or sum, min and max alone;
/// - whether `automatic` may take it;
/// - what it needs of a problem, if anything.
#define HEDDLE_REDUCE_RUNGS(RUNG)                     \
    RUNG(interleaved, sum_min_max, never)             \
    RUNG(sequential, sum_min_max, never)              \
    RUNG(first_add_on_load, sum_min_max, never)       \
    RUNG(warp_shuffle, every_operation, never)        \
    RUNG(vectorized, sum_min_max, never, unit_stride) \
    RUNG(single_pass, every_operation, always)

/// The rung that a call asks for; `automatic` leaves the choice to heddle.
enum class reduce_algorithm { automatic, HEDDLE_REDUCE_RUNGS(HEDDLE_ENUMERATOR) };

/// All rungs except `automatic`, and those of one operation. Tests, benchmarks and pages iterate over them.
std::span<const reduce_algorithm> reduce_algorithms();
std::span<const reduce_algorithm> reduce_algorithms(reduce_operation operation);
std::string_view to_string(reduce_algorithm algorithm);

/// The type of a mean: double for the integers, otherwise that of a sum.
template <class T>
using mean_type = std::conditional_t<std::is_integral_v<T>, double, sum_type<T>>;

struct reduce_options {
    reduce_algorithm algorithm = reduce_algorithm::automatic;
    /// Device scratch memory, as in heddle::workspace: at least reduce_workspace_bytes(), 16-byte aligned, zeroed
    /// before first use, apart from x and the result. Each call leaves it ready for the next.
    std::span<std::byte> workspace{};
    /// The source of scratch memory without a workspace. With a workspace nothing is allocated.
    heddle::scratch scratch = heddle::scratch::pool;
};

/// The facts by which a reduction is planned. reduce_problem_of() makes it.
struct reduce_problem {
    vector_layout x{};
    vector_layout y{};  ///< for dot alone; otherwise without elements
    /// Scratch memory is available: a workspace, or the pool.
    bool has_scratch = true;

    bool operator==(const reduce_problem&) const = default;
};

/// The problem of a call with these arguments; with y, of dot(). Elements are not read; pointers may be null.
/// @throws invalid_argument  a negative size, a stride below 1, sizes that disagree
template <class T>
reduce_problem reduce_problem_of(vector_view<const T> x, const reduce_options& options = {});
template <class T>
reduce_problem reduce_problem_of(vector_view<const T> x, vector_view<const std::type_identity_t<T>> y,
                                 const reduce_options& options = {});

/// The rung that `automatic` chooses. Pure; throws as reduce_workspace_bytes().
reduce_algorithm select(const reduce_problem& problem, const device_traits& device);

/// The reason why a rung cannot run a problem on a device, in the words of `unsupported`. It may be that the operation
/// lacks the rung. Empty where the rung can run it, and for `automatic`. Pure; throws as reduce_workspace_bytes().
std::string why_not(reduce_algorithm algorithm, const reduce_problem& problem, const device_traits& device);
std::string why_not(reduce_operation operation, reduce_algorithm algorithm, const reduce_problem& problem,
                    const device_traits& device);

/// The bytes of workspace that any reduction of this problem needs; 0 where one block or one cluster of blocks does
/// it all. Pure.
/// @throws invalid_argument  a size that is negative or above 2^58, sizes that disagree, an element size that is not 1
///                           to 8 bytes, an offset other than 0 to 255, device.sm_count below 1, an unknown algorithm
std::int64_t reduce_workspace_bytes(const reduce_problem& problem, const device_traits& device,
                                    reduce_algorithm algorithm = reduce_algorithm::automatic);

/// The same for a reduction of x on the stream's device. options.workspace is ignored. For dot, the larger result for
/// its two vectors is enough.
template <class T>
std::int64_t reduce_workspace_bytes(vector_view<const T> x, cuda::stream_ref stream,
                                    const reduce_options& options = {}) {
    return reduce_workspace_bytes(reduce_problem_of(x), traits_of(device_of(stream)), options.algorithm);
}

/// The largest number of additions from any element to the sum. The error of a floating-point sum is at most
/// depth * u / (1 - depth * u) * (the sum of |x|); u is the unit roundoff of sum_type. Pure; throws as
/// reduce_workspace_bytes().
std::int64_t reduce_depth(const reduce_problem& problem, const device_traits& device,
                          reduce_algorithm algorithm = reduce_algorithm::automatic);

/// *result = the sum of x; 0 where x is empty. `result` is in device memory, apart from x.
///
/// x is a vector of any stride in device memory. 16-bit types are accumulated in float. The order of the additions
/// depends on the size, stride and alignment of x, the rung and the device alone. So the same call gives the same
/// bits each time. reduce_depth() bounds the error. int64 wraps. The call is enqueued on `stream` and its device. It
/// never synchronises, is safe under stream capture, and allocates only as reduce_options says. T is float, double,
/// half, bfloat16, int32_t or int64_t.
///
/// @throws invalid_argument  a negative size, a stride below 1, a null or misaligned pointer, a result or a workspace
///                           that overlaps x, a workspace that is null, misaligned or too small, an unknown algorithm
///                           (nothing is enqueued)
/// @throws unsupported       `vectorized` was requested and the stride is not 1; the operation does not have the
///                           requested rung; it needs scratch memory, and scratch is none
/// @throws cuda_error        the launch or the allocation failed
template <class T>
void sum(vector_view<const T> x, std::type_identity_t<sum_type<T>>* result, cuda::stream_ref stream,
         const reduce_options& options = {});

/// *result = the smallest element of x; NaN where any element is NaN; +Inf (the largest integer) where x is empty. +0
/// equals -0. All else is as for sum().
template <class T>
void min(vector_view<const T> x, std::type_identity_t<T>* result, cuda::stream_ref stream,
         const reduce_options& options = {});

/// *result = the largest element of x; NaN where any element is NaN; -Inf (the smallest integer) where x is empty. +0
/// equals -0. All else is as for sum().
template <class T>
void max(vector_view<const T> x, std::type_identity_t<T>* result, cuda::stream_ref stream,
         const reduce_options& options = {});

/// *result = the sum of x over its size; NaN where x is empty. The sum of floating-point elements is that of sum(),
/// and the mean is infinite where that is. The sum of int32 is exact up to 2^32 elements; that of int64 is a sum of
/// doubles. All else is as for sum().
template <class T>
void mean(vector_view<const T> x, std::type_identity_t<mean_type<T>>* result, cuda::stream_ref stream,
          const reduce_options& options = {});

/// *result = the index of the first NaN of x; without NaN, that of the first smallest element; -1 where x is empty. +0
/// equals -0. All else is as for sum().
template <class T>
void argmin(vector_view<const T> x, std::int64_t* result, cuda::stream_ref stream,
            const reduce_options& options = {});

/// *result = the index of the first NaN of x; without NaN, that of the first largest element; -1 where x is empty. +0
/// equals -0. All else is as for sum().
template <class T>
void argmax(vector_view<const T> x, std::int64_t* result, cuda::stream_ref stream,
            const reduce_options& options = {});

/// *result = the sum of x[i] * y[i]; 0 where they are empty. Floating-point products are rounded, so that an element
/// goes through reduce_depth() + 1 roundings; products of 16-bit elements are exact. Integers wrap in int64. y may be
/// x. Another size of y throws invalid_argument. All else is as for sum().
template <class T>
void dot(vector_view<const T> x, vector_view<const std::type_identity_t<T>> y,
         std::type_identity_t<sum_type<T>>* result, cuda::stream_ref stream,
         const reduce_options& options = {});

/// *result = the sum of |x[i]|. All else is as for sum().
template <class T>
void norm1(vector_view<const T> x, std::type_identity_t<sum_type<T>>* result, cuda::stream_ref stream,
           const reduce_options& options = {});

/// *result = the square root of the sum of the squares of x; 0 where x is empty. It overflows only where the norm
/// itself is too large for its type, and does not underflow. Squares are added in double, and those of double are
/// scaled. It is NaN where any element is NaN, otherwise Inf where any is infinite. T is float, double, half or
/// bfloat16. docs/accuracy.md bounds the errors. All else is as for sum().
template <class T>
void norm2(vector_view<const T> x, std::type_identity_t<sum_type<T>>* result, cuda::stream_ref stream,
           const reduce_options& options = {});

/// *result = the number of elements of x that are not zero; NaN counts. All else is as for sum().
template <class T>
void count_nonzero(vector_view<const T> x, std::int64_t* result, cuda::stream_ref stream,
                   const reduce_options& options = {});

}  // namespace heddle

#pragma GCC visibility pop
