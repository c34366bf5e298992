#include "tests/support/gate.hpp"
#include "tests/support/headers.hpp"

namespace heddle::test {
namespace {

template <class Source, class Destination>
concept can_copy = requires(Source source, Destination destination, cuda::stream_ref stream) {
    copy(source, destination, stream);
    copy_and_wait(source, destination, stream);
};

static_assert(can_copy<const std::vector<float>&, device_buffer<float>&>);
static_assert(can_copy<const device_buffer<float>&, std::vector<float>&>);
static_assert(can_copy<std::span<const float>, std::span<float>>);
static_assert(can_copy<const std::array<float, 3>&, vector_view<float>>);
static_assert(can_copy<const float (&)[3], pinned_buffer<float>&>);
static_assert(can_copy<matrix_view<const float>, matrix_view<float>>);
static_assert(can_copy<image_view<float>, image_view<float>>);
static_assert(!can_copy<const std::vector<float>&, device_buffer<double>&>, "of one type only");
static_assert(!can_copy<std::vector<float>&, const device_buffer<float>&>);
static_assert(!can_copy<matrix_view<float>, matrix_view<const float>>);
static_assert(!can_copy<std::vector<std::string>&, std::vector<std::string>&>, "bytes do not make a string");

// Arguments are checked before any driver call, so these run without a GPU.

TEST(copy_arguments, have_extents_and_strides_that_fit) {
    std::vector<float> memory(100, 7.0F);
    float* const p = memory.data();
    const matrix_view<float> m{p, 3, 4}, wider{p + 50, 3, 5}, close{p + 50, 3, 4, 3};
    const vector_view<float> four{p, 4}, five{p + 50, 5}, negative{p, -1}, null{nullptr, 3};
    const auto refuses = [](const std::string& text, const auto& source, const auto& destination) {
        expect_error("copy: " + text, [&] { heddle::copy(source, destination, no_stream); });
    };
    const auto refuses_to_fill = [](const std::string& text, const auto& destination) {
        expect_error("fill: destination." + text, [&] { fill_zero(destination, no_stream); });
    };
    refuses("destination.size is 5, expected 4 (source.size)", four, five);
    refuses("destination.cols is 5, expected 4 (source.cols)", m, wider);
    refuses("destination.rows is 4, expected 3 (source.rows)", m, transposed(m));
    refuses("source.size is -1, expected zero or more", negative, negative);
    refuses("destination.data is null, expected a pointer to its elements", vector_view{p, 3}, null);
    refuses("source.data is null, expected a pointer to its elements", null, vector_view{p, 3});
    refuses("destination.row_stride is 3, expected at least 4", m, close);
    refuses("source.row_stride is 3, expected at least 4", close, m);
    refuses("destination.col_stride is 3, expected at least 4", transposed(m), transposed(close));
    refuses_to_fill("cols is -2, expected zero or more", matrix_view{p, 2, -2});
    refuses_to_fill("data is null, expected a pointer to its elements", null);
    refuses_to_fill("stride is 0, expected at least 1", vector_view{p, 3, 0});
    EXPECT_EQ(memory, std::vector<float>(100, 7.0F));
}

TEST(copy_arguments, nothing_is_done_for_zero_elements) {
    std::vector<float> empty;
    const matrix_view<float> no_rows{nullptr, 0, 5};
    const matrix_view<float> no_cols{nullptr, 5, 0};
    EXPECT_NO_THROW(heddle::copy(empty, device_buffer<float>(), no_stream));
    EXPECT_NO_THROW(heddle::copy(no_rows, no_rows, no_stream));
    EXPECT_NO_THROW(heddle::copy(no_cols, no_cols, no_stream));
    EXPECT_NO_THROW(fill_zero(no_rows, no_stream));
    EXPECT_NO_THROW(fill_zero(empty, no_stream));
}

TEST(copy_arguments, bytes_must_be_countable) {
    float element = 0;
    const matrix_view<float> vast{&element, 3, 1, std::numeric_limits<std::int64_t>::max() / 2};
    EXPECT_THROW(fill_zero(vast, no_stream), invalid_argument);
    EXPECT_THROW(fill_zero(vector_view{&element, std::numeric_limits<std::int64_t>::max()}, no_stream),
                 invalid_argument);
}

TEST(copy_arguments, images_have_extents_that_make_sense) {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    std::vector<float> memory(100, 7.0F);
    const auto expect_refused = [&](std::int64_t width, std::int64_t height, std::int64_t channels,
                                    std::int64_t row_stride, const std::string& rest) {
        const image_view<float> source{memory.data(), width, height, channels, row_stride};
        const image_view<float> destination{memory.data() + 50, width, height, channels, row_stride};
        expect_error("copy: source." + rest, [&] { heddle::copy(source, destination, no_stream); });
        expect_error("fill: destination." + rest, [&] { fill_zero(destination, no_stream); });
    };
    expect_refused(-2, 3, 4, 8, "width is -2, expected zero or more");
    expect_refused(2, 3, -4, 8, "channels is -4, expected zero or more");
    expect_refused(-2, 3, -4, 8, "width is -2, expected zero or more");  // their product is positive
    expect_refused(2, -3, 4, 8, "height is -3, expected zero or more");
    // Rows of more values than can be counted: the product wraps to 0 or below.
    for (const std::int64_t width : {std::int64_t{1} << 62, most / 2}) {
        expect_refused(width, 2, 4, 8, "row_stride is 8, expected at least " + std::to_string(most));
        const std::string too_wide =
            "width * channels is " + std::to_string(most) + ", expected an extent whose bytes fit 63 bits";
        expect_refused(width, 2, 4, most, too_wide);
        expect_refused(width, 1, 4, 8, too_wide);
    }
    EXPECT_EQ(memory, std::vector<float>(100, 7.0F));
}

TEST(copy_arguments, overlap_is_refused) {
    std::vector<int> memory(10);
    std::iota(memory.begin(), memory.end(), 0);
    const std::vector<int> before = memory;
    const std::span<int> all(memory);
    EXPECT_THROW(heddle::copy(all, all, no_stream), invalid_argument);
    EXPECT_THROW(heddle::copy(all.first(6), all.last(6), no_stream), invalid_argument);
    EXPECT_THROW(heddle::copy(all.last(6), all.first(6), no_stream), invalid_argument);
    EXPECT_EQ(memory, before);

    const matrix_view<int> left{memory.data(), 2, 3, 5};
    const matrix_view<int> shifted{memory.data() + 2, 2, 3, 5};
    EXPECT_THROW(heddle::copy(left, shifted, no_stream), invalid_argument);
    EXPECT_EQ(memory, before);
}

TEST(copy_arguments, transposing_is_not_copying) {
    std::vector<float> memory(100);
    const matrix_view<float> row_major{memory.data(), 4, 4};
    const matrix_view<float> column_major = transposed(matrix_view<float>{memory.data() + 50, 4, 4});
    EXPECT_EQ(error_of<unsupported>([&] { heddle::copy(row_major, column_major, no_stream); }),
              "copy: source and destination must both be row-major, or both be transposed; given: "
              "source.row_stride 4, source.col_stride 1, destination.row_stride 1, destination.col_stride 4");
    EXPECT_EQ(error_of<unsupported>([&] {
                  fill_zero(matrix_view{memory.data(), 3, 3, 10, 2}, no_stream);
              }),
              "fill: destination must be row-major or transposed; given: destination.row_stride 10, "
              "destination.col_stride 2");
}

struct shape {
    std::int64_t rows;
    std::int64_t cols;
    std::int64_t source_stride;
    std::int64_t destination_stride;

