#include "tests/support/gpu.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/numeric.hpp"
#include "tests/support/provoked.hpp"
#include "tests/support/random.hpp"
#include <heddle/buffer.hpp>
#include <heddle/copy.hpp>
#include <heddle/graph.hpp>
#include <heddle/host.hpp>
#include <heddle/reduce.hpp>
#include <heddle/stream.hpp>
#include <heddle/workspace.hpp>

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#if HEDDLE_HAS_CUBLAS
#include <cublas_v2.h>
#endif

namespace heddle {
namespace {

using test::address_of;
using test::guarded;
using test::invalid_argument_of;
using test::random_elements;

using element_types = testing::Types<double, float, half, bfloat16, std::int32_t, std::int64_t>;
using floating_types = testing::Types<double, float, half, bfloat16>;

std::vector<reduce_algorithm> every_algorithm() {
    std::vector<reduce_algorithm> all(reduce_algorithms().begin(), reduce_algorithms().end());
    all.push_back(reduce_algorithm::automatic);
    return all;
}

template <class T>
constexpr bool is_integer = std::is_integral_v<T>;

/// Of integers the whole range, so that an int64 sum wraps.
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
        return test::to_double(value);
}

template <class T>
T infinity() {
    return static_cast<T>(std::numeric_limits<float>::infinity());
}
template <class T>
T nan() {
    return static_cast<T>(std::numeric_limits<float>::quiet_NaN());
}

template <class T>
struct reference {
    long double sum = 0;        ///< of floating-point elements
    long double magnitude = 0;  ///< the sum of |x|
    std::uint64_t wrapped = 0;  ///< the sum of integers, modulo 2^64
    long double sum_error = 0;  ///< of `sum` itself
    T smallest{};
    T largest{};

    explicit reference(const std::vector<T>& x) {
        if constexpr (is_integer<T>) {
            smallest = std::numeric_limits<T>::max();
            largest = std::numeric_limits<T>::min();
            for (const T e : x) wrapped += static_cast<std::uint64_t>(std::int64_t{e});
        } else {
            smallest = infinity<T>();
            largest = -infinity<T>();
            for (const T e : x) {
                sum += test::to_double(e);
                magnitude += std::abs(test::to_double(e));
            }
            sum_error = static_cast<long double>(x.size()) * std::numeric_limits<long double>::epsilon() / 2 *
                        magnitude;
        }
        for (const T e : x) {
            if (comparable(e) < comparable(smallest)) smallest = e;
            if (comparable(e) > comparable(largest)) largest = e;
        }
    }

