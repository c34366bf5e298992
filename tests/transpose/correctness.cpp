#include "tests/support/headers.hpp"

// Cases that tests/fuzz does not draw.
namespace heddle::test {
namespace {

/// Any bits at all: NaNs with payloads, infinities and denormals among them.
template <class T>
std::vector<T> random_bits(std::int64_t size) {
    static std::mt19937_64 generator(seed());
    std::vector<T> elements(static_cast<std::size_t>(size));
    for (T& element : elements) {
        const std::uint64_t bits = generator();
        std::memcpy(static_cast<void*>(&element), &bits, sizeof(T));
    }
    return elements;
}

template <class T>
std::vector<T> expected_transpose(const std::vector<T>& source, std::int64_t rows, std::int64_t cols) {
    std::vector<T> destination(source.size());
    for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t col = 0; col < cols; ++col)
            destination[static_cast<std::size_t>(col * rows + row)] =
                source[static_cast<std::size_t>(row * cols + col)];
    return destination;
}

/// Nothing is computed: every bit must equal the source's.
template <class T>
testing::AssertionResult are_same_bits(const std::vector<T>& actual, const std::vector<T>& expected) {
    if (actual.size() != expected.size()) return testing::AssertionFailure() << actual.size() << " elements";
    for (std::size_t i = 0; i < actual.size(); ++i)
        if (std::memcmp(&actual[i], &expected[i], sizeof(T)) != 0)
            return testing::AssertionFailure() << "element " << i << " differs";
    return testing::AssertionSuccess();
}

class transposition : public stream_fixture {};
using large_transposition = transposition;

TEST_F(transposition, works_between_column_ranges_of_one_matrix) {
    const std::int64_t side = 70, stride = 3 * side;
    for (const transpose_algorithm algorithm : with_automatic(transpose_algorithms())) {
        SCOPED_TRACE(to_string(algorithm));
        guarded<float> m(side, stride, stride);
        auto elements = random_bits<float>(side * stride);
        m.upload(elements);
        transpose<float>(matrix_view<float>{m.data(), side, side, stride},
                         matrix_view<float>{m.data() + 2 * side, side, side, stride}, *stream,
                         {.algorithm = algorithm});
        const auto at = [&](std::int64_t row, std::int64_t col) -> float& {
            return elements[static_cast<std::size_t>(row * stride + col)];
        };
        for (std::int64_t row = 0; row < side; ++row)
            for (std::int64_t col = 0; col < side; ++col) at(col, 2 * side + row) = at(row, col);
        EXPECT_TRUE(are_same_bits(m.download(), elements));
        EXPECT_TRUE(m.canaries_alive());
    }
}

struct alignas(8) point {
    float x, y;
};
enum class weekday : std::uint16_t {};

TEST_F(transposition, takes_any_trivially_copyable_type) {
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

TEST_F(large_transposition, takes_more_than_2_to_31_elements) {
    constexpr std::int64_t rows = 65539, cols = 32779;
    if (!has_free_memory(std::size_t{5} << 30)) GTEST_SKIP() << "needs 5 GiB of device memory";

    device_buffer<std::uint8_t> from(rows * cols, *stream), to(rows * cols, *stream);
    const std::array<std::pair<std::int64_t, std::int64_t>, 5> places = {
        {{0, 0}, {rows - 1, cols - 1}, {0, cols - 1}, {rows - 1, 0}, {rows - 5, 12345}}};
    fill_bytes(from, std::byte{1}, *stream);
    std::uint8_t value = 2;
    for (const auto& [row, col] : places) {
        const std::array<std::uint8_t, 1> element = {value++};
        copy_and_wait(element, vector_view<std::uint8_t>{from.data() + row * cols + col, 1}, *stream);
    }
    for (const transpose_algorithm algorithm : with_automatic(transpose_algorithms())) {
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

TEST_F(large_transposition, takes_more_tiles_than_a_grid_is_high) {
    constexpr std::pair<std::int64_t, std::int64_t> shapes[] = {
        {2, 65535 * 256 + 300},  // vectorized: columns
        {65535 * 128 + 70, 3},   // shared_memory: rows
        {65535 * 8 + 9, 33}};    // naive: rows
    for (const auto& [rows, cols] : shapes)
        for (const transpose_algorithm algorithm : with_automatic(transpose_algorithms())) {
            SCOPED_TRACE(testing::Message() << rows << " x " << cols << ' ' << to_string(algorithm));
            const auto elements = random_bits<std::uint8_t>(rows * cols);
            guarded<std::uint8_t> source(rows, cols, cols), destination(cols, rows, rows);
            source.upload(elements);
            transpose<std::uint8_t>(source.matrix(), destination.matrix(), *stream, {.algorithm = algorithm});
            stream->synchronize();
            ASSERT_TRUE(are_same_bits(destination.download(), expected_transpose(elements, rows, cols)));
            ASSERT_TRUE(destination.canaries_alive());
        }
}

}  // namespace
}  // namespace heddle::test
