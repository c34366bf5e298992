#include "tests/histogram/counting.hpp"
#include <heddle/host.hpp>

#include <limits>
#include <numeric>

namespace heddle {
namespace {

using test::bin_counts;
using test::counted_elements;
using test::expected_counts;
using test::guarded;

TEST(host_histogram, counts_bytes_and_floats) {
    for (const std::int64_t size : {0, 1, 257, 65535, 65536, 300007})
        for (const std::int64_t stride : {1, 3}) {
            const auto bytes = counted_elements<std::uint8_t>(size);
            guarded<std::uint8_t> x(1, size, 0, 1, stride, guarded<std::uint8_t>::memory::host);
            x.upload(bytes);
            guarded<std::int64_t> result(256, 0, guarded<std::int64_t>::memory::host);
            host::histogram(x.vector(), result.vector());
            ASSERT_EQ(result.download(), expected_counts(bytes, 256, {}));
            ASSERT_TRUE(result.canaries_alive());

            const auto floats = counted_elements<float>(size);
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

}  // namespace
}  // namespace heddle
