#include "tests/support/headers.hpp"

// From planes of channels to interleaved channels, and back: cases that tests/fuzz does not draw.
namespace heddle::test {
namespace {

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
