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
#include <heddle/scan.hpp>
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

namespace heddle {
namespace {

using test::address_of;
using test::guarded;
using test::invalid_argument_of;
using test::random_elements;

using element_types = testing::Types<double, float, std::int32_t, std::int64_t>;
using floating_types = testing::Types<double, float>;

enum class kind { inclusive, exclusive };
constexpr kind kinds[] = {kind::inclusive, kind::exclusive};

const char* name_of(kind kind) {
    return kind == kind::inclusive ? "inclusive" : "exclusive";
}

std::vector<scan_algorithm> every_algorithm() {
    std::vector<scan_algorithm> all(scan_algorithms().begin(), scan_algorithms().end());
    all.push_back(scan_algorithm::automatic);
    return all;
}

/// Of integers the whole range, so that sums wrap.
template <class T>
std::vector<T> elements(std::int64_t size) {
    constexpr double limit = std::is_integral_v<T> ? (sizeof(T) == 8 ? 0x1p62 : 0x1p30) : 1;
    return random_elements<T>(size, -limit, limit);
}

/// Passes where every y is the sum of the x before it (and its own, if inclusive): integers exactly, modulo
/// their range; floating-point within `depth` roundings (Higham, "Accuracy and Stability of Numerical
/// Algorithms", section 4.2), for which x must be finite.
template <class T>
testing::AssertionResult are_sums(const std::vector<T>& y, const std::vector<T>& x, kind kind,
                                  std::int64_t depth) {
    if (x.size() != y.size()) return testing::AssertionFailure() << "sizes disagree";
    if constexpr (std::is_integral_v<T>) {
        using bits = std::make_unsigned_t<T>;
        bits sum = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            const bits with_own = sum + static_cast<bits>(x[i]);
            const T expected = static_cast<T>(kind == kind::inclusive ? with_own : sum);
            if (y[i] != expected)
                return testing::AssertionFailure()
                       << "y[" << i << "] is " << y[i] << ", expected " << expected;
            sum = with_own;
        }
    } else {
        const long double du = static_cast<long double>(depth) * test::unit_roundoff<T>();
        long double sum = 0, magnitude = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            if (kind == kind::exclusive) {
                const long double difference = std::abs(y[i] - sum);
                const long double bound =
                    (du / (1 - du) + static_cast<long double>(i) * 0x1p-64L) * magnitude;
                if (!(difference <= bound))
                    return testing::AssertionFailure()
                           << "y[" << i << "] is " << y[i] << ", expected " << sum << " within " << bound;
            }
            sum += x[i];
            magnitude += std::abs(x[i]);
            if (kind == kind::inclusive) {
                const long double difference = std::abs(y[i] - sum);
                const long double bound =
                    (du / (1 - du) + static_cast<long double>(i + 1) * 0x1p-64L) * magnitude;
                if (!(difference <= bound))
                    return testing::AssertionFailure()
                           << "y[" << i << "] is " << y[i] << ", expected " << sum << " within " << bound;
            }
        }
    }
    return testing::AssertionSuccess();
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

/// Off by one around warps, rows, tiles (2048 elements, 4096 or 8192 of packets) and groups of 32 of them.
std::vector<std::int64_t> sizes() {
    std::vector<std::int64_t> all = {0, 1, 2, 3, 5};
    for (const std::int64_t edge : {32, 256, 1024, 2048, 4096, 8192, 16384, 65536, 131072, 262144})
        all.insert(all.end(), {edge - 1, edge, edge + 1});
    all.insert(all.end(), {509, 10007, 300007, 1000003});
    return all;
}

/// Scratch memory of exactly the bytes that are asked for, 16-byte aligned and no better, between canaries:
/// zeros for the counters, then what another operation may have left.
class guarded_workspace {
  public:
    explicit guarded_workspace(std::int64_t bytes) : words_(bytes / word_bytes, 2) {
        std::vector<std::int64_t> words(static_cast<std::size_t>(bytes / word_bytes), 0x100000001);
        std::fill_n(words.begin(), std::min(words.size(), counter_words), 0);
        words_.upload(words);
    }

