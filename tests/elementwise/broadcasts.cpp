#include "tests/elementwise/broadcasts.hpp"

#include "tests/elementwise/elementwise.hpp"

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace heddle {
namespace {

using test::every_algorithm;
using test::guarded;
using test::make_rows;
using test::random_elements;
using test::row_layout;
using test::shape_of_input;
using test::shapes_of_inputs;
using test::spread;
using test::sums;
using test::tile_elements;

template <class T>
class elementwise_broadcasts : public test::elementwise<T> {
  protected:
    /// Rows that begin `offset` elements beyond a multiple of 16 bytes, all of them.
    static row_layout in_packets(std::int64_t cols, std::int64_t offset = 0) {
        constexpr std::int64_t packet = 16 / sizeof(T);
        return {.offset = offset, .padding = (packet - cols % packet) % packet};
    }

    spread<T> make(std::int64_t rows, std::int64_t cols, shape_of_input shape, const row_layout& layout) {
        return {rows, cols, shape, layout, guarded<T>::memory::device, [](std::int64_t size) {
                    return random_elements<T>(size);
                }};
    }

    /// Adds inputs of every two shapes, with every algorithm.
    void check_add(std::int64_t rows, std::int64_t cols, const row_layout& lx, const row_layout& ly,
                   const row_layout& lz,
                   const std::vector<elementwise_algorithm>& algorithms = every_algorithm()) {
        for (const shape_of_input of_x : shapes_of_inputs)
            for (const shape_of_input of_y : shapes_of_inputs) {
                SCOPED_TRACE(testing::Message() << rows << " x " << cols << ": " << test::name_of(of_x)
                                                << " and " << test::name_of(of_y));
                spread<T> x = make(rows, cols, of_x, lx), y = make(rows, cols, of_y, ly);
                const auto expected = sums(x.elements(), y.elements());
                for (const elementwise_algorithm algorithm : algorithms) {
                    SCOPED_TRACE(to_string(algorithm));
                    guarded<T> z = make_rows<T>(rows, cols, lz);
                    add<T>(x.matrix(), y.matrix(), z.matrix(), *this->stream, {.algorithm = algorithm});
                    this->stream->synchronize();
                    ASSERT_TRUE(test::are_same(z.download(), expected));
                    ASSERT_TRUE(z.canaries_alive());
                }
                ASSERT_TRUE(x.untouched() && y.untouched());
            }
    }
};
TYPED_TEST_SUITE(elementwise_broadcasts, test::element_types, test::type_names);

TYPED_TEST(elementwise_broadcasts, are_taken_in_packets_and_by_element) {
    constexpr std::int64_t tile = tile_elements<TypeParam>;
    const std::pair<std::int64_t, std::int64_t> shapes[] = {
        {1, 1},    {0, 5},    {5, 0},    {1, 257},  {257, 1},      {2, 2},
        {33, 130}, {1000, 3}, {700, 16}, {64, 256}, {5, tile - 1}, {5, tile + 1}};
    for (const auto& [rows, cols] : shapes) {
        const row_layout packets = this->in_packets(cols);
        ASSERT_NO_FATAL_FAILURE(this->check_add(rows, cols, packets, packets, packets));
        ASSERT_NO_FATAL_FAILURE(this->check_add(rows, cols, {}, {}, {}));
    }
    ASSERT_NO_FATAL_FAILURE(
        this->check_add(37, 91, {.offset = 1, .padding = 7}, {.padding = 2}, {.offset = 3, .padding = 5}));
    ASSERT_NO_FATAL_FAILURE(this->check_add(31, 70, {.step = 2}, {.padding = 1}, {.padding = 1, .step = 3}));
}

// Rows that lack as much of their first packet, in full and in broadcast inputs, and rows that differ.
TYPED_TEST(elementwise_broadcasts, are_taken_within_a_packet) {
    const std::vector<elementwise_algorithm> vectorized{elementwise_algorithm::vectorized};
    constexpr std::int64_t packet = 16 / sizeof(TypeParam);
    for (const std::int64_t cols : {16 * packet - 1, 16 * packet, 17 * packet + 1})
        for (std::int64_t offset = 1; offset < packet; ++offset) {
            SCOPED_TRACE(testing::Message() << "offset " << offset);
            const row_layout alike = this->in_packets(cols, offset);
            ASSERT_NO_FATAL_FAILURE(this->check_add(5, cols, alike, alike, alike, vectorized));
            ASSERT_NO_FATAL_FAILURE(
                this->check_add(5, cols, alike, this->in_packets(cols), alike, vectorized));
        }
}

TYPED_TEST(elementwise_broadcasts, are_taken_beside_inputs_that_lie_across) {
    const row_layout rows{.padding = 3};
    const row_layout columns{.padding = 5, .column_major = true};
    for (const std::pair<std::int64_t, std::int64_t>& shape :
         {std::pair<std::int64_t, std::int64_t>{61, 130}, {16, 16}, {65, 15}}) {
        const auto& [height, width] = shape;
        ASSERT_NO_FATAL_FAILURE(this->check_add(height, width, columns, rows, rows));
        ASSERT_NO_FATAL_FAILURE(this->check_add(height, width, rows, columns, columns));
        ASSERT_NO_FATAL_FAILURE(this->check_add(height, width, columns, columns, columns));
    }
}

TYPED_TEST(elementwise_broadcasts, leave_the_other_input_in_place) {
    const std::int64_t rows = 37, cols = tile_elements<TypeParam> + 4;
    const auto xs = random_elements<TypeParam>(rows * cols);
    for (const shape_of_input shape : {shape_of_input::row, shape_of_input::column, shape_of_input::element})
        for (const elementwise_algorithm algorithm : every_algorithm()) {
            SCOPED_TRACE(testing::Message() << test::name_of(shape) << ", " << to_string(algorithm));
            const row_layout layout = this->in_packets(cols);
            spread<TypeParam> y = this->make(rows, cols, shape, layout);
            guarded<TypeParam> x = make_rows<TypeParam>(rows, cols, layout);
            x.upload(xs);
            add<TypeParam>(y.matrix(), x.matrix(), x.matrix(), *this->stream, {.algorithm = algorithm});
            this->stream->synchronize();
            EXPECT_TRUE(test::are_same(x.download(), sums(xs, y.elements())));
            EXPECT_TRUE(x.canaries_alive());
        }
}

TYPED_TEST(elementwise_broadcasts, are_elements_for_all_of_a_vector) {
    for (const std::int64_t size : {std::int64_t{1}, std::int64_t{33}, tile_elements<TypeParam> + 1})
        for (const std::int64_t offset : {0, 1})
            for (const elementwise_algorithm algorithm : every_algorithm()) {
                SCOPED_TRACE(testing::Message() << size << ", " << offset << ", " << to_string(algorithm));
                const auto xs = random_elements<TypeParam>(size), ys = random_elements<TypeParam>(1);
                guarded<TypeParam> x(size, offset), y(1), z(size, offset);
                x.upload(xs);
                y.upload(ys);
                add<TypeParam>(x.vector(), vector_view<TypeParam>{y.data(), size, 0}, z.vector(),
                               *this->stream, {.algorithm = algorithm});
                this->stream->synchronize();
                const std::vector<TypeParam> spread_ys(static_cast<std::size_t>(size), ys[0]);
                ASSERT_TRUE(test::are_same(z.download(), sums(xs, spread_ys)));
                ASSERT_TRUE(z.canaries_alive());
            }
}

TYPED_TEST(elementwise_broadcasts, are_taken_by_every_operation_in_drawn_problems) {
    constexpr int draws = 6;  // of each operation and algorithm
    test::drawing draw;
    for (const elementwise_operation operation : elementwise_operations())
        for (const elementwise_algorithm algorithm : elementwise_algorithms())
            for (int i = 0; i < draws; ++i) {
                SCOPED_TRACE(testing::Message() << to_string(algorithm) << ", draw " << i);
                test::drawn_call<TypeParam> drawn(operation, draw, guarded<TypeParam>::memory::device);
                ASSERT_NO_FATAL_FAILURE(
                    drawn.check(sizeof(TypeParam) == 2, [&](const auto& in, const auto& out) {
                        test::call_on_device<TypeParam>(operation, in, out, *this->stream,
                                                        elementwise_options{.algorithm = algorithm});
                        this->stream->synchronize();
                    }));
            }
}

class large_elementwise_broadcasts : public test::gpu_test {};

// From 2^22 packets on: beside two full inputs a row is taken by blocks of 1024 threads, beside one by blocks of 256.
TEST_F(large_elementwise_broadcasts, are_taken_by_wide_blocks_and_by_others) {
    const heddle::stream stream;
    const auto random = [](std::int64_t size) { return random_elements<float>(size); };
    constexpr std::pair<std::int64_t, std::int64_t> shapes[] = {{(1 << 14) + 1, 1032}, {(1 << 19) + 3, 36}};
    for (const auto& [rows, cols] : shapes)
        for (const shape_of_input shape : shapes_of_inputs) {
            SCOPED_TRACE(testing::Message() << rows << " x " << cols << ", " << test::name_of(shape));
            const auto xs = random(rows * cols);
            guarded<float> x(rows, cols, cols + 4), sum(rows, cols, cols + 8), fused(rows, cols, cols + 8);
            x.upload(xs);
            spread<float> y(rows, cols, shape, {}, guarded<float>::memory::device, random);
            add<float>(x.matrix(), y.matrix(), sum.matrix(), stream);
            fused_multiply_add<float>(x.matrix(), x.matrix(), y.matrix(), fused.matrix(), stream);
            stream.synchronize();
            const auto ys = y.elements();
            std::vector<float> expected(xs.size());
            for (std::size_t i = 0; i < xs.size(); ++i) expected[i] = std::fma(xs[i], xs[i], ys[i]);
            EXPECT_TRUE(test::are_same(sum.download(), sums(xs, ys)));
            EXPECT_TRUE(test::are_same(fused.download(), expected));
            EXPECT_TRUE(sum.canaries_alive() && fused.canaries_alive());
        }
}

}  // namespace
}  // namespace heddle
