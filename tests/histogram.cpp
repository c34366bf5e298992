#include "tests/support/gpu.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/numeric.hpp"
#include "tests/support/provoked.hpp"
#include "tests/support/random.hpp"
#include <heddle/buffer.hpp>
#include <heddle/copy.hpp>
#include <heddle/graph.hpp>
#include <heddle/histogram.hpp>
#include <heddle/host.hpp>
#include <heddle/stream.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace heddle {
namespace {

using test::guarded;
using test::invalid_argument_of;
using test::random_elements;

using bin_counts = std::vector<std::int64_t>;

struct range {
    float lower = -1;
    float upper = 1;
};

std::vector<histogram_algorithm> every_algorithm() {
    std::vector<histogram_algorithm> all(histogram_algorithms().begin(), histogram_algorithms().end());
    all.push_back(histogram_algorithm::automatic);
    return all;
}

bool can_run(histogram_algorithm algorithm, std::int64_t bins, std::int64_t stride) {
    if (algorithm == histogram_algorithm::naive || algorithm == histogram_algorithm::automatic) return true;
    return bins <= histogram_max_shared_bins && (algorithm != histogram_algorithm::vectorized || stride == 1);
}

bin_counts expected_counts(const std::vector<std::uint8_t>& x, std::int64_t bins, const range&) {
    bin_counts result(static_cast<std::size_t>(bins));
    for (const std::uint8_t element : x) ++result[element];
    return result;
}

/// The documented rule, step by step in float.
bin_counts expected_counts(const std::vector<float>& x, std::int64_t bins, const range& range) {
    bin_counts result(static_cast<std::size_t>(bins));
    const float scale =
        static_cast<float>(static_cast<double>(bins) / (double{range.upper} - double{range.lower}));
    for (const float element : x) {
        if (!(element >= range.lower && element < range.upper)) continue;
        const float distance = element - range.lower;
        const float position = distance * scale;
        ++result[static_cast<std::size_t>(std::min(static_cast<std::int64_t>(position), bins - 1))];
    }
    return result;
}

template <class T>
std::vector<T> elements(std::int64_t size) {
    if constexpr (sizeof(T) == 1)
        return random_elements<T>(size, 0, 255);
    else
        return random_elements<T>(size, -1.25, 1.25);
}

class histogram_test : public test::gpu_test {
  protected:
    void SetUp() override {
        gpu_test::SetUp();
        if (!IsSkipped()) stream.emplace();
    }

    static void run(vector_view<const std::uint8_t> x, const range&, vector_view<std::int64_t> counts,
                    cuda::stream_ref stream, const histogram_options& options) {
        histogram(x, counts, stream, options);
    }
    static void run(vector_view<const float> x, const range& range, vector_view<std::int64_t> counts,
                    cuda::stream_ref stream, const histogram_options& options) {
        histogram(x, range.lower, range.upper, counts, stream, options);
    }

    template <class T>
    void check(const std::vector<T>& xs, std::int64_t bins, std::int64_t offset = 0, std::int64_t stride = 1,
               const range& range = {}) {
        guarded<T> x(1, std::ssize(xs), 0, offset, stride);
        x.upload(xs);
        const bin_counts expected = expected_counts(xs, bins, range);
        for (const histogram_algorithm algorithm : every_algorithm()) {
            if (!can_run(algorithm, bins, xs.size() <= 1 ? 1 : stride)) continue;
            SCOPED_TRACE(testing::Message() << to_string(algorithm) << ", " << xs.size() << " elements, "
                                            << bins << " bins, offset " << offset << ", stride " << stride);
            guarded<std::int64_t> result(bins, 1);
            run(x.vector(), range, result.vector(), *stream, {.algorithm = algorithm});
            stream->synchronize();
            ASSERT_EQ(result.download(), expected);
            ASSERT_TRUE(result.canaries_alive());
        }
        ASSERT_TRUE(x.untouched());
    }

