#include "kernels/device/math.hpp"
#include "src/reduce/validate.hpp"
#include <heddle/host.hpp>
#include <heddle/types.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <type_traits>
#include <vector>

#pragma GCC visibility push(default)

namespace heddle::host {
namespace {

/// How many elements a thread reduces at a time. It is fixed so that the result does not depend on the thread count.
constexpr std::int64_t chunk = 4096;
/// Fewer chunks run on one thread: starting threads would take longer.
constexpr std::int64_t chunks_to_share = 16;
/// Independent accumulators. They fill the widest vectors and hide the latency of an addition.
constexpr std::int64_t lanes = 32;
static_assert(chunk % lanes == 0);

template <class T>
constexpr bool is_16_bit_float = std::is_same_v<T, half> || std::is_same_v<T, bfloat16>;

/// An element in the type of the computation. The conversion of half is written without branches, so it vectorises.
/// Exponent and mantissa move to float's positions, and a product changes half's bias to float's. Infinity and NaN get
/// float's largest exponent. The conversion is exact.
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

template <class Result>
struct widened {
    template <class T>
    Result operator()(const T& x) const {
        return widen<Result>(x);
    }
};

/// The type in which elements are compared.
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
        if constexpr (std::is_integral_v<T>)  // wraps around: signed overflow would be undefined
            return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) +
                                  static_cast<std::make_unsigned_t<T>>(b));
        else
            return a + b;
    }
};

/// NaN if either is NaN: a NaN in `b` is returned, and every comparison with a NaN in `a` is false. It has no
/// branches, so that it vectorises.
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

/// Combines all `count` values pairwise into values[0], neighbours first.
template <class T, class Operation>
void combine_pairwise(T* values, std::int64_t count, Operation operation) {
    for (; count > 1; count = (count + 1) / 2) {
        for (std::int64_t i = 0; i < count / 2; ++i) values[i] = operation(values[2 * i], values[2 * i + 1]);
        if (count % 2 == 1) values[count / 2] = values[count - 1];
    }
}

/// Reduces element(0) to element(size - 1).
template <class Result, class Element, class Operation>
Result reduce_chunk(std::int64_t size, Element element, Operation operation) {
    Result accumulators[lanes];
    std::fill_n(accumulators, lanes, Operation::template identity<Result>);
    std::int64_t i = 0;
    for (; i + lanes <= size; i += lanes)
        for (std::int64_t lane = 0; lane < lanes; ++lane)
            accumulators[lane] = operation(accumulators[lane], element(i + lane));
    for (; i < size; ++i) accumulators[i % lanes] = operation(accumulators[i % lanes], element(i));
    combine_pairwise(accumulators, lanes, operation);
    return accumulators[0];
}

/// The result of each chunk. An empty vector has one chunk too.
template <class Result, class Element, class Operation>
std::vector<Result> reduce_chunks(std::int64_t size, Element element, Operation operation) {
    const std::int64_t chunks = std::max<std::int64_t>(1, kernels::divide_up(size, chunk));
    std::vector<Result> results(static_cast<std::size_t>(chunks));
#pragma omp parallel for schedule(static) if (chunks >= chunks_to_share)
    for (std::int64_t c = 0; c < chunks; ++c) {
        const std::int64_t first = c * chunk;
        results[static_cast<std::size_t>(c)] = reduce_chunk<Result>(
            std::min(chunk, size - first), [=](std::int64_t i) { return element(first + i); }, operation);
    }
    return results;
}

template <class Result, class Element, class Operation>
Result reduce(std::int64_t size, Element element, Operation operation) {
    std::vector<Result> partials = reduce_chunks<Result>(size, element, operation);
    combine_pairwise(partials.data(), std::ssize(partials), operation);
    return partials[0];
}

/// Reduces see(x[i]). Contiguous elements have a loop of their own, which vectorises.
template <class Result, class T, class See, class Operation>
Result reduce(const vector_view<const T>& x, See see, Operation operation) {
    if (x.stride == 1)
        return reduce<Result>(
            x.size, [=](std::int64_t i) { return see(x.data[i]); }, operation);
    return reduce<Result>(
        x.size, [=](std::int64_t i) { return see(x.data[i * x.stride]); }, operation);
}

template <class T>
sum_type<T> magnitude(sum_type<T> x) {
    if constexpr (std::is_integral_v<T>)  // wraps around
        return x < 0 ? static_cast<sum_type<T>>(-static_cast<std::make_unsigned_t<sum_type<T>>>(x)) : x;
    else
        return std::abs(x);
}

/// The index of the first element that equals the reduction of all. Here NaN equals NaN.
template <class T, class Operation>
std::int64_t place(const vector_view<const T>& x, Operation operation) {
    using value = compare_type<T>;
    if (x.size == 0) return -1;
    const auto element = [=](std::int64_t i) { return widen<value>(x.data[i * x.stride]); };
    const std::vector<value> of_chunk = reduce_chunks<value>(x.size, element, operation);
    std::vector<value> tree = of_chunk;
    combine_pairwise(tree.data(), std::ssize(tree), operation);
    const value extremum = tree[0];
    const auto is_extremum = [=](value one) {
        return one == extremum || (one != one && extremum != extremum);
    };
    std::int64_t i = (std::ranges::find_if(of_chunk, is_extremum) - of_chunk.begin()) * chunk;
    while (!is_extremum(element(i))) ++i;
    return i;
}

}  // namespace

