#include "tests/support/headers.hpp"

// Cases that tests/fuzz does not draw, and arguments that are refused.
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

class large_planes : public gpu_test {};

TEST_F(large_planes, are_more_matrices_than_a_grid_is_deep) {
    constexpr std::int64_t count = 66000, channels = 33, pixels = 34;
    const stream s;
    std::vector<half> in_planes(count * channels * pixels), in_pixels(in_planes.size());
    for (std::int64_t n = 0; n < count; ++n)
        for (std::int64_t c = 0; c < channels; ++c)
            for (std::int64_t i = 0; i < pixels; ++i) {
                const auto value = static_cast<half>(static_cast<float>((n + 7 * c + 3 * i) % 2039));
                in_planes[static_cast<std::size_t>((n * channels + c) * pixels + i)] = value;
                in_pixels[static_cast<std::size_t>((n * pixels + i) * channels + c)] = value;
            }
    const auto size = static_cast<std::int64_t>(in_planes.size());
    guarded<half> planes(size), of_pixels(size), back(size);
    planes.upload(in_planes);
    const tensor_view<half> tensor{of_pixels.data(), count, 1, pixels, channels};
    to_nhwc<half>(planes_view<half>{planes.data(), count, channels, 1, pixels}, tensor, s);
    to_nchw<half>(tensor, planes_view<half>{back.data(), count, channels, 1, pixels}, s);
    s.synchronize();
    const auto same = [](const std::vector<half>& a, const std::vector<half>& b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                          [](half x, half y) { return static_cast<float>(x) == static_cast<float>(y); });
    };
    EXPECT_TRUE(same(of_pixels.download(), in_pixels));
    EXPECT_TRUE(same(back.download(), in_planes));
    EXPECT_TRUE(of_pixels.canaries_alive() && back.canaries_alive());
}

TEST(planes_arguments, are_checked) {
    std::vector<float> memory(1000);
    float* const p = memory.data();
    const planes_view<float> planes{p, 2, 3, 4, 5};
    const tensor_view<float> pixels{p + 500, 2, 4, 5, 3};
    const auto message = [&](const planes_view<float>& from, const tensor_view<float>& to) {
        return invalid_argument_of([&] { to_nhwc<float>(from, to, no_stream); });
    };
    EXPECT_EQ(message(planes, {p + 500, 3, 4, 5, 3}),
              "to_nhwc: destination.count is 3, expected 2 (source.count)");
    EXPECT_EQ(message(planes, {p + 500, 2, 4, 5, 4}),
              "to_nhwc: destination.channels is 4, expected 3 (source.channels)");
    EXPECT_EQ(message({p, 2, 3, 4, 5, 4}, pixels),
              "to_nhwc: source.row_stride is 4, expected at least 5: what lies within it");
    EXPECT_EQ(message({p, 2, 3, 4, 5, 5, 19}, pixels),
              "to_nhwc: source.channel_stride is 19, expected at least 20: what lies within it");
    EXPECT_EQ(message({p, 2, 3, -4, 5}, pixels), "to_nhwc: source.height is -4, expected zero or more");
    EXPECT_EQ(message({nullptr, 2, 3, 4, 5}, pixels),
              "to_nhwc: source.data is null, expected a pointer to its elements");
    EXPECT_EQ(message(planes, {p + 100, 2, 4, 5, 3}),
              "to_nhwc: destination is a view that overlaps source, expected memory apart from it");
    expect_error("to_nchw: destination.height is 5, expected 4 (source.height)", [&] {
        to_nchw<float>(pixels, {p, 2, 3, 5, 4}, no_stream);
    });
    expect_error("host::to_nchw: destination.count is 1, expected 2 (source.count)", [&] {
        host::to_nchw<float>(pixels, {p, 1, 3, 4, 5});
    });
    EXPECT_NO_THROW(to_nhwc<float>({nullptr, 0, 3, 4, 5}, {nullptr, 0, 4, 5, 3}, no_stream));
}

}  // namespace
}  // namespace heddle::test
