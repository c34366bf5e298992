#pragma once

#include "tests/support/gpu.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/numeric.hpp"
#include "tests/support/random.hpp"
#include <heddle/histogram.hpp>
#include <heddle/stream.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace heddle::test {

using bin_counts = std::vector<std::int64_t>;

struct value_range {
    float lower = -1;
    float upper = 1;
};

inline std::vector<histogram_algorithm> every_algorithm() {
    std::vector<histogram_algorithm> all(histogram_algorithms().begin(), histogram_algorithms().end());
    all.push_back(histogram_algorithm::automatic);
    return all;
}

inline bool can_run(histogram_algorithm algorithm, std::int64_t bins, std::int64_t stride) {
    const bool takes_any =
        algorithm != histogram_algorithm::shared_memory && algorithm != histogram_algorithm::vectorized;
    if (takes_any) return true;
    return bins <= histogram_max_shared_bins && (algorithm != histogram_algorithm::vectorized || stride == 1);
}

inline bin_counts expected_counts(const std::vector<std::uint8_t>& x, std::int64_t bins, const value_range&) {
    bin_counts result(static_cast<std::size_t>(bins));
    for (const std::uint8_t element : x) ++result[element];
    return result;
}

/// The documented rule, step by step in float.
inline bin_counts expected_counts(const std::vector<float>& x, std::int64_t bins, const value_range& range) {
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
std::vector<T> counted_elements(std::int64_t size) {
    if constexpr (sizeof(T) == 1)
        return random_elements<T>(size, 0, 255);
    else
        return random_elements<T>(size, -1.25, 1.25);
}

class histogram_test : public gpu_test {
  protected:
    void SetUp() override {
        gpu_test::SetUp();
        if (!IsSkipped()) stream.emplace();
    }

    static void run(vector_view<const std::uint8_t> x, const value_range&, vector_view<std::int64_t> counts,
                    cuda::stream_ref stream, const histogram_options& options) {
        histogram(x, counts, stream, options);
    }
    static void run(vector_view<const float> x, const value_range& range, vector_view<std::int64_t> counts,
                    cuda::stream_ref stream, const histogram_options& options) {
        histogram(x, range.lower, range.upper, counts, stream, options);
    }

    template <class T>
    void check(const std::vector<T>& xs, std::int64_t bins, std::int64_t offset = 0, std::int64_t stride = 1,
               const value_range& range = {}) {
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

}  // namespace heddle::test