    std::optional<heddle::stream> stream;
};

template <class T>
class histogram_of : public histogram_test {};
using element_types = testing::Types<std::uint8_t, float>;
TYPED_TEST_SUITE(histogram_of, element_types, test::type_names);

TYPED_TEST(histogram_of, takes_every_size_and_alignment) {
    for (const std::int64_t size :
         {0, 1, 2, 15, 16, 17, 31, 255, 257, 1009, 16383, 16384, 16385, 65537, 1000003})
        for (const std::int64_t offset : {0, 1, 3, 15})
            ASSERT_NO_FATAL_FAILURE(this->check(elements<TypeParam>(size), 256, offset));
}

TYPED_TEST(histogram_of, takes_every_stride) {
    for (const std::int64_t size : {0, 1, 2, 257, 100003})
        for (const std::int64_t stride : {2, 7})
            ASSERT_NO_FATAL_FAILURE(this->check(elements<TypeParam>(size), 256, 1, stride));
}

TYPED_TEST(histogram_of, takes_elements_of_one_value) {
    for (const std::int64_t size : {1000, 5000001})
        ASSERT_NO_FATAL_FAILURE(
            this->check(std::vector<TypeParam>(static_cast<std::size_t>(size), TypeParam{0}), 256));
}

TYPED_TEST(histogram_of, counts_anew_in_a_graph) {
    const auto xs = elements<TypeParam>(70001);
    guarded<TypeParam> x(std::ssize(xs));
    x.upload(xs);
    guarded<std::int64_t> result(256);
    const graph captured =
        graph::capture(*this->stream, [&] { this->run(x.vector(), {}, result.vector(), *this->stream, {}); });
    for (int i = 0; i < 3; ++i) {
        captured.launch(*this->stream);
        this->stream->synchronize();
        ASSERT_EQ(result.download(), expected_counts(xs, 256, {}));
    }
}

class histogram_of_floats : public histogram_test {};

TEST_F(histogram_of_floats, takes_any_number_of_bins) {
    const auto xs = elements<float>(100003);
    for (const std::int64_t bins : {1, 2, 3, 31, 100, 257, 1000, 2048, 4096, 4097, 12288, 12289, 100000})
        ASSERT_NO_FATAL_FAILURE(check(xs, bins, 1));
}

TEST_F(histogram_of_floats, ignores_what_is_outside_and_nan) {
    using limits = std::numeric_limits<float>;
    const range range{-3, 5};
    std::vector<float> xs = {range.lower,
                             range.upper,
                             std::nextafter(range.lower, -10.0f),
                             std::nextafter(range.upper, -10.0f),
                             limits::quiet_NaN(),
                             -limits::quiet_NaN(),
                             limits::infinity(),
                             -limits::infinity(),
                             limits::max(),
                             limits::lowest(),
                             limits::denorm_min(),
                             -0.0f,
                             0.0f};
    for (int i = 0; i <= 24; ++i) xs.push_back(range.lower + static_cast<float>(i) / 3);
    for (const std::int64_t bins : {1, 7, 24, 256}) {
        ASSERT_NO_FATAL_FAILURE(check(xs, bins, 0, 1, range));
        ASSERT_NO_FATAL_FAILURE(check(xs, bins, 0, 1, {0, limits::max()}));
        ASSERT_NO_FATAL_FAILURE(check(xs, bins, 0, 1, {-limits::max() / 2, limits::max() / 2}));
        ASSERT_NO_FATAL_FAILURE(check(xs, bins, 0, 1, {-0x1p-100f, 0x1p-100f}));
    }
}

class large_histogram : public histogram_test {};

TEST_F(large_histogram, counts_beyond_32_bits) {
    constexpr std::int64_t size = (std::int64_t{1} << 32) + 77;
    std::size_t free = 0, total = 0;
    heddle::check(cudaMemGetInfo(&free, &total));
    if (free < 5 * (std::size_t{1} << 30)) GTEST_SKIP() << "needs 5 GiB of device memory";
    device_buffer<std::uint8_t> x(size, *stream);
    fill_bytes(x, std::byte{9}, *stream);
    for (const histogram_algorithm algorithm :
         {histogram_algorithm::shared_memory, histogram_algorithm::vectorized}) {
        guarded<std::int64_t> result(256);
        histogram(x, result.vector(), *stream, {.algorithm = algorithm});
        stream->synchronize();
        bin_counts expected(256);
        expected[9] = size;
        EXPECT_EQ(result.download(), expected) << to_string(algorithm);
    }
}

// The CPU implementation.

TEST(host_histogram, counts_bytes_and_floats) {
    for (const std::int64_t size : {0, 1, 257, 65535, 65536, 300007})
        for (const std::int64_t stride : {1, 3}) {
            const auto bytes = elements<std::uint8_t>(size);
            guarded<std::uint8_t> x(1, size, 0, 1, stride, guarded<std::uint8_t>::memory::host);
            x.upload(bytes);
            guarded<std::int64_t> result(256, 0, guarded<std::int64_t>::memory::host);
            host::histogram(x.vector(), result.vector());
            ASSERT_EQ(result.download(), expected_counts(bytes, 256, {}));
            ASSERT_TRUE(result.canaries_alive());

            const auto floats = elements<float>(size);
            guarded<float> y(1, size, 0, 1, stride, guarded<float>::memory::host);
            y.upload(floats);
            for (const std::int64_t bins : {1, 100, 5000}) {
                guarded<std::int64_t> parts(bins, 0, guarded<std::int64_t>::memory::host);
                host::histogram(y.vector(), -1, 1, parts.vector());
                ASSERT_EQ(parts.download(), expected_counts(floats, bins, {}));
                ASSERT_TRUE(parts.canaries_alive());
            }
        }
}

TEST(host_histogram, takes_the_widest_range) {
    constexpr float most = std::numeric_limits<float>::max();
    const std::vector<float> xs = {0, 1, most / 3, most / 2, 0.9f * most, most};
    guarded<float> x(1, std::ssize(xs), 0, 0, 1, guarded<float>::memory::host);
    x.upload(xs);
    for (const std::int64_t bins : {1, 2, 3, 4, 256}) {
        guarded<std::int64_t> result(bins, 0, guarded<std::int64_t>::memory::host);
        host::histogram(x.vector(), 0, most, result.vector());
        const bin_counts found = result.download();
        EXPECT_EQ(found, expected_counts(xs, bins, {0, most}));
        EXPECT_EQ(std::accumulate(found.begin(), found.end(), std::int64_t{0}), std::ssize(xs) - 1);
    }
}

// All below are checked before any device is asked for: they run everywhere.

const cuda::stream_ref no_stream{cudaStream_t{}};

class histogram_arguments : public testing::Test {
  protected:
    alignas(16) std::uint8_t x[8]{};
    float y[8]{};
    std::int64_t result[256]{};

