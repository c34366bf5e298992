#include "tests/support/headers.hpp"

namespace heddle::test {
namespace {

class elementwise_arguments : public testing::Test {
  protected:
    using host = guarded<float>;

    host x{4, 6, 6, 0, 1, host::memory::host};
    host y{4, 6, 6, 0, 1, host::memory::host};
    host z{4, 6, 6, 0, 1, host::memory::host};

    template <class View>
    std::string message(View vx, View vy, View vz, elementwise_options options = {}) {
        const std::string text = invalid_argument_of([&] { add<float>(vx, vy, vz, no_stream, options); });
        EXPECT_TRUE(x.untouched() && y.untouched() && z.untouched());
        return text;
    }
};

TEST_F(elementwise_arguments, shapes_must_agree) {
    const auto v = [](host& h, std::int64_t size) { return vector_view<float>{h.data(), size}; };
    EXPECT_EQ(message(v(x, 7), v(y, 8), v(z, 8)), "add: x.size is 7, expected 8 (z.size)");
}

TEST_F(elementwise_arguments, an_output_has_no_stride_of_0) {
    const matrix_view<float> row{z.data(), 4, 6, 0};  // in place it would be an input too
    EXPECT_EQ(message(row, y.matrix(), row),
              "add: z.row_stride is 0, expected at least 6 (a row), or a col_stride of at least a column");
    const vector_view<float> v{x.data(), 4}, element{z.data(), 4, 0};
    EXPECT_EQ(message(v, v, element), "add: z.stride is 0, expected one or more");
    expect_error("axpy: y.stride is 0, expected one or more", [&] { axpy<float>(2, v, element, no_stream); });
}

TEST_F(elementwise_arguments, what_stands_for_all_is_apart_from_the_output) {
    const auto expect_overlap = [&](const matrix_view<float>& input) {
        EXPECT_EQ(message(y.matrix(), input, z.matrix()),
                  "add: z is a view that overlaps an input in part, expected exactly y or apart from it");
    };
    for (const std::int64_t row : {0, 3}) expect_overlap({z.data() + 6 * row, 4, 6, 0});
    for (const std::int64_t col : {0, 5}) expect_overlap({z.data() + col, 4, 6, 6, 0});
    for (const std::int64_t element : {0, 13, 23}) expect_overlap({z.data() + element, 4, 6, 0, 0});
    // One row and one column are all of a view: in place is fine.
    EXPECT_NO_THROW(
        heddle::host::abs<float>(matrix_view<float>{z.data(), 1, 6, 0}, matrix_view<float>{z.data(), 1, 6}));
    EXPECT_NO_THROW(heddle::host::abs<float>(matrix_view<float>{z.data(), 4, 1, 1, 0},
                                             matrix_view<float>{z.data(), 4, 1}));
}

TEST_F(elementwise_arguments, what_stands_for_all_is_neither_null_nor_misaligned) {
    EXPECT_EQ(message(x.matrix(), {nullptr, 4, 6, 0, 0}, z.matrix()),
              "add: y.data is null, expected a pointer to its elements");
    auto* const off = reinterpret_cast<float*>(reinterpret_cast<std::uintptr_t>(y.data()) + 2);
    EXPECT_EQ(message(x.matrix(), {off, 4, 6, 0}, z.matrix()),
              "add: y.data is " + address_of(off) + ", expected a multiple of 4 bytes");
    EXPECT_EQ(message(x.matrix(), {y.data(), 3, 6, 0}, z.matrix()), "add: y.rows is 3, expected 4 (z.rows)");
}

TEST_F(elementwise_arguments, bytes_are_countable) {
    constexpr std::int64_t huge = std::int64_t{1} << 62;
    const vector_view<float> v{z.data(), huge};
    EXPECT_EQ(message(v, v, v),
              "add: z.size is 4611686018427387904, expected an extent whose bytes fit 63 bits");
    const matrix_view<float> m{z.data(), huge, 8};
    EXPECT_EQ(message(m, m, m),
              "add: z.rows is 4611686018427387904, expected an extent whose bytes fit 63 bits");
}

TEST(elementwise_scalars, clamp_takes_an_ordered_range_of_numbers) {
    float x = 0, y = 7;
    const vector_view<float> vx{&x, 1}, vy{&y, 1};
    const float nan = std::numeric_limits<float>::quiet_NaN();
    expect_error("host::clamp: high is 1, expected at least 2 (low)",
                 [&] { host::clamp<float>(vx, 2, 1, vy); });
    expect_error("host::clamp: low is nan, expected a number", [&] { host::clamp<float>(vx, nan, 1, vy); });
    expect_error("clamp: high is nan, expected at least 0 (low)",
                 [&] { clamp<float>(vx, 0, nan, vy, cudaStream_t{}); });
    EXPECT_EQ(y, 7);
}

}  // namespace
}  // namespace heddle::test
