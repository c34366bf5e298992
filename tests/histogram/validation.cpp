#include "tests/support/headers.hpp"

namespace heddle::test {
namespace {

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

class histogram_unsupported : public gpu_test {};

TEST_F(histogram_unsupported, leaves_counts_as_they_were) {
    const std::int64_t bins = histogram_max_shared_bins + 1;
    guarded<float> x(1, 8, 0, 0, 2);
    guarded<std::int64_t> counts(bins);
    const auto count = [&](std::int64_t size, histogram_algorithm algorithm) {
        histogram(x.vector(), 0, 1, vector_view<std::int64_t>{counts.data(), size}, no_stream,
                  {.algorithm = algorithm});
    };
    EXPECT_THROW(count(bins, histogram_algorithm::shared_memory), unsupported);
    EXPECT_THROW(count(16, histogram_algorithm::vectorized), unsupported);
    EXPECT_TRUE(counts.untouched());
}

}  // namespace
}  // namespace heddle::test
