#include "tests/elementwise/elementwise.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

namespace heddle {
namespace {

using test::accuracy_of;
using test::every_algorithm;
using test::guarded;
using test::random_elements;
using test::row_layout;
using test::sums;
using test::tile_elements;

template <class T>
using elementwise_edges = test::elementwise<T>;
TYPED_TEST_SUITE(elementwise_edges, test::element_types, test::type_names);

TYPED_TEST(elementwise_edges, takes_every_alignment) {
    const std::int64_t size = tile_elements<TypeParam> + 5;
    for (std::int64_t x = 0; x < 4; ++x)
        for (std::int64_t y = 0; y < 4; ++y)
            for (std::int64_t z = 0; z < 4; ++z) {
                SCOPED_TRACE(testing::Message() << "offsets " << x << ' ' << y << ' ' << z);
                ASSERT_NO_FATAL_FAILURE(
                    this->check_add(1, size, {.offset = x}, {.offset = y}, {.offset = z},
                                    {elementwise_algorithm::grid_stride, elementwise_algorithm::vectorized}));
                if (z == 0) {
                    ASSERT_NO_FATAL_FAILURE(this->check_sigmoid(1, size, {.offset = x}, {.offset = y},
                                                                {elementwise_algorithm::vectorized}));
                }
            }
}

TYPED_TEST(elementwise_edges, takes_strided_vectors) {
    const std::int64_t size = 1013;
    for (const std::int64_t x_stride : {1, 2, 16})
        for (const std::int64_t y_stride : {1, 3})
            for (const std::int64_t z_stride : {1, 2, 5}) {
                SCOPED_TRACE(testing::Message() << x_stride << ' ' << y_stride << ' ' << z_stride);
                const auto xs = random_elements<TypeParam>(size), ys = random_elements<TypeParam>(size);
                guarded<TypeParam> x(1, size, 0, 0, x_stride), y(1, size, 0, 1, y_stride);
                x.upload(xs);
                y.upload(ys);
                for (const elementwise_algorithm algorithm : every_algorithm()) {
                    SCOPED_TRACE(to_string(algorithm));
                    guarded<TypeParam> z(1, size, 0, 0, z_stride);
                    add<TypeParam>(x.vector(), y.vector(), z.vector(), *this->stream,
                                   {.algorithm = algorithm});
                    this->stream->synchronize();
                    ASSERT_TRUE(test::are_same(z.download(), sums(xs, ys)));
                    ASSERT_TRUE(z.canaries_alive());
                }
            }
}

TYPED_TEST(elementwise_edges, takes_matrices_of_any_shape_and_padding) {
    constexpr std::int64_t tile = tile_elements<TypeParam>;
    const std::pair<std::int64_t, std::int64_t> shapes[] = {
        {1, 1},   {0, 5},     {5, 0},     {1, 257},       {257, 1},       {33, 130},
        {64, 64}, {65536, 3}, {3, 65536}, {19, tile - 1}, {19, tile + 1}, {1021, 61}};
    for (const auto& [rows, cols] : shapes)
        for (const std::int64_t padding : {0, 1, 3, 8}) {
            SCOPED_TRACE(testing::Message() << rows << " x " << cols << ", padding " << padding);
            ASSERT_NO_FATAL_FAILURE(
                this->check_add(rows, cols, {.padding = padding}, {}, {.padding = padding}));
            ASSERT_NO_FATAL_FAILURE(this->check_sigmoid(rows, cols, {}, {.offset = 1, .padding = padding}));
        }
    ASSERT_NO_FATAL_FAILURE(
        this->check_add(37, 91, {.offset = 1, .padding = 7}, {.padding = 2}, {.offset = 3, .padding = 5}));
}

TYPED_TEST(elementwise_edges, takes_transposed_operands_all_or_some) {
    const row_layout rows{.padding = 3};
    const row_layout columns{.padding = 5, .column_major = true};

    ASSERT_NO_FATAL_FAILURE(this->check_add(61, 130, columns, columns, columns));
    ASSERT_NO_FATAL_FAILURE(this->check_add(61, 130, columns, rows, rows));
    ASSERT_NO_FATAL_FAILURE(this->check_add(61, 130, rows, columns, rows));
    ASSERT_NO_FATAL_FAILURE(this->check_add(61, 130, rows, rows, columns));
    ASSERT_NO_FATAL_FAILURE(this->check_add(61, 130, columns, columns, rows));
    ASSERT_NO_FATAL_FAILURE(this->check_sigmoid(61, 130, columns, columns));
    ASSERT_NO_FATAL_FAILURE(this->check_sigmoid(61, 130, columns, rows));
    // A single row or column lies side by side whichever way it is called.
    ASSERT_NO_FATAL_FAILURE(this->check_add(1, 130, rows, rows, {.column_major = true}));
    ASSERT_NO_FATAL_FAILURE(this->check_add(130, 1, {.column_major = true}, {}, {}));
}

// One less and one more around the squares in which inputs are turned over, and around what they need.
TYPED_TEST(elementwise_edges, turns_over_inputs_of_every_shape) {
    const std::vector<elementwise_algorithm> vectorized{elementwise_algorithm::vectorized};
    const row_layout rows{.offset = 1, .padding = 3};
    const row_layout columns{.offset = 1, .padding = 5, .column_major = true};
    const row_layout wide_columns{.step = 2, .column_major = true};
    for (const std::int64_t height : {2, 15, 16, 17, 33, 63, 64, 65, 330})
        for (const std::int64_t width : {5, 15, 16, 31, 33, 64, 65, 330}) {
            SCOPED_TRACE(testing::Message() << height << " x " << width);
            ASSERT_NO_FATAL_FAILURE(this->check_sigmoid(height, width, columns, rows, vectorized));
            ASSERT_NO_FATAL_FAILURE(this->check_add(height, width, columns, rows, {}, vectorized));
            ASSERT_NO_FATAL_FAILURE(this->check_add(height, width, rows, wide_columns, rows, vectorized));
            ASSERT_NO_FATAL_FAILURE(this->check_add(height, width, rows, {.step = 3}, columns, vectorized));
        }
}

// Rows that lack as much of their first packet in all operands, and rows that differ.
TYPED_TEST(elementwise_edges, takes_rows_that_begin_within_a_packet) {
    const std::vector<elementwise_algorithm> vectorized{elementwise_algorithm::vectorized};
    constexpr std::int64_t packet = 16 / sizeof(TypeParam);
    for (const std::int64_t cols :
         {16 * packet - 1, 16 * packet, 17 * packet + 1, tile_elements<TypeParam> + 1})
        for (std::int64_t offset = 1; offset < packet; ++offset)
            for (const std::int64_t rows : {1, 5}) {
                SCOPED_TRACE(testing::Message() << rows << " x " << cols << ", offset " << offset);
                const std::int64_t padding = (packet - cols % packet) % packet;
                const row_layout alike{.offset = offset, .padding = padding};
                ASSERT_NO_FATAL_FAILURE(this->check_sigmoid(rows, cols, alike, alike, vectorized));
                ASSERT_NO_FATAL_FAILURE(this->check_add(rows, cols, alike, alike, alike, vectorized));
                ASSERT_NO_FATAL_FAILURE(
                    this->check_add(rows, cols, alike, {.padding = padding}, alike, vectorized));
                ASSERT_NO_FATAL_FAILURE(
                    this->check_add(rows, cols, alike, {.padding = padding + 1}, alike, vectorized));
                ASSERT_NO_FATAL_FAILURE(this->check_sigmoid(rows, cols, {.padding = 1}, alike, vectorized));
            }
}

// Threads go down the columns of short rows, and along vectors with gaps.
TYPED_TEST(elementwise_edges, takes_short_rows_and_long_vectors_with_gaps) {
    constexpr std::int64_t size = 16 / sizeof(TypeParam);
    for (const std::int64_t cols : {2, 3, 17, 31, 32, 33})
        for (const std::int64_t rows :
             {8 * size - 1, 8 * size, 8 * size + 1, 128 * size + 1, std::int64_t{3001}}) {
            SCOPED_TRACE(testing::Message() << rows << " x " << cols);
            ASSERT_NO_FATAL_FAILURE(this->check_add(rows, cols, {.padding = 1}, {.step = 2}, {.padding = 3}));
        }
    for (const std::int64_t n : {tile_elements<TypeParam> - 1, tile_elements<TypeParam> + 1}) {
        ASSERT_NO_FATAL_FAILURE(this->check_add(n, 1, {.padding = 1}, {.padding = 2}, {.padding = 1}));
        ASSERT_NO_FATAL_FAILURE(this->check_add(n, 2, {.step = 2}, {.step = 3}, {.step = 2}));
    }
}

TYPED_TEST(elementwise_edges, takes_gaps_between_columns) {
    ASSERT_NO_FATAL_FAILURE(this->check_add(31, 70, {.step = 2}, {.padding = 1}, {.padding = 1, .step = 3}));
    ASSERT_NO_FATAL_FAILURE(this->check_sigmoid(31, 70, {.step = 3, .column_major = true}, {.step = 2}));
}

TYPED_TEST(elementwise_edges, adds_special_values_and_every_bit_pattern) {
    std::vector<TypeParam> xs, ys;
    for (const TypeParam x : test::special_values<TypeParam>())
        for (const TypeParam y : test::special_values<TypeParam>()) {
            xs.push_back(x);
            ys.push_back(y);
        }
    auto patterns = test::bit_patterns<TypeParam>();
    xs.insert(xs.end(), patterns.begin(), patterns.end());
    std::ranges::shuffle(patterns, std::mt19937_64(test::seed()));
    ys.insert(ys.end(), patterns.begin(), patterns.end());

    const auto size = static_cast<std::int64_t>(xs.size());
    guarded<TypeParam> x(size), y(size);
    x.upload(xs);
    y.upload(ys);
    for (const elementwise_algorithm algorithm : every_algorithm()) {
        SCOPED_TRACE(to_string(algorithm));
        guarded<TypeParam> z(size);
        add<TypeParam>(x.vector(), y.vector(), z.vector(), *this->stream, {.algorithm = algorithm});
        EXPECT_TRUE(test::are_same(z.download(), sums(xs, ys)));
    }
}

TYPED_TEST(elementwise_edges, sigmoid_is_within_its_bound_everywhere) {
    const auto xs = test::sigmoid_inputs<TypeParam>();
    const auto size = static_cast<std::int64_t>(xs.size());
    guarded<TypeParam> x(size);
    x.upload(xs);
    for (const elementwise_algorithm algorithm : every_algorithm()) {
        SCOPED_TRACE(to_string(algorithm));
        guarded<TypeParam> y(size);
        sigmoid<TypeParam>(x.vector(), y.vector(), *this->stream, {.algorithm = algorithm});
        EXPECT_TRUE(test::are_sigmoids(y.download(), xs, accuracy_of<TypeParam>));
    }
}

TYPED_TEST(elementwise_edges, sigmoid_is_exact_at_its_limits) {
    const auto values = test::special_values<TypeParam>();
    const auto size = static_cast<std::int64_t>(values.size());
    guarded<TypeParam> x(size), y(size);
    x.upload(values);
    sigmoid<TypeParam>(x.vector(), y.vector(), *this->stream);
    const auto results = y.download();
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double input = test::to_double(values[i]), output = test::to_double(results[i]);
        SCOPED_TRACE(input);
        if (std::isnan(input)) {
            EXPECT_TRUE(std::isnan(output));
        } else if (std::abs(input) >= 1e4) {  // the largest numbers and the infinities
            EXPECT_EQ(output, input > 0 ? 1 : 0);
        } else if (std::abs(input) < test::unit_roundoff<TypeParam>()) {  // zeros and denormals
            EXPECT_EQ(output, 0.5);
        }
    }
}

class large_elementwise_edges : public test::gpu_test {};

TEST_F(large_elementwise_edges, takes_more_rows_than_a_grid_is_high) {
    const heddle::stream stream;
    // A block of `vectorized` takes 256 threads' elements of one row, or one row for each 32 of them.
    constexpr std::pair<std::int64_t, std::int64_t> shapes[] = {{65535 + 2, 513}, {4 * 65535 + 3, 33}};
    for (const auto& [rows, cols] : shapes) {
        const auto xs = random_elements<float>(rows * cols);
        const auto expected = sums(xs, xs);
        guarded<float> x(rows, cols, cols, 1);  // where nothing is aligned, a thread takes one element
        x.upload(xs);
        for (const elementwise_algorithm algorithm : every_algorithm()) {
            SCOPED_TRACE(testing::Message() << rows << " x " << cols << ' ' << to_string(algorithm));
            guarded<float> z(rows, cols, cols + 2);
            add<float>(x.matrix(), x.matrix(), z.matrix(), stream, {.algorithm = algorithm});
            EXPECT_TRUE(test::are_same(z.download(), expected));
            EXPECT_TRUE(z.canaries_alive());
        }
    }
}

TEST_F(large_elementwise_edges, turns_over_more_squares_than_a_grid_is_high) {
    const heddle::stream stream;
    constexpr std::int64_t rows = 64 * std::int64_t{65535} + 70, cols = 16;
    std::vector<half> xs(rows * cols);
    for (std::size_t i = 0; i < xs.size(); ++i) xs[i] = static_cast<half>(static_cast<float>(i % 2039));
    guarded<half> x(rows, cols, 1, 0, rows), y(rows, cols, cols);
    x.upload(xs);
    relu<half>(x.matrix(), y.matrix(), stream);
    EXPECT_TRUE(test::are_same(y.download(), xs));
    EXPECT_TRUE(y.canaries_alive());
}

}  // namespace
}  // namespace heddle
