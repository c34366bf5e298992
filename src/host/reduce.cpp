#include "src/reduce.hpp"

#include <heddle/host.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

namespace heddle::host {
namespace {

/// Elements that one thread reduces at a time. Fixed, so that the result does not depend on the threads.
constexpr std::int64_t chunk = 4096;
/// Fewer are done sooner than threads are started.
constexpr std::int64_t chunks_to_share = 16;
/// Independent accumulators: enough for the widest vectors and the latency of an addition.
constexpr std::int64_t lanes = 32;
static_assert(chunk % lanes == 0);

template <class T>
constexpr bool is_16_bit_float = std::is_same_v<T, half> || std::is_same_v<T, bfloat16>;

/// An element as it is computed with. The conversion of half is written out, exact and without branches, for
/// the vectoriser: exponent and mantissa move to float's places and are scaled from half's bias to float's;
/// what was infinite or NaN gets float's largest exponent.
template <class Result, class T>
Result widen(const T& x) {
    if constexpr (std::is_same_v<T, half>) {
        std::uint16_t bits;
        std::memcpy(&bits, &x, sizeof(bits));
        const std::uint32_t magnitude = bits & 0x7fffu;
        const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
        const std::uint32_t not_finite = magnitude >= 0x7c00 ? 0x7f800000 : 0;
        return std::bit_cast<float>((bits & 0x8000u) << 16 | std::bit_cast<std::uint32_t>(scaled) |
                                    not_finite);
    } else {
        return static_cast<Result>(x);
    }
}

/// What elements are compared as.
template <class T>
using compare_type = std::conditional_t<is_16_bit_float<T>, float, T>;

template <class T>
constexpr T largest = std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                                           : std::numeric_limits<T>::max();
template <class T>
constexpr T smallest = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                            : std::numeric_limits<T>::lowest();

struct plus {
    template <class T>
    static constexpr T identity = T{0};

    template <class T>
    T operator()(T a, T b) const {
        if constexpr (std::is_integral_v<T>)  // wraps, where signed overflow would be undefined
            return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) +
                                  static_cast<std::make_unsigned_t<T>>(b));
        else
            return a + b;
    }
};

/// A NaN in `b` is taken, and one in `a` stays, for no comparison with it holds. Without branches, for the
/// vectoriser.
struct smaller {
    template <class T>
    static constexpr T identity = largest<T>;

    template <class T>
    T operator()(T a, T b) const {
        return static_cast<int>(b < a) | static_cast<int>(b != b) ? b : a;
    }
};

struct larger {
    template <class T>
    static constexpr T identity = smallest<T>;

    template <class T>
    T operator()(T a, T b) const {
        return static_cast<int>(b > a) | static_cast<int>(b != b) ? b : a;
    }
};

/// values[0] becomes the combination of all `count` values, neighbours first.
template <class T, class Operation>
void combine_pairwise(T* values, std::int64_t count, Operation operation) {
    for (; count > 1; count = (count + 1) / 2) {
        for (std::int64_t i = 0; i < count / 2; ++i) values[i] = operation(values[2 * i], values[2 * i + 1]);
        if (count % 2 == 1) values[count / 2] = values[count - 1];
    }
}

template <class Result, class T, class Operation>
Result reduce_chunk(const T* x, std::int64_t size, std::int64_t stride, Operation operation) {
    Result accumulators[lanes];
    std::fill_n(accumulators, lanes, Operation::template identity<Result>);
    std::int64_t i = 0;
    if (stride == 1) {
        for (; i + lanes <= size; i += lanes)
            for (std::int64_t lane = 0; lane < lanes; ++lane)
                accumulators[lane] = operation(accumulators[lane], widen<Result>(x[i + lane]));
    }
    for (; i < size; ++i)
        accumulators[i % lanes] = operation(accumulators[i % lanes], widen<Result>(x[i * stride]));
    combine_pairwise(accumulators, lanes, operation);
    return accumulators[0];
}

template <class Result, class T, class Operation>
Result reduce(const char* name, const vector_view<const T>& x, Operation operation) {
    detail::validate(name, "x", x);
    const std::int64_t chunks = (x.size + chunk - 1) / chunk;
    if (chunks <= 1) return reduce_chunk<Result>(x.data, x.size, x.stride, operation);

    std::vector<Result> partials(static_cast<std::size_t>(chunks));
#pragma omp parallel for schedule(static) if (chunks >= chunks_to_share)
    for (std::int64_t c = 0; c < chunks; ++c) {
        const std::int64_t first = c * chunk;
        partials[static_cast<std::size_t>(c)] = reduce_chunk<Result>(
            x.data + first * x.stride, std::min(chunk, x.size - first), x.stride, operation);
    }
    combine_pairwise(partials.data(), chunks, operation);
    return partials[0];
}

}  // namespace

template <class T>
sum_type<T> sum(vector_view<const T> x) {
    return reduce<sum_type<T>>("host::sum", x, plus{});
}

template <class T>
T min(vector_view<const T> x) {
    return static_cast<T>(reduce<compare_type<T>>("host::min", x, smaller{}));
}

template <class T>
T max(vector_view<const T> x) {
    return static_cast<T>(reduce<compare_type<T>>("host::max", x, larger{}));
}

template sum_type<double> sum<double>(vector_view<const double>);
template double min<double>(vector_view<const double>);
template double max<double>(vector_view<const double>);
template sum_type<float> sum<float>(vector_view<const float>);
template float min<float>(vector_view<const float>);
template float max<float>(vector_view<const float>);
template sum_type<half> sum<half>(vector_view<const half>);
template half min<half>(vector_view<const half>);
template half max<half>(vector_view<const half>);
template sum_type<bfloat16> sum<bfloat16>(vector_view<const bfloat16>);
template bfloat16 min<bfloat16>(vector_view<const bfloat16>);
template bfloat16 max<bfloat16>(vector_view<const bfloat16>);
template sum_type<std::int32_t> sum<std::int32_t>(vector_view<const std::int32_t>);
template std::int32_t min<std::int32_t>(vector_view<const std::int32_t>);
template std::int32_t max<std::int32_t>(vector_view<const std::int32_t>);
template sum_type<std::int64_t> sum<std::int64_t>(vector_view<const std::int64_t>);
template std::int64_t min<std::int64_t>(vector_view<const std::int64_t>);
template std::int64_t max<std::int64_t>(vector_view<const std::int64_t>);

}  // namespace heddle::host
