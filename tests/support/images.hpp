#pragma once

#include <heddle/error.hpp>
#include <heddle/image.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#if HEDDLE_HAS_OPENCV
#include <opencv2/imgproc.hpp>
#endif

/// What tests of operations on images share.
namespace heddle::test {

/// The argument that `body`'s invalid_argument names; fails the test where it throws none, or one that does
/// not say what was given and what was expected.
template <class Body>
std::string rejected_argument_of(Body body) {
    try {
        body();
    } catch (const invalid_argument& error) {
        EXPECT_FALSE(error.value().empty()) << error.what();
        EXPECT_FALSE(error.expected().empty()) << error.what();
        return error.argument();
    }
    ADD_FAILURE() << "expected an invalid_argument";
    return {};
}

inline constexpr std::array borders = {border::replicate, border::reflect, border::reflect_101, border::wrap,
                                       border::constant};

/// Elements from the beginning of a row of `row` to the next: more than the row has, a multiple of 16 or an odd number.
constexpr std::int64_t aligned_stride(std::int64_t row) {
    return (row / 16 + 1) * 16;
}
constexpr std::int64_t odd_stride(std::int64_t row) {
    return (row + 3) / 2 * 2 + 1;
}

/// What border's comments draw, step by step; -1 stands for the constant.
inline std::int64_t source_index(std::int64_t i, std::int64_t size, border kind) {
    if (size == 1 && kind != border::constant) return 0;
    while (i < 0 || i >= size) {
        if (kind == border::constant) return -1;
        if (kind == border::replicate)
            i = i < 0 ? 0 : size - 1;
        else if (kind == border::reflect)
            i = i < 0 ? -1 - i : 2 * size - 1 - i;
        else if (kind == border::reflect_101)
            i = i < 0 ? -i : 2 * size - 2 - i;
        else
            i += i < 0 ? size : -size;
    }
    return i;
}

#if HEDDLE_HAS_OPENCV
inline int opencv_border(border kind) {
    constexpr std::array kinds = {cv::BORDER_REPLICATE, cv::BORDER_REFLECT, cv::BORDER_REFLECT_101,
                                  cv::BORDER_WRAP, cv::BORDER_CONSTANT};
    return kinds[static_cast<std::size_t>(kind)];
}
#endif

}  // namespace heddle::test
