#include "tests/image_filter/filters.hpp"

namespace heddle::test {
namespace {

TEST_F(image_filter, large_rows_of_more_than_2_to_29_values) {
    constexpr std::int64_t width = (std::int64_t{1} << 29) + 5;
    if (!has_free_memory(std::size_t{6} << 29)) GTEST_SKIP() << "needs 3 GB of free device memory";
    device_buffer<std::uint8_t> source(width, *stream);
    device_buffer<float> destination(width, *stream);
    fill_bytes(source, std::byte{7}, *stream);
    const image_view<const std::uint8_t> from{source.data(), width, 1};
    const image_view<float> to{destination.data(), width, 1};
    const std::string text = error_of<unsupported>(
        [&] { laplacian<std::uint8_t>(from, to, *stream, {.algorithm = algorithm::register_window}); });
    EXPECT_EQ(
        text.substr(0, text.rfind(", ")),
        "laplacian: register_window takes rows of at most 2^29 values; given: width 536870917, height 1, "
        "channels 1, images 1");
    laplacian<std::uint8_t>(from, to, *stream, {.border = border::constant, .border_value = 9});
    std::array<float, 2> ends{};
    copy_and_wait(vector_view<const float>{destination.data(), 2, width - 1},
                  vector_view<float>{ends.data(), 2}, *stream);
    EXPECT_EQ(ends[0], 9 + 7 + 9 + 9 - 4 * 7);
    EXPECT_EQ(ends[1], ends[0]);
}

}  // namespace
}  // namespace heddle::test
