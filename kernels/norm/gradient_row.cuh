#pragma once

#include "kernels/device/row.cuh"
#include "kernels/norm/gradient_exchange.cuh"
#include "kernels/norm/gradient_limits.cuh"
#include <heddle/view.hpp>

namespace heddle::kernels::norm {

/// A thread's elements of gamma in registers, or 1 where gamma is empty.
template <class T, int width>
class row_factors {
  public:
    using share = row_share<T, width, gradient_limits::elements>;

    __device__ row_factors(const vector_view<const T>& gamma, const share& whole) {
#pragma unroll
        for (int p = 0; p < share::packets; ++p) {
#pragma unroll
            for (int e = 0; e < width; ++e) held_[p][e] = static_cast<T>(1.0f);
            if (gamma.size > 0 && whole.holds(p)) held_[p] = whole.at(gamma.data, p);
        }
    }

    /// The factor of element e of packet p.
    __device__ float operator()(int p, int e) const {
        return static_cast<float>(held_[p][e]);
    }

  private:
    typename share::packet held_[share::packets];
};

/// The sums of a run of elements. A deviation is an element less the mean.
struct row_sums {
    float mean;          ///< 0 for rms_norm
    float squares;       ///< of the deviations
    float g;             ///< left out for rms_norm
    float g_deviations;  ///< g times the deviation
};

template <bool centred, int width, class Share, class Factors>
__device__ row_sums sums_of(const Share& part, const float (&x)[gradient_limits::elements],
                            const float (&dy)[gradient_limits::elements], const Factors& gamma,
                            float per_element, unsigned lanes) {
    row_sums sums{};
    if constexpr (centred) {
        float sum = 0;
#pragma unroll
        for (int e = 0; e < gradient_limits::elements; ++e) sum += x[e];
        sum = lanes_reduce(sum, lanes, plus{});
        sums.mean = sum * per_element;
    }
#pragma unroll
    for (int e = 0; e < gradient_limits::elements; ++e) {
        const float deviation = x[e] - sums.mean;
        const float g = dy[e] * gamma(e / width, e % width);
        if (!centred || part.holds(e / width)) sums.squares += deviation * deviation;
        if constexpr (centred) sums.g += g;
        sums.g_deviations += g * deviation;
    }
    sums.squares = lanes_reduce(sums.squares, lanes, plus{});
    if constexpr (centred) sums.g = lanes_reduce(sums.g, lanes, plus{});
    sums.g_deviations = lanes_reduce(sums.g_deviations, lanes, plus{});
    return sums;
}

/// Adds the sums `from` of one warp to a row's, whose mean is known. The last warps of a cluster may have no elements.
/// Their distance from the row's mean counts as 0, because its square could overflow.
template <bool centred>
__device__ void add(row_sums& sums, const float4& from, float count) {
    const float distance = centred && count > 0 ? from.x - sums.mean : 0.0f;
    sums.squares += from.y + count * (distance * distance);
    sums.g += from.z;
    sums.g_deviations += from.w + from.z * distance;
}

/// The sums of the row, from those of the warps that share it. Each warp has warp_elements, but the last ones may have
/// less. Half of the lanes suffice for the warps of a block; a cluster may have more warps than lanes.
template <bool centred>
__device__ row_sums combine(gradient_exchange& exchange, const row_sums& of_warp, int cols, float per_col) {
    constexpr unsigned most = gradient_limits::warps;
    const float4* const of_warps =
        exchange.publish(make_float4(of_warp.mean, of_warp.squares, of_warp.g, of_warp.g_deviations));
    const bool is_cluster = exchange.blocks() > 1;
    const auto count_of = [&](unsigned warp) {
        const int left = cols - static_cast<int>(warp) * gradient_limits::warp_elements;
        return static_cast<float>(max(min(left, gradient_limits::warp_elements), 0));
    };
    const auto over_halves = [](float value) { return value + __shfl_xor_sync(0xffffffffu, value, most); };

    const unsigned warp = threadIdx.x % (is_cluster ? warp_size : most);
    const bool is_one = warp < exchange.warps();
    const float4 first = is_one ? of_warps[warp] : make_float4(0, 0, 0, 0);
    const float count = is_one ? count_of(warp) : 0.0f;
    row_sums row{};
    if constexpr (centred) {
        float sum = first.x * count;
        if (is_cluster) {
#pragma unroll 1
            for (unsigned w = warp + warp_size; w < exchange.warps(); w += warp_size)
                sum += of_warps[w].x * count_of(w);
            sum = over_halves(sum);
        }
        row.mean = lanes_reduce(sum, most, plus{}) * per_col;
    }
    if (is_one) add<centred>(row, first, count);
    if (is_cluster) {
#pragma unroll 1
        for (unsigned w = warp + warp_size; w < exchange.warps(); w += warp_size)
            add<centred>(row, of_warps[w], count_of(w));
        row.squares = over_halves(row.squares);
        if constexpr (centred) row.g = over_halves(row.g);
        row.g_deviations = over_halves(row.g_deviations);
    }
    row.squares = lanes_reduce(row.squares, most, plus{});
    if constexpr (centred) row.g = lanes_reduce(row.g, most, plus{});
    row.g_deviations = lanes_reduce(row.g_deviations, most, plus{});
    return row;
}

}  // namespace heddle::kernels::norm