    operator std::span<std::byte>() {
        return {reinterpret_cast<std::byte*>(words_.data()),
                static_cast<std::size_t>(words_.vector().size * word_bytes)};
    }

    /// Whether nothing around it was written and it is ready for the next call.
    testing::AssertionResult is_intact() {
        if (!words_.canaries_alive()) return testing::AssertionFailure() << "written outside the workspace";
        const auto words = words_.download();
        for (std::size_t i = 0; i < std::min(words.size(), counter_words); ++i)
            if (words[i] != 0)
                return testing::AssertionFailure() << "the workspace's first bytes were not left zero";
        return testing::AssertionSuccess();
    }

  private:
    static constexpr std::int64_t word_bytes = 8;
    static constexpr std::size_t counter_words = 4096 / word_bytes;
    guarded<std::int64_t> words_;
};

class scan_test : public test::gpu_test {
  protected:
    void SetUp() override {
        gpu_test::SetUp();
        if (!IsSkipped()) stream.emplace();
    }

    template <class T>
    static std::int64_t workspace_bytes(std::int64_t size, scan_algorithm algorithm) {
        return scan_workspace_bytes({size, sizeof(T)}, traits_of(current_device()), algorithm);
    }
    template <class T>
    static std::int64_t depth(std::int64_t size, scan_algorithm algorithm) {
        return scan_depth({size, sizeof(T)}, traits_of(current_device()), algorithm);
    }

    template <class T>
    void run(kind kind, vector_view<const T> x, vector_view<T> y, const scan_options& options = {}) {
        if (kind == kind::inclusive)
            inclusive_scan<T>(x, y, *stream, options);
        else
            exclusive_scan<T>(x, y, *stream, options);
    }

    /// The scan of x, brought to the host; the device is idle after it.
    template <class T>
    std::vector<T> scan_of(kind kind, vector_view<const T> x, const scan_options& options = {}) {
        guarded<T> y(x.size);
        run<T>(kind, x, y.vector(), options);
        stream->synchronize();
        EXPECT_TRUE(y.canaries_alive());
        return y.download();
    }