    friend std::ostream& operator<<(std::ostream& out, const shape& s) {
        return out << s.rows << "x" << s.cols << ", strides " << s.source_stride << " and "
                   << s.destination_stride;
    }
};

class matrix_copy : public gpu_test, public testing::WithParamInterface<shape> {};

template <class T>
std::vector<T> numbered(std::int64_t size) {
    std::vector<T> values(static_cast<std::size_t>(size));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(i * 7 + 1);
    return values;
}

template <class T>
void expect_copies(const shape& s, typename guarded<T>::memory source_memory,
                   typename guarded<T>::memory destination_memory, bool as_transposed) {
    const stream on;
    guarded<T> source(s.rows, s.cols, s.source_stride, 1, 1, source_memory);
    guarded<T> destination(s.rows, s.cols, s.destination_stride, 3, 1, destination_memory);
    const std::vector<T> values = numbered<T>(s.rows * s.cols);
    source.upload(values);
    if (as_transposed)
        copy_and_wait(transposed(source.matrix()), transposed(destination.matrix()), on);
    else
        copy_and_wait(source.matrix(), destination.matrix(), on);

    const std::vector<T> copied = destination.download();
    EXPECT_EQ(std::memcmp(copied.data(), values.data(), values.size() * sizeof(T)), 0);
    EXPECT_TRUE(destination.canaries_alive());
    EXPECT_TRUE(source.untouched());
}

template <class T>
void expect_copies_everywhere(const shape& s) {
    using memory = typename guarded<T>::memory;
    for (const memory from : {memory::host, memory::device})
        for (const memory to : {memory::host, memory::device})
            for (const bool as_transposed : {false, true}) expect_copies<T>(s, from, to, as_transposed);
}

TEST_P(matrix_copy, moves_every_element_and_no_more) {
    expect_copies_everywhere<std::uint8_t>(GetParam());
    expect_copies_everywhere<float>(GetParam());
    expect_copies_everywhere<double>(GetParam());
}

TEST_P(matrix_copy, fills_every_element_and_no_more) {
    const shape& s = GetParam();
    const stream on;
    guarded<float> destination(s.rows, s.cols, s.destination_stride, 1);
    fill_zero(destination.matrix(), on);
    const auto is_zero = [](float each) { return each == 0; };
    EXPECT_TRUE(std::ranges::all_of(destination.download(), is_zero));
    EXPECT_TRUE(destination.canaries_alive());

    fill_bytes(transposed(destination.matrix()), std::byte{0x3f}, on);
    const auto is_filled = [](float each) {
        std::array<unsigned char, sizeof(float)> bytes{};
        std::memcpy(bytes.data(), &each, sizeof(float));
        return std::ranges::all_of(bytes, [](unsigned char byte) { return byte == 0x3f; });
    };
    EXPECT_TRUE(std::ranges::all_of(destination.download(), is_filled));
    EXPECT_TRUE(destination.canaries_alive());
}

INSTANTIATE_TEST_SUITE_P(shapes, matrix_copy,
                         testing::Values(shape{1, 1, 1, 1}, shape{1, 1, 9, 4}, shape{1, 1000, 1000, 2000},
                                         shape{1000, 1, 1, 1}, shape{1000, 1, 3, 7}, shape{17, 31, 31, 31},
                                         shape{17, 31, 40, 31}, shape{17, 31, 31, 33}, shape{17, 31, 37, 64},
                                         shape{513, 1025, 1025, 1027}));

class copy_test : public gpu_test {};

TEST_F(copy_test, takes_strided_vectors) {
    const stream s;
    const std::vector<int> values = numbered<int>(1000);
    guarded<int> every_third(1, 1000, 3000, 0, 3);
    std::vector<int> back(values.size());
    heddle::copy(values, every_third.vector(), s);
    copy_and_wait(every_third.vector(), back, s);
    EXPECT_EQ(back, values);
    EXPECT_TRUE(every_third.canaries_alive());
}

TEST_F(copy_test, takes_padded_images) {
    const stream s;
    const std::vector<std::uint8_t> values = numbered<std::uint8_t>(20 * 13 * 3);
    guarded<std::uint8_t> padded(13, 20 * 3, 64);
    copy_and_wait(image_view{values.data(), 20, 13, 3}, image_view{padded.data(), 20, 13, 3, 64}, s);
    EXPECT_EQ(padded.download(), values);
    EXPECT_TRUE(padded.canaries_alive());
}

TEST_F(copy_test, takes_columns_of_one_matrix_side_by_side) {
    const stream s;
    device_buffer<int> both(10 * 8, s);
    const std::vector<int> values = numbered<int>(10 * 8);
    heddle::copy(values, both, s);
    heddle::copy(matrix_view<const int>{both.data(), 10, 4, 8}, matrix_view<int>{both.data() + 4, 10, 4, 8},
                 s);
    std::vector<int> result(values.size());
    copy_and_wait(both, result, s);
    for (std::size_t i = 0; i < result.size(); ++i) EXPECT_EQ(result[i], values[i % 8 < 4 ? i : i - 4]);
}

TEST_F(copy_test, takes_rows_further_apart_than_the_runtimes_pitch) {
    const stream s;
    constexpr std::int64_t stride = (std::int64_t{1} << 31) + 5;
    constexpr std::int64_t rows = 2;
    constexpr std::int64_t cols = 3;
    device_buffer<std::uint8_t> far((rows - 1) * stride + cols + 1, s);
    const matrix_view<std::uint8_t> apart{far.data(), rows, cols, stride};
    const std::array<std::uint8_t, rows * cols> values{1, 2, 3, 4, 5, 6};
    std::array<std::uint8_t, rows * cols> back{};
    fill_bytes(far, std::byte{9}, s);
    heddle::copy(matrix_view<const std::uint8_t>{values.data(), rows, cols}, apart, s);
    copy_and_wait(apart, matrix_view<std::uint8_t>{back.data(), rows, cols}, s);
    EXPECT_EQ(back, values);

    fill_zero(apart, s);
    copy_and_wait(apart, matrix_view<std::uint8_t>{back.data(), rows, cols}, s);
    EXPECT_EQ(back, (std::array<std::uint8_t, rows * cols>{}));
    std::array<std::uint8_t, 2> beside{};  // the elements behind the rows
    copy_and_wait(vector_view<const std::uint8_t>{far.data() + cols, rows, stride}, beside, s);
    EXPECT_EQ(beside, (std::array<std::uint8_t, 2>{9, 9}));
}

TEST_F(copy_test, from_pinned_memory_does_not_wait) {
    constexpr std::int64_t size = 100000;
    const stream s;
    pinned_buffer<int> source(size);
    pinned_buffer<int> result(size);
    device_buffer<int> on_device(size, s);
    std::ranges::fill(source, 1);
    std::ranges::fill(result, 0);
    gate gate;
    gate.hold(s);
    heddle::copy(source, on_device, s);
    heddle::copy(on_device, result, s);
    EXPECT_FALSE(s.is_done());
    EXPECT_EQ(result[0], 0);

    std::ranges::fill(source, 2);  // the copy must see the values at the time that it runs
    gate.open();
    s.synchronize();
    EXPECT_TRUE(std::ranges::all_of(result, [](int each) { return each == 2; }));
}

TEST_F(copy_test, and_wait_waits) {
    const stream s;
    device_buffer<int> on_device(1000000, s);
    pinned_buffer<int> source(1000000);
    copy_and_wait(source, on_device, s);
    EXPECT_TRUE(s.is_done());
}

class copy_error : public provoked_error_test {};

TEST_F(copy_error, pageable_memory_cannot_be_filled) {
    const stream s;
    std::vector<int> pageable(1000, 5);
    EXPECT_THROW(fill_zero(pageable, s), cuda_error);
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
    EXPECT_EQ(pageable, std::vector<int>(1000, 5));
}

}  // namespace
}  // namespace heddle::test
