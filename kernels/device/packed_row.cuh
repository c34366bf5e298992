#pragma once

#include "kernels/device/normalizer.cuh"
#include "kernels/device/ptx/in_register.cuh"
#include "kernels/device/ptx/min_max.cuh"
#include "kernels/device/row.cuh"
#include <heddle/types.hpp>

#include <type_traits>

namespace heddle::kernels::normalizers {

/// A thread's share of a row of 16-bit elements, kept in words as in memory. It takes half the registers of floats, and a
/// conversion at each use.
template <class T, int width, int elements>
class packed_row {
  public:
    using share = row_share<T, width, elements>;

    __device__ packed_row(const share& share, const T* row) : share_(share) {
        share.load(row, packets_, -infinity);
    }

    /// Calls visit(share of one packet, its values) for each packet. No converted values stay in registers between two calls:
    /// the compiler does not know that the words are unchanged.
    template <class Visit>
    __device__ void for_each(const Visit& visit) {
#pragma unroll
        for (int p = 0; p < share::packets; ++p) {
#pragma unroll
            for (int w = 0; w < width / 2; ++w) packets_[p][w] = ptx::in_register(packets_[p][w]);
            auto values = to_floats(packets_[p]);
            visit(share_.only(p), values.elements);
        }
    }

    /// The normalizer of the warp's elements. The elements stay as they are. Where the largest is infinite, they become their
    /// differences from it: 0, -Inf or NaN.
    __device__ normalizer normalize() {
        constexpr int words = width / 2;
        unsigned pair = packets_[0][0];
#pragma unroll
        for (int w = 1; w < words * share::packets; ++w)
            pair = ptx::max_pair<T>(pair, packets_[w / words][w % words]);
        const auto elements_of_pair = __builtin_bit_cast(vector<T, 2>, pair);
        const float largest = lanes_reduce(
            fmaxf(static_cast<float>(elements_of_pair[0]), static_cast<float>(elements_of_pair[1])),
            warp_size, larger{});
        origin_ = largest;
        if (isinf(largest)) take_differences(largest);

        float sum = 0;
        for_each([&](const auto&, float(&values)[width]) { sum += sum_of_exponentials<T>(values, origin_); });
        return {largest, lanes_reduce(sum, warp_size, plus{})};
    }

    /// The value that exponentials of the elements are relative to.
    __device__ float origin() const {
        return origin_;
    }

  private:
    /// A pair of bfloat16 takes a shift and a mask; the compiler would extract both halves and shift both.
    static __device__ vector<float, width> to_floats(const typename share::packet_bits& packet) {
        if constexpr (std::is_same_v<T, bfloat16>) {
            vector<float, width> result;
#pragma unroll
            for (int w = 0; w < width / 2; ++w) {
                result[2 * w] = __uint_as_float(packet[w] << 16);
                result[2 * w + 1] = __uint_as_float(packet[w] & 0xffff0000u);
            }
            return result;
        } else {
            return share::to_floats(packet);
        }
    }

    __device__ void take_differences(float largest) {
#pragma unroll
        for (int p = 0; p < share::packets; ++p) {
            auto packet = __builtin_bit_cast(typename share::packet, packets_[p]);
#pragma unroll
            for (int e = 0; e < width; ++e) {
                const float relative = difference(static_cast<float>(packet[e]), largest);
                packet[e] = static_cast<T>(share_.holds(p) ? relative : -infinity);
            }
            packets_[p] = __builtin_bit_cast(typename share::packet_bits, packet);
        }
        origin_ = 0;
    }

    share share_;
    typename share::packet_bits packets_[share::packets];
    float origin_;
};

}  // namespace heddle::kernels::normalizers
