#include "tests/transpose/transposition.hpp"

#include <utility>

namespace heddle {
namespace {

using test::every_algorithm;
using test::row_layout;

template <class T>
using transpose_edges = test::transposition<T>;
TYPED_TEST_SUITE(transpose_edges, test::words, test::type_names);

/// Tiles are of 32, 64, 128 and 256 elements. Of so few tiles those of small elements are small.
TYPED_TEST(transpose_edges, takes_every_edge_of_a_tile) {
    const std::int64_t extents[] = {0, 1, 2, 7, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257};
    for (const std::int64_t rows : extents)
        for (const std::int64_t cols : extents) ASSERT_NO_FATAL_FAILURE(this->check(rows, cols));
}

/// More tiles than a device has multiprocessors. At the edge packets end, or elements beside them.
TYPED_TEST(transpose_edges, takes_every_edge_of_many_tiles) {
    const std::vector<transpose_algorithm> vectorized = {transpose_algorithm::vectorized};
    for (const std::int64_t rest : {1, 4, 15, 16, 20, 127})
        for (const std::int64_t multiple : {1, 4, 16}) {
            const std::int64_t rows = 12 * 128 + rest, cols = 12 * 256 + 2 * rest;
            const auto padding = [&](std::int64_t extent) { return multiple - extent % multiple; };
            ASSERT_NO_FATAL_FAILURE(this->check(rows, cols, {.offset = multiple, .padding = padding(cols)},
                                                {.padding = padding(rows)}, vectorized));
        }
}

TYPED_TEST(transpose_edges, takes_skinny_matrices) {
    for (const std::int64_t narrow : {1, 2, 3, 5, 8, 15, 16, 17, 24, 31, 32, 33, 64})
        for (const std::int64_t length : {1009, 20000}) {
            ASSERT_NO_FATAL_FAILURE(this->check(narrow, length));
            ASSERT_NO_FATAL_FAILURE(this->check(length, narrow));
            ASSERT_NO_FATAL_FAILURE(
                this->check(length, narrow, {.offset = 1, .padding = 64}, {.padding = 3}));
            ASSERT_NO_FATAL_FAILURE(this->check(narrow, length, {.padding = 5}, {.offset = 3, .padding = 1}));
        }
}

TYPED_TEST(transpose_edges, takes_padded_rows_and_any_alignment) {
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
            const row_layout from{.offset = offset, .padding = 256 + 16 * multiple - cols % multiple};
            ASSERT_NO_FATAL_FAILURE(this->check(272, cols, from, {.padding = multiple}));
            ASSERT_NO_FATAL_FAILURE(
                this->check(272, cols, {.padding = 256 - cols % 16 + 16}, {.offset = offset}));
        }
}

TYPED_TEST(transpose_edges, takes_transposed_views_on_either_side) {
    const row_layout row_major{.padding = 3}, column_major{.padding = 5, .column_major = true};
    for (const auto& [rows, cols] :
         {std::pair{61, 130}, {130, 61}, {1, 130}, {130, 1}, {256, 256}, {5, 300}}) {
        ASSERT_NO_FATAL_FAILURE(this->check(rows, cols, column_major, column_major));
        // Copies of rows.
        for (const std::int64_t offset : {0, 1, 2, 4}) {
            row_layout from = row_major, to = column_major;
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

TYPED_TEST(transpose_edges, takes_gaps_between_columns) {
    const std::vector<transpose_algorithm> any_layout = {
        transpose_algorithm::naive, transpose_algorithm::shared_memory, transpose_algorithm::automatic};
    for (const auto& [rows, cols] : {std::pair{31, 70}, {70, 129}, {1, 200}, {200, 1}, {3, 200}})
        for (const row_layout& gaps :
             {row_layout{.step = 2}, row_layout{.padding = 1, .step = 3, .column_major = true}}) {
            ASSERT_NO_FATAL_FAILURE(this->check(rows, cols, gaps, {}, any_layout));
            ASSERT_NO_FATAL_FAILURE(this->check(rows, cols, {.padding = 4}, gaps, any_layout));
            ASSERT_NO_FATAL_FAILURE(this->check(rows, cols, gaps, gaps, any_layout));
        }
    // A column of a matrix is a vector whichever way it is called, and a copy of it.
    ASSERT_NO_FATAL_FAILURE(this->check(300, 1, {.padding = 6}, {}));
    ASSERT_NO_FATAL_FAILURE(this->check(1, 300, {}, {.padding = 15}));
}

class large_transpose_edges : public test::transposition<std::uint8_t> {};

TEST_F(large_transpose_edges, takes_more_tiles_than_a_grid_is_high) {
    ASSERT_NO_FATAL_FAILURE(check(2, 65535 * 256 + 300));  // vectorized: columns
    ASSERT_NO_FATAL_FAILURE(check(65535 * 128 + 70, 3));   // shared_memory: rows
    ASSERT_NO_FATAL_FAILURE(check(65535 * 8 + 9, 33));     // naive: rows
    ASSERT_NO_FATAL_FAILURE(check(65535 + 3, 7, {.padding = 1}, {.padding = 1, .column_major = true}));
}

}  // namespace
}  // namespace heddle
