#include "tests/support/elementwise.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/provoked.hpp"
#include <heddle/host.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace heddle {
namespace {

using test::guarded;
using test::invalid_argument_of;
using test::random_elements;

/// add and sigmoid on the CPU; each other operation's CPU sibling is tested beside the operation.
template <class T>
class host_elementwise : public testing::Test {
  protected:
    using operand = guarded<T>;

    static operand make(std::int64_t rows, std::int64_t cols, std::int64_t row_stride,
                        std::int64_t col_stride = 1) {
        return operand(rows, cols, row_stride, 0, col_stride, operand::memory::host);
    }

    static std::vector<T> sums(const std::vector<T>& x, const std::vector<T>& y) {
        std::vector<T> z(x.size());
        for (std::size_t i = 0; i < z.size(); ++i) z[i] = test::rounded_sum(x[i], y[i]);
        return z;
    }

    /// Fills x and y, adds them and takes x's sigmoid, and checks all bytes.
    static void check(operand& x, operand& y, operand& z) {
        const auto size = static_cast<std::int64_t>(x.download().size());
        const auto xs = random_elements<T>(size, -10, 10), ys = random_elements<T>(size, -10, 10);
        x.upload(xs);
        y.upload(ys);
        host::add<T>(x.matrix(), y.matrix(), z.matrix());
        ASSERT_TRUE(test::are_same(z.download(), sums(xs, ys)));
        host::sigmoid<T>(x.matrix(), z.matrix());
        ASSERT_TRUE(test::are_sigmoids(z.download(), xs, test::accurate_functions));
        ASSERT_TRUE(z.canaries_alive());
        ASSERT_TRUE(x.untouched());
        ASSERT_TRUE(y.untouched());
    }
};

TYPED_TEST_SUITE(host_elementwise, test::element_types, test::type_names);

TYPED_TEST(host_elementwise, takes_vectors_of_any_size_and_stride) {
    constexpr std::int64_t block = 16384;  // the elements that a thread takes at a time
    for (const std::int64_t size : {std::int64_t{0}, std::int64_t{1}, std::int64_t{31}, block - 1, block,
                                    block + 1, 2 * block + 1, std::int64_t{100003}})
        for (const std::int64_t stride : {1, 3}) {
            SCOPED_TRACE(testing::Message() << size << " elements, stride " << stride);
            const auto xs = random_elements<TypeParam>(size), ys = random_elements<TypeParam>(size);
            auto x = this->make(1, size, 0, stride), y = this->make(1, size, 0),
                 z = this->make(1, size, 0, stride);
            x.upload(xs);
            y.upload(ys);
            host::add<TypeParam>(x.vector(), y.vector(), z.vector());
            ASSERT_TRUE(test::are_same(z.download(), this->sums(xs, ys)));
            host::sigmoid<TypeParam>(x.vector(), z.vector());
            ASSERT_TRUE(test::are_sigmoids(z.download(), xs, test::accurate_functions));
            ASSERT_TRUE(z.canaries_alive());
        }
}

TYPED_TEST(host_elementwise, takes_matrices_of_any_shape_and_stride) {
    for (const auto& [rows, cols] :
         {std::pair{1, 1}, {0, 5}, {5, 0}, {1, 257}, {257, 1}, {20011, 3}, {3, 20011}, {67, 61}}) {
        SCOPED_TRACE(testing::Message() << rows << " x " << cols);
        auto x = this->make(rows, cols, cols), y = this->make(rows, cols, cols + 3),
             z = this->make(rows, cols, cols + 1);
        ASSERT_NO_FATAL_FAILURE(this->check(x, y, z));
        auto spaced = this->make(rows, cols, 2 * cols + 1, 2);
        ASSERT_NO_FATAL_FAILURE(this->check(spaced, y, z));
    }
}

TYPED_TEST(host_elementwise, takes_transposed_operands_all_or_some) {
    const std::int64_t rows = 130, cols = 301;
    auto x = this->make(rows, cols, 1, rows + 2), y = this->make(rows, cols, 1, rows),
         z = this->make(rows, cols, 1, rows + 1);
    ASSERT_NO_FATAL_FAILURE(this->check(x, y, z));
    auto u = this->make(rows, cols, cols), w = this->make(rows, cols, cols + 4);
    ASSERT_NO_FATAL_FAILURE(this->check(x, u, w));
    ASSERT_NO_FATAL_FAILURE(this->check(u, x, z));
}

TYPED_TEST(host_elementwise, works_in_place) {
    const std::int64_t rows = 37, cols = 1009;
    const auto xs = random_elements<TypeParam>(rows * cols), ys = random_elements<TypeParam>(rows * cols);
    auto x = this->make(rows, cols, cols + 1), y = this->make(rows, cols, cols);
    x.upload(xs);
    y.upload(ys);
    host::add<TypeParam>(x.matrix(), y.matrix(), x.matrix());
    EXPECT_TRUE(test::are_same(x.download(), this->sums(xs, ys)));
    x.upload(xs);
    host::sigmoid<TypeParam>(x.matrix(), x.matrix());
    EXPECT_TRUE(test::are_sigmoids(x.download(), xs, test::accurate_functions));
    EXPECT_TRUE(x.canaries_alive());
    EXPECT_TRUE(y.untouched());
}

TYPED_TEST(host_elementwise, is_right_for_every_bit_pattern) {
    const auto xs = test::sigmoid_inputs<TypeParam>();
    std::vector<TypeParam> ys(xs.rbegin(), xs.rend()), results(xs.size());
    const auto size = static_cast<std::int64_t>(xs.size());
    const vector_view output{results.data(), size};
    host::sigmoid<TypeParam>(vector_view{xs.data(), size}, output);
    EXPECT_TRUE(test::are_sigmoids(results, xs, test::accurate_functions));
    host::add<TypeParam>(vector_view{xs.data(), size}, vector_view{ys.data(), size}, output);
    EXPECT_TRUE(test::are_same(results, this->sums(xs, ys)));
}

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
    EXPECT_EQ(
        invalid_argument_of([&] {
            host::sigmoid<float>(vector_view{z.data(), 9}, vector_view{z.data() + 1, 9});
        }),
        "host::sigmoid: y is a view that overlaps an input in part, expected exactly x or apart from it");
    EXPECT_TRUE(x.untouched());
    EXPECT_TRUE(z.untouched());
}

TEST(host_arguments, empty_views_may_be_null) {
    EXPECT_NO_THROW(host::add<float>(vector_view<float>{}, vector_view<float>{}, vector_view<float>{}));
    const matrix_view<float> no_rows{nullptr, 0, 6};
    EXPECT_NO_THROW(host::sigmoid<float>(no_rows, no_rows));
}

}  // namespace
}  // namespace heddle
