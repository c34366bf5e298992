#include "tests/support/gpu.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/numeric.hpp"
#include "tests/support/provoked.hpp"
#include "tests/support/random.hpp"
#include <heddle/buffer.hpp>
#include <heddle/copy.hpp>
#include <heddle/graph.hpp>
#include <heddle/host.hpp>
#include <heddle/stream.hpp>
#include <heddle/transpose.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace heddle {
namespace {

using test::guarded;
using test::invalid_argument_of;

std::vector<transpose_algorithm> every_algorithm() {
    std::vector<transpose_algorithm> all(transpose_algorithms().begin(), transpose_algorithms().end());
    all.push_back(transpose_algorithm::automatic);
    return all;
}

/// Any bits at all: NaNs with payloads, infinities and denormals among them.
template <class T>
std::vector<T> random_bits(std::int64_t size) {
    static std::mt19937_64 generator(test::seed());
    std::vector<T> elements(static_cast<std::size_t>(size));
    for (T& element : elements) {
        const std::uint64_t bits = generator();
        std::memcpy(static_cast<void*>(&element), &bits, sizeof(T));
    }
    return elements;
}

template <class T>
std::vector<T> reference(const std::vector<T>& source, std::int64_t rows, std::int64_t cols) {
    std::vector<T> destination(source.size());
    for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t col = 0; col < cols; ++col)
            destination[static_cast<std::size_t>(col * rows + row)] =
                source[static_cast<std::size_t>(row * cols + col)];
    return destination;
}

/// Nothing is computed: every bit must be the source's.
template <class T>
testing::AssertionResult are_same_bits(const std::vector<T>& actual, const std::vector<T>& expected) {
    if (actual.size() != expected.size()) return testing::AssertionFailure() << actual.size() << " elements";
    for (std::size_t i = 0; i < actual.size(); ++i)
        if (std::memcmp(&actual[i], &expected[i], sizeof(T)) != 0)
            return testing::AssertionFailure() << "element " << i << " differs";
    return testing::AssertionSuccess();
}

/// How an operand of a given shape lies in memory.
struct layout {
    std::int64_t offset = 0;   ///< elements off the allocation's alignment
    std::int64_t padding = 0;  ///< elements after each row (each column of a column-major operand)
    std::int64_t step = 1;     ///< from an element to its neighbour
    bool column_major = false;
};

template <class T>
guarded<T> make(std::int64_t rows, std::int64_t cols, const layout& l,
                typename guarded<T>::memory where = guarded<T>::memory::device) {
    const std::int64_t line = (l.column_major ? rows : cols) * l.step + l.padding;
    return l.column_major ? guarded<T>(rows, cols, l.step, l.offset, line, where)
                          : guarded<T>(rows, cols, line, l.offset, l.step, where);
}

using transposed_types =
    testing::Types<std::uint8_t, half, bfloat16, std::int32_t, float, double, std::int64_t>;

/// A type for each size.
using words = testing::Types<std::uint8_t, half, float, double>;

template <class T>
class transposition : public test::gpu_test {
  protected:
    void SetUp() override {
        gpu_test::SetUp();
        if (!IsSkipped()) stream = std::make_unique<heddle::stream>();
    }

    /// Transposes with every algorithm of `algorithms`, each into an output of its own, and checks all bytes.
    void check(std::int64_t rows, std::int64_t cols, const layout& from = {}, const layout& to = {},
               const std::vector<transpose_algorithm>& algorithms = every_algorithm()) {
        const auto elements = random_bits<T>(rows * cols);
        const auto expected = reference(elements, rows, cols);
        guarded<T> source = make<T>(rows, cols, from);
        source.upload(elements);
        for (const transpose_algorithm algorithm : algorithms) {
            SCOPED_TRACE(testing::Message() << rows << " x " << cols << ' ' << to_string(algorithm));
            guarded<T> destination = make<T>(cols, rows, to);
            transpose<T>(source.matrix(), destination.matrix(), *stream, {.algorithm = algorithm});
            stream->synchronize();
            ASSERT_TRUE(are_same_bits(destination.download(), expected));
            ASSERT_TRUE(destination.canaries_alive());
        }
        ASSERT_TRUE(source.untouched());
    }

    std::unique_ptr<heddle::stream> stream;
};

template <class T>
class transposition_of_words : public transposition<T> {};

TYPED_TEST_SUITE(transposition, transposed_types, test::type_names);
TYPED_TEST_SUITE(transposition_of_words, words, test::type_names);