    /// Of `depth` additions, each within (1 + u), the errors come to at most depth * u / (1 - depth * u) of
    /// the sum of |x| (Higham, "Accuracy and Stability of Numerical Algorithms", section 4.2).
    testing::AssertionResult is_sum(sum_type<T> actual, std::int64_t depth) const {
        if constexpr (is_integer<T>) {
            if (static_cast<std::uint64_t>(actual) == wrapped) return testing::AssertionSuccess();
            return testing::AssertionFailure()
                   << "sum " << actual << ", expected " << static_cast<std::int64_t>(wrapped);
        } else {
            const long double du = static_cast<long double>(depth) * test::unit_roundoff<sum_type<T>>();
            const long double bound = du / (1 - du) * magnitude + sum_error;
            const long double difference = std::abs(static_cast<long double>(actual) - sum);
            if (difference <= bound) return testing::AssertionSuccess();
            return testing::AssertionFailure()
                   << "sum " << actual << ", expected " << sum << " within " << bound;
        }
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

/// Off by one around warps, blocks, tiles and every rung's change to more launches or blocks.
template <class T>
std::vector<std::int64_t> sizes() {
    constexpr std::int64_t one_block = std::int64_t{1024} * 4 * (16 / sizeof(T));
    return {0,
            1,
            2,
            31,
            32,
            33,
            255,
            256,
            257,
            509,
            511,
            512,
            513,
            1023,
            1024,
            1025,
            4097,
            10007,
            one_block - 1,
            one_block,
            one_block + 7,
            65535,
            65536,
            65537,
            262145,
            300007,
            8 * one_block - 1,  // a cluster, then 16 of them

            8 * one_block,
            8 * one_block + 7,
            (1 << 20) - 1,
            1 << 20,
            (1 << 20) + 1,
            128 * one_block,
            128 * one_block + 7};
}

/// Scratch memory of exactly the bytes that are asked for, 16-byte aligned and no better, between canaries.
class guarded_workspace {
  public:
    explicit guarded_workspace(std::int64_t bytes) : words_(bytes / word_bytes, 2) {
        words_.upload(std::vector<std::int64_t>(static_cast<std::size_t>(bytes / word_bytes)));
    }

    operator std::span<std::byte>() {
        return {reinterpret_cast<std::byte*>(words_.data()),
                static_cast<std::size_t>(words_.vector().size * word_bytes)};
    }

    /// Whether nothing around it was written and it is ready for the next call.
    testing::AssertionResult is_intact() {
        if (!words_.canaries_alive()) return testing::AssertionFailure() << "written outside the workspace";
        const auto words = words_.download();
        const auto ticket = words.begin() + std::min<std::ptrdiff_t>(std::ssize(words), 4096 / word_bytes);
        if (std::any_of(words.begin(), ticket, [](std::int64_t word) { return word != 0; }))
            return testing::AssertionFailure() << "the workspace's first bytes were not left zero";
        return testing::AssertionSuccess();
    }

  private:
    static constexpr std::int64_t word_bytes = 8;
    guarded<std::int64_t> words_;
};

class reduce_test : public test::gpu_test {
  protected:
    void SetUp() override {
        gpu_test::SetUp();
        if (is_set_up()) stream.emplace();
    }

    template <class T>
    static reduce_problem problem_of(const vector_view<T>& x) {
        return {x.size, x.size <= 1 ? 1 : x.stride, sizeof(T)};
    }
    template <class T>
    static std::int64_t workspace_bytes(const vector_view<T>& x, reduce_algorithm algorithm) {
        return reduce_workspace_bytes(problem_of(x), traits_of(current_device()), algorithm);
    }
    template <class T>
    static std::int64_t depth(const vector_view<T>& x, reduce_algorithm algorithm) {
        return reduce_depth(problem_of(x), traits_of(current_device()), algorithm);
    }

    /// The sum, brought to the host; the device is idle after it.
    template <class T>
    sum_type<T> sum_of(vector_view<const T> x, const reduce_options& options = {}) {
        guarded<sum_type<T>> result(1);
        sum<T>(x, result.data(), *stream, options);
        stream->synchronize();
        EXPECT_TRUE(result.canaries_alive());
        return result.download()[0];
    }
    template <class T>
    T min_of(vector_view<const T> x, const reduce_options& options = {}) {
        guarded<T> result(1);
        min<T>(x, result.data(), *stream, options);
        stream->synchronize();
        EXPECT_TRUE(result.canaries_alive());
        return result.download()[0];
    }
    template <class T>
    T max_of(vector_view<const T> x, const reduce_options& options = {}) {
        guarded<T> result(1);
        max<T>(x, result.data(), *stream, options);
        stream->synchronize();
        EXPECT_TRUE(result.canaries_alive());
        return result.download()[0];
    }

    std::optional<heddle::stream> stream;
};

template <class T>
class reduce : public reduce_test {
  protected:
    /// Every operation with every algorithm that takes the stride, with and without a workspace.
    void check(std::int64_t size, std::int64_t offset = 0, std::int64_t stride = 1) {
        const auto xs = elements<T>(size);
        const reference<T> expected(xs);
        guarded<T> x(1, size, 0, offset, stride);
        x.upload(xs);
        const vector_view<const T> view = x.vector();
        for (const reduce_algorithm algorithm : every_algorithm()) {
            if (algorithm == reduce_algorithm::vectorized && stride != 1 && size > 1) continue;
            SCOPED_TRACE(to_string(algorithm));
            guarded_workspace scratch(workspace_bytes(view, algorithm));
            const reduce_options pool{.algorithm = algorithm};
            const reduce_options given{.algorithm = algorithm, .workspace = scratch};

            const sum_type<T> total = this->sum_of(view, given);
            ASSERT_TRUE(expected.is_sum(total, depth(view, algorithm)));
            ASSERT_TRUE(same_bits(total, this->sum_of(view, pool)));
            ASSERT_TRUE(is_value(this->min_of(view, given), expected.smallest));
            ASSERT_TRUE(is_value(this->max_of(view, pool), expected.largest));
            ASSERT_TRUE(scratch.is_intact());
        }
        ASSERT_TRUE(x.untouched());
    }
};

TYPED_TEST_SUITE(reduce, element_types, test::type_names);

TYPED_TEST(reduce, takes_every_size) {
    for (const std::int64_t size : sizes<TypeParam>()) {
        SCOPED_TRACE(size);
        ASSERT_NO_FATAL_FAILURE(this->check(size));
    }
}

TYPED_TEST(reduce, takes_every_alignment) {
    for (const std::int64_t size : {1, 5, 17, 1009, 40009})
        for (const std::int64_t offset : {1, 2, 3, 7}) {
            SCOPED_TRACE(testing::Message() << size << " elements, offset " << offset);
            ASSERT_NO_FATAL_FAILURE(this->check(size, offset));
        }
}

TYPED_TEST(reduce, takes_every_stride) {
    for (const std::int64_t stride : {2, 7})
        for (const std::int64_t size : {0, 1, 2, 33, 257, 1025, 4097, 10007, 300007}) {
            SCOPED_TRACE(testing::Message() << size << " elements, stride " << stride);
            ASSERT_NO_FATAL_FAILURE(this->check(size, 1, stride));
        }
}

// On 132 multiprocessors, enough to fill the device with blocks of more than one tile each, but not enough
// for several rounds of blocks with all the tiles that each should have.
TYPED_TEST(reduce, takes_sizes_that_just_fill_the_device) {
    ASSERT_NO_FATAL_FAILURE(this->check(24000044 / std::int64_t{sizeof(TypeParam)}, 1));
    ASSERT_NO_FATAL_FAILURE(this->check(1500007, 0, 2));
}

TYPED_TEST(reduce, of_nothing_is_the_identity) {
    constexpr bool integer = is_integer<TypeParam>;
    using limits = std::numeric_limits<TypeParam>;
    const vector_view<const TypeParam> nothing{};
    for (const reduce_algorithm algorithm : every_algorithm()) {
        SCOPED_TRACE(to_string(algorithm));
        const reduce_options options{.algorithm = algorithm};
        EXPECT_EQ(this->sum_of(nothing, options), 0);
        if constexpr (integer) {
            EXPECT_EQ(this->min_of(nothing, options), limits::max());
            EXPECT_EQ(this->max_of(nothing, options), limits::min());
        } else {
            EXPECT_EQ(test::to_double(this->min_of(nothing, options)), HUGE_VAL);
            EXPECT_EQ(test::to_double(this->max_of(nothing, options)), -HUGE_VAL);
        }
    }
}

TYPED_TEST(reduce, gives_the_same_bits_every_time) {
    const std::int64_t size = 3000017;
    guarded<TypeParam> x(size);
    x.upload(elements<TypeParam>(size));
    const vector_view<const TypeParam> view = x.vector();
    for (const reduce_algorithm algorithm : every_algorithm()) {
        SCOPED_TRACE(to_string(algorithm));
        workspace scratch(this->workspace_bytes(view, algorithm), *this->stream);
        const reduce_options options{.algorithm = algorithm, .workspace = scratch};
        const auto first = this->sum_of(view, options);
        for (int i = 0; i < 20; ++i) ASSERT_TRUE(same_bits(this->sum_of(view, options), first));
    }
}

TYPED_TEST(reduce, gives_the_same_bits_in_a_graph) {
    const std::int64_t size = 700001;
    guarded<TypeParam> x(size);
    x.upload(elements<TypeParam>(size));
    const vector_view<const TypeParam> view = x.vector();
    for (const reduce_algorithm algorithm : every_algorithm()) {
        SCOPED_TRACE(to_string(algorithm));
        const auto expected = this->sum_of(view, {.algorithm = algorithm});
        guarded<sum_type<TypeParam>> results(2);
        guarded_workspace scratch(this->workspace_bytes(view, algorithm));
        const graph captured = graph::capture(*this->stream, [&] {
            sum<TypeParam>(view, results.data(), *this->stream, {.algorithm = algorithm});
            sum<TypeParam>(view, results.data() + 1, *this->stream,
                           {.algorithm = algorithm, .workspace = scratch});
        });
        for (int i = 0; i < 5; ++i) {
            results.upload(std::vector<sum_type<TypeParam>>(2, sum_type<TypeParam>{1}));
            captured.launch(*this->stream);
            this->stream->synchronize();
            for (const auto result : results.download()) ASSERT_TRUE(same_bits(result, expected));
            ASSERT_TRUE(results.canaries_alive());
            ASSERT_TRUE(scratch.is_intact());
        }
    }
}

TYPED_TEST(reduce, shares_one_workspace_among_all_calls) {
    const std::vector<std::int64_t> some_sizes = {5, 300007, 4097, 70001, 1000003};
    const auto xs = elements<TypeParam>(some_sizes.back());
    guarded<TypeParam> x(some_sizes.back());
    x.upload(xs);
    std::int64_t bytes = 0;
    for (const reduce_algorithm algorithm : every_algorithm())
        bytes = std::max(bytes, this->workspace_bytes(x.vector(), algorithm));
    guarded_workspace scratch(bytes);
    for (int round = 0; round < 4; ++round)
        for (const std::int64_t size : some_sizes) {
            const reference<TypeParam> expected({xs.begin(), xs.begin() + size});
            const vector_view<const TypeParam> view{x.data(), size};
            for (const reduce_algorithm algorithm : every_algorithm()) {
                SCOPED_TRACE(testing::Message() << size << ' ' << to_string(algorithm));
                const reduce_options options{.algorithm = algorithm, .workspace = scratch};
                ASSERT_TRUE(expected.is_sum(this->sum_of(view, options), this->depth(view, algorithm)));
                ASSERT_TRUE(is_value(this->max_of(view, options), expected.largest));
            }
        }
    EXPECT_TRUE(scratch.is_intact());
}

TYPED_TEST(reduce, runs_on_several_streams_at_once) {
    constexpr std::size_t count = 4;
    const std::int64_t size = 500009;
    guarded<TypeParam> x(size);
    x.upload(elements<TypeParam>(size));
    const vector_view<const TypeParam> view = x.vector();
    const auto expected = this->sum_of(view);
    guarded<sum_type<TypeParam>> results(count);
    const std::vector<heddle::stream> streams(count);
    std::vector<workspace> scratch;
    for (const heddle::stream& each : streams)
        scratch.emplace_back(this->workspace_bytes(view, reduce_algorithm::automatic), each);
    for (int round = 0; round < 20; ++round)
        for (std::size_t i = 0; i < count; ++i)
            sum<TypeParam>(view, results.data() + i, streams[i], {.workspace = scratch[i]});
    for (const heddle::stream& each : streams) each.synchronize();
    for (const auto result : results.download()) EXPECT_TRUE(same_bits(result, expected));
}

TYPED_TEST(reduce, writes_between_the_elements_of_x) {
    const std::int64_t size = 1000, stride = 3;
    const auto xs = elements<TypeParam>(size);
    guarded<TypeParam> x(1, size, 0, 0, stride);
    x.upload(xs);
    TypeParam* between = x.data() + 50 * stride + 1;
    max<TypeParam>(x.vector(), between, *this->stream);
    TypeParam result;
    check(cudaStreamSynchronize(this->stream->get()));
    check(cudaMemcpy(&result, between, sizeof(result), cudaMemcpyDefault));
    EXPECT_TRUE(is_value(result, reference<TypeParam>(xs).largest));
}

TYPED_TEST(reduce, asks_for_a_workspace_that_is_large_enough) {
    const std::int64_t size = 1 << 20;
    guarded<TypeParam> x(size);
    guarded<sum_type<TypeParam>> result(1);
    for (const reduce_algorithm algorithm : every_algorithm()) {
        const auto bytes = this->workspace_bytes(x.vector(), algorithm);
        guarded_workspace scratch(bytes);
        const std::span<std::byte> small =
            std::span<std::byte>(scratch).first(static_cast<std::size_t>(bytes - 1));
        EXPECT_EQ(invalid_argument_of([&] {
                      sum<TypeParam>(x.vector(), result.data(), *this->stream,
                                     {.algorithm = algorithm, .workspace = small});
                  }),
                  "sum: options.workspace is " + std::to_string(bytes - 1) + ", expected at least " +
                      std::to_string(bytes) + " bytes");
        EXPECT_TRUE(scratch.is_intact());
    }
    EXPECT_TRUE(result.untouched());
}

// An empty workspace has no address to be misaligned.
TYPED_TEST(reduce, takes_an_empty_workspace_from_anywhere) {
    const std::int64_t size = 1 << 20;
    const auto xs = elements<TypeParam>(size);
    guarded<TypeParam> x(size);
    x.upload(xs);
    guarded<std::uint8_t> odd(2);
    const std::span<std::byte> nothing{reinterpret_cast<std::byte*>(odd.data()) + 1, 0};
    const vector_view<const TypeParam> view = x.vector();
    const reference<TypeParam> expected(xs);
    for (const reduce_algorithm algorithm : every_algorithm()) {
        SCOPED_TRACE(to_string(algorithm));
        const auto total = this->sum_of(view, {.algorithm = algorithm, .workspace = nothing});
        EXPECT_TRUE(expected.is_sum(total, this->depth(view, algorithm)));
    }
    EXPECT_TRUE(odd.untouched());
}

template <class T>
class reduce_floating : public reduce_test {};
TYPED_TEST_SUITE(reduce_floating, floating_types, test::type_names);

TYPED_TEST(reduce_floating, passes_nan_and_infinity_on) {
    using element = TypeParam;
    for (const std::int64_t size : {1, 1030, 300007})
        for (const std::int64_t at : {std::int64_t{0}, size / 2, size - 1}) {
            SCOPED_TRACE(testing::Message() << size << " elements, at " << at);
            auto xs = random_elements<element>(size);
            guarded<element> x(size, 1);
            const auto with = [&](element special) {
                xs[static_cast<std::size_t>(at)] = special;
                x.upload(xs);
                return vector_view<const element>(x.vector());
            };
            for (const reduce_algorithm algorithm : every_algorithm()) {
                SCOPED_TRACE(to_string(algorithm));
                const reduce_options options{.algorithm = algorithm};
                auto view = with(nan<element>());
                ASSERT_TRUE(std::isnan(this->sum_of(view, options)));
                ASSERT_TRUE(is_value(this->min_of(view, options), nan<element>()));
                ASSERT_TRUE(is_value(this->max_of(view, options), nan<element>()));
                view = with(infinity<element>());
                ASSERT_EQ(this->sum_of(view, options), infinity<sum_type<element>>());
                ASSERT_TRUE(is_value(this->max_of(view, options), infinity<element>()));
                view = with(-infinity<element>());
                ASSERT_EQ(this->sum_of(view, options), -infinity<sum_type<element>>());
                ASSERT_TRUE(is_value(this->min_of(view, options), -infinity<element>()));
            }
        }
}

TYPED_TEST(reduce_floating, of_infinities_of_both_signs_is_nan) {
    std::vector<TypeParam> xs(70001, TypeParam(1.0f));
    xs.front() = infinity<TypeParam>();
    xs.back() = -infinity<TypeParam>();
    guarded<TypeParam> x(std::ssize(xs));
    x.upload(xs);
    for (const reduce_algorithm algorithm : every_algorithm()) {
        SCOPED_TRACE(to_string(algorithm));
        EXPECT_TRUE(
            std::isnan(this->sum_of(vector_view<const TypeParam>(x.vector()), {.algorithm = algorithm})));
    }
}

TYPED_TEST(reduce_floating, takes_negative_zeros_and_denormals) {
    const auto zero = static_cast<TypeParam>(-0.0f);
    guarded<TypeParam> x(10007);
    const vector_view<const TypeParam> view = x.vector();
    const double denormal = test::smallest<TypeParam>();
    for (const reduce_algorithm algorithm : every_algorithm()) {
        SCOPED_TRACE(to_string(algorithm));
        const reduce_options options{.algorithm = algorithm};
        x.upload(std::vector<TypeParam>(10007, zero));
        EXPECT_EQ(this->sum_of(view, options), 0);
        EXPECT_TRUE(std::signbit(test::to_double(this->min_of(view, options))));
        EXPECT_TRUE(std::signbit(test::to_double(this->max_of(view, options))));
        // Multiples of one denormal add up without rounding.
        x.upload(std::vector<TypeParam>(10007, static_cast<TypeParam>(denormal)));
        EXPECT_EQ(test::to_double(this->sum_of(view, options)), 10007 * denormal);
        EXPECT_EQ(test::to_double(this->min_of(view, options)), denormal);
        EXPECT_EQ(test::to_double(this->max_of(view, options)), denormal);
    }
}

// The operations beside sum, min and max.

std::vector<reduce_algorithm> algorithms_of(reduce_operation operation) {
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
        const long double du = static_cast<long double>(roundings) * test::unit_roundoff<Result>();
        const long double own = static_cast<long double>(size + 2) * 0x1p-64L;
        return (du / (1 - du) + own) * magnitude + static_cast<long double>(size) * test::smallest<Result>();
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
                                     (is_double ? 0 : test::unit_roundoff<float>());
        return is_near(actual, root, relative * root);
    }

    static testing::AssertionResult is_near(long double actual, long double expected, long double bound) {
        if (std::abs(actual - expected) <= bound) return testing::AssertionSuccess();
        return testing::AssertionFailure() << actual << ", expected " << expected << " within " << bound;
    }
};

template <class T>
class reduce_others : public reduce_test {
  protected:
    using elements_view = vector_view<const T>;

