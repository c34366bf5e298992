#pragma once

#include "tests/support/headers.hpp"

namespace heddle::test {

using reduced_types = testing::Types<double, float, half, bfloat16, std::int32_t, std::int64_t>;
using floating_types = testing::Types<double, float, half, bfloat16>;

template <class T>
inline constexpr bool is_integer = std::is_integral_v<T>;

/// Integers have their whole range, so that an int64 sum wraps.
template <class T>
std::vector<T> elements(std::int64_t size) {
    constexpr double limit = is_integer<T> ? (sizeof(T) == 8 ? 0x1p62 : 0x1p30) : 1;
    return random_elements<T>(size, -limit, limit);
}

/// What elements are compared and shown as.
template <class T>
auto comparable(T value) {
    if constexpr (is_integer<T>)
        return value;
    else
        return to_double(value);
}

template <class T>
struct reduce_reference {
    long double sum = 0;        ///< of floating-point elements
    long double magnitude = 0;  ///< the sum of their |x|
    long double sum_error = 0;  ///< of `sum` itself
    T largest{};

    explicit reduce_reference(const std::vector<T>& x) {
        if constexpr (is_integer<T>) {
            largest = std::numeric_limits<T>::min();
        } else {
            largest = -infinity<T>();
            for (const T e : x) {
                sum += to_double(e);
                magnitude += std::abs(to_double(e));
            }
            sum_error = static_cast<long double>(x.size()) * std::numeric_limits<long double>::epsilon() / 2 *
                        magnitude;
        }
        for (const T e : x)
            if (comparable(e) > comparable(largest)) largest = e;
    }

    /// After `depth` additions, each within (1 + u), the errors come to at most depth * u / (1 - depth * u) of
    /// the sum of |x| (Higham, "Accuracy and Stability of Numerical Algorithms", section 4.2).
    testing::AssertionResult is_sum(sum_type<T> actual, std::int64_t depth) const {
        const long double du = static_cast<long double>(depth) * unit_roundoff<sum_type<T>>();
        const long double bound = du / (1 - du) * magnitude + sum_error;
        const long double difference = std::abs(static_cast<long double>(actual) - sum);
        if (difference <= bound) return testing::AssertionSuccess();
        return testing::AssertionFailure() << "sum " << actual << ", expected " << sum << " within " << bound;
    }
};

template <class T>
testing::AssertionResult is_value(T actual, T expected) {
    const auto a = comparable(actual), e = comparable(expected);
    if constexpr (!is_integer<T>)
        if (std::isnan(a) && std::isnan(e)) return testing::AssertionSuccess();
    if (a == e) return testing::AssertionSuccess();
    return testing::AssertionFailure() << a << ", expected " << e;
}

template <class T>
bool same_bits(T a, T b) {
    return std::memcmp(&a, &b, sizeof(T)) == 0;
}

class reduce_test : public stream_fixture {
  protected:
    template <class T>
    static reduce_problem problem_of(const vector_view<T>& x) {
        return {layout_of(x)};
    }
    template <class T>
    static std::int64_t depth(const vector_view<T>& x, reduce_algorithm algorithm) {
        return reduce_depth(problem_of(x), traits_of(current_device()), algorithm);
    }

    /// What `enqueue` writes, brought to the host; the device is idle after it.
    template <class Result, class Enqueue>
    Result result_of(Enqueue enqueue) {
        guarded<Result> result(1);
        enqueue(result.data());
        stream->synchronize();
        const auto [elements, canaries_alive] = result.inspect();
        EXPECT_TRUE(canaries_alive);
        return elements[0];
    }

    template <class T>
    sum_type<T> sum_of(vector_view<const T> x, const reduce_options& options = {}) {
        return result_of<sum_type<T>>([&](auto* result) { sum<T>(x, result, *stream, options); });
    }
    template <class T>
    T min_of(vector_view<const T> x, const reduce_options& options = {}) {
        return result_of<T>([&](auto* result) { min<T>(x, result, *stream, options); });
    }
    template <class T>
    T max_of(vector_view<const T> x, const reduce_options& options = {}) {
        return result_of<T>([&](auto* result) { max<T>(x, result, *stream, options); });
    }
};

template <class T>
class reductions : public reduce_test {
  protected:
    using elements_view = vector_view<const T>;

    mean_type<T> mean_of(elements_view x, const reduce_options& options = {}) {
        return result_of<mean_type<T>>([&](auto* result) { mean<T>(x, result, *stream, options); });
    }
    std::int64_t argmin_of(elements_view x, const reduce_options& options = {}) {
        return result_of<std::int64_t>([&](auto* result) { argmin<T>(x, result, *stream, options); });
    }
    std::int64_t argmax_of(elements_view x, const reduce_options& options = {}) {
        return result_of<std::int64_t>([&](auto* result) { argmax<T>(x, result, *stream, options); });
    }
    sum_type<T> dot_of(elements_view x, elements_view y, const reduce_options& options = {}) {
        return result_of<sum_type<T>>([&](auto* result) { dot<T>(x, y, result, *stream, options); });
    }
    sum_type<T> norm1_of(elements_view x, const reduce_options& options = {}) {
        return result_of<sum_type<T>>([&](auto* result) { norm1<T>(x, result, *stream, options); });
    }
    sum_type<T> norm2_of(elements_view x, const reduce_options& options = {}) {
        return result_of<sum_type<T>>([&](auto* result) { norm2<T>(x, result, *stream, options); });
    }
    std::int64_t count_nonzero_of(elements_view x, const reduce_options& options = {}) {
        return result_of<std::int64_t>([&](auto* result) { count_nonzero<T>(x, result, *stream, options); });
    }
};

/// Vectors whose squares overflow, underflow or both, in T and in what is wider; scaled by powers of two, their
/// norm is exact in all types: 3, 4 and 12 give 13.
template <class T>
std::vector<std::vector<T>> extreme_vectors() {
    const int low = std::ilogb(smallest<T>());
    const int high = std::is_same_v<T, half> ? 12 : std::is_same_v<T, double> ? 1020 : 124;
    std::vector<std::vector<T>> vectors;
    for (int exponent = low; exponent + 4 <= high; exponent += (high - low) / 37 + 1)
        for (const std::int64_t size : {3, 1000, 70001, 300007}) {
            std::vector<T> xs(static_cast<std::size_t>(size), T(0.0f));
            const auto scaled = [&](double x) { return static_cast<T>(std::ldexp(x, exponent)); };
            xs[0] = scaled(3);
            xs[static_cast<std::size_t>(size / 2)] = scaled(-4);
            xs[static_cast<std::size_t>(size - 1)] = scaled(12);
            vectors.push_back(xs);
        }
    return vectors;
}

/// 13 for 3, 4 and 12.
template <class T>
double norm_of_extreme(const std::vector<T>& xs) {
    return to_double(xs[0]) / 3 * 13;
}

}  // namespace heddle::test