template <class T>
sum_type<T> sum(vector_view<const T> x) {
    detail::validate("host::sum", "x", x);
    return reduce<sum_type<T>>(x, widened<sum_type<T>>{}, plus{});
}

template <class T>
mean_type<T> mean(vector_view<const T> x) {
    detail::validate("host::mean", "x", x);
    using state = std::conditional_t<std::is_same_v<T, std::int64_t>, double, sum_type<T>>;
    const state sum = reduce<state>(x, widened<state>{}, plus{});
    return static_cast<mean_type<T>>(static_cast<double>(sum) / static_cast<double>(x.size));
}

template <class T>
T min(vector_view<const T> x) {
    detail::validate("host::min", "x", x);
    return static_cast<T>(reduce<compare_type<T>>(x, widened<compare_type<T>>{}, smaller{}));
}

template <class T>
T max(vector_view<const T> x) {
    detail::validate("host::max", "x", x);
    return static_cast<T>(reduce<compare_type<T>>(x, widened<compare_type<T>>{}, larger{}));
}

template <class T>
std::int64_t argmin(vector_view<const T> x) {
    detail::validate("host::argmin", "x", x);
    return place(x, smaller{});
}

template <class T>
std::int64_t argmax(vector_view<const T> x) {
    detail::validate("host::argmax", "x", x);
    return place(x, larger{});
}

template <class T>
sum_type<T> dot(vector_view<const T> x, vector_view<const std::type_identity_t<T>> y) {
    detail::validate_pair("host::dot", x, y);
    using state = sum_type<T>;
    const auto product = [](const T& a, const T& b) {
        if constexpr (std::is_integral_v<T>)  // wraps around
            return static_cast<state>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
        else
            return widen<state>(a) * widen<state>(b);
    };
    if (x.stride == 1 && y.stride == 1)
        return reduce<state>(
            x.size, [=](std::int64_t i) { return product(x.data[i], y.data[i]); }, plus{});
    return reduce<state>(
        x.size, [=](std::int64_t i) { return product(x.data[i * x.stride], y.data[i * y.stride]); }, plus{});
}

template <class T>
sum_type<T> norm1(vector_view<const T> x) {
    detail::validate("host::norm1", "x", x);
    using state = sum_type<T>;
    return reduce<state>(
        x, [](const T& element) { return magnitude<T>(widen<state>(element)); }, plus{});
}

template <class T>
sum_type<T> norm2(vector_view<const T> x) {
    detail::validate("host::norm2", "x", x);
    const auto squares_over = [&](double unit) {
        const auto square = [=](const T& element) {
            const double scaled = static_cast<double>(widen<sum_type<T>>(element)) * unit;
            return scaled * scaled;
        };
        return reduce<double>(x, square, plus{});
    };
    const double squares = squares_over(1);
    // In this range, squares that underflowed do not change the sum.
    const bool is_in_range = squares > 0x1p-900 && squares <= std::numeric_limits<double>::max();
    if (!std::is_same_v<T, double> || is_in_range) return static_cast<sum_type<T>>(std::sqrt(squares));

    const double largest = static_cast<double>(reduce<sum_type<T>>(
        x, [](const T& element) { return magnitude<T>(widen<sum_type<T>>(element)); }, larger{}));
    if (x.size == 0 || largest == 0 || !(largest <= std::numeric_limits<double>::max()))
        return x.size == 0 ? 0 : static_cast<sum_type<T>>(largest);
    const double unit = largest > 1 ? 0x1p600 : 0x1p-600;
    return static_cast<sum_type<T>>(std::sqrt(squares_over(1 / unit)) * unit);
}

template <class T>
std::int64_t count_nonzero(vector_view<const T> x) {
    detail::validate("host::count_nonzero", "x", x);
    using value = compare_type<T>;
    return reduce<std::int64_t>(
        x, [](const T& element) { return std::int64_t{widen<value>(element) != value{0}}; }, plus{});
}

#define INSTANTIATE(T)                                            \
    template sum_type<T> sum<T>(vector_view<const T>);            \
    template mean_type<T> mean<T>(vector_view<const T>);          \
    template T min<T>(vector_view<const T>);                      \
    template T max<T>(vector_view<const T>);                      \
    template std::int64_t argmin<T>(vector_view<const T>);        \
    template std::int64_t argmax<T>(vector_view<const T>);        \
    template sum_type<T> norm1<T>(vector_view<const T>);          \
    template std::int64_t count_nonzero<T>(vector_view<const T>); \
    template sum_type<T> dot<T>(vector_view<const T>, vector_view<const T>);
HEDDLE_NUMBER_TYPES(INSTANTIATE)
#undef INSTANTIATE
#define INSTANTIATE_NORM2(T) template sum_type<T> norm2<T>(vector_view<const T>);
HEDDLE_FLOATING_TYPES(INSTANTIATE_NORM2)
#undef INSTANTIATE_NORM2

}  // namespace heddle::host

#pragma GCC visibility pop