    template <class Body>
    std::string message(Body body) {
        std::string text = invalid_argument_of(body);
        EXPECT_TRUE(std::ranges::all_of(result, [](std::int64_t each) { return each == 0; }));
        return text;
    }
    std::string bytes(vector_view<const std::uint8_t> from, vector_view<std::int64_t> to,
                      const histogram_options& options = {}) {
        return message([&] { histogram(from, to, no_stream, options); });
    }
    std::string floats(float lower, float upper, std::int64_t bins = 16) {
        return message([&] {
            histogram({y, 8}, lower, upper, vector_view<std::int64_t>{result, bins}, no_stream);
        });
    }
};

TEST_F(histogram_arguments, are_vectors) {
    EXPECT_EQ(bytes({x, -1}, {result, 256}), "histogram: x.size is -1, expected zero or more");
    EXPECT_EQ(bytes({x, 8, 0}, {result, 256}), "histogram: x.stride is 0, expected one or more");
    EXPECT_EQ(bytes({nullptr, 8}, {result, 256}),
              "histogram: x.data is null, expected a pointer to its elements");
    EXPECT_EQ(bytes({x, 8}, {nullptr, 256}),
              "histogram: counts.data is null, expected a pointer to its elements");
    EXPECT_EQ(bytes({x, 8}, {result, 255}), "histogram: counts.size is 255, expected 256");
    EXPECT_EQ(bytes({x, 8}, {result, 256, 2}), "histogram: counts.stride is 2, expected 1");
    EXPECT_EQ(bytes({reinterpret_cast<std::uint8_t*>(result), 8}, {result, 256}),
              "histogram: counts is a view that overlaps x, expected memory apart from x");
    EXPECT_EQ(floats(0, 1, 0), "histogram: counts.size is 0, expected 1 to 2147483647");
    EXPECT_EQ(bytes({x, 8}, {result, 256}, {.algorithm = static_cast<histogram_algorithm>(99)}),
              "histogram: options.algorithm is 99, expected an enumerator of histogram_algorithm");
}

TEST_F(histogram_arguments, the_range_is_one_of_floats) {
    using limits = std::numeric_limits<float>;
    EXPECT_EQ(floats(limits::quiet_NaN(), 1), "histogram: lower is nan, expected a finite number");
    EXPECT_EQ(floats(0, limits::infinity()), "histogram: upper is inf, expected a finite number");
    EXPECT_EQ(floats(1, 1), "histogram: upper is 1, expected more than lower (1)");
    EXPECT_NE(floats(limits::lowest(), limits::max()).find("above lower"), std::string::npos);
    EXPECT_NE(floats(0, limits::denorm_min()).find("within float"), std::string::npos);
}

const device_traits h200_like{.sm_count = 132};

TEST(histogram_select, is_the_best_that_can_run) {
    EXPECT_EQ(select(histogram_problem{.size = 100}, h200_like), histogram_algorithm::vectorized);
    EXPECT_EQ(select(histogram_problem{.size = 100, .stride = 2}, h200_like),
              histogram_algorithm::shared_memory);
    EXPECT_EQ(select(histogram_problem{.size = 100, .bins = 12289}, h200_like), histogram_algorithm::naive);
}

TEST(histogram_algorithms, have_names_of_their_own) {
    std::set<std::string_view> names = {"automatic", "unknown"};
    for (const histogram_algorithm algorithm : histogram_algorithms()) {
        EXPECT_NE(algorithm, histogram_algorithm::automatic);
        EXPECT_TRUE(names.insert(to_string(algorithm)).second) << to_string(algorithm);
    }
    EXPECT_EQ(to_string(histogram_algorithm::automatic), "automatic");
    EXPECT_EQ(to_string(static_cast<histogram_algorithm>(99)), "unknown");
}

}  // namespace
}  // namespace heddle
