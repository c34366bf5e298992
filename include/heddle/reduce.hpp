#pragma once

#include <heddle/device.hpp>
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

namespace heddle {

/// The reductions of a vector to a scalar, named as their functions below.
enum class reduce_operation { sum, mean, min, max, argmin, argmax, dot, norm1, norm2, count_nonzero };

/// All operations: what tests and benchmarks go through.
std::span<const reduce_operation> reduce_operations();
std::string_view to_string(reduce_operation operation);

/// The rungs of the reductions of a vector to a scalar; kernels/reduce/README.md is their ladder. sum, min and
/// max have them all, the other operations warp_shuffle and single_pass.
enum class reduce_algorithm {
    automatic,
    interleaved,
    sequential,
    first_add_on_load,
    warp_shuffle,
    vectorized,
    single_pass
};

/// All rungs, without `automatic`, and those that an operation has: what tests, benchmarks and pages go through.
std::span<const reduce_algorithm> reduce_algorithms();
std::span<const reduce_algorithm> reduce_algorithms(reduce_operation operation);
std::string_view to_string(reduce_algorithm algorithm);

/// The type of a mean: double for the integers, else that of a sum.
template <class T>
using mean_type = std::conditional_t<std::is_integral_v<T>, double, sum_type<T>>;

struct reduce_options {
    reduce_algorithm algorithm = reduce_algorithm::automatic;
    /// Device scratch memory, zeroed before its first use (heddle::workspace is), of at least
    /// reduce_workspace_bytes(), 16-byte aligned, apart from x and the result; ready for the next call when
    /// this one is done.
    std::span<std::byte> workspace{};
    /// Without a workspace, scratch memory that makes the call faster comes, stream-ordered, from heddle's pool of the stream's
    /// device (memory_pool::scratch_of); with a workspace nothing is allocated. scratch::none forbids it: then the call plans
    /// without scratch memory, and a rung that needs some throws unsupported.
    heddle::scratch scratch = heddle::scratch::pool;
};

/// A reduction without its memory: what its plan depends on. reduce_problem_of() makes it.
struct reduce_problem {
    vector_layout x{};
    vector_layout y{};  ///< dot's alone, else without elements
    /// Scratch memory is there: given, or from the pool.
    bool has_scratch = true;