    /// What `enqueue` writes, brought to the host; the device is idle after it.
    template <class Result, class Enqueue>
    Result result_of(Enqueue enqueue) {
        guarded<Result> result(1);
        enqueue(result.data());
        stream->synchronize();
        EXPECT_TRUE(result.canaries_alive());
        return result.download()[0];
    }

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

    /// Of any values, and of so few that many are equal and zero.
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

TYPED_TEST_SUITE(reduce_others, element_types, test::type_names);

TYPED_TEST(reduce_others, take_every_size) {
    for (const std::int64_t size : sizes<TypeParam>()) {
        SCOPED_TRACE(size);
        ASSERT_NO_FATAL_FAILURE(this->check(size));
    }
}

TYPED_TEST(reduce_others, take_every_alignment) {
    for (const std::int64_t size : {1, 5, 17, 1009, 40009})
        for (const std::int64_t offset : {0, 1, 3})
            for (const std::int64_t offset_of_y : {0, 1, 2, 7}) {
                SCOPED_TRACE(testing::Message()
                             << size << " elements, offsets " << offset << " and " << offset_of_y);
                ASSERT_NO_FATAL_FAILURE(this->check(size, {offset}, {offset_of_y}));
            }
}

TYPED_TEST(reduce_others, take_every_stride) {
    for (const std::int64_t stride : {1, 2, 7})
        for (const std::int64_t stride_of_y : {1, 3})
            for (const std::int64_t size : {0, 1, 2, 33, 257, 4097, 100003}) {
                SCOPED_TRACE(testing::Message()
                             << size << " elements, strides " << stride << " and " << stride_of_y);
                ASSERT_NO_FATAL_FAILURE(this->check(size, {1, stride}, {2, stride_of_y}));
            }
}

TYPED_TEST(reduce_others, take_sizes_that_just_fill_the_device) {
    ASSERT_NO_FATAL_FAILURE(this->check(24000044 / std::int64_t{sizeof(TypeParam)}, {1}, {1}));
}

TYPED_TEST(reduce_others, of_nothing_are_what_they_say) {
    const vector_view<const TypeParam> nothing{};
    for (const reduce_algorithm algorithm : algorithms_of(reduce_operation::mean)) {
        SCOPED_TRACE(to_string(algorithm));
        const reduce_options options{.algorithm = algorithm};
        EXPECT_TRUE(std::isnan(this->mean_of(nothing, options)));
        EXPECT_EQ(this->argmin_of(nothing, options), -1);
        EXPECT_EQ(this->argmax_of(nothing, options), -1);
        EXPECT_EQ(this->dot_of(nothing, nothing, options), 0);
        EXPECT_EQ(this->norm1_of(nothing, options), 0);
        if constexpr (!is_integer<TypeParam>) {
            EXPECT_EQ(this->norm2_of(nothing, options), 0);
        }
        EXPECT_EQ(this->count_nonzero_of(nothing, options), 0);
    }
}

// Equal elements in different threads, warps, blocks and packets; and an extremum that is also the identity.
TYPED_TEST(reduce_others, find_the_first_of_equals) {
    using element = TypeParam;
    const auto lowest = is_integer<element> ? std::numeric_limits<element>::min() : -infinity<element>();
    const auto highest = is_integer<element> ? std::numeric_limits<element>::max() : infinity<element>();
    for (const std::int64_t size : {40, 1030, 70001, 300007, 3000017}) {
        guarded<element> x(size, 1);
        const vector_view<const element> view = x.vector();
        for (const std::int64_t at : {std::int64_t{0}, std::int64_t{7}, size / 3, size - 1}) {
            SCOPED_TRACE(testing::Message() << size << " elements, at " << at);
            for (const element base : {lowest, element(1.0f), highest}) {
                std::vector<element> xs(static_cast<std::size_t>(size), base);
                const auto set_from = [&](std::int64_t first, element value) {
                    for (std::int64_t i = first; i < size; i += 13) xs[static_cast<std::size_t>(i)] = value;
                    x.upload(xs);
                };
                for (const reduce_algorithm algorithm : algorithms_of(reduce_operation::argmax)) {
                    SCOPED_TRACE(to_string(algorithm));
                    const reduce_options options{.algorithm = algorithm};
                    set_from(at, highest);
                    ASSERT_EQ(this->argmax_of(view, options),
                              comparable(base) == comparable(highest) ? 0 : at);
                    set_from(at, lowest);
                    ASSERT_EQ(this->argmin_of(view, options),
                              comparable(base) == comparable(lowest) ? 0 : at);
                }
            }
        }
    }
}

TYPED_TEST(reduce_others, give_the_same_bits_every_time) {
    const std::int64_t size = 3000017;
    guarded<TypeParam> x(size), y(size, 1);
    x.upload(elements<TypeParam>(size));
    y.upload(elements<TypeParam>(size));
    const vector_view<const TypeParam> a = x.vector(), b = y.vector();
    workspace scratch(this->workspace_bytes(a, reduce_algorithm::automatic), *this->stream);
    const reduce_options options{.workspace = scratch};
    const auto expect_same = [](auto compute) {
        const auto first = compute();
        for (int i = 0; i < 20; ++i) ASSERT_TRUE(same_bits(compute(), first));
    };
    expect_same([&] { return this->mean_of(a, options); });
    expect_same([&] { return this->dot_of(a, b, options); });
    expect_same([&] { return this->norm1_of(a, options); });
    if constexpr (!is_integer<TypeParam>) expect_same([&] { return this->norm2_of(a, options); });
}

template <class T>
class reduce_others_floating : public reduce_others<T> {};
TYPED_TEST_SUITE(reduce_others_floating, floating_types, test::type_names);

TYPED_TEST(reduce_others_floating, pass_nan_and_infinity_on) {
    using element = TypeParam;
    for (const std::int64_t size : {1, 1030, 70001, 300007})
        for (const std::int64_t at : {std::int64_t{0}, size / 2, size - 1}) {
            SCOPED_TRACE(testing::Message() << size << " elements, at " << at);
            auto xs = random_elements<element>(size);
            const std::vector<element> ones(static_cast<std::size_t>(size), element(1.0f));
            guarded<element> x(size, 1), y(size);
            y.upload(ones);
            const auto with = [&](element special) {
                xs[static_cast<std::size_t>(at)] = special;
                x.upload(xs);
                return vector_view<const element>(x.vector());
            };
            for (const reduce_algorithm algorithm : algorithms_of(reduce_operation::dot)) {
                SCOPED_TRACE(to_string(algorithm));
                const reduce_options options{.algorithm = algorithm};
                auto view = with(nan<element>());
                ASSERT_TRUE(std::isnan(this->mean_of(view, options)));
                ASSERT_EQ(this->argmin_of(view, options), at);
                ASSERT_EQ(this->argmax_of(view, options), at);
                ASSERT_TRUE(std::isnan(this->dot_of(view, y.vector(), options)));
                ASSERT_TRUE(std::isnan(this->norm1_of(view, options)));
                ASSERT_TRUE(std::isnan(this->norm2_of(view, options)));
                ASSERT_EQ(this->count_nonzero_of({x.data() + at, 1}, options), 1);
                for (const element special : {infinity<element>(), -infinity<element>()}) {
                    view = with(special);
                    ASSERT_EQ(this->mean_of(view, options), static_cast<float>(special));
                    ASSERT_EQ(this->dot_of(view, y.vector(), options), static_cast<float>(special));
                    ASSERT_EQ(this->norm1_of(view, options), HUGE_VAL);
                    ASSERT_EQ(this->norm2_of(view, options), HUGE_VAL);
                }
                ASSERT_EQ(this->argmin_of(view, options), at);
            }
        }
}

TYPED_TEST(reduce_others_floating, prefer_the_first_nan) {
    using element = TypeParam;
    for (const std::int64_t size : {40, 70001, 300007})
        for (const std::int64_t at : {std::int64_t{3}, size / 2}) {
            auto xs = random_elements<element>(size);
            for (std::int64_t i = at; i < size; i += 11) xs[static_cast<std::size_t>(i)] = nan<element>();
            xs[0] = infinity<element>();
            xs[1] = -infinity<element>();
            guarded<element> x(size);
            x.upload(xs);
            for (const reduce_algorithm algorithm : algorithms_of(reduce_operation::argmax)) {
                SCOPED_TRACE(testing::Message() << size << ' ' << at << ' ' << to_string(algorithm));
                EXPECT_EQ(this->argmin_of(x.vector(), {.algorithm = algorithm}), at);
                EXPECT_EQ(this->argmax_of(x.vector(), {.algorithm = algorithm}), at);
            }
        }
}

TYPED_TEST(reduce_others_floating, take_zeros_of_both_signs_as_equal) {
    std::vector<TypeParam> xs(1000, TypeParam(-0.0f));
    xs[0] = xs[500] = TypeParam(0.0f);
    guarded<TypeParam> x(1000);
    x.upload(xs);
    for (const reduce_algorithm algorithm : algorithms_of(reduce_operation::argmax)) {
        EXPECT_EQ(this->argmin_of(x.vector(), {.algorithm = algorithm}), 0);
        EXPECT_EQ(this->argmax_of(x.vector(), {.algorithm = algorithm}), 0);
        EXPECT_EQ(this->count_nonzero_of(x.vector(), {.algorithm = algorithm}), 0);
    }
}

/// Vectors whose squares overflow, underflow or both, in T and in what is wider; scaled by powers of two, their
/// norm is exact in all types: 3, 4 and 12 give 13.
template <class T>
std::vector<std::vector<T>> extreme_vectors() {
    const int low = std::ilogb(test::smallest<T>());
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
    return test::to_double(xs[0]) / 3 * 13;
}

TYPED_TEST(reduce_others_floating, norm2_neither_overflows_nor_underflows) {
    for (const auto& xs : extreme_vectors<TypeParam>()) {
        guarded<TypeParam> x(std::ssize(xs));
        x.upload(xs);
        for (const reduce_algorithm algorithm : algorithms_of(reduce_operation::norm2))
            ASSERT_EQ(test::to_double(this->norm2_of(x.vector(), {.algorithm = algorithm})),
                      norm_of_extreme(xs))
                << xs.size() << " elements, " << to_string(algorithm);
    }
}

class reduce_norm2_levels : public reduce_test {};

/// One element a level of norm2's scaling and beyond: the largest decides.
TEST_F(reduce_norm2_levels, are_merged) {
    for (const double largest : {0x1p1000, 0x1p481, 0x1p479, 0x1p0, 0x1p-399, 0x1p-401, 0x1p-1000})
        for (const double ratio : {1.0, 0x1p-10, 0x1p-26, 0x1p-200, 0x1p-1000})
            for (const std::size_t distance : {1u, 64u, 5000u, 200000u}) {
                std::vector<double> xs(300007);
                xs[77] = largest * ratio;
                xs[77 + distance] = largest;
                guarded<double> x(std::ssize(xs));
                x.upload(xs);
                for (const auto algorithm : algorithms_of(reduce_operation::norm2)) {
                    guarded<double> result(1);
                    norm2<double>(x.vector(), result.data(), *stream, {.algorithm = algorithm});
                    const double expected = std::hypot(1.0, ratio) * largest;
                    // hypot's error is below an ulp; so is that of two squares, a sum, a root.
                    EXPECT_TRUE(test::is_within(result.download()[0], expected, 4 * 0x1p-53 * expected))
                        << largest << ' ' << ratio << ' ' << distance;
                }
            }
}

/// Large x goes through rings in shared memory: 8.65 MB a round on 132 multiprocessors. Exact, so that an element that
/// is taken twice or not at all shows.
class reduce_rings : public reduce_test {
  protected:
    void check_integers(std::int64_t size) {
        const auto xs = elements<std::int32_t>(size);
        std::int64_t sum = 0, nonzero = 0;
        for (const std::int32_t x : xs) {
            sum += x;
            nonzero += x != 0 ? 1 : 0;
        }
        guarded<std::int32_t> x(1, size, 0, 1);
        x.upload(xs);
        guarded<std::int64_t> count(1);
        for (int i = 0; i < 10; ++i) {
            ASSERT_EQ(sum_of<std::int32_t>(x.vector(), {}), sum);
            count_nonzero<std::int32_t>(x.vector(), count.data(), *stream);
            ASSERT_EQ(count.download()[0], nonzero);
        }
    }
};

TEST_F(reduce_rings, are_filled_again) {
    check_integers(15'250'007);  // seven rounds
}

// Eighteen rounds: a thread's chain of sums is cut after sixteen.
TEST_F(reduce_rings, are_cut) {
    check_integers(37'500'011);
}

TEST_F(reduce_rings, find_a_peak_anywhere) {
    constexpr std::int64_t size = 37'500'011, round = 132 * 2 * 2048 * 4;
    device_buffer<float> x(size, *stream);
    fill_bytes(x, std::byte{0}, *stream);
    guarded<std::int64_t> place(1);
    const auto set = [&](std::int64_t i, float value) {
        check(cudaMemcpyAsync(x.data() + i, &value, sizeof(value), cudaMemcpyDefault, stream->get()));
        stream->synchronize();
    };
    const auto argmax_of_all = [&] {
        argmax<float>(x, place.data(), *stream);
        return place.download()[0];
    };
    EXPECT_EQ(argmax_of_all(), 0);
    set(size - 2, 1);  // outside the tiles, and of equals the last
    EXPECT_EQ(argmax_of_all(), size - 2);
    for (const std::int64_t i :
         {size - 1000, 17 * round + 5, 16 * round, 16 * round - 1, 15 * round + round / 2, 3 * round + 7,
          2 * round - 1, round / 3, std::int64_t{0}}) {
        set(i, 1);
        EXPECT_EQ(argmax_of_all(), i);
    }
}

class large_reduce : public reduce_test {};

TEST_F(large_reduce, keeps_its_bound_on_positive_data) {
    const auto size = (std::int64_t{1} << 26) + 5;
    auto xs = random_elements<float>(1000003, 0, 1);
    const std::size_t period = xs.size();
    xs.resize(static_cast<std::size_t>(size));
    for (std::size_t i = period; i < xs.size(); ++i) xs[i] = xs[i - period];
    const reference<float> expected(xs);
    device_buffer<float> x(size, *stream);
    copy_and_wait(xs, x, *stream);
    const vector_view<const float> view = x;
    for (const reduce_algorithm algorithm : every_algorithm()) {
        SCOPED_TRACE(to_string(algorithm));
        const reduce_options options{.algorithm = algorithm};
        EXPECT_TRUE(expected.is_sum(sum_of(view, options), depth(view, algorithm)));
        EXPECT_TRUE(is_value(min_of(view, options), expected.smallest));
        EXPECT_TRUE(is_value(max_of(view, options), expected.largest));
    }
}

// The bound of docs/accuracy.md at 2^30 elements, of data of one sign, whose errors cancel least. The elements
// repeat with a period that is prime, so that the reference needs one of them alone.
TEST_F(large_reduce, keeps_its_bound_at_2_to_30_elements) {
    constexpr std::int64_t size = std::int64_t{1} << 30;
    constexpr std::int64_t period = 1000003;
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total));
    if (free < 5 * (std::size_t{1} << 30)) GTEST_SKIP() << "needs 5 GiB of device memory";

