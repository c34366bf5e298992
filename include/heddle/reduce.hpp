#pragma once

#include <heddle/device.hpp>
#include <heddle/types.hpp>
#include <heddle/view.hpp>

#include <cuda/stream_ref>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace heddle {

/// The rungs of the reductions of a vector to a scalar; kernels/reduce/README.md is their ladder.
enum class reduce_algorithm {
    automatic,
    interleaved,
    sequential,
    first_add_on_load,
    warp_shuffle,
    vectorized,
    single_pass
};

/// All rungs, without `automatic`: what tests, benchmarks and pages go through.
std::span<const reduce_algorithm> reduce_algorithms();
std::string_view to_string(reduce_algorithm algorithm);

struct reduce_options {
    reduce_algorithm algorithm = reduce_algorithm::automatic;
    /// Device scratch memory, zeroed before its first use (heddle::workspace is), of at least
    /// reduce_workspace_bytes(), 16-byte aligned, apart from x and the result; ready for the next call when
    /// this one is done. Empty: taken from the device's pool, stream-ordered, for the call's duration, which
    /// costs the host some microseconds.
    std::span<std::byte> workspace{};
};

/// What the choice of a rung depends on.
struct reduce_problem {
    std::int64_t size = 0;
    std::int64_t stride = 1;
    std::size_t element_bytes = 4;
};

/// The rung that `automatic` stands for. Pure.
reduce_algorithm select(const reduce_problem& problem, const device_traits& device);

/// The workspace, in bytes, that a reduction of this problem needs; 0 where one block does it all. Pure.
/// @throws invalid_argument  a negative size, an element size that is not 1 to 8 bytes, an unknown algorithm
std::int64_t reduce_workspace_bytes(const reduce_problem& problem, const device_traits& device,
                                    reduce_algorithm algorithm = reduce_algorithm::automatic);

/// The most additions that any one element goes through on its way to the sum. A floating-point sum is off by
/// at most depth * u / (1 - depth * u) * (the sum of |x|), u being the unit roundoff of sum_type. Pure;
/// throws as reduce_workspace_bytes().
std::int64_t reduce_depth(const reduce_problem& problem, const device_traits& device,
                          reduce_algorithm algorithm = reduce_algorithm::automatic);

/// *result = the sum of x; 0 where x is empty. `result` is in device memory, apart from x.
///
/// x is a vector of any stride in device memory. 16-bit types are accumulated in float. The order of the
/// additions depends on the size, stride and alignment of x, the rung and the device alone, so the same call
/// gives the same bits each time; reduce_depth() bounds the error. int64 wraps. Enqueued on `stream`; never
/// synchronises; safe under stream capture; allocates only as reduce_options says. T is float, double, half,
/// bfloat16, int32_t or int64_t.
///
/// @throws invalid_argument  a negative size, a stride below 1, a null or misaligned pointer, a result or a
///                           workspace that overlaps x, a workspace that is too small, an unknown algorithm
///                           (nothing is enqueued)
/// @throws unsupported       `vectorized` was asked for and the stride is not 1
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

}  // namespace heddle
