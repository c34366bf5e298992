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
            (1 << 20) - 1,
            1 << 20,
            (1 << 20) + 1};
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
        const auto ticket = words.begin() + std::min<std::ptrdiff_t>(std::ssize(words), 256 / word_bytes);
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

template <class T>
std::string address_of(const T* pointer) {
    return std::to_string(reinterpret_cast<std::uintptr_t>(pointer));
}

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
    // Partials of 8 bytes after 256 for the ticket; the second launch turns 257 of them into 2.
    EXPECT_EQ(reduce_workspace_bytes({.size = 257}, h200_like, reduce_algorithm::interleaved), 256 + 2 * 8);
    EXPECT_EQ(reduce_workspace_bytes({.size = 65537}, h200_like, reduce_algorithm::sequential),
              256 + (257 + 2) * 8);
    EXPECT_EQ(reduce_workspace_bytes({.size = 65537}, h200_like, reduce_algorithm::first_add_on_load),
              256 + 129 * 8);
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
                    const std::int64_t depth =
                        reduce_depth({size, stride, element_bytes}, h200_like, algorithm);
                    ASSERT_GE(depth, exponent) << to_string(algorithm) << ' ' << size;
                    if (exponent >= 10) {
                        ASSERT_LT(depth, size / 8) << to_string(algorithm) << ' ' << size;
                    }
                }
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
