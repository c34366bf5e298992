#pragma once

#include "tests/support/images.hpp"

#include <opencv2/imgproc.hpp>

#include <array>
#include <cstddef>
#include <vector>

namespace heddle::test {

/// The borders of OpenCV's filters, which do not have wrap.
inline constexpr std::array borders_of_opencv = {border::replicate, border::reflect, border::reflect_101,
                                                 border::constant};

inline int opencv_border(border kind) {
    constexpr std::array kinds = {cv::BORDER_REPLICATE, cv::BORDER_REFLECT, cv::BORDER_REFLECT_101,
                                  cv::BORDER_WRAP, cv::BORDER_CONSTANT};
    return kinds[static_cast<std::size_t>(kind)];
}

template <class T>
cv::Mat opencv_matrix(const image_size& size, std::vector<T>& pixels) {
    return {static_cast<int>(size.height), static_cast<int>(size.width),
            CV_MAKETYPE(cv::DataType<T>::depth, static_cast<int>(size.channels)), pixels.data()};
}

}  // namespace heddle::test