    std::optional<heddle::stream> stream;
};

template <class T>
class scan : public scan_test {
  protected:
    /// Every algorithm and kind, with and without a workspace.
    void check(std::int64_t size, std::int64_t x_offset = 0, std::int64_t y_offset = 0,
               std::int64_t x_stride = 1, std::int64_t y_stride = 1) {
        const auto xs = elements<T>(size);
        guarded<T> x(1, size, 0, x_offset, x_stride);
        x.upload(xs);
        for (const scan_algorithm algorithm : every_algorithm()) {
            guarded_workspace scratch(this->template workspace_bytes<T>(size, algorithm));
            for (const kind kind : kinds) {
                SCOPED_TRACE(testing::Message() << to_string(algorithm) << ' ' << name_of(kind));
                scan_options options{.algorithm = algorithm};
                if (kind == kind::inclusive) options.workspace = scratch;
                guarded<T> y(1, size, 0, y_offset, y_stride);
                this->template run<T>(kind, x.vector(), y.vector(), options);
                this->stream->synchronize();
                ASSERT_TRUE(are_sums(y.download(), xs, kind, this->template depth<T>(size, algorithm)));
                ASSERT_TRUE(y.canaries_alive());
                ASSERT_TRUE(scratch.is_intact());
            }
        }
        ASSERT_TRUE(x.untouched());
    }
};

TYPED_TEST_SUITE(scan, element_types, test::type_names);

TYPED_TEST(scan, takes_every_size) {
    for (const std::int64_t size : sizes()) {
        SCOPED_TRACE(size);
        ASSERT_NO_FATAL_FAILURE(this->check(size));
    }
}

TYPED_TEST(scan, takes_every_alignment) {
    for (const std::int64_t size : {1, 3, 17, 2047, 8191, 8192, 8193, 40009})
        for (const std::int64_t x_offset : {0, 1, 3})
            for (const std::int64_t y_offset : {0, 1, 2, 3}) {
                SCOPED_TRACE(testing::Message()
                             << size << " elements, offsets " << x_offset << ", " << y_offset);
                ASSERT_NO_FATAL_FAILURE(this->check(size, x_offset, y_offset));
            }
}

TYPED_TEST(scan, takes_every_stride) {
    for (const auto& [x_stride, y_stride] : {std::pair{2, 1}, {1, 3}, {7, 7}})
        for (const std::int64_t size : {0, 1, 2, 33, 2047, 2048, 2049, 4097, 100003}) {
            SCOPED_TRACE(testing::Message() << size << " elements, strides " << x_stride << ", " << y_stride);
            ASSERT_NO_FATAL_FAILURE(this->check(size, 1, 0, x_stride, y_stride));
        }
}

TYPED_TEST(scan, works_in_place) {
    for (const std::int64_t size : {1, 1000, 8193, 300007})
        for (const std::int64_t offset : {0, 1})
            for (const std::int64_t stride : {1, 2}) {
                const auto xs = elements<TypeParam>(size);
                for (const scan_algorithm algorithm : every_algorithm())
                    for (const kind kind : kinds) {
                        SCOPED_TRACE(testing::Message()
                                     << size << " elements, offset " << offset << ", stride " << stride
                                     << ", " << to_string(algorithm));
                        guarded<TypeParam> y(1, size, 0, offset, stride);
                        y.upload(xs);
                        this->template run<TypeParam>(kind, y.vector(), y.vector(), {.algorithm = algorithm});
                        this->stream->synchronize();
                        ASSERT_TRUE(are_sums(y.download(), xs, kind,
                                             this->template depth<TypeParam>(size, algorithm)));
                        ASSERT_TRUE(y.canaries_alive());
                    }
            }
}

TYPED_TEST(scan, gives_the_same_bits_every_time) {
    const std::int64_t size = 3000017;
    guarded<TypeParam> x(size);
    x.upload(elements<TypeParam>(size));
    for (const scan_algorithm algorithm : every_algorithm()) {
        SCOPED_TRACE(to_string(algorithm));
        workspace scratch(this->template workspace_bytes<TypeParam>(size, algorithm), *this->stream);
        const scan_options options{.algorithm = algorithm, .workspace = scratch};
        const vector_view<const TypeParam> view = x.vector();
        const auto first = this->scan_of(kind::inclusive, view, options);
        for (int i = 0; i < 10; ++i)
            ASSERT_TRUE(same_bits(this->scan_of(kind::inclusive, view, options), first));
    }
}

TYPED_TEST(scan, gives_the_same_bits_in_a_graph) {
    const std::int64_t size = 700001;
    guarded<TypeParam> x(size), y(size), z(size);
    x.upload(elements<TypeParam>(size));
    const vector_view<const TypeParam> view = x.vector();
    for (const scan_algorithm algorithm : every_algorithm()) {
        SCOPED_TRACE(to_string(algorithm));
        const auto expected = this->scan_of(kind::inclusive, view, {.algorithm = algorithm});
        guarded_workspace scratch(this->template workspace_bytes<TypeParam>(size, algorithm));
        const graph captured = graph::capture(*this->stream, [&] {
            inclusive_scan<TypeParam>(view, y.vector(), *this->stream, {.algorithm = algorithm});
            inclusive_scan<TypeParam>(view, z.vector(), *this->stream,
                                      {.algorithm = algorithm, .workspace = scratch});
        });
        for (int i = 0; i < 3; ++i) {
            y.upload(std::vector<TypeParam>(static_cast<std::size_t>(size)));
            z.upload(std::vector<TypeParam>(static_cast<std::size_t>(size)));
            captured.launch(*this->stream);
            this->stream->synchronize();
            ASSERT_TRUE(same_bits(y.download(), expected));
            ASSERT_TRUE(same_bits(z.download(), expected));
            ASSERT_TRUE(scratch.is_intact());
        }
    }
}

TYPED_TEST(scan, shares_one_workspace_with_other_operations) {
    const std::vector<std::int64_t> some_sizes = {5, 300007, 8193, 70001, 1000003};
    const auto xs = elements<TypeParam>(some_sizes.back());
    guarded<TypeParam> x(some_sizes.back()), total(1);
    guarded<sum_type<TypeParam>> sum_of_x(1);
    x.upload(xs);
    const device_traits& device = traits_of(current_device());
    std::int64_t bytes =
        reduce_workspace_bytes({.size = some_sizes.back(), .element_bytes = sizeof(TypeParam)}, device);
    for (const scan_algorithm algorithm : every_algorithm())
        bytes = std::max(bytes, this->template workspace_bytes<TypeParam>(some_sizes.back(), algorithm));
    guarded_workspace scratch(bytes);
    for (int round = 0; round < 2; ++round)
        for (const std::int64_t size : some_sizes)
            for (const scan_algorithm algorithm : every_algorithm()) {
                SCOPED_TRACE(testing::Message() << size << ' ' << to_string(algorithm));
                const vector_view<const TypeParam> view{x.data(), size};
                sum<TypeParam>(x.vector(), sum_of_x.data(), *this->stream, {.workspace = scratch});
                const auto ys =
                    this->scan_of(kind::inclusive, view, {.algorithm = algorithm, .workspace = scratch});
                ASSERT_TRUE(are_sums(ys, {xs.begin(), xs.begin() + size}, kind::inclusive,
                                     this->template depth<TypeParam>(size, algorithm)));
            }
    EXPECT_TRUE(scratch.is_intact());
}

TYPED_TEST(scan, runs_on_several_streams_at_once) {
    constexpr std::size_t count = 4;
    const std::int64_t size = 2000003;
    guarded<TypeParam> x(size);
    x.upload(elements<TypeParam>(size));
    const vector_view<const TypeParam> view = x.vector();
    const auto expected = this->scan_of(kind::exclusive, view);
    const std::vector<heddle::stream> streams(count);
    std::vector<workspace> scratch;
    std::vector<device_buffer<TypeParam>> results;
    for (const heddle::stream& each : streams) {
        scratch.emplace_back(this->template workspace_bytes<TypeParam>(size, scan_algorithm::automatic),
                             each);
        results.emplace_back(size, each);
    }
    for (int round = 0; round < 10; ++round)
        for (std::size_t i = 0; i < count; ++i)
            exclusive_scan<TypeParam>(view, vector_view<TypeParam>(results[i]), streams[i],
                                      {.workspace = scratch[i]});
    for (std::size_t i = 0; i < count; ++i) {
        std::vector<TypeParam> ys(static_cast<std::size_t>(size));
        copy_and_wait(results[i], ys, streams[i]);
        EXPECT_TRUE(same_bits(ys, expected));
    }
}

TYPED_TEST(scan, asks_for_a_workspace_that_is_large_enough) {
    const std::int64_t size = 1 << 20;
    guarded<TypeParam> x(size), y(size);
    for (const scan_algorithm algorithm : {scan_algorithm::reduce_then_scan, scan_algorithm::look_back}) {
        const auto bytes = this->template workspace_bytes<TypeParam>(size, algorithm);
        guarded_workspace scratch(bytes);
        const std::span<std::byte> small =
            std::span<std::byte>(scratch).first(static_cast<std::size_t>(bytes - 1));
        EXPECT_EQ(invalid_argument_of([&] {
                      inclusive_scan<TypeParam>(x.vector(), y.vector(), *this->stream,
                                                {.algorithm = algorithm, .workspace = small});
                  }),
                  "inclusive_scan: options.workspace is " + std::to_string(bytes - 1) +
                      ", expected at least " + std::to_string(bytes) + " bytes");
        EXPECT_TRUE(scratch.is_intact());
    }
    EXPECT_TRUE(y.untouched());
}

template <class T>
class scan_floating : public scan_test {};
TYPED_TEST_SUITE(scan_floating, floating_types, test::type_names);

TYPED_TEST(scan_floating, passes_nan_and_infinity_to_later_sums_only) {
    using limits = std::numeric_limits<TypeParam>;
    for (const std::int64_t size : {1, 9001, 300007})
        for (const std::int64_t at : {std::int64_t{0}, size / 2, size - 1})
            for (const TypeParam special : {limits::quiet_NaN(), limits::infinity(), -limits::infinity()}) {
                auto xs = random_elements<TypeParam>(size);
                xs[static_cast<std::size_t>(at)] = special;
                guarded<TypeParam> x(size, 1);
                x.upload(xs);
                for (const scan_algorithm algorithm : every_algorithm())
                    for (const kind kind : kinds) {
                        SCOPED_TRACE(testing::Message() << size << " elements, " << special << " at " << at
                                                        << ", " << to_string(algorithm));
                        const auto ys = this->scan_of(kind, vector_view<const TypeParam>(x.vector()),
                                                      {.algorithm = algorithm});
                        const std::int64_t first = kind == kind::inclusive ? at : at + 1;
                        for (std::int64_t i = 0; i < size; ++i) {
                            const TypeParam y = ys[static_cast<std::size_t>(i)];
                            if (i < first)
                                ASSERT_TRUE(std::isfinite(y)) << i;
                            else if (std::isnan(special))
                                ASSERT_TRUE(std::isnan(y)) << i;
                            else
                                ASSERT_EQ(y, special) << i;
                        }
                    }
            }
}

TYPED_TEST(scan_floating, keeps_denormals_and_gives_positive_zeros) {
    const std::int64_t size = 10007;
    const TypeParam denormal = std::numeric_limits<TypeParam>::denorm_min();
    guarded<TypeParam> x(size);
    for (const scan_algorithm algorithm : every_algorithm()) {
        SCOPED_TRACE(to_string(algorithm));
        const vector_view<const TypeParam> view = x.vector();
        // Multiples of one denormal add up without rounding.
        x.upload(std::vector<TypeParam>(size, denormal));
        const auto sums = this->scan_of(kind::inclusive, view, {.algorithm = algorithm});
        for (std::size_t i = 0; i < sums.size(); ++i)
            ASSERT_EQ(sums[i], denormal * static_cast<TypeParam>(i + 1)) << i;
        x.upload(std::vector<TypeParam>(size, TypeParam{-0.0}));
        for (const TypeParam y : this->scan_of(kind::inclusive, view, {.algorithm = algorithm})) {
            ASSERT_EQ(y, 0);
            ASSERT_FALSE(std::signbit(y));
        }
    }
}

class large_scan : public scan_test {};

/// Around 1024 tiles of packets, where the look-back reaches beyond one supergroup, and several of them.
TEST_F(large_scan, keeps_its_bound_on_positive_data) {
    for (const std::int64_t size : {8192 * 1024 - 1, 8192 * 1024, 8192 * 1024 + 1, 8192 * 3300 + 5}) {
        SCOPED_TRACE(size);
        auto xs = random_elements<float>(1000003, 0, 1);
        const std::size_t period = xs.size();
        xs.resize(static_cast<std::size_t>(size));
        for (std::size_t i = period; i < xs.size(); ++i) xs[i] = xs[i - period];
        for (const std::int64_t offset : {0, 1}) {
            guarded<float> x(size, offset);
            x.upload(xs);
            for (const scan_algorithm algorithm :
                 {scan_algorithm::reduce_then_scan, scan_algorithm::look_back}) {
                SCOPED_TRACE(to_string(algorithm));
                const auto ys =
                    scan_of(kind::inclusive, vector_view<const float>(x.vector()), {.algorithm = algorithm});
                ASSERT_TRUE(are_sums(ys, xs, kind::inclusive, depth<float>(size, algorithm)));
            }
        }
    }
}

TEST_F(large_scan, takes_more_than_2_to_31_elements) {
    constexpr std::int64_t size = (std::int64_t{1} << 31) + 9;
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total));
    if (free < 10 * (std::size_t{1} << 30)) GTEST_SKIP() << "needs 10 GiB of device memory";

    device_buffer<std::int32_t> x(size, *stream);
    for (const scan_algorithm algorithm : {scan_algorithm::reduce_then_scan, scan_algorithm::look_back}) {
        SCOPED_TRACE(to_string(algorithm));
        fill_bytes(x, std::byte{1}, *stream);
        inclusive_scan<std::int32_t>(x, vector_view<std::int32_t>(x), *stream, {.algorithm = algorithm});
        for (const std::int64_t at : {std::int64_t{0}, size / 3, std::int64_t{1} << 31, size - 1}) {
            std::int32_t y = 0;
            stream->synchronize();
            check(cudaMemcpy(&y, x.data() + at, sizeof(y), cudaMemcpyDefault));
            EXPECT_EQ(static_cast<std::uint32_t>(y), static_cast<std::uint32_t>(at + 1) * 0x01010101u) << at;
        }
    }
}

