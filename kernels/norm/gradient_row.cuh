#pragma once

#include "kernels/device/row.cuh"
#include "kernels/norm/gradient_exchange.cuh"
#include "kernels/norm/gradient_limits.cuh"
#include <heddle/view.hpp>

namespace heddle::kernels::norm {

/// A thread's elements of gamma, or 1 where there are none, in registers.
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

/// A run of elements: their mean, or 0 for rms_norm, the squares of what it leaves of them, and the sums of g and of g times that.
struct row_sums {
    float mean;
    float squares;
    float g;
    float g_deviations;
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

/// The sums of the row, from those of the warps that share it, each of which has warp_elements but for the last ones.
template <bool centred>
__device__ row_sums combine(gradient_exchange& exchange, const row_sums& of_warp, int cols, float per_col) {
    constexpr int warp_elements = gradient_limits::warp_elements;
    const float4* const of_warps =
        exchange.publish(make_float4(of_warp.mean, of_warp.squares, of_warp.g, of_warp.g_deviations));
    const unsigned lanes = exchange.blocks() == 1 ? gradient_limits::warps : warp_size;
    const auto for_each_warp = [&](auto function) {
        for (unsigned w = threadIdx.x % lanes; w < exchange.warps(); w += lanes) {
            const int left = cols - static_cast<int>(w) * warp_elements;
            function(of_warps[w], static_cast<float>(max(min(left, warp_elements), 0)));
        }
    };

    row_sums row{};
    if constexpr (centred) {
        for_each_warp([&](const float4& warp, float count) { row.mean += warp.x * count; });
        row.mean = lanes_reduce(row.mean, lanes, plus{}) * per_col;
    }
    for_each_warp([&](const float4& warp, float count) {
        const float distance = centred ? warp.x - row.mean : 0.0f;
        row.squares += warp.y + count * (distance * distance);
        row.g += warp.z;
        row.g_deviations += warp.w + warp.z * distance;
    });
    row.squares = lanes_reduce(row.squares, lanes, plus{});
    if constexpr (centred) row.g = lanes_reduce(row.g, lanes, plus{});
    row.g_deviations = lanes_reduce(row.g_deviations, lanes, plus{});
    return row;
}

}  // namespace heddle::kernels::norm