TYPED_TEST(transposition, takes_small_and_large_matrices) {
    for (const auto& [rows, cols] : {std::pair{1, 1}, {2, 3}, {17, 19}, {256, 512}, {1021, 509}})
        ASSERT_NO_FATAL_FAILURE(this->check(rows, cols));
}

/// Tiles are of 32, 64, 128 and 256 elements.
TYPED_TEST(transposition_of_words, takes_every_edge_of_a_tile) {
    const std::int64_t extents[] = {0, 1, 2, 7, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257};
    for (const std::int64_t rows : extents)
        for (const std::int64_t cols : extents) ASSERT_NO_FATAL_FAILURE(this->check(rows, cols));
}

TYPED_TEST(transposition_of_words, takes_skinny_matrices) {
    const std::vector<transpose_algorithm> algorithms = every_algorithm();
    for (const std::int64_t narrow : {1, 2, 3, 5, 8, 15, 16, 17, 64})
        for (const std::int64_t length : {1009, 20000}) {
            ASSERT_NO_FATAL_FAILURE(this->check(narrow, length));
            ASSERT_NO_FATAL_FAILURE(this->check(length, narrow));
        }
}

TYPED_TEST(transposition_of_words, takes_padded_rows_and_any_alignment) {
    const std::int64_t rows = 261, cols = 389;
    for (const std::int64_t from : {0, 1, 2, 3, 4, 8, 16})
        for (const std::int64_t to : {0, 1, 2, 4, 8})
            ASSERT_NO_FATAL_FAILURE(
                this->check(rows, cols, {.offset = from}, {.offset = to}, {transpose_algorithm::vectorized}));
    for (const std::int64_t from : {0, 1, 3, 11, 27})
        for (const std::int64_t to : {0, 1, 2, 11, 15})
            ASSERT_NO_FATAL_FAILURE(this->check(rows, cols, {.padding = from}, {.padding = to}));
    // Rows of multiples of 4, 8 and 16 elements, where only a pointer is off.
    for (const std::int64_t offset : {0, 1, 2, 4, 8})
        for (const std::int64_t multiple : {4, 8, 16}) {
            const layout from{.offset = offset, .padding = 256 + 16 * multiple - cols % multiple};
            ASSERT_NO_FATAL_FAILURE(this->check(272, cols, from, {.padding = multiple}));
            ASSERT_NO_FATAL_FAILURE(
                this->check(272, cols, {.padding = 256 - cols % 16 + 16}, {.offset = offset}));
        }
}

TYPED_TEST(transposition_of_words, takes_transposed_views_on_either_side) {
    const layout row_major{.padding = 3}, column_major{.padding = 5, .column_major = true};
    for (const auto& [rows, cols] :
         {std::pair{61, 130}, {130, 61}, {1, 130}, {130, 1}, {256, 256}, {5, 300}}) {
        ASSERT_NO_FATAL_FAILURE(this->check(rows, cols, column_major, column_major));
        // Copies of rows.
        for (const std::int64_t offset : {0, 1, 2, 4}) {
            layout from = row_major, to = column_major;
            from.offset = offset;
            ASSERT_NO_FATAL_FAILURE(this->check(rows, cols, from, to));
            ASSERT_NO_FATAL_FAILURE(this->check(rows, cols, to, from));
        }
        ASSERT_NO_FATAL_FAILURE(this->check(rows, cols, {}, {.column_major = true}));
        ASSERT_NO_FATAL_FAILURE(this->check(rows, cols, {.column_major = true}, {}));
        ASSERT_NO_FATAL_FAILURE(
            this->check(rows, cols, {.padding = 48}, {.padding = 16, .column_major = true}));
    }
}

TYPED_TEST(transposition_of_words, takes_gaps_between_columns) {
    const std::vector<transpose_algorithm> any_layout = {
        transpose_algorithm::naive, transpose_algorithm::shared_memory, transpose_algorithm::automatic};
    for (const auto& [rows, cols] : {std::pair{31, 70}, {70, 129}, {1, 200}, {200, 1}, {3, 200}})
        for (const layout& gaps :
             {layout{.step = 2}, layout{.padding = 1, .step = 3, .column_major = true}}) {
            ASSERT_NO_FATAL_FAILURE(this->check(rows, cols, gaps, {}, any_layout));
            ASSERT_NO_FATAL_FAILURE(this->check(rows, cols, {.padding = 4}, gaps, any_layout));
            ASSERT_NO_FATAL_FAILURE(this->check(rows, cols, gaps, gaps, any_layout));
        }
    // A column of a matrix is a vector whichever way it is called, and a copy of it.
    ASSERT_NO_FATAL_FAILURE(this->check(300, 1, {.padding = 6}, {}));
    ASSERT_NO_FATAL_FAILURE(this->check(1, 300, {}, {.padding = 15}));
}

