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
struct min;
struct max;

/// What partial results and the result are kept in.
template <class Operation, class T>
using result_type = std::conditional_t<std::is_same_v<Operation, sum>, sum_type<T>, T>;

/// x may be empty; its stride is 1 where it has one element or none.
template <class Operation, class T>
struct arguments {
    vector_view<const T> x;
    result_type<Operation, T>* result;
    unsigned* ticket = nullptr;                     ///< zero before and after
    result_type<Operation, T>* partials = nullptr;  ///< as many as the plan says; none: both are null
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

template <class Operation, class T>
void launch_interleaved(const arguments<Operation, T>& arguments, const device_traits& device,
                        cudaStream_t stream);
template <class Operation, class T>
void launch_sequential(const arguments<Operation, T>& arguments, const device_traits& device,
                       cudaStream_t stream);
template <class Operation, class T>
void launch_first_add_on_load(const arguments<Operation, T>& arguments, const device_traits& device,
                              cudaStream_t stream);
template <class Operation, class T>
void launch_warp_shuffle(const arguments<Operation, T>& arguments, const device_traits& device,
                         cudaStream_t stream);
/// Needs stride 1.
template <class Operation, class T>
void launch_vectorized(const arguments<Operation, T>& arguments, const device_traits& device,
                       cudaStream_t stream);
template <class Operation, class T>
void launch_single_pass(const arguments<Operation, T>& arguments, const device_traits& device,
                        cudaStream_t stream);

}  // namespace heddle::kernels::reduce
