#pragma once

#include "kernels/device/ptx/cp_async.cuh"
#include "kernels/device/ptx/warpgroup.cuh"
#include "kernels/device/row.cuh"
#include "kernels/norm/tuning/generic.hpp"
#include <heddle/view.hpp>

#include <cstddef>
#include <cstdint>

namespace heddle::kernels::norm {

/// Numbers that gradient_vectorized's plan and kernel share.
struct gradient_limits {
    static constexpr int elements = 16;  ///< of a row, in each thread
    static constexpr int threads = 512;  ///< of a block, at most
    static constexpr int warps = threads / warp_size;
    static constexpr int warp_elements = warp_size * elements;
    static constexpr std::int64_t cols = std::int64_t{threads} * elements;
    static constexpr int least_lanes = 4;
    static constexpr std::int64_t rows = 4096;  ///< that one float adds up
    static constexpr std::int64_t static_bytes = 1024;
};

/// A thread's part of rows to come: of each stage its packets of x, then of dy. Without packets of 16 bytes rows are loaded when
/// their turn comes.
template <class T, int width>
class gradient_ring {
  public:
    using share = row_share<T, width, gradient_limits::elements>;
    using packet = typename share::packet;
    static constexpr int stages = width == 1 ? 0 : gradient_sharing::stages(sizeof(T));

    __device__ gradient_ring(std::byte* shared, unsigned thread)
        : mine_(reinterpret_cast<packet*>(shared) + thread / warp_size * (stages * stage_packets) +
                thread % warp_size) {}

    /// The row after those that are on their way; a share of nothing where there is none.
    __device__ void start(const share& part, const T* x, const T* dy) {
        if constexpr (stages > 0) {
#pragma unroll
            for (int p = 0; p < share::packets; ++p) {
                if (!part.holds(p)) continue;
                ptx::cp_async<sizeof(packet)>(&at(p), &part.at(x, p), sizeof(packet));
                ptx::cp_async<sizeof(packet)>(&at(share::packets + p), &part.at(dy, p), sizeof(packet));
            }
            ptx::cp_async_commit_group();
            stage_ = stage_ + 1 == stages ? 0 : stage_ + 1;
        }
    }

    /// The oldest row, whose place start() then takes. Elements that it does not have are 0.
    __device__ void take(const share& part, const T* x, const T* dy, float (&xs)[gradient_limits::elements],
                         float (&dys)[gradient_limits::elements]) {
        if constexpr (stages > 0) {
            ptx::cp_async_wait_group<stages - 1>();
#pragma unroll
            for (int p = 0; p < share::packets; ++p) {
                const packet of_x = at(p), of_dy = at(share::packets + p);
#pragma unroll
                for (int e = 0; e < width; ++e) {
                    xs[p * width + e] = part.holds(p) ? static_cast<float>(of_x[e]) : 0.0f;
                    dys[p * width + e] = part.holds(p) ? static_cast<float>(of_dy[e]) : 0.0f;
                }
            }
        } else {
            part.load(x, xs, 0);
            part.load(dy, dys, 0);
        }
    }

  private:
    static constexpr int stage_packets = 2 * share::packets * warp_size;  ///< of a warp

    __device__ packet& at(int p) {
        return mine_[stage_ * stage_packets + p * warp_size];
    }

    packet* mine_;
    int stage_ = 0;
};

/// A thread's elements of gamma, or 1 where there are none: packets in registers, single elements in the cache.
template <class T, int width>
class row_factors {
  public:
    using share = row_share<T, width, gradient_limits::elements>;

    __device__ row_factors(const vector_view<const T>& gamma, const share& whole)
        : data_(gamma.size > 0 ? gamma.data : nullptr), whole_(whole) {
        if constexpr (width > 1) {
#pragma unroll
            for (int p = 0; p < share::packets; ++p) {
#pragma unroll
                for (int e = 0; e < width; ++e) held_[p][e] = static_cast<T>(1.0f);
                if (data_ != nullptr && whole.holds(p)) held_[p] = whole.at(data_, p);
            }
        }
    }

    /// The factor of element e of packet p.
    __device__ float operator()(int p, int e) const {
        if constexpr (width > 1) return static_cast<float>(held_[p][e]);
        return data_ != nullptr && whole_.holds(p) ? static_cast<float>(whole_.at(data_, p)[e]) : 1.0f;
    }

  private:
    const T* data_;
    share whole_;
    typename share::packet held_[width > 1 ? share::packets : 1];
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
    if constexpr (width == 1) __syncwarp();  // no factor is loaded earlier: registers are few
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

/// The sums of the row, from those of the warps that share it, each of which has warp_elements but for the last.
template <bool centred>
__device__ row_sums combine(float4 (&of_warps)[gradient_limits::warps], const row_sums& of_warp, int cols,
                            float per_col) {
    const int lane = static_cast<int>(threadIdx.x % warp_size);
    const int warps = static_cast<int>(blockDim.x) / warp_size;
    const int first_warp = static_cast<int>(threadIdx.y) * warps;
    if (lane == 0)
        of_warps[first_warp + static_cast<int>(threadIdx.x) / warp_size] =
            make_float4(of_warp.mean, of_warp.squares, of_warp.g, of_warp.g_deviations);
    ptx::sync_threads(1 + static_cast<int>(threadIdx.y), static_cast<int>(blockDim.x));

    constexpr unsigned most = gradient_limits::warps;
    const int warp = lane % most;
    const bool is_one = warp < warps;
    const float4 other = is_one ? of_warps[first_warp + warp] : make_float4(0, 0, 0, 0);
    row_sums row{0, other.y, other.z, other.w};
    if constexpr (centred) {
        const auto count = static_cast<float>(
            min(cols - warp * gradient_limits::warp_elements, gradient_limits::warp_elements));
        row.mean = lanes_reduce(is_one ? other.x * count : 0.0f, most, plus{}) * per_col;
        const float distance = is_one ? other.x - row.mean : 0.0f;
        row.squares += is_one ? count * (distance * distance) : 0.0f;
        row.g_deviations += other.z * distance;
        row.g = lanes_reduce(row.g, most, plus{});
    }
    row.squares = lanes_reduce(row.squares, most, plus{});
    row.g_deviations = lanes_reduce(row.g_deviations, most, plus{});
    return row;
}

}  // namespace heddle::kernels::norm
