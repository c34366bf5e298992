#include "tests/transpose/transposition.hpp"
#include <heddle/buffer.hpp>
#include <heddle/copy.hpp>
#include <heddle/graph.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace heddle {
namespace {

using test::are_same_bits;
using test::every_algorithm;
using test::expected_transpose;
using test::guarded;
using test::random_bits;
using test::row_layout;

template <class T>
using transposition = test::transposition<T>;
template <class T>
using transposition_of_words = test::transposition<T>;

TYPED_TEST_SUITE(transposition, test::transposed_types, test::type_names);
TYPED_TEST_SUITE(transposition_of_words, test::words, test::type_names);

TYPED_TEST(transposition, takes_small_and_large_matrices) {
    for (const auto& [rows, cols] : {std::pair{1, 1}, {2, 3}, {17, 19}, {256, 512}, {1021, 509}})
        ASSERT_NO_FATAL_FAILURE(this->check(rows, cols));
}

TYPED_TEST(transposition_of_words, of_drawn_problems_takes_every_plan) {
    constexpr int draws = 50;  // of each type
    test::drawing draw;
    const auto draw_layout = [&] {
        return row_layout{.offset = draw(0, 1) * draw(0, 16),
                          .padding = draw(0, 2) * draw(0, 16),
                          .step = draw(0, 4) == 0 ? draw(2, 3) : 1,
                          .column_major = draw(0, 3) == 0};
    };
    const std::vector<transpose_algorithm> any_layout = {
        transpose_algorithm::naive, transpose_algorithm::shared_memory, transpose_algorithm::automatic};
    for (int i = 0; i < draws; ++i) {
        // Long rows and long columns, of few others and of many.
        std::int64_t rows = draw(1, std::int64_t{1} << draw(1, 16));
        std::int64_t cols = draw(1, std::max<std::int64_t>(1, 100000 / rows));
        if (draw(0, 1) == 0) std::swap(rows, cols);
        const row_layout from = draw_layout(), to = draw_layout();
        SCOPED_TRACE(testing::Message() << "draw " << i);
        ASSERT_NO_FATAL_FAILURE(this->check(rows, cols, from, to,
                                            from.step == 1 && to.step == 1 ? every_algorithm() : any_layout));
    }
}

TYPED_TEST(transposition_of_words, works_between_column_ranges_of_one_matrix) {
    const std::int64_t side = 70, stride = 3 * side;
    for (const transpose_algorithm algorithm : every_algorithm()) {
        SCOPED_TRACE(to_string(algorithm));
        guarded<TypeParam> m(side, stride, stride);
        auto elements = random_bits<TypeParam>(side * stride);
        m.upload(elements);
        transpose<TypeParam>(matrix_view<TypeParam>{m.data(), side, side, stride},
                             matrix_view<TypeParam>{m.data() + 2 * side, side, side, stride}, *this->stream,
                             {.algorithm = algorithm});
        const auto at = [&](std::int64_t row, std::int64_t col) -> TypeParam& {
            return elements[static_cast<std::size_t>(row * stride + col)];
        };
        for (std::int64_t row = 0; row < side; ++row)
            for (std::int64_t col = 0; col < side; ++col) at(col, 2 * side + row) = at(row, col);
        EXPECT_TRUE(are_same_bits(m.download(), elements));
        EXPECT_TRUE(m.canaries_alive());
    }
}

TYPED_TEST(transposition_of_words, replays_from_a_graph) {
    const std::int64_t rows = 129, cols = 260;
    for (const transpose_algorithm algorithm : every_algorithm()) {
        SCOPED_TRACE(to_string(algorithm));
        guarded<TypeParam> source(rows, cols, cols), destination(cols, rows, rows + 1);
        const auto graph = graph::capture(*this->stream, [&] {
            transpose<TypeParam>(source.matrix(), destination.matrix(), *this->stream,
                                 {.algorithm = algorithm});
        });
        EXPECT_TRUE(destination.untouched()) << "a captured call ran";
        for (int replay = 0; replay < 2; ++replay) {
            const auto elements = random_bits<TypeParam>(rows * cols);
            source.upload(elements);
            graph.launch(*this->stream);
            this->stream->synchronize();
            EXPECT_TRUE(are_same_bits(destination.download(), expected_transpose(elements, rows, cols)));
        }
    }
}

class large_transposition : public test::transposition<std::uint8_t> {};

TEST_F(large_transposition, takes_more_than_2_to_31_elements) {
    constexpr std::int64_t rows = 65539, cols = 32779;
    std::size_t free = 0, total = 0;
    heddle::check(cudaMemGetInfo(&free, &total));
    if (free < std::size_t{5} << 30) GTEST_SKIP() << "needs 5 GiB of device memory";

    device_buffer<std::uint8_t> from(rows * cols, *stream), to(rows * cols, *stream);
    const std::array<std::pair<std::int64_t, std::int64_t>, 5> places = {
        {{0, 0}, {rows - 1, cols - 1}, {0, cols - 1}, {rows - 1, 0}, {rows - 5, 12345}}};
    fill_bytes(from, std::byte{1}, *stream);
    std::uint8_t value = 2;
    for (const auto& [row, col] : places) {
        const std::array<std::uint8_t, 1> element = {value++};
        copy_and_wait(element, vector_view<std::uint8_t>{from.data() + row * cols + col, 1}, *stream);
    }
    for (const transpose_algorithm algorithm : every_algorithm()) {
        SCOPED_TRACE(to_string(algorithm));
        fill_bytes(to, std::byte{0}, *stream);
        transpose<std::uint8_t>(matrix_view<const std::uint8_t>{from.data(), rows, cols},
                                matrix_view<std::uint8_t>{to.data(), cols, rows}, *stream,
                                {.algorithm = algorithm});
        value = 2;
        for (const auto& [row, col] : places) {
            std::array<std::uint8_t, 1> element{};
            copy_and_wait(vector_view<const std::uint8_t>{to.data() + col * rows + row, 1}, element, *stream);
            EXPECT_EQ(element[0], value++) << "row " << row << ", column " << col;
        }
    }
}

struct alignas(8) point {
    float x, y;
};
enum class weekday : std::uint16_t {};

TEST_F(large_transposition, takes_any_trivially_copyable_type) {
    guarded<point> source(67, 35, 35), destination(35, 67, 67);
    const auto points = random_bits<point>(67 * 35);
    source.upload(points);
    transpose<point>(source.matrix(), destination.matrix(), *stream);
    EXPECT_TRUE(are_same_bits(destination.download(), expected_transpose(points, 67, 35)));

    guarded<weekday> days(5, 9, 9), turned(9, 5, 5);
    const auto some_days = random_bits<weekday>(45);
    days.upload(some_days);
    transpose<weekday>(days.matrix(), turned.matrix(), *stream);
    EXPECT_TRUE(are_same_bits(turned.download(), expected_transpose(some_days, 5, 9)));
}

}  // namespace
}  // namespace heddle