    const auto xs = random_elements<float>(period, 0, 1);
    device_buffer<float> x(size, *stream);
    check(cudaMemcpyAsync(x.data(), xs.data(), sizeof(float) * period, cudaMemcpyDefault, stream->get()));
    for (std::int64_t filled = period; filled < size; filled *= 2)
        check(cudaMemcpyAsync(x.data() + filled, x.data(),
                              sizeof(float) * static_cast<std::size_t>(std::min(filled, size - filled)),
                              cudaMemcpyDefault, stream->get()));
    const reference<float> whole(xs), rest({xs.begin(), xs.begin() + size % period});
    const auto squares = [&](std::int64_t count) {
        long double sum = 0;
        for (std::int64_t i = 0; i < count; ++i) {
            const long double e = xs[static_cast<std::size_t>(i)];
            sum += e * e;
        }
        return sum;
    };
    reference<float> expected({});
    expected.sum = expected.magnitude = whole.sum * (size / period) + rest.sum;
    expected.sum_error = static_cast<long double>(period) * 0x1p-63L * expected.sum;
    const long double all_squares = squares(period) * (size / period) + squares(size % period);

    const vector_view<const float> view = x;
    for (const reduce_algorithm algorithm : every_algorithm()) {
        SCOPED_TRACE(to_string(algorithm));
        EXPECT_TRUE(expected.is_sum(sum_of(view, {.algorithm = algorithm}), depth(view, algorithm)));
    }
    const std::int64_t d = depth(view, reduce_algorithm::automatic);
    const auto relative = [&](std::int64_t roundings) {
        const double du = static_cast<double>(roundings) * test::unit_roundoff<float>();
        return du / (1 - du) + 0x1p-40;
    };
    const auto expect_near = [&](auto enqueue, long double exact, double bound) {
        guarded<float> result(1);
        enqueue(result.data());
        const auto e = static_cast<double>(exact);
        EXPECT_TRUE(test::is_within(double{result.download()[0]}, e, bound * e));
    };
    expect_near([&](float* result) { mean<float>(view, result, *stream); }, expected.sum / size,
                relative(d + 1));
    expect_near([&](float* result) { norm1<float>(view, result, *stream); }, expected.sum, relative(d));
    expect_near([&](float* result) { dot<float>(view, view, result, *stream); }, all_squares,
                relative(d + 1));
    expect_near([&](float* result) { norm2<float>(view, result, *stream); }, std::sqrt(all_squares),
                relative(1));
}

TEST_F(large_reduce, takes_more_than_2_to_31_elements) {
    constexpr std::int64_t size = (std::int64_t{1} << 31) + 9;
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total));
    if (free < 5 * (std::size_t{1} << 30)) GTEST_SKIP() << "needs 5 GiB of device memory";

    device_buffer<half> x(size, *stream);
    fill_bytes(x, std::byte{0x3c}, *stream);
    const half low = half(-2.0f), high = half(3.0f), most = half(__half_raw{0x3c3c});
    check(cudaMemcpyAsync(x.data() + (size - 2), &low, sizeof(half), cudaMemcpyDefault, stream->get()));
    check(cudaMemcpyAsync(x.data() + (size - 1), &high, sizeof(half), cudaMemcpyDefault, stream->get()));
    reference<half> expected({low, high});
    expected.sum += static_cast<long double>(size - 2) * test::to_double(most);
    expected.magnitude += static_cast<long double>(size - 2) * test::to_double(most);
    const vector_view<const half> view = x;
    for (const reduce_algorithm algorithm : every_algorithm()) {
        SCOPED_TRACE(to_string(algorithm));
        const reduce_options options{.algorithm = algorithm};
        EXPECT_TRUE(expected.is_sum(sum_of(view, options), depth(view, algorithm)));
        EXPECT_TRUE(is_value(min_of(view, options), low));
        EXPECT_TRUE(is_value(max_of(view, options), high));
        const auto has = reduce_algorithms(reduce_operation::argmax);
        if (std::ranges::find(has, algorithm) != has.end()) {
            guarded<std::int64_t> places(3);
            argmin<half>(view, places.data(), *stream, options);
            argmax<half>(view, places.data() + 1, *stream, options);
            count_nonzero<half>(view, places.data() + 2, *stream, options);
            EXPECT_EQ(places.download(), (std::vector<std::int64_t>{size - 2, size - 1, size}));
        }
        if (algorithm == reduce_algorithm::vectorized) continue;
        // Three elements, the last of them beyond 2^31.
        const vector_view<const half> strided{x.data(), 3, (std::int64_t{1} << 30) + 4};
        EXPECT_TRUE(is_value(max_of(strided, options), high));
    }
}

