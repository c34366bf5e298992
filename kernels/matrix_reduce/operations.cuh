#pragma once

#include "kernels/device/combine_tree.cuh"
#include "kernels/device/ptx/min_max.cuh"
#include "kernels/device/warp_reduce.cuh"
#include "kernels/matrix_reduce/launch.hpp"

#include <cstdint>
#include <limits>

/// An operation keeps a `state` of the elements it has seen. identity() is the state of no element, of() that of a run of
/// elements. The call operator combines two states, and finish() makes the result. `threads` is the most that a block
/// has, and `blocks_per_sm` is how many blocks an SM shall hold: large states need registers.
namespace heddle::kernels::matrix_reduce {

/// The `threads` of operations with large states, and of others.
inline constexpr int few_threads = 256;
inline constexpr int many_threads = 512;

inline constexpr float infinity = std::numeric_limits<float>::infinity();

/// Operations whose state is one float.
template <class Operation>
struct of_float {
    using state = float;
    static constexpr int threads = many_threads;
    static constexpr int blocks_per_sm = 4;

    /// Takes the elements at first, first + step, ... of the row.
    template <int count>
    static __device__ float of(const float (&values)[count], std::int64_t, std::int64_t) {
        float copies[count];
#pragma unroll
        for (int e = 0; e < count; ++e) copies[e] = values[e];
        return combine_tree(copies, Operation{});
    }
};

struct sum : of_float<sum> {
    static __device__ float identity() { return 0; }
    __device__ float operator()(float a, float b) const { return a + b; }
    template <class Result>
    static __device__ Result finish(float total, float divisor) {
        return total / divisor;
    }
};

struct min : of_float<min> {
    static __device__ float identity() { return infinity; }
    __device__ float operator()(float a, float b) const { return ptx::min_nan(a, b); }
    template <class Result>
    static __device__ Result finish(float smallest, float) {
        return static_cast<Result>(smallest);
    }
};

struct max : of_float<max> {
    static __device__ float identity() { return -infinity; }
    __device__ float operator()(float a, float b) const { return ptx::max_nan(a, b); }
    template <class Result>
    static __device__ Result finish(float largest, float) {
        return static_cast<Result>(largest);
    }
};

struct alignas(16) candidate {
    float value;
    std::int64_t index;
};

/// NaN counts as larger than all else. The first of equals wins, in whatever order they come.
struct argmax {
    using state = candidate;
    static constexpr int threads = few_threads;
    static constexpr int blocks_per_sm = 4;
    static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();

    static __device__ candidate identity() { return {-infinity, none}; }

    template <int count>
    static __device__ candidate of(const float (&values)[count], std::int64_t first, std::int64_t step) {
        float largest = values[0];
        int place = 0;
#pragma unroll
        for (int e = 1; e < count; ++e)
            if (values[e] > largest || (values[e] != values[e] && largest == largest)) {
                largest = values[e];
                place = e;
            }
        return {largest, first + place * step};
    }

    __device__ candidate operator()(const candidate& a, const candidate& b) const {
        const bool a_is_nan = a.value != a.value;
        const bool b_is_nan = b.value != b.value;
        const bool are_equal = a.value == b.value || (a_is_nan && b_is_nan);
        const bool is_b = are_equal ? b.index < a.index : b.value > a.value || b_is_nan;
        return is_b ? b : a;
    }

    template <class Result>
    static __device__ Result finish(const candidate& best, float) {
        return best.index == none ? -1 : best.index;
    }
};

struct alignas(16) moments {
    float count;
    float mean;
    float squares;  ///< the sum of the squared distances from the mean
};

/// of() takes two passes over its elements, which are in registers; runs are then merged pair by pair.
struct variance {
    using state = moments;
    static constexpr int threads = few_threads;
    static constexpr int blocks_per_sm = 4;

    static __device__ moments identity() { return {0, 0, 0}; }

    template <int count>
    static __device__ moments of(const float (&values)[count], std::int64_t, std::int64_t) {
        // Scaled by a power of two first: the sum of large elements could overflow where their mean does not.
        static_assert((count & (count - 1)) == 0);
        float shares[count];
#pragma unroll
        for (int e = 0; e < count; ++e) shares[e] = values[e] * (1.0f / count);
        const float mean = sum::of(shares, 0, 0);
        float squares[count];
#pragma unroll
        for (int e = 0; e < count; ++e) squares[e] = (values[e] - mean) * (values[e] - mean);
        return {count, mean, combine_tree(squares, sum{})};
    }

    /// The order of the products keeps an empty run from making NaN of a large mean.
    __device__ moments operator()(const moments& a, const moments& b) const {
        const float count = a.count + b.count;
        const float share = count > 0 ? __fdividef(b.count, count) : 0;
        const float distance = b.mean - a.mean;
        return {count, a.mean + distance * share,
                a.squares + b.squares + distance * a.count * share * distance};
    }

    template <class Result>
    static __device__ Result finish(const moments& all, float divisor) {
        return all.squares / divisor;
    }
};

__device__ inline float shuffle_down(float value, int distance) {
    return __shfl_down_sync(0xffffffffu, value, distance);
}
__device__ inline candidate shuffle_down(const candidate& best, int distance) {
    return {shuffle_down(best.value, distance), __shfl_down_sync(0xffffffffu, best.index, distance)};
}
__device__ inline moments shuffle_down(const moments& run, int distance) {
    return {shuffle_down(run.count, distance), shuffle_down(run.mean, distance),
            shuffle_down(run.squares, distance)};
}

/// Combines the states of each group of `lanes` neighbours in a warp, a power of two. The first of the group gets the
/// result. All lanes of the warp take part.
template <class Operation>
__device__ typename Operation::state combine_lanes(typename Operation::state value, int lanes) {
    for (int distance = lanes / 2; distance > 0; distance /= 2)
        value = Operation{}(value, shuffle_down(value, distance));
    return value;
}

/// Loads a state that another block has stored.
__device__ inline float load_partial(const float* partial) {
    return __ldcg(partial);
}
template <class State>
__device__ State load_partial(const State* partial) {
    static_assert(sizeof(State) == sizeof(int4));
    return __builtin_bit_cast(State, __ldcg(reinterpret_cast<const int4*>(partial)));
}

}  // namespace heddle::kernels::matrix_reduce
