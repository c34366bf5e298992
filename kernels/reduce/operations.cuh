#pragma once

#include "kernels/device/ptx/min_max.cuh"
#include "kernels/reduce/launch.hpp"
#include <heddle/types.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace heddle::kernels::reduce {

template <class T>
inline constexpr bool is_16_bit_float = std::is_same_v<T, half> || std::is_same_v<T, bfloat16>;

inline constexpr float infinity = std::numeric_limits<float>::infinity();
template <class T>
inline constexpr T largest_integer = std::numeric_limits<T>::max();
template <class T>
inline constexpr T smallest_integer = std::numeric_limits<T>::min();

struct sum {
    template <class T>
    static __device__ T identity() {
        return T{0};
    }
    template <class T>
    __device__ T operator()(T a, T b) const {
        return a + b;
    }
    /// Wraps, where signed overflow would be undefined.
    __device__ std::int64_t operator()(std::int64_t a, std::int64_t b) const {
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    }
};

/// A NaN in `b` is taken, and one in `a` stays, for no comparison with it holds.
struct min {
    template <class T>
    static __device__ T identity() {
        if constexpr (std::is_integral_v<T>)
            return largest_integer<T>;
        else
            return static_cast<T>(infinity);
    }
    template <class T>
    __device__ T operator()(T a, T b) const {
        if constexpr (is_16_bit_float<T>)
            return __hmin_nan(a, b);
        else if constexpr (std::is_same_v<T, float>)
            return ptx::min_nan(a, b);
        else
            return b < a || b != b ? b : a;
    }
};

struct max {
    template <class T>
    static __device__ T identity() {
        if constexpr (std::is_integral_v<T>)
            return smallest_integer<T>;
        else
            return static_cast<T>(-infinity);
    }
    template <class T>
    __device__ T operator()(T a, T b) const {
        if constexpr (is_16_bit_float<T>)
            return __hmax_nan(a, b);
        else if constexpr (std::is_same_v<T, float>)
            return ptx::max_nan(a, b);
        else
            return b > a || b != b ? b : a;
    }
};

}  // namespace heddle::kernels::reduce