// The CPU implementation.

template <class T>
class host_scan : public testing::Test {
  protected:
    using operand = guarded<T>;

    /// Through a chunk of 1024 twice, and one addition for each chunk.
    static std::int64_t depth(std::int64_t size) { return 2 * 1024 + size / 1024; }

    static void check(std::int64_t size, std::int64_t x_stride, std::int64_t y_stride) {
        const auto xs = elements<T>(size);
        operand x(1, size, 0, 1, x_stride, operand::memory::host);
        x.upload(xs);
        for (const kind kind : kinds) {
            operand y(1, size, 0, 0, y_stride, operand::memory::host);
            if (kind == kind::inclusive)
                host::inclusive_scan<T>(x.vector(), y.vector());
            else
                host::exclusive_scan<T>(x.vector(), y.vector());
            ASSERT_TRUE(are_sums(y.download(), xs, kind, depth(size)));
            ASSERT_TRUE(y.canaries_alive());
        }
        ASSERT_TRUE(x.untouched());
        host::inclusive_scan<T>(x.vector(), x.vector());
        ASSERT_TRUE(are_sums(x.download(), xs, kind::inclusive, depth(size)));
    }
};

TYPED_TEST_SUITE(host_scan, element_types, test::type_names);

TYPED_TEST(host_scan, takes_every_size_and_stride) {
    for (const std::int64_t size : {0, 1, 2, 31, 1023, 1024, 1025, 2049, 65535, 65537, 100003})
        for (const auto& [x_stride, y_stride] : {std::pair{1, 1}, {2, 1}, {1, 7}}) {
            SCOPED_TRACE(testing::Message() << size << " elements, strides " << x_stride << ", " << y_stride);
            ASSERT_NO_FATAL_FAILURE(this->check(size, x_stride, y_stride));
        }
}

