#pragma once

#include "kernels/device/border.cuh"
#include <heddle/types.hpp>

#include <cstdint>
#include <type_traits>

namespace heddle::kernels::image_filter {

/// A lane's values of a row in as few registers as possible: one instruction loads them.
template <class T, int values>
struct alignas(values * sizeof(T)) packed {
    static constexpr int bits = 8 * static_cast<int>(sizeof(T));
    static constexpr int per_word = 32 / bits;
    std::uint32_t words[values / per_word] = {};

    /// Sets an element that is still 0.
    __device__ void set(int e, T value) { words[e / per_word] |= bits_of(value) << (e % per_word * bits); }
    __device__ float to_float(int e) const {
        const std::uint32_t word = words[e / per_word] >> (e % per_word * bits);
        if constexpr (std::is_same_v<T, float>)
            return __uint_as_float(word);
        else if constexpr (std::is_same_v<T, half>)
            return __half2float(__ushort_as_half(static_cast<unsigned short>(word)));
        else
            return static_cast<float>(static_cast<T>(word));
    }

  private:
    __device__ static std::uint32_t bits_of(T value) {
        if constexpr (std::is_same_v<T, float>)
            return __float_as_uint(value);
        else if constexpr (std::is_same_v<T, half>)
            return __half_as_ushort(value);
        else
            return value;
    }
};

/// A row or a column of the source, in steps from where the destination begins. It has its range, and the offsets from steps
/// outside of it to the steps that stand for them. An offset of 0 means the border's constant.
template <class Index>
struct line {
    Index begin;
    Index end;
    Index from_before = 0;
    Index from_behind = 0;

    /// The source has `size` pixels of `steps` steps each, and the destination begins at its pixel `at`.
    line(std::int64_t size, std::int64_t at, std::int64_t steps, border kind)
        : begin(static_cast<Index>(-at * steps)), end(static_cast<Index>((size - at) * steps)) {
        if (kind == border::constant) return;
        from_before = static_cast<Index>((source_index<std::int64_t>(-1, size, kind) + 1) * steps);
        from_behind = static_cast<Index>((source_index(size, size, kind) - size) * steps);
    }

    __device__ bool has(Index i) const { return i >= begin && i < end; }
    __host__ __device__ Index stand_in(Index i) const {
        return i < begin ? i + from_before : i >= end ? i + from_behind : i;
    }
};

}  // namespace heddle::kernels::image_filter
