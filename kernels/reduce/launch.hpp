#pragma once

#include <heddle/device.hpp>
#include <heddle/reduce.hpp>
#include <heddle/types.hpp>
#include <heddle/view.hpp>

#include <cuda_runtime_api.h>

#include <cstdint>
#include <type_traits>

namespace heddle::kernels::reduce {

/// The operations, defined for the device in operations.cuh.
struct sum;
struct mean;
struct min;
struct max;
struct argmin;
struct argmax;
struct dot;
struct norm1;
struct norm2;
struct count_nonzero;

template <class Operation, class... Others>
inline constexpr bool is_any_of = (std::is_same_v<Operation, Others> || ...);

/// Operations that all rungs have: what they keep of some elements is an element, or is added up like one.
template <class Operation>
inline constexpr bool is_on_all_rungs = is_any_of<Operation, sum, min, max>;

template <class Operation, class T>
struct result_of {
    using type = sum_type<T>;
};
template <class T>
struct result_of<mean, T> {
    using type = mean_type<T>;
};
template <class T>
struct result_of<min, T> {
    using type = T;
};
template <class T>
struct result_of<max, T> {
    using type = T;
};
template <class T>
struct result_of<argmin, T> {
    using type = std::int64_t;
};
template <class T>
struct result_of<argmax, T> {
    using type = std::int64_t;
};
template <class T>
struct result_of<count_nonzero, T> {
    using type = std::int64_t;
};

template <class Operation, class T>
using result_type = result_of<Operation, T>::type;

/// Partials are at most this large.
inline constexpr std::int64_t max_state_bytes = 16;

/// What `ticket` points at.
inline constexpr std::int64_t ticket_bytes = 4096;

/// x may be empty; its stride is 1 where it has one element or none. y is as large as x, and dot's alone.
template <class Operation, class T>
struct arguments {
    vector_view<const T> x;
    vector_view<const T> y;
    result_type<Operation, T>* result;
    unsigned* ticket = nullptr;  ///< zero before and after
    void* partials = nullptr;    ///< as many states as the plan says; none: both are null
};

/// What a rung will do with a problem; pure, and the same for all operations.
struct plan {
    std::int64_t partials = 0;  ///< values that it keeps in the workspace
    std::int64_t depth = 0;     ///< combinations on the way of any one element to the result, at most
};

plan plan_interleaved(const reduce_problem& problem, const device_traits& device);
plan plan_sequential(const reduce_problem& problem, const device_traits& device);
plan plan_first_add_on_load(const reduce_problem& problem, const device_traits& device);
plan plan_warp_shuffle(const reduce_problem& problem, const device_traits& device);
plan plan_vectorized(const reduce_problem& problem, const device_traits& device);
plan plan_single_pass(const reduce_problem& problem, const device_traits& device);

/// The operations on all rungs.
template <class Operation, class T>
void launch_interleaved(const arguments<Operation, T>& arguments, const device_traits& device,
                        cudaStream_t stream);
template <class Operation, class T>
void launch_sequential(const arguments<Operation, T>& arguments, const device_traits& device,
                       cudaStream_t stream);
template <class Operation, class T>
void launch_first_add_on_load(const arguments<Operation, T>& arguments, const device_traits& device,
                              cudaStream_t stream);
/// Needs stride 1.
template <class Operation, class T>
void launch_vectorized(const arguments<Operation, T>& arguments, const device_traits& device,
                       cudaStream_t stream);

/// Every operation.
template <class Operation, class T>
void launch_warp_shuffle(const arguments<Operation, T>& arguments, const device_traits& device,
                         cudaStream_t stream);
template <class Operation, class T>
void launch_single_pass(const arguments<Operation, T>& arguments, const device_traits& device,
                        cudaStream_t stream);

}  // namespace heddle::kernels::reduce
