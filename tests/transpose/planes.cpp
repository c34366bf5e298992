#include "tests/support/gpu.hpp"
#include "tests/support/guarded_tensor.hpp"
#include "tests/support/numeric.hpp"
#include "tests/support/provoked.hpp"
#include "tests/support/random.hpp"
#include "tests/support/watchdog.hpp"
#include <heddle/host.hpp>
#include <heddle/planes.hpp>
#include <heddle/stream.hpp>
#include <heddle/types.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

// From planes of channels to pixels of channels, and back.
namespace heddle {
namespace {

using test::guarded_tensor;
using test::tensor_gaps;

struct shape {
    std::int64_t count, channels, height, width;
};

std::string text(const shape& s) {
    return std::to_string(s.count) + "x" + std::to_string(s.channels) + "x" + std::to_string(s.height) + "x" +
           std::to_string(s.width);
}

/// Strips and tiles, one less and one more; more images than rows, and fewer; more matrices than a grid is deep.
constexpr shape shapes[] = {
    {1, 1, 1, 1},   {3, 1, 5, 7},     {2, 3, 1, 9},    {4, 3, 31, 33},   {2, 4, 16, 16},     {2, 16, 9, 8},
    {3, 17, 7, 7},  {2, 33, 8, 8},    {2, 64, 8, 8},   {5, 65, 7, 9},    {1, 96, 14, 14},    {2, 130, 12, 20},
    {1, 257, 3, 5}, {3, 129, 16, 17}, {2, 256, 16, 8}, {70000, 2, 1, 3}, {66000, 40, 1, 35},
};
constexpr tensor_gaps all_gaps[] = {{},         {.offset = 1}, {.offset = 8}, {.pixel = 1}, {.pixel = 8},
                                    {.row = 3}, {.image = 1},  {8, 8, 16, 8}, {1, 2, 3, 1}};

/// Rows of planes are where pixels of a tensor would be.
template <class T>
planes_view<T> planes_of(const tensor_view<T>& t) {
    return {t.data, t.count, t.height, t.width, t.channels, t.col_stride, t.row_stride, t.image_stride};
}

template <class T>
struct operands {
    shape s;
    std::vector<T> in_planes, in_pixels;
    guarded_tensor<T> planes, pixels;

    operands(const shape& size, const tensor_gaps& of_planes, const tensor_gaps& of_pixels, bool is_on_host)
        : s(size),
          in_planes(test::random_elements<T>(s.count * s.channels * s.height * s.width)),
          in_pixels(in_planes.size()),
          planes(s.count, s.channels, s.height, s.width, of_planes, is_on_host),
          pixels(s.count, s.height, s.width, s.channels, of_pixels, is_on_host) {
        const std::int64_t area = s.height * s.width;
        for (std::int64_t n = 0; n < s.count; ++n)
            for (std::int64_t c = 0; c < s.channels; ++c)
                for (std::int64_t i = 0; i < area; ++i)
                    in_pixels[static_cast<std::size_t>((n * area + i) * s.channels + c)] =
                        in_planes[static_cast<std::size_t>((n * s.channels + c) * area + i)];
    }

    /// Both ways; call(source, destination) does one.
    template <class Call>
    void check(const Call& call) {
        const std::vector<T> nothing(in_planes.size());
        planes.upload(in_planes);
        pixels.upload(nothing);
        call(planes_of(planes.tensor()), pixels.tensor());
        expect_same(pixels, in_pixels);
        ASSERT_TRUE(pixels.canaries_alive());
        ASSERT_TRUE(planes.untouched());
        pixels.upload(in_pixels);
        planes.upload(nothing);
        call(pixels.tensor(), planes_of(planes.tensor()));
        expect_same(planes, in_planes);
        ASSERT_TRUE(planes.canaries_alive());
        ASSERT_TRUE(pixels.untouched());
    }

  private:
    static void expect_same(guarded_tensor<T>& tensor, const std::vector<T>& expected) {
        const std::vector<T> actual = tensor.download();
        EXPECT_EQ(std::memcmp(actual.data(), expected.data(), expected.size() * sizeof(T)), 0);
    }
};

template <class T>
class planes_and_pixels : public test::gpu_test {
  protected:
    void SetUp() override {
        gpu_test::SetUp();
        if (is_set_up()) stream.emplace();
    }