TYPED_TEST(host_scan, does_not_depend_on_the_number_of_threads) {
    const auto xs = elements<TypeParam>(1000003);
    const auto scan_with = [&](int count) {
        omp_set_num_threads(count);
        std::vector<TypeParam> ys(xs.size());
        host::inclusive_scan<TypeParam>(vector_view{xs.data(), std::ssize(xs)},
                                        vector_view{ys.data(), std::ssize(ys)});
        return ys;
    };
    const int threads = omp_get_max_threads();
    const auto expected = scan_with(1);
    for (const int count : {2, 3, 7})
        EXPECT_TRUE(same_bits(scan_with(count), expected)) << count << " threads";
    omp_set_num_threads(threads);
}

TEST(host_scan_arguments, are_checked) {
    float x[8]{}, y[8]{};
    const auto message = [](vector_view<const float> from, vector_view<float> to) {
        return invalid_argument_of([&] { host::exclusive_scan<float>(from, to); });
    };
    EXPECT_EQ(message({x, 3}, {y, 4}), "host::exclusive_scan: x.size is 3, expected 4 (y.size)");
    EXPECT_EQ(
        message({y + 1, 4}, {y, 4}),
        "host::exclusive_scan: y is a view that overlaps x in part, expected exactly x or apart from it");
}

