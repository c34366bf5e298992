#include "tests/support/opencv.hpp"

#include "tests/bounds/windows.hpp"
#include "tests/image_filter/filters.hpp"

namespace heddle::test {
namespace {

struct problem {
    image_size size;
    heddle::border border;
};
std::vector<problem> opencv_problems() {
    std::vector<problem> all;
    for (const std::int64_t channels : {1, 2, 3, 4})
        for (const border kind : borders_of_opencv) all.push_back({{65, 43, channels}, kind});
    return all;
}

/// The place where a filter runs: the host, or a stream of the device.
struct place {
    const stream* on = nullptr;

    [[nodiscard]] bool is_host() const { return on == nullptr; }
};

// The filters at a place.

template <class T>
auto sobel_at(place where, gradient which) {
    return [=](const image_batch_view<const T>& sources, const image_batch_view<float>& destinations,
               const image_filter_options& options) {
        if (where.is_host())
            host::sobel<T>(sources, destinations, which, options);
        else
            sobel<T>(sources, destinations, which, *where.on, options);
    };
}

template <class T>
auto laplacian_at(place where) {
    return [=](const image_batch_view<const T>& sources, const image_batch_view<float>& destinations,
               const image_filter_options& options) {
        if (where.is_host())
            host::laplacian<T>(sources, destinations, options);
        else
            laplacian<T>(sources, destinations, *where.on, options);
    };
}

template <class T>
auto box_blur_at(place where, window_radius radius) {
    return [=](const image_batch_view<const T>& sources, const image_batch_view<T>& destinations,
               const image_filter_options& options) {
        if (where.is_host())
            host::box_blur<T>(sources, destinations, radius, options);
        else
            box_blur<T>(sources, destinations, radius, *where.on, options);
    };
}

auto convolution_at(place where, const std::vector<float>& taps_x, const std::vector<float>& taps_y) {
    return [=](const image_batch_view<const float>& sources, const image_batch_view<float>& destinations,
               const image_filter_options& options) {
        if (where.is_host())
            host::separable_convolution(sources, destinations, taps_x, taps_y, options);
        else
            separable_convolution(sources, destinations, taps_x, taps_y, *where.on, options);
    };
}

/// Compares the results of ours(sources, destinations, options) and theirs(cv source, cv destination). `allowed` is
/// the sum of both sides' errors.
template <class From, class To, class Ours, class Theirs>
void compare(const problem& p, place where, double allowed, Ours ours, Theirs theirs) {
    SCOPED_TRACE(std::to_string(p.size.channels) + " channels, " + name_of(p.border));
    std::vector<From> elements = random_pixels<From>(p.size.elements());
    std::vector<To> expected(elements.size());
    cv::Mat destination_of_opencv = opencv_matrix(p.size, expected);
    theirs(opencv_matrix(p.size, elements), destination_of_opencv);
    ASSERT_EQ(destination_of_opencv.data, reinterpret_cast<unsigned char*>(expected.data()));
    const memory in = where.is_host() ? memory::host : memory::device;
    guarded_images<From> source(p.size, layout::tight, in);
    guarded_images<To> destination(p.size, layout::tight, in);
    source.upload(elements);
    ours(source.batch(), destination.batch(), {.border = p.border, .border_value = 0});
    if (!where.is_host()) where.on->synchronize();
    const std::vector<To> actual = destination.download();
    for (std::size_t i = 0; i < actual.size(); ++i)
        ASSERT_TRUE(is_within(to_double(actual[i]), to_double(expected[i]), allowed)) << "value " << i;
}

template <class T>
void compare_stencils(place where) {
    // Both sides round three times; integers are exact.
    const double allowed = std::is_integral_v<T> ? 0 : 2 * 3 * bounds::u * 8 * 100;
    for (const problem& p : opencv_problems()) {
        for (const bool along_y : {false, true})
            compare<T, float>(p, where, allowed, sobel_at<T>(where, along_y ? gradient::y : gradient::x),
                              [&](const cv::Mat& s, cv::Mat& d) {
                                  cv::Sobel(s, d, CV_32F, along_y ? 0 : 1, along_y ? 1 : 0, 3, 1, 0,
                                            opencv_border(p.border));
                              });
        compare<T, float>(p, where, allowed, laplacian_at<T>(where), [&](const cv::Mat& s, cv::Mat& d) {
            cv::Laplacian(s, d, CV_32F, 1, 1, 0, opencv_border(p.border));
        });
    }
}

void compare_convolutions(place where) {
    for (const problem& p : opencv_problems()) {
        const std::vector<float> taps_x = random_elements<float>(7), taps_y = random_elements<float>(5);
        compare<float, float>(
            p, where, 2 * (7 + 5 + 2) * bounds::u * 7 * 5 * 100, convolution_at(where, taps_x, taps_y),
            [&](const cv::Mat& s, cv::Mat& d) {
                cv::sepFilter2D(s, d, CV_32F, taps_x, taps_y, {-1, -1}, 0, opencv_border(p.border));
            });
    }
}

template <class T>
void compare_boxes(place where) {
    for (const problem& p : opencv_problems())
        for (const int radius : {1, 3}) {
            const int n = 2 * radius + 1;
            // OpenCV's running sum of floats is in double. Ours rounds as docs/accuracy.md says, so a uint16 may end
            // on the other side of a half.
            const bool is_exact = std::is_same_v<T, std::uint8_t> || n == 3;
            const double allowed = std::is_integral_v<T> ? (is_exact ? 0 : 1) : (2 * n + 6) * bounds::u * 100;
            compare<T, T>(p, where, allowed, box_blur_at<T>(where, radius),
                          [&](const cv::Mat& s, cv::Mat& d) {
                              cv::blur(s, d, {n, n}, {-1, -1}, opencv_border(p.border));
                          });
        }
}

void compare_all(place where) {
    compare_stencils<float>(where);
    compare_stencils<std::uint16_t>(where);
    compare_stencils<std::uint8_t>(where);
    compare_convolutions(where);
    compare_boxes<float>(where);
    compare_boxes<std::uint16_t>(where);
    compare_boxes<std::uint8_t>(where);
}

TEST(host_filters, agree_with_opencv) {
    compare_all({});
}
TEST_F(image_filter, agrees_with_opencv) {
    compare_all({&*stream});
}

}  // namespace
}  // namespace heddle::test
