#pragma once

#include "kernels/device/launch.hpp"
#include "kernels/histogram/facts.hpp"
#include <heddle/device.hpp>
#include <heddle/histogram.hpp>
#include <heddle/view.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace heddle::kernels::histogram {

/// Bins are equal parts of [lower, upper); scale is bins / (upper - lower). Byte elements do not use it.
struct range {
    float lower = 0;
    float upper = 0;
    float scale = 0;
};

/// x is not empty; its stride is 1 where it has one element. `counts` are zero.
template <class T>
struct arguments {
    vector_view<const T> x;
    unsigned long long* counts;
    int bins;
    histogram::range range;
};

/// How a rung computes a problem.
struct plan {
    launch_extents blocks{1};
    launch_extents threads{1};
    std::size_t shared_bytes = 0;
    // Only vectorized uses these.
    int columns = 1;           ///< counters per bin
    int head = 0;              ///< elements before the first packet
    std::int64_t packets = 0;  ///< whole packets of 16 bytes
};

/// Pure. These take any problem.
plan plan_naive(const histogram_facts& problem, const device_traits& device);
plan plan_cached(const histogram_facts& problem, const device_traits& device);
/// Needs at most histogram_max_shared_bins bins.
plan plan_shared_memory(const histogram_facts& problem, const device_traits& device);
/// Needs at most histogram_max_shared_bins bins, and stride 1.
plan plan_vectorized(const histogram_facts& problem, const device_traits& device);

/// These count the elements. The plan is the rung's for these arguments.
template <class T>
void launch_naive(const plan& plan, const arguments<T>& arguments, cudaStream_t stream);
template <class T>
void launch_cached(const plan& plan, const arguments<T>& arguments, cudaStream_t stream);
template <class T>
void launch_shared_memory(const plan& plan, const arguments<T>& arguments, cudaStream_t stream);
template <class T>
void launch_vectorized(const plan& plan, const arguments<T>& arguments, cudaStream_t stream);

}  // namespace heddle::kernels::histogram