// All below are checked before any device is asked for: they run everywhere.

const cuda::stream_ref no_stream{cudaStream_t{}};

class scan_arguments : public testing::Test {
  protected:
    alignas(16) std::int32_t x[8]{};
    alignas(16) std::int32_t y[8]{};
    alignas(16) std::byte scratch[64]{};

    std::string message(vector_view<const std::int32_t> from, vector_view<std::int32_t> to,
                        const scan_options& options = {}) {
        std::string text =
            invalid_argument_of([&] { inclusive_scan<std::int32_t>(from, to, no_stream, options); });
        EXPECT_TRUE(std::ranges::all_of(y, [](std::int32_t each) { return each == 0; }));
        return text;
    }
};

TEST_F(scan_arguments, are_vectors_of_one_size) {
    EXPECT_EQ(message({x, 7}, {y, 8}), "inclusive_scan: x.size is 7, expected 8 (y.size)");
    EXPECT_EQ(message({x, -1}, {y, -1}), "inclusive_scan: y.size is -1, expected zero or more");
    EXPECT_EQ(message({x, 8, 0}, {y, 8}), "inclusive_scan: x.stride is 0, expected one or more");
    EXPECT_EQ(message({x, 8}, {y, 8, -2}), "inclusive_scan: y.stride is -2, expected one or more");
    EXPECT_EQ(message({nullptr, 8}, {y, 8}),
              "inclusive_scan: x.data is null, expected a pointer to its elements");
    const auto* odd = reinterpret_cast<const std::int32_t*>(reinterpret_cast<std::uintptr_t>(x) + 2);
    EXPECT_EQ(message({odd, 4}, {y, 4}),
              "inclusive_scan: x.data is " + address_of(odd) + ", expected a multiple of 4 bytes");
    EXPECT_EQ(invalid_argument_of([&] {
                  exclusive_scan<std::int32_t>({x, 1}, {y, 2}, no_stream);
              }),
              "exclusive_scan: x.size is 1, expected 2 (y.size)");
}

