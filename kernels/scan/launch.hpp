#pragma once

#include <heddle/device.hpp>
#include <heddle/scan.hpp>
#include <heddle/view.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace heddle::kernels::scan {

/// Inclusive: y[i] ends with x[i]; exclusive: with x[i - 1].
enum class kind { inclusive, exclusive };

/// x and y have one size, not 0. A stride is 1 where there is one element.
template <class T>
struct arguments {
    vector_view<const T> x;
    vector_view<T> y;
    scan::kind kind;
    unsigned* counters = nullptr;  ///< two, zero before and after
    std::byte* scratch = nullptr;  ///< as many bytes as the plan says, of any content; none: both are null
};

/// What a rung will do with a problem; pure.
struct plan {
    std::int64_t scratch_bytes = 0;
    std::int64_t depth = 0;  ///< additions on the way of any one element to any sum, at most
};

plan plan_naive(const scan_problem& problem, const device_traits& device);
plan plan_reduce_then_scan(const scan_problem& problem, const device_traits& device);
plan plan_look_back(const scan_problem& problem, const device_traits& device);

template <class T>
void launch_naive(const arguments<T>& arguments, const device_traits& device, cudaStream_t stream);
template <class T>
void launch_reduce_then_scan(const arguments<T>& arguments, const device_traits& device, cudaStream_t stream);
template <class T>
void launch_look_back(const arguments<T>& arguments, const device_traits& device, cudaStream_t stream);

}  // namespace heddle::kernels::scan
