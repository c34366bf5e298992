#pragma once

#include "kernels/device/ptx/approximate.cuh"
#include "kernels/device/row.cuh"
#include <heddle/types.hpp>

#include <limits>
#include <type_traits>

/// The normalizer of a softmax, and functions that compute with it.
namespace heddle::kernels::normalizers {

inline constexpr float infinity = std::numeric_limits<float>::infinity();
inline constexpr float log2_e = 1.44269504f;

/// x - largest, but 0 instead of NaN where both are the same infinity.
__device__ inline float difference(float x, float largest) {
    return x == largest ? 0.0f : x - largest;
}

/// exp(x) for x <= 0. For half and bfloat16 the error of the hardware's exponential is far below half a unit of the result.
/// For half, results below 2^-126 may be 0.
template <class T>
__device__ float exponential(float x) {
    if constexpr (std::is_same_v<T, half>) return ptx::exponential2(x * log2_e);
    return sizeof(T) == 2 ? __expf(x) : expf(x);
}

/// exp(x) as a term of a sum that is at least 1: terms below 2^-126 do not change it.
template <class T>
__device__ float term(float x) {
    return sizeof(T) == 2 ? ptx::exponential2(x * log2_e) : expf(x);
}

/// The largest element, and the sum of exponentials relative to it.
struct normalizer {
    float largest;
    float sum;
};

/// The value that the exponents are relative to: the largest one. Where that is infinite, the values here become their
/// differences from it, and 0 where they equal it. Places beyond the row become -Inf. So the common case needs no test of
/// each element.
template <class Share, int elements>
__device__ float origin_of(const Share& share, float (&values)[elements], float largest) {
    constexpr int width = elements / Share::packets;
    if (!isinf(largest)) return largest;
#pragma unroll
    for (int e = 0; e < elements; ++e)
        values[e] = share.holds(e / width) ? difference(values[e], largest) : -infinity;
    return 0;
}

template <class T, int elements>
__device__ float sum_of_exponentials(const float (&values)[elements], float origin) {
    float sum = 0;
#pragma unroll
    for (int e = 0; e < elements; ++e) sum += term<T>(values[e] - origin);
    return sum;
}

/// The same; each element also becomes its exponential.
template <class T, int elements>
__device__ float take_exponentials(float (&values)[elements], float origin) {
    float sum = 0;
#pragma unroll
    for (int e = 0; e < elements; ++e) {
        values[e] = exponential<T>(values[e] - origin);
        sum += values[e];
    }
    return sum;
}

template <int elements>
__device__ float largest_of(const float (&values)[elements]) {
    float largest = values[0];
#pragma unroll
    for (int e = 1; e < elements; ++e) largest = fmaxf(largest, values[e]);
    return largest;
}

/// The normalizer of the elements that a group of lanes holds. Each element becomes its exponential relative to the largest
/// one, or stays as it is for the logarithm.
template <bool logarithm, class T, class Share, int elements>
__device__ normalizer normalize(const Share& share, float (&values)[elements], unsigned lanes) {
    const float largest = lanes_reduce(largest_of(values), lanes, larger{});
    const float origin = origin_of(share, values, largest);
    const float sum =
        logarithm ? sum_of_exponentials<T>(values, origin) : take_exponentials<T>(values, origin);
    return {largest, lanes_reduce(sum, lanes, plus{})};
}

/// Adds the elements of a share to a thread's normalizer. Places beyond the row are -Inf.
template <class T, class Share, int elements>
__device__ void add(normalizer& mine, const Share& share, float (&values)[elements]) {
    const float largest = fmaxf(mine.largest, largest_of(values));
    const float origin = origin_of(share, values, largest);
    mine.sum =
        mine.sum * exponential<T>(difference(mine.largest, largest)) + sum_of_exponentials<T>(values, origin);
    mine.largest = largest;
}

/// The normalizer of a warp's threads.
template <class T>
__device__ normalizer combine(const normalizer& mine) {
    const float largest = lanes_reduce(mine.largest, warp_size, larger{});
    const float sum = mine.sum * exponential<T>(difference(mine.largest, largest));
    return {largest, lanes_reduce(sum, warp_size, plus{})};
}

/// The row's normalizer, combined from its warps' largest elements (exchanged as number 0) and sums (number 1).
template <class T, int size>
__device__ normalizer combine(const row_exchange<size>& exchange) {
    const unsigned lane = threadIdx.x % warp_size;
    float largest = -infinity;
    for (unsigned w = lane; w < exchange.warps(); w += warp_size)
        largest = fmaxf(largest, exchange.number(0, w));
    largest = lanes_reduce(largest, warp_size, larger{});
    float sum = 0;
    for (unsigned w = lane; w < exchange.warps(); w += warp_size)
        sum += exchange.number(1, w) * exponential<T>(difference(exchange.number(0, w), largest));
    return {largest, lanes_reduce(sum, warp_size, plus{})};
}

}  // namespace heddle::kernels::normalizers