    void check(const shape& s, const tensor_gaps& of_planes, const tensor_gaps& of_pixels) {
        SCOPED_TRACE(text(s));
        operands<T> p(s, of_planes, of_pixels, false);
        p.check([&](const auto& source, const auto& destination) {
            if constexpr (requires { to_nhwc<T>(source, destination, *stream); })
                to_nhwc<T>(source, destination, *stream);
            else
                to_nchw<T>(source, destination, *stream);
            test::synchronize(*stream, text(s));
        });
    }

    std::optional<heddle::stream> stream;
};
using types = testing::Types<float, half, bfloat16>;
TYPED_TEST_SUITE(planes_and_pixels, types, test::type_names);

TYPED_TEST(planes_and_pixels, of_every_shape_become_each_other) {
    for (const shape& s : shapes) ASSERT_NO_FATAL_FAILURE(this->check(s, {}, {}));
}

TYPED_TEST(planes_and_pixels, take_every_address_and_stride) {
    for (const shape& s : {shape{2, 3, 9, 8}, {2, 64, 8, 16}, {3, 70, 2, 35}})
        for (const tensor_gaps& gaps : all_gaps) {
            ASSERT_NO_FATAL_FAILURE(this->check(s, gaps, {}));
            ASSERT_NO_FATAL_FAILURE(this->check(s, {}, gaps));
            ASSERT_NO_FATAL_FAILURE(this->check(s, gaps, gaps));
        }
}

TYPED_TEST(planes_and_pixels, are_drawn) {
    constexpr int draws = 60;  // of each type
    test::drawing draw;
    const auto extent = [&](std::int64_t most) { return draw(0, 4) == 0 ? 1 : draw(1, most); };
    const auto gaps = [&]() -> tensor_gaps {
        if (draw(0, 1) == 0) return {};
        return {draw(0, 1) * draw(0, 9), draw(0, 1) * draw(0, 9), draw(0, 1) * draw(0, 9), draw(0, 8)};
    };
    for (int i = 0; i < draws; ++i) {
        const shape s{draw(1, 4), extent(200), extent(24), extent(40)};
        const tensor_gaps of_planes = gaps(), of_pixels = gaps();
        SCOPED_TRACE("draw " + std::to_string(i));
        ASSERT_NO_FATAL_FAILURE(this->check(s, of_planes, of_pixels));
    }
}

template <class T>
class host_planes : public testing::Test {};
TYPED_TEST_SUITE(host_planes, types, test::type_names);

TYPED_TEST(host_planes, become_pixels_and_back) {
    using T = TypeParam;
    for (const shape& s : shapes)
        for (const tensor_gaps& gaps : {tensor_gaps{}, tensor_gaps{1, 2, 3, 1}}) {
            if (s.count > 1000) continue;
            operands<T> p(s, gaps, gaps, true);
            ASSERT_NO_FATAL_FAILURE(p.check([](const auto& source, const auto& destination) {
                if constexpr (requires { host::to_nhwc<T>(source, destination); })
                    host::to_nhwc<T>(source, destination);
                else
                    host::to_nchw<T>(source, destination);
            }));
        }
}

TEST(planes_arguments, are_checked) {
    using test::invalid_argument_of;
    const cuda::stream_ref no_stream{cudaStream_t{}};
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
    EXPECT_EQ(invalid_argument_of([&] {
                  to_nchw<float>(pixels, {p, 2, 3, 5, 4}, no_stream);
              }),
              "to_nchw: destination.height is 5, expected 4 (source.height)");
    EXPECT_EQ(invalid_argument_of([&] {
                  host::to_nchw<float>(pixels, {p, 1, 3, 4, 5});
              }),
              "host::to_nchw: destination.count is 1, expected 2 (source.count)");
    EXPECT_NO_THROW(to_nhwc<float>({nullptr, 0, 3, 4, 5}, {nullptr, 0, 4, 5, 3}, no_stream));
}

}  // namespace
}  // namespace heddle
