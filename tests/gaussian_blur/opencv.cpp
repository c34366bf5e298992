#include "tests/support/opencv.hpp"

#include "tests/gaussian_blur/rungs.hpp"

namespace heddle::test {
namespace {

/// Hills of some 30 pixels, over all that T holds.
template <class T>
std::vector<T> smooth_image(const problem& p) {
    constexpr double half_of_all = std::numeric_limits<T>::max() / 2.0;
    std::vector<T> elements;
    for (std::int64_t y = 0; y < p.height; ++y)
        for (std::int64_t i = 0; i < p.width * p.channels; ++i) {
            const auto x = static_cast<double>(i / p.channels), turn = static_cast<double>(i % p.channels);
            const double height = std::sin(x / 9 + turn) + std::cos(static_cast<double>(y) / 9 - turn);
            elements.push_back(static_cast<T>(half_of_all * (1 + height / 2)));
        }
    return elements;
}

/// Against OpenCV on the CPU, which has no `wrap` and whose constant is 0. Floats: both are within the bound of
/// the exact blur. Integers: OpenCV has taps of as many fractional bits as T has, and passes each one's rounding
/// error on to the next. So along each axis it is off by half of such a bit times the sum of the differences of
/// neighbours in the window, less than half a level for hills that are not much narrower than the windows. With
/// both roundings that is less than two levels, and so one.
template <class T>
void check_against_opencv(const implementation<T>& by) {
    for (const window_radius radius : {window_radius{1}, {2}, {5, 3}, {4, 15}, {25}})
        for (const std::int64_t channels : {1, 3, 4})
            for (const border kind : borders_of_opencv) {
                const problem p = problem{131, 67, channels, radius}.with(kind);
                SCOPED_TRACE(text(p));
                std::vector<T> elements, expected(static_cast<std::size_t>(p.elements()));
                if constexpr (std::is_integral_v<T>)
                    elements = smooth_image<T>(p);
                else
                    elements = random_pixels<T>(p.elements());
                cv::Mat result = opencv_matrix(p, expected);
                const cv::Size window(static_cast<int>(2 * radius.x + 1), static_cast<int>(2 * radius.y + 1));
                cv::GaussianBlur(opencv_matrix(p, elements), result, window, p.sigma.x, p.sigma.y,
                                 opencv_border(kind));

                guarded_images<T> source(p, layout::tight, by.where), destination(p, layout::tight, by.where);
                source.upload(elements);
                gaussian_blur_options options = options_of(p);
                options.border_value = 0;
                if (!by.blur(p, source.batch(), destination.batch(), options)) continue;
                const std::vector<T> ours = destination.download();
                const double allowed = std::is_integral_v<T> ? 1 : 2 * bound<T>(p, 100, by.which)(100);
                for (std::size_t i = 0; i < ours.size(); ++i)
                    ASSERT_TRUE(is_within(to_double(ours[i]), to_double(expected[i]), allowed))
                        << "value " << i;
            }
}

TEST_P(gaussian_blur_rung, agrees_with_opencv) {
    check_against_opencv(on_device<float>());
    check_against_opencv(on_device<std::uint16_t>());
    check_against_opencv(on_device<std::uint8_t>());
}

TEST(host_gaussian_blur_beside_opencv, agrees) {
    check_against_opencv(on_host<float>());
    check_against_opencv(on_host<std::uint16_t>());
    check_against_opencv(on_host<std::uint8_t>());
}

}  // namespace
}  // namespace heddle::test
