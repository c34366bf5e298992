#include "tests/support/headers.hpp"

namespace heddle::test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

class random_arguments : public testing::Test {
  protected:
    alignas(16) float x[8]{};
    alignas(16) float y[8]{};
    const vector_view<float> out{y, 8};

    template <class Body>
    std::string message(Body body) {
        std::string text = invalid_argument_of(body);
        EXPECT_TRUE(std::ranges::all_of(y, [](float each) { return each == 0; }));
        return text;
    }
    std::string uniform(double low, double high) {
        return message([&] {
            random_uniform<float>(out, static_cast<float>(low), static_cast<float>(high), {}, no_stream);
        });
    }
    template <class T>
    std::string uniform_16(float low, float high) {
        return message([&] {
            random_uniform<T>(vector_view<T>{reinterpret_cast<T*>(y), 8}, low, high, {}, no_stream);
        });
    }
    std::string normal(double mean, double deviation) {
        return message([&] {
            random_normal<float>(out, static_cast<float>(mean), static_cast<float>(deviation), {}, no_stream);
        });
    }
    std::string drop(vector_view<const float> from, vector_view<float> to, double p = 0.5) {
        return message([&] { dropout<float>(from, to, p, {}, no_stream); });
    }
};

TEST_F(random_arguments, a_range_has_numbers) {
    constexpr float most = std::numeric_limits<float>::max();
    EXPECT_EQ(uniform(1, 1), "random_uniform: high is 1, expected more than 1 (low)");
    EXPECT_NE(uniform(nan, 1).find("low is nan"), std::string::npos);
    EXPECT_NE(uniform(0, nan).find("high is nan"), std::string::npos);
    EXPECT_NE(uniform(0, infinity).find("high is inf"), std::string::npos);
    EXPECT_NE(uniform(-most, most).find("above low"), std::string::npos);
    EXPECT_EQ(uniform_16<half>(0, 65520),
              "random_uniform: high is 65520, expected a number within 65504 of 0");
    EXPECT_NE(uniform_16<half>(1.0001f, 1.0002f).find("a number of the element type"), std::string::npos);
    EXPECT_NE(uniform_16<bfloat16>(-1.0002f, -1.0001f).find("a number of the element type"),
              std::string::npos);
}

TEST_F(random_arguments, scalars_are_in_range) {
    EXPECT_EQ(normal(infinity, 1), "random_normal: mean is inf, expected a finite number");
    EXPECT_EQ(normal(0, -1), "random_normal: deviation is -1, expected a finite number, zero or more");
    EXPECT_EQ(drop({x, 8}, out, 1.5), "dropout: p is 1.5, expected 0 to 1");
    EXPECT_EQ(drop({x, 8}, out, nan), "dropout: p is nan, expected 0 to 1");
    EXPECT_EQ(message([&] { random_bernoulli<float>(out, -0.5, {}, no_stream); }),
              "random_bernoulli: p is -0.5, expected 0 to 1");
    EXPECT_EQ(message([&] { host::random_bernoulli<float>(out, -0.5, {}); }),
              "host::random_bernoulli: p is -0.5, expected 0 to 1");
}

TEST_F(random_arguments, an_offset_is_apart_from_what_is_written) {
    const auto* const inside = reinterpret_cast<const std::uint64_t*>(y + 2);
    const auto* const odd = reinterpret_cast<const std::uint64_t*>(x + 1);
    const auto draw = [&](const std::uint64_t* offset) {
        return message([&] { random_uniform<float>(out, 0, 1, {.device_offset = offset}, no_stream); });
    };
    EXPECT_EQ(draw(inside), "random_uniform: generator.device_offset is " + address_of(inside) +
                                ", expected memory apart from y");
    EXPECT_EQ(draw(odd), "random_uniform: generator.device_offset is " + address_of(odd) +
                             ", expected a multiple of 8 bytes");
}

TEST_F(random_arguments, a_permutation_has_numbers_of_31_bits) {
    std::int32_t numbers[4]{};
    const auto permute = [&](vector_view<std::int32_t> to) {
        return message([&] { random_permutation(to, {}, no_stream); });
    };
    EXPECT_EQ(permute({numbers, (std::int64_t{1} << 31) + 1}),
              "random_permutation: y.size is 2147483649, expected at most 2147483648");
}

}  // namespace
}  // namespace heddle::test