    bool operator==(const reduce_problem&) const = default;
};

/// The problem of a call with these arguments, of dot() where there is y. What the views point to is not read; they may be null.
/// @throws invalid_argument  a negative size, a stride below 1, sizes that disagree
template <class T>
reduce_problem reduce_problem_of(vector_view<const T> x, const reduce_options& options = {});
template <class T>
reduce_problem reduce_problem_of(vector_view<const T> x, vector_view<const std::type_identity_t<T>> y,
                                 const reduce_options& options = {});

/// The rung that `automatic` stands for. Pure; throws as reduce_workspace_bytes().
reduce_algorithm select(const reduce_problem& problem, const device_traits& device);

/// Why a rung cannot run a problem on a device, as `unsupported` says it; empty where it can, and of `automatic`. Of an
/// operation that does not have the rung it says so. Pure; throws as reduce_workspace_bytes().
std::string why_not(reduce_algorithm algorithm, const reduce_problem& problem, const device_traits& device);
std::string why_not(reduce_operation operation, reduce_algorithm algorithm, const reduce_problem& problem,
                    const device_traits& device);

/// The workspace, in bytes, that any of the reductions of this problem needs; 0 where one block or one cluster of
/// blocks does it all. Pure.
/// @throws invalid_argument  a size that is negative or above 2^58, sizes that disagree, an element size that is not 1 to 8
///                           bytes, an offset other than 0 to 255, device.sm_count below 1, an unknown algorithm
std::int64_t reduce_workspace_bytes(const reduce_problem& problem, const device_traits& device,
                                    reduce_algorithm algorithm = reduce_algorithm::automatic);

/// The same for a reduction of x on the stream's device; options.workspace counts for nothing. Of dot, the larger of both
/// vectors' needs is enough.
template <class T>
std::int64_t reduce_workspace_bytes(vector_view<const T> x, cuda::stream_ref stream,
                                    const reduce_options& options = {}) {
    return reduce_workspace_bytes(reduce_problem_of(x), traits_of(device_of(stream)), options.algorithm);
}

/// The most additions that any one element goes through on its way to the sum. A floating-point sum is off by
/// at most depth * u / (1 - depth * u) * (the sum of |x|), u being the unit roundoff of sum_type. Pure;
/// throws as reduce_workspace_bytes().
std::int64_t reduce_depth(const reduce_problem& problem, const device_traits& device,
                          reduce_algorithm algorithm = reduce_algorithm::automatic);

/// *result = the sum of x; 0 where x is empty. `result` is in device memory, apart from x.
///
/// x is a vector of any stride in device memory. 16-bit types are accumulated in float. The order of the
/// additions depends on the size, stride and alignment of x, the rung and the device alone, so the same call
/// gives the same bits each time; reduce_depth() bounds the error. int64 wraps. Enqueued on `stream` and its device; never
/// synchronises; safe under stream capture; allocates only as reduce_options says. T is float, double, half,
/// bfloat16, int32_t or int64_t.
///
/// @throws invalid_argument  a negative size, a stride below 1, a null or misaligned pointer, a result or a
///                           workspace that overlaps x, a workspace that is null, misaligned or too small, an
///                           unknown algorithm
///                           (nothing is enqueued)
/// @throws unsupported       `vectorized` was asked for and the stride is not 1; the operation does not have the
///                           rung that was asked for; it needs scratch memory, and scratch is none
/// @throws cuda_error        the launch or the allocation failed
template <class T>
void sum(vector_view<const T> x, std::type_identity_t<sum_type<T>>* result, cuda::stream_ref stream,
         const reduce_options& options = {});

/// *result = the smallest element of x; +Inf (the largest integer) where x is empty; NaN where any element is
/// NaN. Zeros are equal, whatever their sign. All else is as for sum().
template <class T>
void min(vector_view<const T> x, std::type_identity_t<T>* result, cuda::stream_ref stream,
         const reduce_options& options = {});

/// *result = the largest element of x; -Inf (the smallest integer) where x is empty; NaN where any element is
/// NaN. Zeros are equal, whatever their sign. All else is as for sum().
template <class T>
void max(vector_view<const T> x, std::type_identity_t<T>* result, cuda::stream_ref stream,
         const reduce_options& options = {});

/// *result = the sum of x over its size; NaN where x is empty. Of floating-point elements, the sum is as sum()'s,
/// and infinite where that is; of int32 it is exact up to 2^32 elements, of int64 one of doubles. All else is as
/// for sum().
template <class T>
void mean(vector_view<const T> x, std::type_identity_t<mean_type<T>>* result, cuda::stream_ref stream,
          const reduce_options& options = {});

/// *result = the place of the first NaN of x, or else of the first of its smallest elements; -1 where x is empty.
/// Zeros are equal, whatever their sign. All else is as for sum().
template <class T>
void argmin(vector_view<const T> x, std::int64_t* result, cuda::stream_ref stream,
            const reduce_options& options = {});

/// *result = the place of the first NaN of x, or else of the first of its largest elements; -1 where x is empty.
/// Zeros are equal, whatever their sign. All else is as for sum().
template <class T>
void argmax(vector_view<const T> x, std::int64_t* result, cuda::stream_ref stream,
            const reduce_options& options = {});

/// *result = the sum of x[i] * y[i]; 0 where they are empty. Of floating-point elements, a product is rounded like
/// a sum, so that an element goes through reduce_depth() + 1 roundings; those of 16-bit elements are exact. Integers
/// wrap in int64. y may be x; it is as large as x, or else invalid_argument is thrown. All else is as for sum().
template <class T>
void dot(vector_view<const T> x, vector_view<const std::type_identity_t<T>> y,
         std::type_identity_t<sum_type<T>>* result, cuda::stream_ref stream,
         const reduce_options& options = {});

/// *result = the sum of |x[i]|. All else is as for sum().
template <class T>
void norm1(vector_view<const T> x, std::type_identity_t<sum_type<T>>* result, cuda::stream_ref stream,
           const reduce_options& options = {});

/// *result = the square root of the sum of the squares of x; 0 where x is empty. It overflows only where it is
/// itself too large for its type, and does not underflow: squares are added in double, and those of double are
/// scaled. NaN where any element is NaN, else Inf where any is infinite. T is float, double, half or bfloat16.
/// docs/accuracy.md has the bound. All else is as for sum().
template <class T>
void norm2(vector_view<const T> x, std::type_identity_t<sum_type<T>>* result, cuda::stream_ref stream,
           const reduce_options& options = {});

/// *result = how many elements of x are not zero; a NaN is not. All else is as for sum().
template <class T>
void count_nonzero(vector_view<const T> x, std::int64_t* result, cuda::stream_ref stream,
                   const reduce_options& options = {});

}  // namespace heddle
