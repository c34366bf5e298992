#pragma once

#include "kernels/device/combine_tree.cuh"
#include "kernels/device/ptx/min_max.cuh"
#include "kernels/device/ptx/relaxed.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/vector.cuh"
#include "kernels/device/warp_reduce.cuh"
#include "kernels/reduce/launch.hpp"
#include <heddle/types.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

/// An operation on elements of type T keeps a state<T> of those that it has seen. identity() is the state of none, and of()
/// that of some packets (argmin, argmax: of one element, at `place` in x). The call operator combines two states, and
/// finish() makes the result. `registers` is the most registers per thread: large states need more. `takes_repeats` says
/// that an element seen twice changes nothing; to other operations zeros change nothing.
namespace heddle::kernels::reduce {

template <class T>
inline constexpr bool is_16_bit_float = std::is_same_v<T, half> || std::is_same_v<T, bfloat16>;

inline constexpr float infinity = std::numeric_limits<float>::infinity();
template <class T>
inline constexpr T largest_integer = std::numeric_limits<T>::max();
template <class T>
inline constexpr T smallest_integer = std::numeric_limits<T>::min();

template <class Operation, class T>
using state_type = typename Operation::template state<T>;

/// Packets of two vectors, from the same places.
template <class T, int width>
struct packet_pair {
    vector<T, width> x;
    vector<T, width> y;
};

__device__ inline std::int64_t wrapping_add(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
__device__ inline std::int64_t wrapping_multiply(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

/// Operations that read one element at a time: seen<T>(element) is its state, by default the element itself.
template <class Operation>
struct one_by_one {
    static constexpr int registers = 32;

    template <class T>
    static __device__ auto seen(T element) {
        return static_cast<state_type<Operation, T>>(element);
    }

    template <class T, int width, int count>
    static __device__ auto of(const vector<T, width> (&packets)[count], std::int64_t) {
        using state = state_type<Operation, T>;
        state values[count];
#pragma unroll
        for (int p = 0; p < count; ++p) {
            state elements[width];
#pragma unroll
            for (int e = 0; e < width; ++e) elements[e] = Operation::template seen<T>(packets[p][e]);
            values[p] = combine_tree(elements, Operation{});
        }
        return combine_tree(values, Operation{});
    }

    template <class Result, class State>
    static __device__ Result finish(State all, std::int64_t) {
        return static_cast<Result>(all);
    }
};

/// Operations that add something up. Integers wrap: signed overflow would be undefined.
struct addition {
    static constexpr bool takes_repeats = false;

    template <class T>
    static __device__ T identity() {
        return T{0};
    }
    template <class T>
    __device__ T operator()(T a, T b) const {
        return a + b;
    }
    __device__ std::int64_t operator()(std::int64_t a, std::int64_t b) const { return wrapping_add(a, b); }
};

struct sum : addition, one_by_one<sum> {
    template <class T>
    using state = sum_type<T>;
};

/// int64 is added up in double, where it cannot wrap.
struct mean : addition, one_by_one<mean> {
    template <class T>
    using state = std::conditional_t<std::is_same_v<T, std::int64_t>, double, sum_type<T>>;

    /// Rounded once to double, and then to the result's type: float cannot hold every size.
    template <class Result, class State>
    static __device__ Result finish(State all, std::int64_t size) {
        return static_cast<Result>(static_cast<double>(all) / static_cast<double>(size));
    }
};

/// Operations whose state is an element.
struct comparison {
    static constexpr bool takes_repeats = true;

    template <class T>
    using state = T;
};

/// A NaN in `b` is taken. A NaN in `a` stays, because no comparison with it holds.
struct min : comparison, one_by_one<min> {
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

struct max : comparison, one_by_one<max> {
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

template <class Value>
using rank_type = std::conditional_t<sizeof(Value) == sizeof(unsigned), unsigned, std::uint64_t>;

/// A number that is larger for values nearer to the extremum, and largest for NaN. Zeros of both signs have one rank.
template <class Extremum, class Value>
__device__ rank_type<Value> rank_of(Value value) {
    using rank = rank_type<Value>;
    constexpr rank sign = rank{1} << (8 * sizeof(rank) - 1);
    rank ascending;
    if constexpr (std::is_integral_v<Value>) {
        ascending = static_cast<rank>(value) ^ sign;
    } else {
        if (value != value) return ~rank{0};
        const auto bits = __builtin_bit_cast(rank, value + Value{0});
        ascending = (bits & sign) != 0 ? ~bits : bits | sign;
    }
    return std::is_same_v<Extremum, max> ? ascending : ~ascending;
}

/// An element's rank and index. The candidate of no element has the worst of both.
template <class Rank>
struct alignas(16) candidate {
    Rank rank;
    std::int64_t index;
};

/// The place of the first element that is the extremum (min or max), or of the first NaN.
template <class Extremum>
struct place_of {
    static constexpr int registers = 32;
    static constexpr std::int64_t none = largest_integer<std::int64_t>;

    template <class T>
    using value_type = std::conditional_t<is_16_bit_float<T>, float, T>;
    template <class T>
    using state = candidate<rank_type<value_type<T>>>;

    template <class State>
    static __device__ State identity() {
        return {0, none};
    }

    /// Whether b, which comes after a, replaces it: an equal value does not.
    template <class Value>
    static __device__ bool is_better(Value b, Value a) {
        return a == a && Extremum{}(a, b) != a;
    }

    template <class T, int width, int count>
    static __device__ value_type<T> extremum_of(const vector<T, width> (&packets)[count]) {
        auto extremum = static_cast<value_type<T>>(packets[0][0]);
#pragma unroll
        for (int i = 1; i < count * width; ++i)
            extremum = Extremum{}(extremum, static_cast<value_type<T>>(packets[i / width][i % width]));
        return extremum;
    }

    /// The first element of a packet that equals `extremum`, the extremum of several packets; `width` where none does.
    template <class T, int width>
    static __device__ int first_in(const vector<T, width>& packet, value_type<T> extremum) {
        int first = width;
#pragma unroll
        for (int e = width - 1; e >= 0; --e)
            if (!is_better(extremum, static_cast<value_type<T>>(packet[e]))) first = e;
        return first;
    }

    template <class T>
    static __device__ state<T> of(const vector<T, 1> (&element)[1], std::int64_t place) {
        return {rank_of<Extremum>(static_cast<value_type<T>>(element[0][0])), place};
    }

    template <class Rank>
    __device__ candidate<Rank> operator()(const candidate<Rank>& a, const candidate<Rank>& b) const {
        return b.rank > a.rank || (b.rank == a.rank && b.index < a.index) ? b : a;
    }

    template <class Result, class Rank>
    static __device__ Result finish(const candidate<Rank>& best, std::int64_t) {
        return best.index == none ? -1 : best.index;
    }
};

struct argmin : place_of<min> {
    using extremum = min;
};
struct argmax : place_of<max> {
    using extremum = max;
};

/// Products of 16-bit elements are exact in float, those of int32 in int64.
struct dot : addition {
    static constexpr int registers = 64;

    template <class T>
    using state = sum_type<T>;

    template <class T, int width, int count>
    static __device__ state<T> of(const packet_pair<T, width> (&packets)[count], std::int64_t) {
        state<T> values[count];
#pragma unroll
        for (int p = 0; p < count; ++p) values[p] = of_packet(packets[p]);
        return combine_tree(values, dot{});
    }

    template <class Result>
    static __device__ Result finish(Result all, std::int64_t) {
        return all;
    }

  private:
    template <class T, int width>
    static __device__ state<T> of_packet(const packet_pair<T, width>& packet) {
        const auto product = [&](int e) {
            const auto x = static_cast<state<T>>(packet.x[e]);
            const auto y = static_cast<state<T>>(packet.y[e]);
            if constexpr (std::is_integral_v<T>)
                return wrapping_multiply(x, y);
            else
                return x * y;
        };
        if constexpr (std::is_integral_v<T>) {  // the order is free: one after another needs fewer registers
            state<T> total = 0;
#pragma unroll
            for (int e = 0; e < width; ++e) total = wrapping_add(total, product(e));
            return total;
        } else {
            state<T> products[width];
#pragma unroll
            for (int e = 0; e < width; ++e) products[e] = product(e);
            return combine_tree(products, dot{});
        }
    }
};

struct norm1 : addition, one_by_one<norm1> {
    template <class T>
    using state = sum_type<T>;

    template <class T>
    static __device__ state<T> seen(T element) {
        const auto x = static_cast<state<T>>(element);
        if constexpr (std::is_integral_v<T>)
            return x < 0 ? wrapping_multiply(x, -1) : x;
        else
            return fabs(x);
    }
};

/// A sum of squares divided by 2^(1200 level). The level is -1, 0 or 1.
struct alignas(16) scaled_squares {
    double sum;
    int level;
};

/// The squares of the other types neither overflow nor underflow in double. Those of double do. They are scaled by the
/// largest element at hand (Blue, "A portable Fortran program to find the Euclidean norm of a vector",
/// 1978). A square that still underflows does not count beside that element's.
struct norm2 : addition, one_by_one<norm2> {
    static constexpr int registers = 64;

    template <class T>
    using state = std::conditional_t<std::is_same_v<T, double>, scaled_squares, double>;

    using addition::identity;
    using addition::operator();
    using one_by_one<norm2>::of;

    template <class T>
    static __device__ double seen(T element) {
        const auto x = static_cast<double>(static_cast<float>(element));
        return x * x;
    }

    template <class Result>
    static __device__ Result finish(double all, std::int64_t) {
        return static_cast<Result>(sqrt(all));
    }
    template <class Result>
    static __device__ Result finish(const scaled_squares& all, std::int64_t) {
        return sqrt(all.sum) * unit(all.level);
    }

    /// The squares of a level's elements, divided by the square of its unit, lie between 2^-948 and 2^960.
    static __device__ double unit(int level) {
        if (level == 0) return 1;
        return level > 0 ? 0x1p600 : 0x1p-600;
    }

    /// If the sum of squares is in range, no element needs a scale. Few packets need a second pass.
    template <int width, int count>
    static __device__ scaled_squares of(const vector<double, width> (&packets)[count], std::int64_t) {
        constexpr double large = 0x1p960, small = 0x1p-800;
        const double plain = squares_of(packets, 1);
        if (plain >= small && plain < large) return {plain, 0};
        const int level = level_of(packets);
        return {squares_of(packets, unit(-level)), level};
    }

    __device__ scaled_squares operator()(const scaled_squares& a, const scaled_squares& b) const {
        if (a.level == b.level) return {a.sum + b.sum, a.level};
        const int level = ::max(a.level, b.level);
        return {raised(a, level) + raised(b, level), level};
    }

  private:
    template <int width, int count>
    static __device__ double squares_of(const vector<double, width> (&packets)[count], double scale) {
        double squares[count * width];
#pragma unroll
        for (int i = 0; i < count * width; ++i) {
            const double x = packets[i / width][i % width] * scale;
            squares[i] = x * x;
        }
        return combine_tree(squares, addition{});
    }

    template <int width, int count>
    static __device__ int level_of(const vector<double, width> (&packets)[count]) {
        constexpr int large = (1023 + 480) << 20, small = (1023 - 400) << 20;
        int largest = 0;  // high words without signs have the order of the magnitudes; NaN comes last
#pragma unroll
        for (int p = 0; p < count; ++p)
#pragma unroll
            for (int e = 0; e < width; ++e)
                largest = ::max(largest, __double2hiint(packets[p][e]) & 0x7fffffff);
        return largest >= large ? 1 : largest < small ? -1 : 0;
    }

    /// The sum at a higher level. Only the highest level has infinities and NaN.
    static __device__ double raised(const scaled_squares& squares, int level) {
        double sum = squares.sum;
        if (squares.level < level) sum = sum * 0x1p-600 * 0x1p-600;
        if (squares.level + 1 < level) sum = 0;
        return sum;
    }
};

template <>
__device__ inline scaled_squares addition::identity<scaled_squares>() {
    return {0, -1};
}

template <class T>
using bits_of = std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                   std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;

/// Counts elements that have bits other than zero. A floating-point sign does not count.
struct count_nonzero : addition {
    static constexpr int registers = 32;

    std::uint64_t mask = ~std::uint64_t{0};  ///< the bits that are zero in every zero

    template <class T>
    using state = std::int64_t;

    template <class Word, int width, int count>
    __device__ std::int64_t of(const vector<Word, width> (&packets)[count], std::int64_t) const {
        int nonzero = 0;
#pragma unroll
        for (int i = 0; i < count * width; ++i)
            nonzero += (packets[i / width][i % width] & static_cast<Word>(mask)) != 0 ? 1 : 0;
        return nonzero;
    }

    template <class Result>
    static __device__ Result finish(Result all, std::int64_t) {
        return all;
    }
};

/// An operation on states in the form in which blocks of a cluster send them: here unchanged.
template <class Operation, class T>
struct sent : Operation {
    using state = state_type<Operation, T>;
    explicit __device__ sent(Operation operation) : Operation(operation) {}
    static __device__ state packed(state value) { return value; }
    static __device__ state unpacked(state value) { return value; }
};

/// A candidate of 32 bits as one number, the best as the largest. No candidate is 0. Clusters have fewer than 2^32
/// elements.
template <class Operation, class T>
requires std::is_same_v<state_type<Operation, T>, candidate<unsigned>>
struct sent<Operation, T> {
    using state = std::uint64_t;
    using unpacked_state = state_type<Operation, T>;
    explicit __device__ sent(Operation) {}

    static __device__ state packed(unpacked_state best) {
        if (best.index == Operation::none) return 0;
        return std::uint64_t{best.rank} << 32 | ~static_cast<unsigned>(best.index);
    }
    static __device__ unpacked_state unpacked(state best) {
        auto result = Operation::template identity<unpacked_state>();
        if (best != 0) result.index = static_cast<std::int64_t>(~static_cast<unsigned>(best));
        return result;
    }
    template <class State>
    static __device__ State identity() {
        return 0;
    }
    __device__ state operator()(state a, state b) const { return b > a ? b : a; }
};

using kernels::warp_reduce;

/// Uses the instructions that reduce 32 bits in a warp: finds the best rank, then the first place that has it.
template <class Operation>
__device__ candidate<unsigned> warp_reduce(candidate<unsigned> best, Operation) {
    constexpr unsigned all = 0xffffffffU;
    const unsigned rank = __reduce_max_sync(all, best.rank);
    const auto place = static_cast<std::uint64_t>(best.rank == rank ? best.index : Operation::none);
    const auto high = static_cast<unsigned>(place >> 32);
    const unsigned first_high = __reduce_min_sync(all, high);
    const unsigned low = high == first_high ? static_cast<unsigned>(place) : all;
    const unsigned first_low = __reduce_min_sync(all, low);
    return {rank, static_cast<std::int64_t>(std::uint64_t{first_high} << 32 | first_low)};
}

/// Returns the extremum of the block's values to all threads. A kernel may call this once.
template <class Operation, class Value>
__device__ Value block_extremum(Value value) {
    __shared__ Value of_warp[warp_size];
    const auto warp_extremum = [](Value lane_value) {
        return __shfl_sync(0xffffffffU, kernels::warp_reduce(lane_value, typename Operation::extremum{}), 0);
    };
    const unsigned lane = threadIdx.x % warp_size;
    value = warp_extremum(value);
    if (lane == 0) of_warp[threadIdx.x / warp_size] = value;
    ptx::sync_threads();
    return warp_extremum(of_warp[lane < blockDim.x / warp_size ? lane : 0]);
}

template <class Operation, class T>
__device__ std::uint64_t warp_reduce(std::uint64_t best, sent<Operation, T>) {
    constexpr unsigned all = 0xffffffffU;
    const auto high = static_cast<unsigned>(best >> 32);
    const unsigned best_high = __reduce_max_sync(all, high);
    const unsigned best_low = __reduce_max_sync(all, high == best_high ? static_cast<unsigned>(best) : 0);
    return std::uint64_t{best_high} << 32 | best_low;
}

template <class Rank>
__device__ candidate<Rank> shuffle_down(candidate<Rank> best, int distance) {
    return {kernels::shuffle_down(best.rank, distance), kernels::shuffle_down(best.index, distance)};
}
__device__ inline scaled_squares shuffle_down(scaled_squares squares, int distance) {
    return {kernels::shuffle_down(squares.sum, distance), kernels::shuffle_down(squares.level, distance)};
}

/// Loads a state that another block has stored.
template <class State>
__device__ State load_partial(const State* partial) {
    return __ldcg(partial);
}
template <class Rank>
__device__ candidate<Rank> load_partial(const candidate<Rank>* partial) {
    return {__ldcg(&partial->rank), __ldcg(&partial->index)};
}
__device__ inline scaled_squares load_partial(const scaled_squares* partial) {
    return {__ldcg(&partial->sum), __ldcg(&partial->level)};
}

/// A state as a message to another block: one word, whose second half is never zero.
template <class State>
__device__ ptx::wide_word message_of(State state) {
    std::uint64_t bits = 0;
    static_assert(sizeof(state) <= sizeof(bits));
    memcpy(&bits, &state, sizeof(state));
    return {bits, 1};
}
template <class Rank>
__device__ ptx::wide_word message_of(candidate<Rank> best) {
    return {best.rank, static_cast<std::uint64_t>(best.index) + 1};
}
__device__ inline ptx::wide_word message_of(scaled_squares squares) {
    return {message_of(squares.sum).low, static_cast<std::uint64_t>(squares.level + 2)};
}

template <class State>
__device__ void read_message(const ptx::wide_word& message, State& state) {
    memcpy(&state, &message.low, sizeof(state));
}
template <class Rank>
__device__ void read_message(const ptx::wide_word& message, candidate<Rank>& best) {
    best.rank = static_cast<Rank>(message.low);
    best.index = static_cast<std::int64_t>(message.high - 1);
}
__device__ inline void read_message(const ptx::wide_word& message, scaled_squares& squares) {
    read_message(message, squares.sum);
    squares.level = static_cast<int>(message.high) - 2;
}

}  // namespace heddle::kernels::reduce
