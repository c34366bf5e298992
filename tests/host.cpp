#include "tests/support/headers.hpp"

namespace heddle::test {
namespace {

TEST(host_arguments, are_asked_what_the_device_asks) {
    using operand = guarded<float>;
    operand x(24, 0, operand::memory::host), z(24, 0, operand::memory::host);
    const matrix_view<float> input{x.data(), 4, 6}, output{z.data(), 4, 6};
    const auto add_error = [&](matrix_view<float> a, matrix_view<float> b, matrix_view<float> c) {
        return invalid_argument_of([&] { host::add<float>(a, b, c); });
    };
    EXPECT_EQ(add_error({x.data(), 3, 6}, input, output), "host::add: x.rows is 3, expected 4 (z.rows)");
    EXPECT_EQ(add_error(input, {x.data(), 4, 5}, output), "host::add: y.cols is 5, expected 6 (z.cols)");
    EXPECT_EQ(add_error(input, input, {z.data(), -4, 6}), "host::add: z.rows is -4, expected zero or more");
    EXPECT_EQ(add_error({nullptr, 4, 6}, input, output),
              "host::add: x.data is null, expected a pointer to its elements");
    EXPECT_EQ(
        add_error(input, input, {z.data(), 4, 6, 5}),
        "host::add: z.row_stride is 5, expected at least 6 (a row), or a col_stride of at least a column");
    expect_error(
        "host::sigmoid: y is a view that overlaps an input in part, expected exactly x or apart from it",
        [&] {
            host::sigmoid<float>(vector_view{z.data(), 9}, vector_view{z.data() + 1, 9});
        });
    EXPECT_TRUE(x.untouched());
    EXPECT_TRUE(z.untouched());
}

TEST(host_arguments, empty_views_may_be_null) {
    EXPECT_NO_THROW(host::add<float>(vector_view<float>{}, vector_view<float>{}, vector_view<float>{}));
    const matrix_view<float> no_rows{nullptr, 0, 6};
    EXPECT_NO_THROW(host::sigmoid<float>(no_rows, no_rows));
}

}  // namespace
}  // namespace heddle::test
