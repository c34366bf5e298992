#pragma once

#include "tests/reduce/reduce_test.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

/// What the tests of the operations beside sum, min and max share.
namespace heddle::test {

inline std::vector<reduce_algorithm> algorithms_of(reduce_operation operation) {
    const auto all = reduce_algorithms(operation);
    std::vector<reduce_algorithm> algorithms(all.begin(), all.end());
    algorithms.push_back(reduce_algorithm::automatic);
    return algorithms;
}

/// Exact, or in extended precision, whose own error is part of the bounds below.
template <class T>
struct other_reference {
    long double sum = 0, dot = 0, norm1 = 0, squares = 0, products = 0;
    std::uint64_t wrapped_dot = 0, wrapped_norm1 = 0;
    std::int64_t argmin = -1, argmax = -1, count = 0;
    std::int64_t size;

    other_reference(const std::vector<T>& x, const std::vector<T>& y) : size(std::ssize(x)) {
        for (std::size_t i = 0; i < x.size(); ++i) {
            const auto a = comparable(x[i]), b = comparable(y[i]);
            const long double xi = a, yi = b;
            sum += xi;
            dot += xi * yi;
            norm1 += std::abs(xi);
            squares += xi * xi;
            products += std::abs(xi * yi);
            if constexpr (is_integer<T>) {
                wrapped_dot += static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b);
                wrapped_norm1 += a < 0 ? -static_cast<std::uint64_t>(a) : static_cast<std::uint64_t>(a);
            }
            count += a != 0;
            const auto at = static_cast<std::int64_t>(i);
            const auto of = [&](std::int64_t place) {
                return comparable(x[static_cast<std::size_t>(place)]);
            };
            if (argmin < 0 || a < of(argmin)) argmin = at;
            if (argmax < 0 || a > of(argmax)) argmax = at;
        }
    }

    /// That of `roundings`, each within (1 + u), and of the reference itself, of terms with this sum of
    /// magnitudes; and what products may lose to underflow.
    template <class Result>
    long double bound(std::int64_t roundings, long double magnitude) const {
        const long double du = static_cast<long double>(roundings) * unit_roundoff<Result>();
        const long double own = static_cast<long double>(size + 2) * 0x1p-64L;
        return (du / (1 - du) + own) * magnitude + static_cast<long double>(size) * smallest<Result>();
    }

    /// One rounding more to double of int64 elements, one for the quotient and one to the result's type.
    testing::AssertionResult is_mean(mean_type<T> actual, std::int64_t depth) const {
        if (size == 0) return is_value(actual, std::numeric_limits<mean_type<T>>::quiet_NaN());
        const long double n = static_cast<long double>(size);
        return is_near(actual, sum / n, bound<mean_type<T>>(depth + 3, norm1) / n);
    }
    testing::AssertionResult is_dot(sum_type<T> actual, std::int64_t depth) const {
        if constexpr (is_integer<T>)
            return is_value(actual, static_cast<std::int64_t>(wrapped_dot));
        else
            return is_near(actual, dot, bound<sum_type<T>>(depth + 1, products));
    }
    testing::AssertionResult is_norm1(sum_type<T> actual, std::int64_t depth) const {
        if constexpr (is_integer<T>)
            return is_value(actual, static_cast<std::int64_t>(wrapped_norm1));
        else
            return is_near(actual, norm1, bound<sum_type<T>>(depth, norm1));
    }
    /// The root halves the relative error of the squares; itself and the result's type round once each. The
    /// squares of float are exact in double.
    testing::AssertionResult is_norm2(sum_type<T> actual, std::int64_t depth) const {
        const long double root = std::sqrt(squares);
        const long double own = static_cast<long double>(size + 2) * 0x1p-64L;
        const bool is_double = std::is_same_v<T, double>;
        const long double relative = static_cast<long double>(depth + (is_double ? 4 : 3)) * 0x1p-54L + own +
                                     (is_double ? 0 : unit_roundoff<float>());
        return is_near(actual, root, relative * root);
    }

    static testing::AssertionResult is_near(long double actual, long double expected, long double bound) {
        if (std::abs(actual - expected) <= bound) return testing::AssertionSuccess();
        return testing::AssertionFailure() << actual << ", expected " << expected << " within " << bound;
    }
};

template <class T>
class other_reductions : public reduce_test {
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

    struct layout {
        std::int64_t offset = 0;
        std::int64_t stride = 1;
    };

    /// Every operation with every algorithm that it has, with and without a workspace.
    void check(const std::vector<T>& xs, const std::vector<T>& ys, layout of_x, layout of_y) {
        const other_reference<T> expected(xs, ys);
        const auto size = std::ssize(xs);
        guarded<T> x(1, size, 0, of_x.offset, of_x.stride), y(1, size, 0, of_y.offset, of_y.stride);
        x.upload(xs);
        y.upload(ys);
        const elements_view a = x.vector(), b = y.vector();
        const elements_view steps{nullptr, size, std::max(of_x.stride, of_y.stride)};
        for (const reduce_algorithm algorithm : algorithms_of(reduce_operation::mean)) {
            SCOPED_TRACE(to_string(algorithm));
            guarded_workspace scratch(
                std::max(workspace_bytes(a, algorithm), workspace_bytes(steps, algorithm)));
            const reduce_options pool{.algorithm = algorithm};
            const reduce_options given{.algorithm = algorithm, .workspace = scratch};
            const std::int64_t d = depth(a, algorithm);

            ASSERT_TRUE(expected.is_mean(mean_of(a, given), d));
            ASSERT_EQ(argmin_of(a, given), expected.argmin);
            ASSERT_EQ(argmax_of(a, pool), expected.argmax);
            const auto product = dot_of(a, b, given);
            ASSERT_TRUE(expected.is_dot(product, depth(steps, algorithm)));
            ASSERT_TRUE(same_bits(product, dot_of(a, b, pool)));
            ASSERT_TRUE(expected.is_norm1(norm1_of(a, given), d));
            if constexpr (!is_integer<T>) {
                const auto norm = norm2_of(a, given);
                ASSERT_TRUE(expected.is_norm2(norm, d));
                ASSERT_TRUE(same_bits(norm, norm2_of(a, pool)));
            }
            ASSERT_EQ(count_nonzero_of(a, given), expected.count);
            ASSERT_TRUE(scratch.is_intact());
        }
        ASSERT_TRUE(x.untouched());
        ASSERT_TRUE(y.untouched());
    }

    /// Checks elements of any values, and of so few values that many are equal and zero.
    void check(std::int64_t size, layout of_x = {}, layout of_y = {}) {
        check(elements<T>(size), elements<T>(size), of_x, of_y);
        const auto few = [&] {
            std::vector<T> values;
            for (const std::int64_t value : random_elements<std::int64_t>(size, -2, 2))
                values.push_back(static_cast<T>(static_cast<float>(value)));
            return values;
        };
        check(few(), few(), of_x, of_y);
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
