#include "examples/blur_image/compare.hpp"
#include "examples/support/image.hpp"
#include "examples/support/program.hpp"
#include "examples/support/test_support.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <random>
#include <stdexcept>
#include <string>
#include <system_error>
#include <variant>
#include <vector>

namespace examples {
namespace {

namespace fs = std::filesystem;

template <class T>
image<T> random_image(std::int64_t width, std::int64_t height, std::int64_t channels) {
    image<T> picture = make_image<T>(width, height, channels);
    std::mt19937 generator(1);
    for (T& value : picture.pixels) value = static_cast<T>(generator());
    return picture;
}

template <class T>
class png_of : public testing::Test {};
using depths = testing::Types<std::uint8_t, std::uint16_t>;
TYPED_TEST_SUITE(png_of, depths);

TYPED_TEST(png_of, any_channels_comes_back_as_it_went) {
    for (const std::int64_t channels : {1, 2, 3, 4}) {
        const auto written = random_image<TypeParam>(37, 23, channels);
        const fs::path file = temporary(std::to_string(8 * sizeof(TypeParam)) + "-bit.png");
        write_image(file, written);
        const any_image any = read_image(file);
        ASSERT_TRUE(std::holds_alternative<image<TypeParam>>(any));
        const auto& read = std::get<image<TypeParam>>(any);
        EXPECT_EQ(read.width, written.width);
        EXPECT_EQ(read.height, written.height);
        EXPECT_EQ(read.channels, channels);
        EXPECT_EQ(read.pixels, written.pixels);
    }
}

TEST(png, of_16_bit_by_another_program) {
    const any_image any = read_image(fs::path(HEDDLE_EXAMPLE_DATA) / "coffee-16-bit.png");
    ASSERT_TRUE(std::holds_alternative<image<std::uint16_t>>(any));
    const auto& picture = std::get<image<std::uint16_t>>(any);
    ASSERT_EQ(picture.width, 60);
    ASSERT_EQ(picture.height, 40);
    ASSERT_EQ(picture.channels, 1);
    EXPECT_EQ(picture.pixels.front(), 3820);
    EXPECT_EQ(picture.pixels[20 * 60 + 30], 48058);
    EXPECT_EQ(picture.pixels.back(), 20798);
}

using color = std::array<std::uint8_t, 3>;

/// Quarters are JPEG's blocks, 16 x 16 pixels. Each has one colour, so that only rounding changes it.
constexpr std::int64_t quarter = 16;
constexpr std::array<color, 4> colors = {color{230, 120, 20}, {10, 60, 200}, {128, 128, 128}, {0, 255, 90}};

image<std::uint8_t> quarters(std::int64_t channels) {
    auto picture = make_image<std::uint8_t>(2 * quarter, 2 * quarter, channels);
    auto value = picture.pixels.begin();
    for (std::int64_t y = 0; y < picture.height; ++y)
        for (std::int64_t x = 0; x < picture.width; ++x)
            for (std::int64_t c = 0; c < channels; ++c)
                *value++ = colors[static_cast<std::size_t>(y / quarter * 2 + x / quarter)]
                                 [static_cast<std::size_t>(c)];
    return picture;
}

TEST(jpeg, comes_back_but_for_rounding) {
    for (const std::int64_t channels : {1, 3}) {
        const image<std::uint8_t> written = quarters(channels);
        const fs::path file = temporary("quarters.JPG");
        write_image(file, written);
        const any_image any = read_image(file);
        ASSERT_TRUE(std::holds_alternative<image<std::uint8_t>>(any));
        const auto& read = std::get<image<std::uint8_t>>(any);
        ASSERT_EQ(read.width, written.width);
        ASSERT_EQ(read.height, written.height);
        ASSERT_EQ(read.channels, channels);
        // The middle of each quarter, as the chroma of others reaches over the edges. Y, Cb and Cr are off by half
        // each, times at most 1.772, and the result by another half: less than 2 in all.
        for (const std::int64_t y : {quarter / 2, quarter + quarter / 2})
            for (const std::int64_t x : {quarter / 2, quarter + quarter / 2})
                for (std::int64_t c = 0; c < channels; ++c) {
                    const auto at = static_cast<std::size_t>((y * read.width + x) * channels + c);
                    EXPECT_LE(std::abs(read.pixels[at] - written.pixels[at]), channels == 1 ? 0 : 1)
                        << x << " " << y << " " << c;
                }
    }
}

TEST(jpeg, holds_no_alpha) {
    const fs::path file = temporary("alpha.jpeg");
    for (const std::int64_t channels : {2, 4}) {
        const auto picture = random_image<std::uint8_t>(8, 8, channels);
        EXPECT_EQ(complaint_of([&] { write_image(file, picture); }),
                  file.string() + ": a JPEG has no alpha; write a PNG");
    }
}

TEST(jpeg, of_16_bits_has_8) {
    const fs::path file = temporary("of-16-bits.jpg");
    auto picture = make_image<std::uint16_t>(16, 16, 1);
    for (std::uint16_t& value : picture.pixels) value = 200 * 257 + 100;
    write_image(file, picture);
    const image<std::uint8_t> read = to_8_bit(read_image(file));
    for (const std::uint8_t value : read.pixels) EXPECT_EQ(value, 200);
}

TEST(image, of_16_bits_becomes_the_nearest_of_8) {
    auto picture = make_image<std::uint16_t>(6, 1, 1);
    picture.pixels = {0, 128, 129, 257 * 17, 65535 - 129, 65535};
    EXPECT_EQ(to_8_bit(picture).pixels, (std::vector<std::uint8_t>{0, 0, 1, 17, 254, 255}));
}

TEST(read_image, says_what_is_wrong) {
    const auto complaint = [](const fs::path& file) { return complaint_of([&] { read_image(file); }); };
    const fs::path none = temporary("none.png");
    EXPECT_EQ(complaint(none), none.string() + ": No such file or directory");
    const fs::path folder = testing::TempDir();
    EXPECT_EQ(complaint(folder), folder.string() + ": is a folder");
    const fs::path text = temporary("text.png");
    std::ofstream(text) << "not a picture";
    EXPECT_EQ(complaint(text), text.string() + ": is neither a PNG nor a JPEG file");
    const fs::path empty = temporary("empty.png");
    std::ofstream(empty).close();
    EXPECT_EQ(complaint(empty), empty.string() + ": is neither a PNG nor a JPEG file");
}

TEST(read_image, refuses_what_is_cut_off_anywhere) {
    for (const char* name : {"cut.png", "cut.jpg"}) {
        const fs::path file = temporary(name);
        write_image(file, random_image<std::uint8_t>(16, 16, 3));
        for (auto size = fs::file_size(file); size-- > 0;) {
            fs::resize_file(file, size);
            EXPECT_EQ(complaint_of([&] { read_image(file); }).find(file.string() + ": "), 0) << size;
        }
    }
}

TEST(read_image, refuses_a_jpeg_that_ends_too_soon) {
    const fs::path file = temporary("soon.jpg");
    write_image(file, random_image<std::uint8_t>(64, 64, 3));
    fs::resize_file(file, fs::file_size(file) / 2);
    std::ofstream(file, std::ios::binary | std::ios::app) << "\xff\xd9";
    EXPECT_EQ(complaint_of([&] { read_image(file); }),
              file.string() + ": Corrupt JPEG data: premature end of data segment");
}

TEST(write_image, says_what_is_wrong) {
    const fs::path file = temporary("no-folder") / "picture.png";
    EXPECT_EQ(complaint_of([&] { write_image(file, random_image<std::uint8_t>(2, 2, 1)); }),
              file.string() + ": No such file or directory");
}

TEST(write_image, says_that_the_device_is_full) {
    for (const char* name : {"full.png", "full.jpg"}) {
        const fs::path file = temporary(name);
        fs::create_symlink("/dev/full", file);
        for (const std::int64_t side : {1, 100})
            EXPECT_EQ(complaint_of([&] {
                          write_image(file, random_image<std::uint8_t>(side, side, 3));
                      }).find(file.string() + ": "),
                      0);
    }
}

void expect_that_a_full_device_is_a_failure(const std::function<void()>& write) {
    const auto run = [&] {
        if (std::freopen("/dev/full", "w", stdout) == nullptr) std::_Exit(EXIT_SUCCESS);
        std::_Exit(run_program("name", [&] { return write(), EXIT_SUCCESS; }));
    };
    EXPECT_EXIT(run(), testing::ExitedWithCode(EXIT_FAILURE), "^name: standard output: ");
}

TEST(run_program, notices_that_standard_output_is_full) {
    expect_that_a_full_device_is_a_failure([] { print("{}\n", 1); });
    expect_that_a_full_device_is_a_failure([] { std::cout << 1; });
    expect_that_a_full_device_is_a_failure([] { std::cout << std::string(1 << 16, ' ') << std::flush; });
}

TEST(compare, psnr) {
    const auto picture = random_image<std::uint16_t>(5, 7, 3);
    EXPECT_TRUE(std::isinf(psnr(picture, picture)));
    auto black = make_image<std::uint8_t>(5, 7, 3), grey = black;
    for (std::uint8_t& value : grey.pixels) value = 51;
    EXPECT_NEAR(psnr(black, grey), 20 * std::log10(5.0), 1e-12);  // 255 / 51
    EXPECT_NEAR(psnr(grey, black), 20 * std::log10(5.0), 1e-12);
}

TEST(compare, side_by_side) {
    const image<std::uint8_t> one{1, 2, 2, {1, 2, 3, 4}}, other{1, 2, 2, {5, 6, 7, 8}};
    const auto both = side_by_side<std::uint8_t>(std::array{one, other});
    EXPECT_EQ(both.width, 2);
    EXPECT_EQ(both.height, 2);
    EXPECT_EQ(both.channels, 2);
    EXPECT_EQ(both.pixels, (std::vector<std::uint8_t>{1, 2, 5, 6, 3, 4, 7, 8}));
}

}  // namespace
}  // namespace examples