TYPED_TEST(transposition_of_words, vectorized_refuses_gaps_on_one_side) {
    guarded<TypeParam> source = make<TypeParam>(6, 5, {.step = 2}), destination(5, 6, 6);
    const auto call = [&] {
        transpose<TypeParam>(source.matrix(), destination.matrix(), *this->stream,
                             {.algorithm = transpose_algorithm::vectorized});
    };
    EXPECT_THROW(call(), unsupported);
    EXPECT_TRUE(destination.untouched());
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
            EXPECT_TRUE(are_same_bits(destination.download(), reference(elements, rows, cols)));
        }
    }
}

class large_transposition : public transposition<std::uint8_t> {};

TEST_F(large_transposition, takes_more_tiles_than_a_grid_is_high) {
    ASSERT_NO_FATAL_FAILURE(check(2, 65535 * 256 + 300));  // vectorized: columns
    ASSERT_NO_FATAL_FAILURE(check(65535 * 32 + 70, 3));    // shared_memory: rows
    ASSERT_NO_FATAL_FAILURE(check(65535 * 8 + 9, 33));     // naive: rows
    ASSERT_NO_FATAL_FAILURE(check(65535 + 3, 7, {.padding = 1}, {.padding = 1, .column_major = true}));
}

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
    EXPECT_TRUE(are_same_bits(destination.download(), reference(points, 67, 35)));

    guarded<weekday> days(5, 9, 9), turned(9, 5, 5);
    const auto some_days = random_bits<weekday>(45);
    days.upload(some_days);
    transpose<weekday>(days.matrix(), turned.matrix(), *stream);
    EXPECT_TRUE(are_same_bits(turned.download(), reference(some_days, 5, 9)));
}

// All below are checked before any device is asked for: they run everywhere.

template <class T>
class host_transposition : public testing::Test {
  protected:
    static void check(std::int64_t rows, std::int64_t cols, const layout& from, const layout& to) {
        SCOPED_TRACE(testing::Message() << rows << " x " << cols);
        guarded<T> source = make<T>(rows, cols, from, guarded<T>::memory::host);
        guarded<T> destination = make<T>(cols, rows, to, guarded<T>::memory::host);
        const auto elements = random_bits<T>(rows * cols);
        source.upload(elements);
        host::transpose<T>(source.matrix(), destination.matrix());
        ASSERT_TRUE(are_same_bits(destination.download(), reference(elements, rows, cols)));
        ASSERT_TRUE(destination.canaries_alive());
        ASSERT_TRUE(source.untouched());
    }
};

TYPED_TEST_SUITE(host_transposition, transposed_types, test::type_names);

TYPED_TEST(host_transposition, takes_any_shape_and_layout) {
    const layout layouts[] = {
        {}, {.offset = 1, .padding = 3}, {.column_major = true}, {.padding = 1, .step = 2}};
    for (const auto& [rows, cols] :
         {std::pair{0, 5}, {5, 0}, {1, 1}, {1, 257}, {257, 1}, {31, 33}, {32, 64}, {3, 2011}, {301, 130}})
        for (const layout& from : layouts)
            for (const layout& to : layouts) ASSERT_NO_FATAL_FAILURE(this->check(rows, cols, from, to));
}

const cuda::stream_ref no_stream{cudaStream_t{}};

class transpose_arguments : public testing::Test {
  protected:
    using host = guarded<float>;
    using view = matrix_view<float>;

    host source{4, 6, 6, 0, 1, host::memory::host};
    host destination{6, 4, 4, 0, 1, host::memory::host};

    /// The device's message, which must be the host's but for its name.
    std::string message(view from, view to) {
        const std::string text = invalid_argument_of([&] { transpose<float>(from, to, no_stream); });
        EXPECT_EQ(invalid_argument_of([&] { host_transpose(from, to); }), "host::" + text);
        EXPECT_TRUE(source.untouched() && destination.untouched());
        return text;
    }

  private:
    static void host_transpose(view from, view to) { heddle::host::transpose<float>(from, to); }
};