TEST_F(scan_arguments, y_is_x_or_apart_from_it) {
    const std::string expected =
        "inclusive_scan: y is a view that overlaps x in part, expected exactly x or apart from it";
    EXPECT_EQ(message({y, 4}, {y + 1, 4}), expected);
    EXPECT_EQ(message({y, 4}, {y, 4, 2}), expected);
}

TEST_F(scan_arguments, the_workspace_is_apart_from_both) {
    const auto bytes_of = [](auto* data) { return std::as_writable_bytes(std::span(data, 4)); };
    EXPECT_EQ(message({x, 8}, {y, 8}, {.workspace = bytes_of(x + 4)}),
              "inclusive_scan: options.workspace is " + address_of(x + 4) + ", expected memory apart from x");
    EXPECT_EQ(message({x, 8}, {y, 8}, {.workspace = bytes_of(y + 4)}),
              "inclusive_scan: options.workspace is " + address_of(y + 4) + ", expected memory apart from y");
    EXPECT_EQ(message({x, 8}, {y, 8}, {.workspace = std::span(scratch).subspan(4)}),
              "inclusive_scan: options.workspace is " + address_of(scratch + 4) +
                  ", expected a multiple of 16 bytes");
}

TEST_F(scan_arguments, the_algorithm_is_one_of_the_enumerators) {
    EXPECT_EQ(message({x, 8}, {y, 8}, {.algorithm = static_cast<scan_algorithm>(99)}),
              "inclusive_scan: options.algorithm is 99, expected an enumerator of scan_algorithm");
}