#if HEDDLE_HAS_CUBLAS
TEST_F(large_reduce, agrees_with_cublas) {
    cublasHandle_t handle = nullptr;
    ASSERT_EQ(cublasCreate(&handle), CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(cublasSetStream(handle, stream->get()), CUBLAS_STATUS_SUCCESS);
    for (const std::int64_t size : {4097, 65536}) {
        const auto xs = random_elements<float>(size, 0, 1);
        guarded<float> x(size);
        x.upload(xs);
        float theirs = 0;
        ASSERT_EQ(cublasSasum(handle, static_cast<int>(size), x.data(), 1, &theirs), CUBLAS_STATUS_SUCCESS);
        // cuBLAS documents no order: its bound is that of the worst, one addition after another.
        const double u = test::unit_roundoff<float>();
        const double relative =
            static_cast<double>(size + depth(x.vector(), reduce_algorithm::automatic)) * u;
        const float ours = sum_of(vector_view<const float>(x.vector()));
        EXPECT_TRUE(test::is_within(ours, theirs, relative / (1 - relative) * theirs));
    }
    (void)cublasDestroy(handle);
}
#else
TEST(large_reduce_beside_cublas, agrees) {
    GTEST_SKIP() << "cuBLAS is not installed";
}
#endif

// The CPU implementation.

template <class T>
class host_reduce : public testing::Test {
  protected:
    using operand = guarded<T>;

    /// Chunks of 4096, 32 accumulators in each, and pairs of chunks.
    static std::int64_t depth(std::int64_t size) {
        std::int64_t levels = 0;
        while ((std::int64_t{4096} << levels) < size) ++levels;
        return 4096 / 32 + 5 + levels;
    }

    void check(std::int64_t size, std::int64_t offset, std::int64_t stride) {
        const auto xs = elements<T>(size);
        const reference<T> expected(xs);
        operand x(1, size, 0, offset, stride, operand::memory::host);
        x.upload(xs);
        ASSERT_TRUE(expected.is_sum(host::sum<T>(x.vector()), depth(size)));
        ASSERT_TRUE(is_value(host::min<T>(x.vector()), expected.smallest));
        ASSERT_TRUE(is_value(host::max<T>(x.vector()), expected.largest));
        ASSERT_TRUE(x.untouched());
        check_others(xs, elements<T>(size), offset, stride);
        std::vector<T> few;
        for (const std::int64_t value : random_elements<std::int64_t>(size, -2, 2))
            few.push_back(static_cast<T>(static_cast<float>(value)));
        check_others(few, xs, offset, stride);
    }

    void check_others(const std::vector<T>& xs, const std::vector<T>& ys, std::int64_t offset,
                      std::int64_t stride) {
        const auto size = std::ssize(xs);
        const other_reference<T> expected(xs, ys);
        operand x(1, size, 0, offset, stride, operand::memory::host);
        operand y(1, size, 0, 0, stride == 2 ? 1 : stride, operand::memory::host);
        x.upload(xs);
        y.upload(ys);
        const vector_view<const T> view = x.vector();
        ASSERT_TRUE(expected.is_mean(host::mean<T>(view), depth(size)));
        ASSERT_EQ(host::argmin<T>(view), expected.argmin);
        ASSERT_EQ(host::argmax<T>(view), expected.argmax);
        ASSERT_TRUE(expected.is_dot(host::dot<T>(view, y.vector()), depth(size)));
        ASSERT_TRUE(expected.is_norm1(host::norm1<T>(view), depth(size)));
        if constexpr (!is_integer<T>) {
            ASSERT_TRUE(expected.is_norm2(host::norm2<T>(view), depth(size)));
        }
        ASSERT_EQ(host::count_nonzero<T>(view), expected.count);
    }
};

TYPED_TEST_SUITE(host_reduce, element_types, test::type_names);

TYPED_TEST(host_reduce, takes_every_size_alignment_and_stride) {
    for (const std::int64_t size : {0, 1, 2, 31, 32, 33, 63, 64, 65, 1009, 4095, 4096, 4097, 8193, 100003})
        for (const std::int64_t offset : {0, 1, 3})
            for (const std::int64_t stride : {1, 2, 7}) {
                SCOPED_TRACE(testing::Message()
                             << size << " elements, offset " << offset << ", stride " << stride);
                ASSERT_NO_FATAL_FAILURE(this->check(size, offset, stride));
            }
}

TYPED_TEST(host_reduce, does_not_depend_on_the_number_of_threads) {
    const auto xs = elements<TypeParam>(1000003);
    const vector_view<const TypeParam> x{xs.data(), std::ssize(xs)};
    const int threads = omp_get_max_threads();
    omp_set_num_threads(1);
    const auto expected = host::sum(x);
    for (const int count : {2, 3, 7}) {
        omp_set_num_threads(count);
        EXPECT_TRUE(same_bits(host::sum(x), expected)) << count << " threads";
    }
    omp_set_num_threads(threads);
}

template <class T>
class host_reduce_floating : public testing::Test {};
TYPED_TEST_SUITE(host_reduce_floating, floating_types, test::type_names);

TYPED_TEST(host_reduce_floating, passes_nan_and_infinity_on) {
    using element = TypeParam;
    for (const std::int64_t size : {1, 33, 5000})
        for (const std::int64_t at : {std::int64_t{0}, size / 2, size - 1}) {
            SCOPED_TRACE(testing::Message() << size << " elements, at " << at);
            auto xs = random_elements<element>(size);
            const vector_view<const element> x{xs.data(), size};
            element& special = xs[static_cast<std::size_t>(at)];
            special = nan<element>();
            EXPECT_TRUE(std::isnan(host::sum(x)));
            EXPECT_TRUE(is_value(host::min(x), special));
            EXPECT_TRUE(is_value(host::max(x), special));
            special = infinity<element>();
            EXPECT_EQ(host::sum(x), infinity<sum_type<element>>());
            EXPECT_TRUE(is_value(host::max(x), special));
            special = -infinity<element>();
            EXPECT_EQ(host::sum(x), -infinity<sum_type<element>>());
            EXPECT_TRUE(is_value(host::min(x), special));
            EXPECT_EQ(host::norm1(x), HUGE_VAL);
            EXPECT_EQ(host::norm2(x), HUGE_VAL);
            EXPECT_EQ(host::argmin(x), at);
            special = nan<element>();
            EXPECT_EQ(host::argmin(x), at);
            EXPECT_EQ(host::argmax(x), at);
            EXPECT_TRUE(std::isnan(host::mean(x)));
            EXPECT_TRUE(std::isnan(host::dot<element>(x, x)));
            EXPECT_TRUE(std::isnan(host::norm1(x)));
            EXPECT_TRUE(std::isnan(host::norm2(x)));
            EXPECT_EQ(host::count_nonzero<element>({&special, 1}), 1);
        }
}

TYPED_TEST(host_reduce_floating, norm2_neither_overflows_nor_underflows) {
    for (const auto& xs : extreme_vectors<TypeParam>()) {
        const vector_view<const TypeParam> x{xs.data(), std::ssize(xs)};
        ASSERT_EQ(test::to_double(host::norm2(x)), norm_of_extreme(xs)) << xs.size() << " elements";
    }
}

TEST(host_reduce_of_half, widens_every_bit_pattern) {
    for (std::uint32_t bits = 0; bits < 65536; ++bits) {
        const half element(__half_raw{static_cast<unsigned short>(bits)});
        const vector_view<const half> x{&element, 1};
        const float value = static_cast<float>(element);
        ASSERT_TRUE(is_value(host::sum(x), value)) << bits;
        ASSERT_TRUE(is_value(host::min(x), element)) << bits;
        ASSERT_EQ(std::signbit(test::to_double(host::max(x))), std::signbit(value)) << bits;
    }
}

TEST(host_reduce_of_nothing, is_the_identity) {
    EXPECT_EQ(host::sum<float>({}), 0);
    EXPECT_EQ(host::min<float>({}), HUGE_VALF);
    EXPECT_EQ(host::max<float>({}), -HUGE_VALF);
    EXPECT_EQ(test::to_double(host::min<half>({})), HUGE_VAL);
    EXPECT_EQ(host::min<std::int32_t>({}), std::numeric_limits<std::int32_t>::max());
    EXPECT_EQ(host::max<std::int64_t>({}), std::numeric_limits<std::int64_t>::min());
    EXPECT_TRUE(std::isnan(host::mean<float>({})));
    EXPECT_TRUE(std::isnan(host::mean<std::int32_t>({})));
    EXPECT_EQ(host::argmin<float>({}), -1);
    EXPECT_EQ(host::argmax<std::int64_t>({}), -1);
    EXPECT_EQ(host::dot<float>({}, {}), 0);
    EXPECT_EQ(host::norm1<half>({}), 0);
    EXPECT_EQ(host::norm2<double>({}), 0);
    EXPECT_EQ(host::count_nonzero<float>({}), 0);
}

TEST(host_reduce_arguments, are_checked) {
    float x[2]{};
    EXPECT_EQ(invalid_argument_of([&] {
                  (void)host::sum<float>({x, -1});
              }),
              "host::sum: x.size is -1, expected zero or more");
    EXPECT_EQ(invalid_argument_of([&] {
                  (void)host::min<float>({x, 2, 0});
              }),
              "host::min: x.stride is 0, expected one or more");
    EXPECT_EQ(invalid_argument_of([&] {
                  (void)host::max<float>({nullptr, 2});
              }),
              "host::max: x.data is null, expected a pointer to its elements");
    EXPECT_EQ(invalid_argument_of([&] {
                  (void)host::dot<float>({x, 2}, {x, 1});
              }),
              "host::dot: y.size is 1, expected 2 (x.size)");
}

// All below are checked before any device is asked for: they run everywhere.

const cuda::stream_ref no_stream{cudaStream_t{}};

class reduce_arguments : public testing::Test {
  protected:
    alignas(16) std::int32_t x[8]{};
    alignas(16) std::int64_t result = 17;
    alignas(16) std::byte scratch[64]{};

    /// Of a sum, which must not write the result.
    std::string message(vector_view<const std::int32_t> view, std::int64_t* output,
                        const reduce_options& options = {}) {
        std::string text = invalid_argument_of([&] { sum<std::int32_t>(view, output, no_stream, options); });
        EXPECT_EQ(result, 17);
        return text;
    }
};

TEST_F(reduce_arguments, x_is_a_vector) {
    EXPECT_EQ(message({x, -1}, &result), "sum: x.size is -1, expected zero or more");
    EXPECT_EQ(message({x, 8, 0}, &result), "sum: x.stride is 0, expected one or more");
    EXPECT_EQ(message({x, 8, -2}, &result), "sum: x.stride is -2, expected one or more");
    EXPECT_EQ(message({nullptr, 8}, &result), "sum: x.data is null, expected a pointer to its elements");
    const auto* odd = reinterpret_cast<const std::int32_t*>(reinterpret_cast<std::uintptr_t>(x) + 2);
    EXPECT_EQ(message({odd, 4}, &result),
              "sum: x.data is " + address_of(odd) + ", expected a multiple of 4 bytes");
    EXPECT_EQ(message({x, std::int64_t{1} << 62}, &result),
              "sum: x.size is 4611686018427387904, expected an extent whose bytes fit 63 bits");
}

TEST_F(reduce_arguments, the_result_is_a_pointer_apart_from_x) {
    EXPECT_EQ(message({x, 8}, nullptr), "sum: result is null, expected a pointer to device memory");
    auto* odd = reinterpret_cast<std::int64_t*>(x + 1);
    EXPECT_EQ(message({x + 4, 2}, odd),
              "sum: result is " + address_of(odd) + ", expected a multiple of 8 bytes");
    for (const int at : {0, 2, 4}) {
        auto* inside = reinterpret_cast<std::int64_t*>(x + at);
        const std::string expected =
            "sum: result is " + address_of(inside) + ", expected memory apart from x";
        EXPECT_EQ(message({x, 5}, inside), expected);
        EXPECT_EQ(message({x + 1, 4}, inside), expected);
        EXPECT_EQ(message({x, 3, 2}, inside), expected);
        EXPECT_EQ(message({x + 1, 3, 2}, inside), expected);
    }
}

TEST_F(reduce_arguments, the_workspace_is_apart_from_both) {
    const auto bytes_of = [](auto* data, std::size_t bytes) {
        return std::span(reinterpret_cast<std::byte*>(data), bytes);
    };
    EXPECT_EQ(message({x, 8}, &result, {.workspace = bytes_of(x + 4, 64)}),
              "sum: options.workspace is " + address_of(x + 4) + ", expected memory apart from x");
    EXPECT_EQ(message({x, 2, 6}, &result, {.workspace = bytes_of(x + 4, 20)}),
              "sum: options.workspace is " + address_of(x + 4) + ", expected memory apart from x");
    EXPECT_EQ(message({x, 8}, &result, {.workspace = bytes_of(&result, 8)}),
              "sum: options.workspace is " + address_of(&result) + ", expected memory apart from result");
    EXPECT_EQ(message({x, 8}, &result, {.workspace = std::span(scratch).subspan(4)}),
              "sum: options.workspace is " + address_of(scratch + 4) + ", expected a multiple of 16 bytes");
}

TEST_F(reduce_arguments, the_algorithm_is_one_of_the_enumerators) {
    EXPECT_EQ(message({x, 8}, &result, {.algorithm = static_cast<reduce_algorithm>(99)}),
              "sum: options.algorithm is 99, expected an enumerator of reduce_algorithm");
    std::int32_t smallest = 0;
    EXPECT_EQ(invalid_argument_of([&] {
                  min<std::int32_t>({x, -8}, &smallest, no_stream);
              }),
              "min: x.size is -8, expected zero or more");
    EXPECT_EQ(invalid_argument_of([&] {
                  max<std::int32_t>({x, -8}, &smallest, no_stream);
              }),
              "max: x.size is -8, expected zero or more");
}

TEST_F(reduce_arguments, vectors_have_no_gaps) {
    try {
        sum<std::int32_t>({x, 4, 2}, &result, no_stream, {.algorithm = reduce_algorithm::vectorized});
        FAIL() << "expected unsupported";
    } catch (const unsupported& error) {
        EXPECT_STREQ(error.what(), "sum: vectorized needs x.stride 1, not 2");
    }
    EXPECT_EQ(result, 17);
}

const device_traits h200_like{.sm_count = 132};
const device_traits with_clusters{.compute_capability_major = 9, .sm_count = 132};

TEST(reduce_select, is_one_launch) {
    EXPECT_EQ(select(reduce_problem{.size = 10}, h200_like), reduce_algorithm::single_pass);
    EXPECT_EQ(select(reduce_problem{.size = std::int64_t{1} << 32}, h200_like),
              reduce_algorithm::single_pass);
    EXPECT_EQ(select(reduce_problem{.size = 1000, .stride = 3}, h200_like), reduce_algorithm::single_pass);
}

TEST(reduce_workspace, is_needed_by_several_blocks_only) {
    for (const reduce_algorithm algorithm : every_algorithm()) {
        SCOPED_TRACE(to_string(algorithm));
        for (const std::int64_t size : {0, 1, 256})
            EXPECT_EQ(reduce_workspace_bytes({.size = size}, h200_like, algorithm), 0);
        EXPECT_GT(reduce_workspace_bytes({.size = 1 << 20}, h200_like, algorithm), 0);
    }
    // Partials of 16 bytes after 4096 for the ticket; the second launch turns 257 of them into 2.
    EXPECT_EQ(reduce_workspace_bytes({.size = 257}, h200_like, reduce_algorithm::interleaved), 4096 + 2 * 16);
    EXPECT_EQ(reduce_workspace_bytes({.size = 65537}, h200_like, reduce_algorithm::sequential),
              4096 + (257 + 2) * 16);
    EXPECT_EQ(reduce_workspace_bytes({.size = 65537}, h200_like, reduce_algorithm::first_add_on_load),
              4096 + 129 * 16);
}

TEST(reduce_workspace, is_not_needed_by_a_lone_cluster) {
    if (HEDDLE_COMPILED_FOR_90 == 0) GTEST_SKIP() << "heddle was not compiled for clusters";
    const auto bytes = [](std::int64_t size) {
        return reduce_workspace_bytes({.size = size}, with_clusters);
    };
    EXPECT_EQ(bytes(1 << 14), 0);
    EXPECT_EQ(bytes(1 << 17), 0);
    EXPECT_GT(bytes(1 << 20), 0);
}

TEST(reduce_workspace, of_a_bounded_grid_is_bounded) {
    for (const auto algorithm : {reduce_algorithm::warp_shuffle, reduce_algorithm::vectorized,
                                 reduce_algorithm::single_pass, reduce_algorithm::automatic}) {
        const auto bytes = [&](int exponent) {
            return reduce_workspace_bytes({.size = std::int64_t{1} << exponent}, h200_like, algorithm);
        };
        EXPECT_EQ(bytes(30), bytes(40)) << to_string(algorithm);
        EXPECT_LT(bytes(40), 64 << 10) << to_string(algorithm);
    }
}

TEST(reduce_problem, is_checked) {
    const auto expect_rejected = [](const std::string& rest, const reduce_problem& problem,
                                    reduce_algorithm algorithm = reduce_algorithm::automatic) {
        EXPECT_EQ(invalid_argument_of([&] { (void)reduce_workspace_bytes(problem, h200_like, algorithm); }),
                  "reduce_workspace_bytes: " + rest);
        EXPECT_EQ(invalid_argument_of([&] { (void)reduce_depth(problem, h200_like, algorithm); }),
                  "reduce_depth: " + rest);
    };
    expect_rejected("problem.size is -1, expected zero or more", {.size = -1});
    expect_rejected("problem.element_bytes is 0, expected 1 to 8", {.size = 1, .element_bytes = 0});
    expect_rejected("problem.element_bytes is 16, expected 1 to 8", {.size = 1, .element_bytes = 16});
    expect_rejected("options.algorithm is 99, expected an enumerator of reduce_algorithm", {.size = 1},
                    static_cast<reduce_algorithm>(99));
}

/// No tree of additions of n elements is flatter than log2(n); n - 1 is one addition after another.
TEST(reduce_depth, lies_between_a_perfect_tree_and_a_chain) {
    for (const reduce_algorithm algorithm : every_algorithm())
        for (const std::size_t element_bytes : {2, 4, 8})
            for (const std::int64_t stride : {1, 3})
                for (int exponent = 0; exponent <= 40; ++exponent) {
                    const std::int64_t size = std::int64_t{1} << exponent;
                    for (const device_traits& device : {h200_like, with_clusters}) {
                        const std::int64_t depth =
                            reduce_depth({size, stride, element_bytes}, device, algorithm);
                        ASSERT_GE(depth, exponent) << to_string(algorithm) << ' ' << size;
                        if (exponent >= 10) {
                            ASSERT_LT(depth, size / 8) << to_string(algorithm) << ' ' << size;
                        }
                    }
                }
}

TEST(reduce_operations, have_names_of_their_own) {
    std::set<std::string_view> names = {"unknown"};
    for (const reduce_operation operation : reduce_operations())
        EXPECT_TRUE(names.insert(to_string(operation)).second) << to_string(operation);
    EXPECT_EQ(names.size(), 11u);
    EXPECT_EQ(to_string(static_cast<reduce_operation>(99)), "unknown");
}

TEST(reduce_operations, have_all_rungs_or_two) {
    for (const reduce_operation operation : reduce_operations()) {
        SCOPED_TRACE(to_string(operation));
        const bool has_all = operation == reduce_operation::sum || operation == reduce_operation::min ||
                             operation == reduce_operation::max;
        EXPECT_EQ(reduce_algorithms(operation).size(), has_all ? reduce_algorithms().size() : 2);
        EXPECT_EQ(reduce_algorithms(operation).back(), reduce_algorithm::single_pass);
    }
}

TEST_F(reduce_arguments, an_operation_has_the_rung_that_is_asked_for) {
    for (const reduce_algorithm algorithm : reduce_algorithms()) {
        const auto has = reduce_algorithms(reduce_operation::argmax);
        if (std::ranges::find(has, algorithm) != has.end()) continue;
        try {
            argmax<std::int32_t>({x, 4}, &result, no_stream, {.algorithm = algorithm});
            FAIL() << "expected unsupported";
        } catch (const unsupported& error) {
            EXPECT_EQ(error.what(), "argmax: " + std::string(to_string(algorithm)) +
                                        " is a rung of sum, min and max alone");
        }
    }
    EXPECT_EQ(result, 17);
}

TEST_F(reduce_arguments, of_dot_agree_in_size_and_lie_apart_from_the_result) {
    const auto text = [&](vector_view<const std::int32_t> y, std::int64_t* output) {
        return invalid_argument_of([&] { dot<std::int32_t>({x, 4}, y, output, no_stream); });
    };
    EXPECT_EQ(text({x, 5}, &result), "dot: y.size is 5, expected 4 (x.size)");
    EXPECT_EQ(text({x, 4, 0}, &result), "dot: y.stride is 0, expected one or more");
    EXPECT_EQ(text({nullptr, 4}, &result), "dot: y.data is null, expected a pointer to its elements");
    auto* inside = reinterpret_cast<std::int64_t*>(x + 4);
    EXPECT_EQ(text({x + 4, 4}, inside),
              "dot: result is " + address_of(inside) + ", expected memory apart from y");
    EXPECT_EQ(invalid_argument_of([&] {
                  dot<std::int32_t>({x, 2}, {x + 4, 2}, &result, no_stream,
                                    {.workspace = std::span(reinterpret_cast<std::byte*>(x + 4), 16)});
              }),
              "dot: options.workspace is " + address_of(x + 4) + ", expected memory apart from y");
    EXPECT_EQ(result, 17);
}

TEST(reduce_algorithms, have_names_of_their_own) {
    std::set<std::string_view> names = {"automatic", "unknown"};
    for (const reduce_algorithm algorithm : reduce_algorithms()) {
        EXPECT_NE(algorithm, reduce_algorithm::automatic);
        EXPECT_TRUE(names.insert(to_string(algorithm)).second) << to_string(algorithm);
    }
    EXPECT_EQ(to_string(reduce_algorithm::automatic), "automatic");
    EXPECT_EQ(to_string(static_cast<reduce_algorithm>(99)), "unknown");
}

}  // namespace
}  // namespace heddle