TEST_F(transpose_arguments, shapes_must_agree) {
    EXPECT_EQ(message(source.matrix(), {destination.data(), 5, 4}),
              "transpose: destination.rows is 5, expected 6 (source.cols)");
    EXPECT_EQ(message(source.matrix(), {destination.data(), 6, 3}),
              "transpose: destination.cols is 3, expected 4 (source.rows)");
    EXPECT_EQ(message({source.data(), -4, 6}, destination.matrix()),
              "transpose: source.rows is -4, expected zero or more");
    EXPECT_EQ(message({source.data(), 4, -6}, destination.matrix()),
              "transpose: source.cols is -6, expected zero or more");
}

TEST_F(transpose_arguments, pointers_are_neither_null_nor_misaligned) {
    EXPECT_EQ(message({nullptr, 4, 6}, destination.matrix()),
              "transpose: source.data is null, expected a pointer to its elements");
    EXPECT_EQ(message(source.matrix(), {nullptr, 6, 4}),
              "transpose: destination.data is null, expected a pointer to its elements");
    auto* const off = reinterpret_cast<float*>(reinterpret_cast<std::uintptr_t>(source.data()) + 2);
    EXPECT_EQ(message({off, 4, 6}, destination.matrix()),
              "transpose: source.data is " + test::address_of(off) + ", expected a multiple of 4 bytes");
}

TEST_F(transpose_arguments, strides_step_over_a_row) {
    EXPECT_EQ(message(source.matrix(), {destination.data(), 6, 4, 3}),
              "transpose: destination.row_stride is 3, expected at least 4 (a row), or a col_stride of at "
              "least a column");
    EXPECT_EQ(message({source.data(), 4, 6, 6, 0}, destination.matrix()),
              "transpose: source.col_stride is 0, expected one or more");
}

TEST_F(transpose_arguments, bytes_are_countable) {
    constexpr std::int64_t huge = std::int64_t{1} << 62;
    EXPECT_EQ(message({source.data(), huge, 8}, {destination.data(), 8, huge}),
              "transpose: source.rows is 4611686018427387904, expected an extent whose bytes fit 63 bits");
}

TEST_F(transpose_arguments, destination_lies_apart_from_source) {
    const std::string text =
        "transpose: destination is a view that overlaps source, expected memory apart from it";
    const view square{source.data(), 4, 4};
    EXPECT_EQ(message(square, square), text);
    EXPECT_EQ(message(square, transposed(square)), text);
    EXPECT_EQ(message({source.data(), 2, 3}, {source.data() + 5, 3, 2}), text);
}

TEST_F(transpose_arguments, the_algorithm_is_one_of_the_enumerators) {
    EXPECT_EQ(invalid_argument_of([&] {
                  transpose<float>(source.matrix(), destination.matrix(), no_stream,
                                   {.algorithm = static_cast<transpose_algorithm>(99)});
              }),
              "transpose: options.algorithm is 99, expected an enumerator of transpose_algorithm");
}

TEST_F(transpose_arguments, empty_views_may_be_null) {
    const view no_rows{nullptr, 0, 6}, no_cols{nullptr, 6, 0};
    EXPECT_NO_THROW(transpose<float>(no_rows, no_cols, no_stream));
    EXPECT_NO_THROW(transpose<float>(no_cols, no_rows, no_stream));
    EXPECT_NO_THROW(heddle::host::transpose<float>(no_rows, no_cols));
}

TEST(transpose_algorithms, have_names) {
    for (const transpose_algorithm algorithm : every_algorithm()) EXPECT_NE(to_string(algorithm), "unknown");
    EXPECT_EQ(to_string(transpose_algorithm::shared_memory), "shared_memory");
    EXPECT_EQ(transpose_algorithms().size(), 3u);
}

TEST(transpose_selection, takes_packets_where_there_are_any_and_no_tile_for_a_strip) {
    const device_traits h200{.sm_count = 132};
    using enum transpose_algorithm;
    EXPECT_EQ(select(transpose_problem{.rows = 4096, .cols = 4096}, h200), vectorized);
    EXPECT_EQ(select(transpose_problem{.rows = 15, .cols = 1000}, h200), vectorized);
    EXPECT_EQ(select(transpose_problem{.rows = 4096, .cols = 4096, .unit_stride = false}, h200),
              shared_memory);
    EXPECT_EQ(select(transpose_problem{.rows = 1000, .cols = 16, .unit_stride = false}, h200), shared_memory);
    EXPECT_EQ(select(transpose_problem{.rows = 15, .cols = 1000, .unit_stride = false}, h200), naive);
    EXPECT_EQ(select(transpose_problem{.rows = 1, .cols = 1000, .is_copy = true}, h200), vectorized);
}

}  // namespace
}  // namespace heddle