TEST_F(scan_arguments, of_nothing_need_no_device) {
    EXPECT_NO_THROW(inclusive_scan<float>({}, vector_view<float>{}, no_stream));
    EXPECT_NO_THROW(exclusive_scan<double>({}, vector_view<double>{}, no_stream));
}

const device_traits h200_like{.sm_count = 132};

TEST(scan_select, is_one_launch) {
    for (const std::int64_t size : {std::int64_t{1}, std::int64_t{1} << 32})
        EXPECT_EQ(select(scan_problem{.size = size}, h200_like), scan_algorithm::look_back);
}

TEST(scan_workspace, is_needed_by_several_blocks_only) {
    for (const scan_algorithm algorithm : every_algorithm())
        for (const std::size_t element_bytes : {4, 8})
            for (const std::int64_t size : {0, 1, 2040})
                EXPECT_EQ(scan_workspace_bytes({size, element_bytes}, h200_like, algorithm), 0);
    EXPECT_EQ(scan_workspace_bytes({std::int64_t{1} << 40}, h200_like, scan_algorithm::naive), 0);
    // Two tiles of 2048 elements, a group, a supergroup.
    EXPECT_EQ(scan_workspace_bytes({2049}, h200_like, scan_algorithm::look_back), 4096 + 4 * 8);
    EXPECT_EQ(scan_workspace_bytes({2049, 8}, h200_like, scan_algorithm::look_back), 4096 + 4 * 16);
    EXPECT_EQ(scan_workspace_bytes({2049}, h200_like, scan_algorithm::reduce_then_scan), 4096 + 16);
    EXPECT_EQ(invalid_argument_of([] { (void)scan_workspace_bytes({-1}, h200_like); }),
              "scan_workspace_bytes: problem.size is -1, expected zero or more");
    EXPECT_EQ(invalid_argument_of([] {
                  (void)scan_depth({1, 2}, h200_like);
              }),
              "scan_depth: problem.element_bytes is 2, expected 4 or 8");
}

/// No order of additions of n elements is flatter than log2(n).
TEST(scan_depth, lies_between_a_perfect_tree_and_a_chain) {
    for (const scan_algorithm algorithm : every_algorithm())
        for (const std::size_t element_bytes : {4, 8})
            for (int exponent = 0; exponent <= 40; ++exponent) {
                const std::int64_t size = std::int64_t{1} << exponent;
                const std::int64_t depth = scan_depth({size, element_bytes}, h200_like, algorithm);
                ASSERT_GE(depth, exponent) << to_string(algorithm) << ' ' << size;
                if (exponent >= 10) {
                    ASSERT_LT(depth, size / 8) << to_string(algorithm) << ' ' << size;
                }
            }
}

TEST(scan_algorithms, have_names_of_their_own) {
    std::set<std::string_view> names = {"automatic", "unknown"};
    for (const scan_algorithm algorithm : scan_algorithms()) {
        EXPECT_NE(algorithm, scan_algorithm::automatic);
        EXPECT_TRUE(names.insert(to_string(algorithm)).second) << to_string(algorithm);
    }
    EXPECT_EQ(to_string(scan_algorithm::automatic), "automatic");
    EXPECT_EQ(to_string(static_cast<scan_algorithm>(99)), "unknown");
}

}  // namespace
}  // namespace heddle
