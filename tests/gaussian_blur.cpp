#include "tests/support/gpu.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/images.hpp"
#include "tests/support/numeric.hpp"
#include "tests/support/random.hpp"
#include <heddle/buffer.hpp>
#include <heddle/copy.hpp>
#include <heddle/error.hpp>
#include <heddle/gaussian_blur.hpp>
#include <heddle/graph.hpp>
#include <heddle/host.hpp>
#include <heddle/stream.hpp>
#include <heddle/workspace.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#if HEDDLE_HAS_CUDNN
#include <cudnn.h>
#endif
#if HEDDLE_HAS_OPENCV
#include <opencv2/imgproc.hpp>
#endif

namespace heddle {

void PrintTo(gaussian_blur_algorithm algorithm, std::ostream* out) {
    *out << to_string(algorithm);
}

namespace {

using algorithm = gaussian_blur_algorithm;
using test::borders;
using test::guarded;
using test::rejected_argument_of;
using test::source_index;

/// Of a window of this radius, so that its outermost weights count.
blur_sigma sigma_of(const window_radius& radius) {
    const auto along = [](std::int64_t r) { return std::max(0.5, static_cast<double>(r) / 3); };
    return {along(radius.x), along(radius.y)};
}

/// docs/accuracy.md: what decimated's sums are off by, beside a window cut at 4 sigma, in parts of the largest pixel.
constexpr double decimated_error = 2.7e-4;

struct problem {
    std::int64_t width, height, channels;
    window_radius radius;
    blur_sigma sigma = sigma_of(radius);
    heddle::border border = heddle::border::replicate;

    [[nodiscard]] std::int64_t elements() const { return width * height * channels; }

    template <class T>
    [[nodiscard]] gaussian_blur_problem described(std::int64_t images = 1) const {
        gaussian_blur_problem described{width, height, channels, radius, sigma, pixel_type_of<T>, images};
        described.border = border;
        return described;
    }
};

/// The same with another radius along y, or along x.
problem skewed(problem p, int turn) {
    if (turn % 3 == 1) p.radius.y = p.radius.y / 2 + 1;
    if (turn % 3 == 2) p.radius.x = p.radius.x * 2 / 3;
    p.sigma = sigma_of(p.radius);
    return p;
}

std::string text(const problem& p) {
    constexpr std::array names = {"replicate", "reflect", "reflect_101", "wrap", "constant"};
    return std::to_string(p.width) + "x" + std::to_string(p.height) + "c" + std::to_string(p.channels) +
           "-r" + std::to_string(p.radius.x) + "x" + std::to_string(p.radius.y) + " " +
           names[static_cast<std::size_t>(p.border)];
}

/// A whole number, so that integers can hold it.
constexpr float border_value = 77;

gaussian_blur_options options_of(const problem& p, algorithm which = algorithm::automatic) {
    return {.radius = p.radius, .border = p.border, .border_value = border_value, .algorithm = which};
}

std::vector<double> taps_of(double sigma, std::int64_t radius) {
    std::vector<double> taps;
    double sum = 0;
    for (std::int64_t i = -radius; i <= radius; ++i) {
        taps.push_back(std::exp(-static_cast<double>(i * i) / (2 * sigma * sigma)));
        sum += taps.back();
    }
    for (double& tap : taps) tap /= sum;
    return taps;
}

/// The blur in float64, along x and then along y: in exact arithmetic the sum over the 2-D window.
std::vector<double> blur_in_double(const problem& p, const std::vector<double>& source, double outside) {
    const auto row_values = static_cast<std::size_t>(p.width * p.channels);
    const auto channels = static_cast<std::size_t>(p.channels);
    const std::vector<double> border_row(row_values, outside);
    std::vector<double> filtered(source.size()), blurred(source.size()), padded;

    const std::vector<double> taps_x = taps_of(p.sigma.x, p.radius.x),
                              taps_y = taps_of(p.sigma.y, p.radius.y);
    for (std::size_t first = 0; first < source.size(); first += row_values) {
        padded.clear();
        for (std::int64_t x = -p.radius.x; x < p.width + p.radius.x; ++x) {
            const std::int64_t from = source_index(x, p.width, p.border);
            for (std::size_t c = 0; c < channels; ++c)
                padded.push_back(from < 0 ? outside
                                          : source[first + static_cast<std::size_t>(from) * channels + c]);
        }
        for (std::size_t k = 0; k < taps_x.size(); ++k)
            for (std::size_t i = 0; i < row_values; ++i)
                filtered[first + i] += taps_x[k] * padded[k * channels + i];
    }
    for (std::int64_t y = 0; y < p.height; ++y)
        for (std::size_t k = 0; k < taps_y.size(); ++k) {
            const std::int64_t from =
                source_index(y - p.radius.y + static_cast<std::int64_t>(k), p.height, p.border);
            const double* row =
                from < 0 ? border_row.data() : &filtered[static_cast<std::size_t>(from) * row_values];
            double* out = &blurred[static_cast<std::size_t>(y) * row_values];
            for (std::size_t i = 0; i < row_values; ++i) out[i] += taps_y[k] * row[i];
        }
    return blurred;
}

/// The same of one pixel, from its window alone: of images too large to be blurred here as a whole.
/// `pixel(x, y)` is the source's, of one channel.
template <class Pixel>
double pixel_in_double(const problem& p, std::int64_t x, std::int64_t y, Pixel pixel) {
    const std::vector<double> taps_x = taps_of(p.sigma.x, p.radius.x),
                              taps_y = taps_of(p.sigma.y, p.radius.y);
    double sum = 0;
    for (std::int64_t dy = -p.radius.y; dy <= p.radius.y; ++dy) {
        const std::int64_t row = source_index(y + dy, p.height, p.border);
        double row_sum = 0;
        for (std::int64_t dx = -p.radius.x; dx <= p.radius.x; ++dx) {
            const std::int64_t column = source_index(x + dx, p.width, p.border);
            row_sum += taps_x[static_cast<std::size_t>(dx + p.radius.x)] *
                       (row < 0 || column < 0 ? double{border_value} : pixel(column, row));
        }
        sum += taps_y[static_cast<std::size_t>(dy + p.radius.y)] * row_sum;
    }
    return sum;
}

struct reference {
    std::vector<double> values;
    std::vector<double> magnitudes;  ///< the blur of |source|, which the bound is relative to
    double largest = border_value;   ///< of |source|

    template <class T>
    reference(const problem& p, const std::vector<T>& source) {
        std::vector<double> elements;
        for (const T element : source) elements.push_back(test::to_double(element));
        values = magnitudes = blur_in_double(p, elements, border_value);
        if constexpr (!std::is_integral_v<T>) {
            for (double& element : elements) element = std::abs(element);
            magnitudes = blur_in_double(p, elements, border_value);
        }
        for (const double element : elements)
            if (std::isfinite(element)) largest = std::max(largest, element);
    }
};

constexpr std::array tensor_core_rungs = {algorithm::tensor_core, algorithm::tensor_core_registers,
                                          algorithm::tensor_core_warpgroups};
bool is_on_tensor_cores(algorithm which) {
    return std::ranges::find(tensor_core_rungs, which) != tensor_core_rungs.end();
}

/// Whether its window is one of theirs.
bool takes_window(const problem& p, algorithm on_tensor_cores) {
    if (on_tensor_cores == algorithm::tensor_core_registers)
        return p.radius.y <= 8 && p.radius.x * p.channels <= 24;
    if (on_tensor_cores == algorithm::tensor_core_warpgroups) return p.radius.y <= 16 && p.radius.x <= 32;
    return std::max(p.radius.x, p.radius.y) <= 40;
}

/// docs/accuracy.md: what these rungs' sums are off by, in levels of uint8.
double tensor_core_error(const problem& p, algorithm which) {
    if (which == algorithm::tensor_core_registers) {  // floats along y
        const auto n = static_cast<double>(2 * p.radius.x + 1);
        return 127.5 * n / (0x1p15 - n);
    }
    const bool is_on_warpgroups = which == algorithm::tensor_core_warpgroups;
    const auto of_axis = [=](double sigma, std::int64_t radius, double of_tap, double of_sum) {
        const std::vector<double> taps = taps_of(sigma, radius);
        const auto n = static_cast<double>(taps.size());
        const double units =
            (is_on_warpgroups ? 0.9 : 1) * std::min(0x1p15 / *std::ranges::max_element(taps), 0x1p19) -
            n;  // roundings of weights
        return (of_tap * n + of_sum) / units;
    };
    const double of_sums_along_y = is_on_warpgroups ? of_axis(p.sigma.y, p.radius.y, 127.5 + 1, 1)
                                                    : of_axis(p.sigma.y, p.radius.y, 127.5 + 2, 1);
    return of_axis(p.sigma.x, p.radius.x, 127.5, 0) + of_sums_along_y +
           (is_on_warpgroups ? 0x1p-17 : 0x1p-15) + 2 * 255 * 0x1p-23;
}

/// docs/accuracy.md: each pass rounds n taps once and n sums once each. Where they are denormal each is off
/// by up to half the smallest number instead, and a tap's error is multiplied with an element: n (1 +
/// largest) times the smallest number for both passes. The + 1 each leaves room for what is of second order.
/// decimated and those on the tensor cores have terms of their own, before a result is rounded to its type. Of uint8
/// `automatic` may be any of these that takes the window.
template <class T>
double bound(const problem& p, double magnitude, double largest, algorithm which = algorithm::naive) {
    const auto n = static_cast<double>(p.radius.x + p.radius.y + 1);
    double sum = (2 * n + 4) * test::unit_roundoff<float>() * magnitude +
                 (n + 1) * (1 + largest) * test::smallest<float>();
    if (which == algorithm::automatic && std::is_same_v<T, std::uint8_t>) {
        double most = 0;
        for (const algorithm rung : tensor_core_rungs)
            if (takes_window(p, rung)) most = std::max(most, tensor_core_error(p, rung));
        sum += most;
    }
    if (is_on_tensor_cores(which)) sum += tensor_core_error(p, which);
    if (which == algorithm::decimated) sum += decimated_error * largest;
    if constexpr (std::is_integral_v<T>) return 0.5 + sum;
    if constexpr (std::is_same_v<T, half>)
        return sum + test::unit_roundoff<half>() * (magnitude + sum) + test::smallest<half>();
    return sum;
}

template <class T>
void expect_close(const problem& p, const std::vector<T>& actual, const reference& expected,
                  algorithm which = algorithm::naive) {
    for (std::size_t i = 0; i < actual.size(); ++i)
        ASSERT_TRUE(test::is_within(test::to_double(actual[i]), expected.values[i],
                                    bound<T>(p, expected.magnitudes[i], expected.largest, which)))
            << "value " << i;
}
template <class T>
void expect_close(const problem& p, const std::vector<T>& actual, const std::vector<T>& source,
                  algorithm which = algorithm::naive) {
    expect_close(p, actual, reference(p, source), which);
}

/// The values of a part of an image.
template <class T>
std::vector<T> part_of(const problem& p, const std::vector<T>& image, const image_region& region) {
    std::vector<T> part;
    for (std::int64_t y = region.y; y < region.y + region.height; ++y)
        for (std::int64_t i = region.x * p.channels; i < (region.x + region.width) * p.channels; ++i)
            part.push_back(image[static_cast<std::size_t>(y * p.width * p.channels + i)]);
    return part;
}

template <class T>
std::vector<T> random_image(const problem& p) {
    if constexpr (std::is_integral_v<T>)
        return test::random_elements<T>(p.elements(), 0, std::numeric_limits<T>::max());
    return test::random_elements<T>(p.elements(), -100, 100);
}

/// How an image lies in memory: rows back to back, rows at multiples of 16 bytes, rows at odd places.
enum class layout { tight, aligned, odd };
constexpr std::array layouts = {layout::tight, layout::aligned, layout::odd};

template <class T>
class test_image {
  public:
    using memory = typename guarded<T>::memory;

    explicit test_image(const problem& p, layout how, memory where = memory::device, std::int64_t images = 1)
        : problem_(p),
          images_(images),
          stride_(stride_of(p, how)),
          elements_(images * p.height, p.width * p.channels, stride_, how == layout::odd ? 1 : 0, 1, where) {}

    image_view<T> view() {
        return {elements_.data(), problem_.width, problem_.height, problem_.channels, stride_};
    }
    /// All images, one after another.
    image_batch_view<T> batch() { return {view(), images_, problem_.height * stride_}; }
    guarded<T>* operator->() { return &elements_; }

  private:
    static std::int64_t stride_of(const problem& p, layout how) {
        const std::int64_t row = p.width * p.channels;
        if (how == layout::aligned) return test::aligned_stride(row);
        return how == layout::odd ? test::odd_stride(row) : row;
    }

    problem problem_;
    std::int64_t images_;
    std::int64_t stride_;
    guarded<T> elements_;
};

/// Sizes around the edges of every tile, and images smaller than their window.
std::vector<problem> problems_of_one_channel() {
    std::vector<problem> all = {
        {1, 1, 1, 0},    {1, 1, 1, 5},    {1, 1, 1, 40},   {1, 37, 1, 3},    {37, 1, 1, 3},   {1, 37, 1, 16},
        {37, 1, 1, 16},  {2, 3, 1, 1},    {2, 3, 1, 8},    {2, 3, 1, 15},    {2, 3, 1, 40},   {5, 4, 1, 40},
        {127, 17, 1, 2}, {128, 16, 1, 9}, {129, 15, 1, 9}, {131, 33, 1, 17}, {31, 65, 1, 17}, {33, 63, 1, 20},
        {511, 9, 1, 2},  {512, 8, 1, 5},  {513, 9, 1, 1},  {1023, 7, 1, 2},  {1024, 8, 1, 2}, {1025, 9, 1, 5},
        {70, 131, 1, 3}, {257, 67, 1, 15}};
    // Around the tiles of `fused`: 120 values of float at radius 2, 112 at 5, 240 of others; 8 rows, and 32 a block.
    all.insert(all.end(), {{119, 33, 1, 2},
                           {120, 32, 1, 2},
                           {121, 31, 1, 1},
                           {224, 24, 1, 5},
                           {240, 40, 1, 2},
                           {241, 65, 1, 3}});
    return all;
}

/// Blurs with windows whose outer weights are 0 in float. The elements under them do not count, not even
/// those that times 0 are NaN.
template <class Blur>
void expect_nothing_from_weights_of_zero(test_image<float>::memory where, Blur blur) {
    struct window {
        double sigma;
        std::optional<std::int64_t> radius;
        std::int64_t reach;  ///< of the weights that are not 0: exp(-15^2 / 2) is, exp(-14^2 / 2) is not
    };
    for (const auto& [sigma, radius, reach] : {window{0.05, std::nullopt, 0}, window{1.0, 15, 14}})
        for (const std::int64_t channels : {1, 2, 3, 4}) {
            const problem p{61, 43, channels, reach, sigma};
            SCOPED_TRACE(text(p));
            std::vector<float> elements = random_image<float>(p);
            const auto at = [&](std::int64_t x, std::int64_t y) {
                return static_cast<std::size_t>((y * p.width + x) * channels);
            };
            elements[at(20, 20)] = std::numeric_limits<float>::quiet_NaN();
            elements[at(44, 22)] = std::numeric_limits<float>::infinity();
            test_image<float> source(p, layout::aligned, where), destination(p, layout::aligned, where);
            source->upload(elements);
            gaussian_blur_options options;
            if (radius) options.radius = *radius;
            if (!blur(p, source.view(), destination.view(), options)) continue;
            ASSERT_NO_FATAL_FAILURE(expect_close(p, destination->download(), elements));
            EXPECT_TRUE(destination->canaries_alive());
        }
}

constexpr std::array pixel_types = {pixel_type::u8, pixel_type::u16, pixel_type::f16, pixel_type::f32};

/// The type that `type` stands for.
template <class Body>
void with_type(pixel_type type, Body body) {
    switch (type) {
        case pixel_type::u8:
            return body.template operator()<std::uint8_t>();
        case pixel_type::u16:
            return body.template operator()<std::uint16_t>();
        case pixel_type::f16:
            return body.template operator()<half>();
        case pixel_type::f32:
            return body.template operator()<float>();
    }
}

/// Windows so wide that `decimated` takes them.
std::vector<problem> problems_of_wide_windows() {
    std::vector<problem> all;
    const std::vector<blur_sigma> sigmas = {{9, 9}, {13.7, 10}, {8, 21.5}};
    for (const blur_sigma& sigma : sigmas)
        for (const border kind : borders) {
            const std::int64_t channels = 1 + static_cast<std::int64_t>(all.size()) % 4;
            all.push_back({60 + 31 * channels,
                           190 - 27 * channels,
                           channels,
                           {gaussian_radius(sigma.x), gaussian_radius(sigma.y)},
                           sigma,
                           kind});
        }
    return all;
}

/// Blurs one image and checks it and all around it. blur(p, sources, destinations, options) says whether it
/// ran.
template <class T, class Blur>
void check_image(const problem& p, layout how, typename test_image<T>::memory where, algorithm which,
                 Blur blur) {
    SCOPED_TRACE(text(p) + (how == layout::odd ? " odd" : how == layout::aligned ? " aligned" : ""));
    const std::vector<T> elements = random_image<T>(p);
    test_image<T> source(p, how, where), destination(p, how, where);
    source->upload(elements);
    if (!blur(p, source.batch(), destination.batch(), options_of(p))) {
        EXPECT_TRUE(destination->untouched());
        return;
    }
    expect_close(p, destination->download(), elements, which);
    EXPECT_TRUE(destination->canaries_alive());
    EXPECT_TRUE(source->untouched());
}

/// Tiles of an image, each blurred as a region, against the blur of the whole: bit for bit, but for `decimated`
/// and where `automatic` may take one rung for the whole and another for a part.
template <class T, class Blur>
void check_regions(const problem& p, layout how, typename test_image<T>::memory where, algorithm which,
                   bool same_bits, Blur blur) {
    SCOPED_TRACE(text(p) + (how == layout::aligned ? " aligned" : ""));
    const std::vector<T> elements = random_image<T>(p);
    const reference expected(p, elements);
    test_image<T> source(p, how, where), whole(p, layout::aligned, where);
    source->upload(elements);
    if (!blur(p, source.batch(), whole.batch(), options_of(p))) return;
    const std::vector<T> blurred = whole->download();
    const std::array<std::int64_t, 4> across = {0, p.width / 3, p.width - 1, p.width};
    const std::array<std::int64_t, 4> down = {0, p.height / 2, p.height / 2 + 1, p.height};
    for (std::size_t i = 0; i + 1 < down.size(); ++i)
        for (std::size_t j = 0; j + 1 < across.size(); ++j) {
            const image_region region{across[j], down[i], across[j + 1] - across[j], down[i + 1] - down[i]};
            SCOPED_TRACE(testing::Message() << "region " << region.x << ", " << region.y << ": "
                                            << region.width << "x" << region.height);
            problem of_part = p;
            of_part.width = region.width;
            of_part.height = region.height;
            test_image<T> part(of_part, layouts[(i + j) % layouts.size()], where);
            gaussian_blur_options options = options_of(p);
            options.region = region;
            if (!blur(of_part, source.batch(), part.batch(), options)) continue;
            const std::vector<T> values = part->download(), of_whole = part_of(p, blurred, region);
            const std::vector<double> exact = part_of(p, expected.values, region);
            const std::vector<double> magnitudes = part_of(p, expected.magnitudes, region);
            for (std::size_t k = 0; k < values.size(); ++k)
                if (same_bits)
                    ASSERT_EQ(test::to_double(values[k]), test::to_double(of_whole[k])) << k;
                else
                    ASSERT_TRUE(test::is_within(test::to_double(values[k]), exact[k],
                                                bound<T>(p, magnitudes[k], expected.largest, which)))
                        << k;
            EXPECT_TRUE(part->canaries_alive());
        }
    EXPECT_TRUE(source->untouched());
}

/// A batch of images, one after another; the same as planes whose rows lie side by side; and one source for
/// all of them: bit for bit, but where `automatic` may take one rung for one and another for the other.
template <class T, class Blur>
void check_batch(const problem& p, std::int64_t images, layout how, typename test_image<T>::memory where,
                 algorithm which, bool same_bits, Blur blur) {
    SCOPED_TRACE(text(p) + " of " + std::to_string(images) + (how == layout::aligned ? " aligned" : ""));
    const auto image_size = static_cast<std::size_t>(p.elements());
    const std::int64_t row = p.width * p.channels;
    problem all = p;
    all.height *= images;
    const std::vector<T> elements = random_image<T>(all);
    const auto of_image = [&](const std::vector<T>& values, std::int64_t i) {
        const auto first = values.begin() + static_cast<std::ptrdiff_t>(i * p.elements());
        return std::vector<T>(first, first + static_cast<std::ptrdiff_t>(image_size));
    };
    test_image<T> source(p, how, where, images), destination(p, layout::aligned, where, images);
    source->upload(elements);
    if (!blur(p, source.batch(), destination.batch(), options_of(p))) return;
    const std::vector<T> blurred = destination->download();
    for (std::int64_t i = 0; i < images; ++i)
        ASSERT_NO_FATAL_FAILURE(expect_close(p, of_image(blurred, i), of_image(elements, i), which)) << i;
    EXPECT_TRUE(destination->canaries_alive());
    EXPECT_TRUE(source->untouched());
    const auto expect_blurred = [&](const std::vector<T>& values, std::int64_t i) {
        if (same_bits)
            EXPECT_EQ(std::memcmp(values.data(), of_image(blurred, i).data(), image_size * sizeof(T)), 0);
        else
            expect_close(p, values, of_image(elements, i), which);
    };

    test_image<T> from_one(p, layout::tight, where, images);
    image_batch_view<T> one = source.batch();
    one.stride = 0;
    ASSERT_TRUE(blur(p, one, from_one.batch(), options_of(p)));
    const std::vector<T> copies = from_one->download();
    for (std::int64_t i = 0; i < images; ++i) {
        expect_blurred(of_image(copies, i), 0);
        if (testing::Test::HasFailure()) return;
    }

    if (images > 9) return;
    const std::int64_t wide = how == layout::aligned ? test::aligned_stride(images * row) : images * row + 3;
    guarded<T> planes(p.height, images * row, wide, how == layout::aligned ? 0 : 1, 1, where);
    const image_view<T> first{planes.data(), p.width, p.height, p.channels, wide};
    ASSERT_TRUE(blur(p, source.batch(), image_batch_view{first, images, row}, options_of(p)));
    const std::vector<T> side_by_side = planes.download();
    std::vector<std::vector<T>> each_plane;
    for (std::int64_t i = 0; i < images; ++i) {
        std::vector<T>& plane = each_plane.emplace_back();
        for (std::int64_t y = 0; y < p.height; ++y) {
            const auto from = side_by_side.begin() + static_cast<std::ptrdiff_t>((y * images + i) * row);
            plane.insert(plane.end(), from, from + static_cast<std::ptrdiff_t>(row));
        }
        expect_blurred(plane, i);
    }
    EXPECT_TRUE(planes.canaries_alive());

    test_image<T> again(p, how, where, images);
    if (!blur(p, image_batch_view{first, images, row}, again.batch(), options_of(p))) {
        const bool takes_any_stride =
            which != algorithm::tensor_core_registers && which != algorithm::tensor_core_warpgroups;
        ASSERT_FALSE(takes_any_stride || row * sizeof(T) % 16 == 0);
        return;
    }
    const std::vector<T> of_planes = again->download();
    for (std::int64_t i = 0; i < images; ++i)
        ASSERT_NO_FATAL_FAILURE(
            expect_close(p, of_image(of_planes, i), each_plane[static_cast<std::size_t>(i)], which))
            << i;
}

/// A region of so many images that share one source: the first as it should be, the others the same bit for bit.
template <class T, class Blur>
void check_region_of_many(const problem& p, const image_region& region, std::int64_t images, layout how,
                          algorithm which, Blur blur) {
    SCOPED_TRACE(text(p) + " of " + std::to_string(images) + (how == layout::aligned ? " aligned" : ""));
    const std::vector<T> elements = random_image<T>(p);
    const reference expected(p, elements);
    problem part = p;
    part.width = region.width;
    part.height = region.height;
    test_image<T> source(p, layout::aligned), destination(part, how, test_image<T>::memory::device, images);
    source->upload(elements);
    gaussian_blur_options options = options_of(p);
    options.region = region;
    if (!blur(part, image_batch_view{source.view(), images, 0}, destination.batch(), options)) return;
    const std::vector<T> values = destination->download();
    const std::vector<double> exact = part_of(p, expected.values, region);
    const std::vector<double> magnitudes = part_of(p, expected.magnitudes, region);
    for (std::size_t i = 0; i < exact.size(); ++i)
        ASSERT_TRUE(test::is_within(test::to_double(values[i]), exact[i],
                                    bound<T>(p, magnitudes[i], expected.largest, which)))
            << i;
    for (std::size_t i = exact.size(); i < values.size(); i += exact.size())
        ASSERT_EQ(std::memcmp(&values[i], values.data(), exact.size() * sizeof(T)), 0) << i / exact.size();
    EXPECT_TRUE(destination->canaries_alive());
    EXPECT_TRUE(source->untouched());
}

/// The share of pixels that are not float64's blur rounded to nearest; fails where one is more than a level
/// off, or is another number though the bound is nearer to the blur than a half.
double share_of_unequal(const problem& p, const std::vector<std::uint8_t>& actual,
                        const std::vector<std::uint8_t>& source, algorithm which) {
    const std::vector<double> exact =
        blur_in_double(p, std::vector<double>(source.begin(), source.end()), border_value);
    std::size_t unequal = 0, beyond_bound = 0;
    double most = 0;
    for (std::size_t i = 0; i < actual.size(); ++i) {
        const double difference = std::abs(test::to_double(actual[i]) - std::nearbyint(exact[i]));
        most = std::max(most, difference);
        if (difference > 0) ++unequal;
        beyond_bound += !test::is_within(test::to_double(actual[i]), exact[i],
                                         bound<std::uint8_t>(p, exact[i], 255, which));
    }
    EXPECT_LE(most, 1);
    EXPECT_EQ(beyond_bound, 0);
    return static_cast<double>(unequal) / static_cast<double>(actual.size());
}

/// 200000 pixels of noise, of a slope along both axes and of squares with steep edges. The squares' blur has few
/// values, each that of many pixels: of them decimated promises a level only, tensor_core_warpgroups 99.9 % of all
/// together (docs/accuracy.md), and automatic is asked for an exact window. The slope at sigma 1.7 is where
/// tensor_core_warpgroups needs 24 bits between its passes: 16 would round 2.6 % of the pixels otherwise.
template <class Blur>
void check_rounding_of_uint8(typename test_image<std::uint8_t>::memory where, algorithm which, Blur blur) {
    constexpr double most = 1e-3;
    std::vector<double> of_squares;
    for (const double sigma : {0.65, 0.8, 1.7, 3.0, 4.0, 5.0, 12.0}) {
        const problem p{501, 403, 1, gaussian_radius(sigma), sigma};
        struct picture {
            std::string name;
            std::vector<std::uint8_t> elements;
        };
        std::array<picture, 3> pictures = {
            {{"noise", random_image<std::uint8_t>(p)}, {"slope", {}}, {"squares", {}}}};
        for (std::int64_t y = 0; y < p.height; ++y)
            for (std::int64_t x = 0; x < p.width; ++x) {
                pictures[1].elements.push_back(
                    static_cast<std::uint8_t>(x * 160 / p.width + y * 95 / p.height));
                pictures[2].elements.push_back((x / 37 + y / 29) % 2 == 0 ? 20 : 201);
            }
        for (const auto& [picture_name, elements] : pictures)
            for (const layout how : {layout::tight, layout::aligned}) {
                const std::string name = picture_name + (how == layout::aligned ? "_aligned" : "");
                SCOPED_TRACE(text(p) + " " + name);
                test_image<std::uint8_t> source(p, how, where), destination(p, how, where);
                source->upload(elements);
                gaussian_blur_options options = options_of(p);
                options.exact = picture_name == "squares";
                if (!blur(p, source.batch(), destination.batch(), options)) continue;
                // automatic may be decimated.
                const algorithm loosest =
                    which == algorithm::automatic && !options.exact ? algorithm::decimated : which;
                const double share = share_of_unequal(p, destination->download(), elements, loosest);
                testing::Test::RecordProperty(name + "_sigma_" + std::to_string(sigma),
                                              std::to_string(share));
                const bool is_squares = picture_name == "squares";
                if (is_squares && which == algorithm::decimated) continue;
                if (is_squares && which == algorithm::tensor_core_warpgroups) {
                    of_squares.push_back(share);
                } else {
                    EXPECT_LE(share, most);
                }
            }
    }
    EXPECT_LE(std::accumulate(of_squares.begin(), of_squares.end(), 0.0),
              most * static_cast<double>(of_squares.size()));
}

class gaussian_blur_test : public test::gpu_test {
  protected:
    void SetUp() override {
        gpu_test::SetUp();
        if (is_set_up()) stream_.emplace();
    }

    /// Whether the rung takes the problem: one that does not refuses before it touches anything.
    template <class T>
    bool blur(const problem& p, image_batch_view<const T> sources,
              std::type_identity_t<image_batch_view<T>> destinations, gaussian_blur_options options,
              algorithm which) {
        options.algorithm = which;
        try {
            gaussian_blur<T>(sources, destinations, p.sigma, *stream_, options);
        } catch (const unsupported& refusal) {
            EXPECT_TRUE(may_refuse<T>(p, which)) << refusal.what();
            return false;
        }
        stream_->synchronize();
        ++runs_;
        return true;
    }

    template <class T>
    static bool may_refuse(const problem& p, algorithm which) {
        const std::int64_t radius = std::max(p.radius.x, p.radius.y);
        switch (which) {
            case algorithm::automatic:
            case algorithm::separable:
                return false;
            case algorithm::naive:
                return radius > 1000;
            case algorithm::register_window:
                return p.radius.y > 16 || p.radius.x > 100;
            case algorithm::shared_memory:
            case algorithm::fused:
                return radius > 100;
            case algorithm::tensor_core:
            case algorithm::tensor_core_registers:
            case algorithm::tensor_core_warpgroups:
            case algorithm::decimated:
                return true;
        }
        return false;
    }

    /// The rung whose bound the result is held to.
    template <class T>
    static algorithm rung_of(const problem& p, algorithm which, std::int64_t images = 1) {
        if (which != algorithm::automatic) return which;
        const algorithm chosen = select(p.described<T>(images), traits_of(current_device()));
        return is_on_tensor_cores(chosen) ? algorithm::automatic : chosen;  // which one depends on the layout
    }

    /// Nobody may pass by refusing all.
    void expect_runs(pixel_type type, bool has_wide_windows, algorithm which) const {
        if (is_on_tensor_cores(which) &&
            (type != pixel_type::u8 || has_wide_windows || !test::has_warpgroups()))
            return;
        if (which == algorithm::decimated && !has_wide_windows) return;
        if (which == algorithm::register_window && has_wide_windows) return;
        EXPECT_GT(runs_, 0);
    }

    std::optional<stream> stream_;
    int runs_ = 0;
};

class gaussian_blur_rung : public gaussian_blur_test, public testing::WithParamInterface<algorithm> {
  protected:
    template <class T>
    auto with_rung() {
        return [this](const problem& p, const auto& sources, const auto& destinations,
                      const gaussian_blur_options& options) {
            return blur<T>(p, sources, destinations, options, GetParam());
        };
    }
    template <class T>
    void run_and_check(const problem& p, layout how = layout::tight) {
        check_image<T>(p, how, test_image<T>::memory::device, rung_of<T>(p, GetParam()), with_rung<T>());
    }
};

class gaussian_blur_rung_and_type : public gaussian_blur_test,
                                    public testing::WithParamInterface<std::tuple<algorithm, pixel_type>> {
  protected:
    static algorithm rung() { return std::get<0>(GetParam()); }
    static pixel_type type() { return std::get<1>(GetParam()); }

    /// Calls body<T>(blur, memory, rung_of_problem).
    template <class Body>
    void with_rung_and_type(Body body) {
        with_type(type(), [&]<class T>() {
            body.template operator()<T>([this](const problem& p, const auto& sources,
                                               const auto& destinations,
                                               const gaussian_blur_options& options) {
                return blur<T>(p, sources, destinations, options, rung());
            });
        });
    }
};

std::string algorithm_name(const testing::TestParamInfo<algorithm>& info) {
    return std::string(to_string(info.param));
}

std::string type_name(const testing::TestParamInfo<pixel_type>& info) {
    std::string name;
    with_type(info.param, [&]<class T>() { name = test::type_name<T>(); });
    return name;
}
std::string rung_and_type_name(const testing::TestParamInfo<std::tuple<algorithm, pixel_type>>& info) {
    const auto [rung, type] = info.param;
    return algorithm_name({rung, 0}) + "_" + type_name({type, 0});
}

std::vector<algorithm> rungs_and_automatic() {
    std::vector<algorithm> all(gaussian_blur_algorithms().begin(), gaussian_blur_algorithms().end());
    all.push_back(algorithm::automatic);
    return all;
}

INSTANTIATE_TEST_SUITE_P(all, gaussian_blur_rung, testing::ValuesIn(rungs_and_automatic()), algorithm_name);
INSTANTIATE_TEST_SUITE_P(all, gaussian_blur_rung_and_type,
                         testing::Combine(testing::ValuesIn(rungs_and_automatic()),
                                          testing::ValuesIn(pixel_types)),
                         rung_and_type_name);

TEST_P(gaussian_blur_rung_and_type, is_right_around_every_tile_edge) {
    with_rung_and_type([this]<class T>(auto blur) {
        std::size_t turn = sizeof(T);
        for (const problem& sized : problems_of_one_channel())
            for (int repetition = 0; repetition < 3; ++repetition, ++turn) {
                problem p = skewed(sized, repetition);
                p.border = borders[turn % borders.size()];
                check_image<T>(p, layouts[turn / borders.size() % layouts.size()],
                               test_image<T>::memory::device, rung_of<T>(p, rung()), blur);
                if (HasFatalFailure()) return;
            }
    });
    expect_runs(type(), false, rung());
}

TEST_P(gaussian_blur_rung_and_type, is_right_at_every_radius) {
    with_rung_and_type([this]<class T>(auto blur) {
        for (const std::int64_t channels : {1, 2, 3, 4})
            for (const std::int64_t radius :
                 {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 25, 40}) {
                problem p = skewed({44, 21, channels, radius}, static_cast<int>(channels + radius / 2));
                const auto turn = static_cast<std::size_t>(channels + radius) + sizeof(T);
                p.border = borders[turn % borders.size()];
                check_image<T>(p, layouts[turn / borders.size() % layouts.size()],
                               test_image<T>::memory::device, rung_of<T>(p, rung()), blur);
                if (HasFatalFailure()) return;
            }
    });
    expect_runs(type(), false, rung());
}

TEST_P(gaussian_blur_rung_and_type, is_right_for_several_channels) {
    with_rung_and_type([this]<class T>(auto blur) {
        std::size_t turn = sizeof(T);
        for (const std::int64_t channels : {2, 3, 4})
            for (problem p :
                 {problem{1, 1, channels, 2}, problem{2, 3, channels, 8}, problem{3, 2, channels, 16},
                  problem{31, 9, channels, 12}, problem{33, 20, channels, 9}, problem{257, 9, channels, 2},
                  problem{513, 9, channels, 1}})
                for (int repetition = 0; repetition < 3; ++repetition, ++turn) {
                    p.border = borders[turn % borders.size()];
                    check_image<T>(p, layouts[turn / borders.size() % layouts.size()],
                                   test_image<T>::memory::device, rung_of<T>(p, rung()), blur);
                    if (HasFatalFailure()) return;
                }
    });
    expect_runs(type(), false, rung());
}

TEST_P(gaussian_blur_rung_and_type, is_right_for_wide_windows) {
    with_rung_and_type([this]<class T>(auto blur) {
        int turn = 0;
        for (const problem& p : problems_of_wide_windows()) {
            check_image<T>(p, layouts[static_cast<std::size_t>(turn++) % layouts.size()],
                           test_image<T>::memory::device, rung_of<T>(p, rung()), blur);
            if (HasFatalFailure()) return;
        }
    });
    expect_runs(type(), true, rung());
}

TEST_P(gaussian_blur_rung_and_type, blurs_regions_as_the_whole) {
    with_rung_and_type([this]<class T>(auto blur) {
        std::vector<problem> problems = {{133, 111, 1, {40, 48}, {10, 12}, border::reflect_101},
                                         {201, 141, 1, {16, 12}, {5, 4}, border::reflect}};
        const std::array<window_radius, 3> radii = {2, {9, 4}, {20, 40}};
        for (std::size_t i = 0; i < 2 * borders.size(); ++i)
            problems.push_back({67, 53, 1 + static_cast<std::int64_t>(i) % 4, radii[i % radii.size()],
                                sigma_of(radii[i % radii.size()]), borders[i % borders.size()]});
        for (const problem& p : problems)
            for (const layout how : {layout::odd, layout::aligned}) {
                const bool same_bits = rung() != algorithm::automatic && rung() != algorithm::decimated;
                check_regions<T>(p, how, test_image<T>::memory::device, rung_of<T>(p, rung()), same_bits,
                                 blur);
                if (HasFatalFailure()) return;
            }
    });
    expect_runs(type(), false, rung());
}

TEST_P(gaussian_blur_rung_and_type, blurs_batches) {
    with_rung_and_type([this]<class T>(auto blur) {
        struct batch {
            problem p;
            std::int64_t images;
        };
        const std::vector<batch> batches = {{{33, 21, 3, 2}, 1},   {{65, 40, 1, {5, 3}}, 3},
                                            {{64, 70, 1, 5}, 3},   {{130, 70, 2, 17}, 5},
                                            {{3, 2, 1, 1}, 70000}, {{133, 97, 1, 40, 10}, 3}};
        for (const auto& [p, images] : batches)
            for (const layout how : {layout::odd, layout::aligned}) {
                check_batch<T>(p, images, how, test_image<T>::memory::device, rung_of<T>(p, rung(), images),
                               rung() != algorithm::automatic, blur);
                if (HasFatalFailure()) return;
            }
    });
    expect_runs(type(), false, rung());
}

TEST_P(gaussian_blur_rung, is_right_for_small_windows_of_aligned_bytes) {
    constexpr std::array kinds = {border::replicate, border::reflect, border::reflect_101};
    std::size_t turn = 0;
    for (const std::int64_t channels : {1, 2, 3, 4})
        for (std::int64_t radius = 0; radius <= 8; ++radius)
            for (const std::int64_t radius_x : {std::int64_t{0}, radius, 24 / channels}) {
                problem p{3 + 41 * (radius % 3), 50 + radius, channels, {radius_x, radius}};
                p.border = kinds[turn++ % kinds.size()];
                ASSERT_NO_FATAL_FAILURE(run_and_check<std::uint8_t>(p, layout::aligned));
            }
    expect_runs(pixel_type::u8, false, GetParam());
}

TEST_P(gaussian_blur_rung, rounds_uint8_as_float64_nearly_everywhere) {
    check_rounding_of_uint8(test_image<std::uint8_t>::memory::device, GetParam(), with_rung<std::uint8_t>());
    expect_runs(pixel_type::u8, false, GetParam());
}

TEST_P(gaussian_blur_rung, takes_huge_windows_or_says_why_not) {
    for (const window_radius radius : {window_radius{150}, {1200}, {3, 1200}, {1200, 3}, {2, 1000}})
        for (const std::int64_t channels : {1, 4})
            for (const border kind : borders) {
                problem p{19, 5, channels, radius};
                p.border = kind;
                ASSERT_NO_FATAL_FAILURE(run_and_check<float>(p));
            }
}

TEST_P(gaussian_blur_rung, keeps_nan_and_infinity_in_their_windows) {
    for (const std::int64_t channels : {1, 2, 3, 4})
        for (const std::int64_t radius : {0, 1, 2, 3, 5, 8, 9, 11, 15, 16, 17}) {
            problem p{150, 40, channels, radius};
            p.border = borders[static_cast<std::size_t>(radius) % borders.size()];
            SCOPED_TRACE(text(p));
            std::vector<float> elements = random_image<float>(p);
            const auto at = [&](std::int64_t x, std::int64_t y) {
                return static_cast<std::size_t>((y * p.width + x) * channels);
            };
            elements[at(20, 10)] = std::numeric_limits<float>::quiet_NaN();
            elements[at(75, 19)] = std::numeric_limits<float>::infinity();
            elements[at(129, 31)] = -std::numeric_limits<float>::infinity();
            test_image<float> source(p, layout::aligned), destination(p, layout::aligned);
            source->upload(elements);
            if (!blur<float>(p, source.batch(), destination.batch(), options_of(p), GetParam())) continue;
            ASSERT_NO_FATAL_FAILURE(expect_close(p, destination->download(), elements));
        }
}

TEST_P(gaussian_blur_rung, keeps_nan_and_infinity_from_weights_of_zero) {
    expect_nothing_from_weights_of_zero(
        test_image<float>::memory::device, [&](const problem& p, const auto& source, const auto& destination,
                                               const gaussian_blur_options& options) {
            return blur<float>(p, {source}, {destination}, options, GetParam());
        });
}

TEST_P(gaussian_blur_rung, keeps_the_extremes_of_integers) {
    const auto check = [this]<class T>(T level, const window_radius& radius, layout how) {
        const problem p{67, 21, 3, radius};
        SCOPED_TRACE(text(p) + (how == layout::aligned ? " aligned" : ""));
        test_image<T> source(p, how), destination(p, how);
        source->upload(std::vector<T>(static_cast<std::size_t>(p.elements()), level));
        if (!blur<T>(p, source.batch(), destination.batch(), options_of(p), GetParam())) return;
        const double allowed = std::floor(bound<T>(p, level, level));
        for (const T value : destination->download())
            ASSERT_LE(std::abs(test::to_double(value) - level), allowed);
    };
    const auto check_all = [&]<class T>(T) {
        constexpr T most = std::numeric_limits<T>::max();
        for (const window_radius radius : {window_radius{2}, {15}, {17}, {999, 3}, {3, 999}})
            for (const T level : {T{0}, T{1}, static_cast<T>(most - 1), most})
                for (const layout how : {layout::tight, layout::aligned}) check(level, radius, how);
    };
    check_all(std::uint8_t{});
    check_all(std::uint16_t{});
    expect_runs(pixel_type::u8, false, GetParam());
}

TEST_P(gaussian_blur_rung, stays_inside_the_given_workspace) {
    const auto check = [this](const problem& p, bool is_region, layout how) {
        SCOPED_TRACE(text(p) + (is_region ? " region" : "") + (how == layout::aligned ? " aligned" : ""));
        problem asked = p;
        image_region region{0, 0, p.width, p.height};
        if (is_region) region = {7, p.border == border::wrap ? 0 : p.height / 2, 40, 11};
        asked.width = region.width;
        asked.height = region.height;
        const std::vector<std::uint8_t> elements = random_image<std::uint8_t>(p);
        const std::int64_t bytes = gaussian_blur_workspace_bytes(asked.described<std::uint8_t>(),
                                                                 traits_of(current_device()), GetParam());
        guarded<std::uint8_t> scratch(bytes);
        scratch.upload(std::vector<std::uint8_t>(static_cast<std::size_t>(bytes), 0));
        test_image<std::uint8_t> source(p, how), destination(asked, how);
        source->upload(elements);
        gaussian_blur_options options = options_of(p);
        options.region = region;
        const auto blurs_to = [&](test_image<std::uint8_t>& to) {
            return blur<std::uint8_t>(asked, source.batch(), to.batch(), options, GetParam());
        };
        options.workspace = {reinterpret_cast<std::byte*>(scratch.data()), static_cast<std::size_t>(bytes)};
        if (!blurs_to(destination)) return;
        EXPECT_TRUE(scratch.canaries_alive());
        // What reductions expect to find zero has stayed so.
        const std::vector<std::uint8_t> left = scratch.download();
        for (std::size_t i = 0; i < std::min<std::size_t>(left.size(), 4096); ++i) ASSERT_EQ(left[i], 0);

        // An empty one stands for the pool, wherever it points to.
        test_image<std::uint8_t> from_pool(asked, how);
        options.workspace = {reinterpret_cast<std::byte*>(scratch.data()) + 1, 0};
        ASSERT_TRUE(blurs_to(from_pool));
        EXPECT_EQ(from_pool->download(), destination->download());
        EXPECT_TRUE(scratch.canaries_alive());

        if (bytes == 0) return;
        test_image<std::uint8_t> untouched(asked, how);
        options.workspace = {reinterpret_cast<std::byte*>(scratch.data()), 4096};
        EXPECT_EQ(rejected_argument_of([&] { (void)blurs_to(untouched); }), "options.workspace");
        EXPECT_TRUE(untouched->untouched());
    };
    for (problem p : {problem{131, 37, 3, {4, 6}}, problem{131, 90, 3, {40, 48}, {10, 12}}})
        for (const border kind : borders)
            for (const bool is_region : {false, true})
                for (const layout how : {layout::tight, layout::aligned}) {
                    p.border = kind;
                    ASSERT_NO_FATAL_FAILURE(check(p, is_region, how));
                }
    expect_runs(pixel_type::u8, false, GetParam());
}

TEST_P(gaussian_blur_rung, can_be_captured_and_replayed) {
    const auto check = [this](const problem& p, layout how) {
        SCOPED_TRACE(text(p) + (how == layout::aligned ? " aligned" : ""));
        test_image<std::uint8_t> source(p, how), destination(p, how);
        bool runs = true;
        const graph captured = graph::capture(*stream_, [&] {
            try {
                gaussian_blur<std::uint8_t>(source.view(), destination.view(), p.sigma, *stream_,
                                            options_of(p, GetParam()));
            } catch (const unsupported&) {
                runs = false;
            }
        });
        for (int replay = 0; runs && replay < 2; ++replay, ++runs_) {
            const std::vector<std::uint8_t> elements = random_image<std::uint8_t>(p);
            source->upload(elements);
            captured.launch(*stream_);
            stream_->synchronize();
            ASSERT_NO_FATAL_FAILURE(
                expect_close(p, destination->download(), elements, rung_of<std::uint8_t>(p, GetParam())));
        }
    };
    for (const problem& p : {problem{200, 50, 1, 5}, problem{200, 150, 1, 40, 10}})
        for (const layout how : {layout::tight, layout::aligned}) ASSERT_NO_FATAL_FAILURE(check(p, how));
    expect_runs(pixel_type::u8, false, GetParam());
}

TEST_P(gaussian_blur_rung, marches_down_tall_images) {
    // On 132 multiprocessors: more rows than all blocks of one wave take at their least, so that each takes
    // more; so many that the blocks come in four waves; and in two of the blocks for large radii.
    for (problem p :
         {problem{3, 40000, 1, 2}, {3, 400000, 1, 2}, {2, 500000, 1, 17}, {3, 100000, 1, {1, 17}}}) {
        p.border = border::reflect;
        ASSERT_NO_FATAL_FAILURE(run_and_check<float>(p));
        ASSERT_NO_FATAL_FAILURE(run_and_check<std::uint8_t>(p));
        ASSERT_NO_FATAL_FAILURE(run_and_check<std::uint8_t>(p, layout::aligned));
    }
    expect_runs(pixel_type::u8, false, GetParam());
}

class gaussian_blur_of_large_images : public gaussian_blur_rung {
  protected:
    /// A square of uint8: its corners, its middle and both ends of some rows.
    void check_square(std::int64_t side, const window_radius& radius, const blur_sigma& sigma) {
        const std::int64_t size = side * side, canaries = 256;
        constexpr std::byte canary{0xa5};
        const stream& s = *stream_;
        problem p{side, side, 1, radius, sigma};
        p.border = border::reflect;
        SCOPED_TRACE(text(p));
        const std::int64_t scratch = gaussian_blur_workspace_bytes(p.described<std::uint8_t>(),
                                                                   traits_of(current_device()), GetParam());
        const std::int64_t needed = 2 * size + scratch + (std::int64_t{1} << 28);
        std::size_t free = 0, total = 0;
        check(cudaMemGetInfo(&free, &total));
        if (free < static_cast<std::size_t>(needed))
            GTEST_SKIP() << "needs " << needed / 1000000000 + 1 << " GB of free device memory";

        // Random elements, again and again: each copy doubles them.
        const std::vector<std::uint8_t> period = test::random_elements<std::uint8_t>(1000003, 0, 255);
        const auto period_size = static_cast<std::int64_t>(period.size());
        device_buffer<std::uint8_t> source(size, s), destination(size + 2 * canaries, s);
        heddle::copy(period, vector_view<std::uint8_t>{source.data(), period_size}, s);
        for (std::int64_t filled = period_size; filled < size; filled *= 2) {
            const std::int64_t count = std::min(filled, size - filled);
            heddle::copy(vector_view<const std::uint8_t>{source.data(), count},
                         vector_view<std::uint8_t>{source.data() + filled, count}, s);
        }
        fill_bytes(destination, canary, s);
        std::uint8_t* const first = destination.data() + canaries;
        if (!blur<std::uint8_t>(p, {{source.data(), side, side}}, {{first, side, side}}, options_of(p),
                                GetParam()))
            return;

        const auto pixel = [&](std::int64_t x, std::int64_t y) {
            return test::to_double(period[static_cast<std::size_t>((y * side + x) % period_size)]);
        };
        const std::int64_t cols = 24, rows = 16, last_col = side - cols, last_row = side - rows;
        const std::int64_t at_2_to_31 = std::min((std::int64_t{1} << 31) / side - rows / 2, side / 3);
        for (const auto& [left, top] : {std::pair{std::int64_t{0}, std::int64_t{0}},
                                        {last_col, std::int64_t{0}},
                                        {std::int64_t{0}, last_row},
                                        {last_col, last_row},
                                        {side / 2, side / 2},
                                        {last_col, at_2_to_31},
                                        {std::int64_t{0}, at_2_to_31}}) {
            std::vector<std::uint8_t> window(static_cast<std::size_t>(rows * cols));
            copy_and_wait(matrix_view<const std::uint8_t>{first + top * side + left, rows, cols, side},
                          matrix_view<std::uint8_t>{window.data(), rows, cols}, s);
            for (std::int64_t i = 0; i < rows * cols; ++i) {
                const std::int64_t x = left + i % cols, y = top + i / cols;
                const double expected = pixel_in_double(p, x, y, pixel);
                // Of elements that are not negative the result is the sum of magnitudes too.
                ASSERT_TRUE(test::is_within(
                    test::to_double(window[static_cast<std::size_t>(i)]), expected,
                    bound<std::uint8_t>(p, expected, 255, rung_of<std::uint8_t>(p, GetParam()))))
                    << "at " << x << ", " << y;
            }
        }
        std::vector<std::byte> around(canaries);
        for (const std::uint8_t* canaries_at : {first - canaries, first + size}) {
            copy_and_wait(vector_view{reinterpret_cast<const std::byte*>(canaries_at), canaries}, around, s);
            EXPECT_EQ(around, std::vector<std::byte>(canaries, canary));
        }
    }
};
INSTANTIATE_TEST_SUITE_P(all, gaussian_blur_of_large_images, testing::ValuesIn(rungs_and_automatic()),
                         algorithm_name);

TEST_P(gaussian_blur_of_large_images, large_of_more_than_2_to_31_elements) {
    check_square(46400, 1, 0.5);
    if (GetParam() == algorithm::naive) return;  // it would take seconds
    check_square(46400, 5, 2);
    check_square(46400, 17, 6);
}
TEST_P(gaussian_blur_of_large_images, large_of_32768_by_32768) {
    check_square(32768, {2, 3}, {0.8, 1.2});
    if (GetParam() != algorithm::naive) check_square(32768, 40, 10);
}

#if HEDDLE_HAS_CUDNN
void cudnn_blur(const problem& p, const float* source, const float* window, float* destination,
                cudaStream_t stream) {
    cudnnHandle_t handle{};
    cudnnTensorDescriptor_t image{};
    cudnnFilterDescriptor_t filter{};
    cudnnConvolutionDescriptor_t convolution{};
    const int n = static_cast<int>(2 * p.radius.x + 1), radius = static_cast<int>(p.radius.x);
    ASSERT_EQ(cudnnCreate(&handle), CUDNN_STATUS_SUCCESS);
    ASSERT_EQ(cudnnSetStream(handle, stream), CUDNN_STATUS_SUCCESS);
    ASSERT_EQ(cudnnCreateTensorDescriptor(&image), CUDNN_STATUS_SUCCESS);
    ASSERT_EQ(cudnnSetTensor4dDescriptor(image, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1,
                                         static_cast<int>(p.height), static_cast<int>(p.width)),
              CUDNN_STATUS_SUCCESS);
    ASSERT_EQ(cudnnCreateFilterDescriptor(&filter), CUDNN_STATUS_SUCCESS);
    ASSERT_EQ(cudnnSetFilter4dDescriptor(filter, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 1, 1, n, n),
              CUDNN_STATUS_SUCCESS);
    ASSERT_EQ(cudnnCreateConvolutionDescriptor(&convolution), CUDNN_STATUS_SUCCESS);
    ASSERT_EQ(cudnnSetConvolution2dDescriptor(convolution, radius, radius, 1, 1, 1, 1,
                                              CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT),
              CUDNN_STATUS_SUCCESS);
    ASSERT_EQ(cudnnSetConvolutionMathType(convolution, CUDNN_FMA_MATH), CUDNN_STATUS_SUCCESS);
    const float one = 1, zero = 0;
    ASSERT_EQ(cudnnConvolutionForward(handle, &one, image, source, filter, window, convolution,
                                      CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, nullptr, 0, &zero, image,
                                      destination),
              CUDNN_STATUS_SUCCESS);
    check(cudaStreamSynchronize(stream));
    (void)cudnnDestroyConvolutionDescriptor(convolution);
    (void)cudnnDestroyFilterDescriptor(filter);
    (void)cudnnDestroyTensorDescriptor(image);
    (void)cudnnDestroy(handle);
}

TEST_P(gaussian_blur_rung, agrees_with_a_convolution_of_cudnn) {
    for (const std::int64_t radius : {1, 2, 5, 9}) {
        const problem p{641, 483, 1, radius};
        SCOPED_TRACE(text(p));
        const std::vector<double> taps = taps_of(p.sigma.x, radius);
        std::vector<float> products;
        for (const double down : taps)
            for (const double across : taps) products.push_back(static_cast<float>(down * across));
        const std::vector<float> elements = test::random_elements<float>(p.elements(), 0, 1);
        test_image<float> source(p, layout::tight), ours(p, layout::tight), theirs(p, layout::tight);
        guarded<float> window(static_cast<std::int64_t>(products.size()));
        source->upload(elements);
        window.upload(products);
        // cuDNN pads with zeros.
        if (!blur<float>(p, source.batch(), ours.batch(), {.radius = radius, .border = border::constant},
                         GetParam()))
            continue;
        ASSERT_NO_FATAL_FAILURE(
            cudnn_blur(p, source.view().data, window.data(), theirs.view().data, stream_->get()));
        // The sum over n * n products in any order is within n * n units of roundoff, their rounded weights
        // and the products' own add two; all values are positive and at most 1.
        const auto n = static_cast<double>(2 * radius + 1);
        const double allowed = bound<float>(p, 1, 1) + (n * n + 2) * test::unit_roundoff<float>();
        const std::vector<float> our_values = ours->download(), their_values = theirs->download();
        for (std::size_t i = 0; i < our_values.size(); ++i)
            ASSERT_TRUE(test::is_within(double{our_values[i]}, double{their_values[i]}, allowed)) << i;
    }
}
#else
TEST(gaussian_blur_beside_cudnn, agrees) {
    GTEST_SKIP() << "cuDNN is not installed";
}
#endif

#if HEDDLE_HAS_OPENCV
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
template <class T, class Blur>
void check_against_opencv(typename test_image<T>::memory where, algorithm which, Blur blur) {
    for (const window_radius radius : {window_radius{1}, {2}, {5, 3}, {4, 15}, {25}})
        for (const std::int64_t channels : {1, 3, 4})
            for (const border kind :
                 {border::replicate, border::reflect, border::reflect_101, border::constant}) {
                problem p{131, 67, channels, radius};
                p.border = kind;
                SCOPED_TRACE(text(p));
                std::vector<T> elements, expected(static_cast<std::size_t>(p.elements()));
                if constexpr (std::is_integral_v<T>)
                    elements = smooth_image<T>(p);
                else
                    elements = random_image<T>(p);
                const auto matrix = [&](std::vector<T>& pixels) {
                    return cv::Mat(static_cast<int>(p.height), static_cast<int>(p.width),
                                   CV_MAKETYPE(cv::DataType<T>::depth, static_cast<int>(channels)),
                                   pixels.data());
                };
                cv::Mat result = matrix(expected);
                const cv::Size window(static_cast<int>(2 * radius.x + 1), static_cast<int>(2 * radius.y + 1));
                cv::GaussianBlur(matrix(elements), result, window, p.sigma.x, p.sigma.y,
                                 test::opencv_border(kind));

                test_image<T> source(p, layout::tight, where), destination(p, layout::tight, where);
                source->upload(elements);
                gaussian_blur_options options = options_of(p);
                options.border_value = 0;
                if (!blur(p, source.batch(), destination.batch(), options)) continue;
                const std::vector<T> ours = destination->download();
                const double allowed = std::is_integral_v<T> ? 1 : 2 * bound<T>(p, 100, 100, which);
                for (std::size_t i = 0; i < ours.size(); ++i)
                    ASSERT_TRUE(
                        test::is_within(test::to_double(ours[i]), test::to_double(expected[i]), allowed))
                        << "value " << i;
            }
}

TEST_P(gaussian_blur_rung, agrees_with_opencv) {
    const auto where = guarded<float>::memory::device;
    check_against_opencv<float>(where, GetParam(), with_rung<float>());
    check_against_opencv<std::uint16_t>(guarded<std::uint16_t>::memory::device, GetParam(),
                                        with_rung<std::uint16_t>());
    check_against_opencv<std::uint8_t>(guarded<std::uint8_t>::memory::device, GetParam(),
                                       with_rung<std::uint8_t>());
}
#else
TEST(gaussian_blur_beside_opencv, agrees) {
    GTEST_SKIP() << "OpenCV is not installed";
}
#endif

// decimated, whose window is not exactly a Gaussian.

class decimated_gaussian_blur : public gaussian_blur_test {
  protected:
    /// What the rung makes of lines of 1 in images of 0, a line of each position along an axis, less what a
    /// Gaussian makes of them: its errors' matrix, borders included, row by row of the images' positions.
    std::vector<double> errors_along(bool along_y, double sigma, border kind) {
        const std::int64_t size = 3 * gaussian_radius(sigma), across = 33;
        problem p{along_y ? across : size, along_y ? size : across, 1, gaussian_radius(sigma), sigma};
        p.border = kind;
        std::vector<float> elements;
        for (std::int64_t line = 0; line < size; ++line)
            for (std::int64_t y = 0; y < p.height; ++y)
                for (std::int64_t x = 0; x < p.width; ++x)
                    elements.push_back((along_y ? y : x) == line ? 1.0f : 0.0f);
        test_image<float> source(p, layout::tight, guarded<float>::memory::device, size);
        test_image<float> destination(p, layout::tight, guarded<float>::memory::device, size);
        source->upload(elements);
        std::vector<double> errors;
        if (!blur<float>(p, source.batch(), destination.batch(), {.radius = p.radius, .border = kind},
                         algorithm::decimated))
            return errors;
        const std::vector<float> blurred = destination->download();
        const std::vector<double> taps = taps_of(sigma, p.radius.x);
        std::vector<double> exact(static_cast<std::size_t>(size * size));
        for (std::int64_t i = 0; i < size; ++i)
            for (std::int64_t k = -p.radius.x; k <= p.radius.x; ++k)
                if (const std::int64_t line = source_index(i + k, size, kind); line >= 0)
                    exact[static_cast<std::size_t>(line * size + i)] +=
                        taps[static_cast<std::size_t>(k + p.radius.x)];
        for (std::int64_t line = 0; line < size; ++line)
            for (std::int64_t i = 0; i < size; ++i) {
                const std::int64_t x = along_y ? across / 2 : i, y = along_y ? i : across / 2;
                const auto at = static_cast<std::size_t>((line * p.height + y) * p.width + x);
                errors.push_back(double{blurred[at]} - exact[static_cast<std::size_t>(line * size + i)]);
            }
        return errors;
    }
};

TEST_F(decimated_gaussian_blur, has_nearly_a_gaussian_window) {
    // Not `constant`, which takes from a line at its ends too.
    constexpr std::array kinds = {border::replicate, border::reflect_101, border::wrap};
    for (const double sigma : {8.0, 13.3, 24.0}) {
        double sum_of_both = 0;
        for (const bool along_y : {false, true})
            for (const border kind : kinds) {
                const std::vector<double> errors = errors_along(along_y, sigma, kind);
                const auto size = static_cast<std::size_t>(3 * gaussian_radius(sigma));
                const double peak =
                    taps_of(sigma, gaussian_radius(sigma))[static_cast<std::size_t>(gaussian_radius(sigma))];
                double largest = 0, largest_sum = 0;
                for (std::size_t i = 0; i < size && !errors.empty(); ++i) {
                    double sum = 0;  // over the lines that an output sees
                    for (std::size_t line = 0; line < size; ++line) {
                        const double error = std::abs(errors[line * size + i]);
                        largest = std::max(largest, error);
                        sum += error;
                    }
                    largest_sum = std::max(largest_sum, sum);
                }
                if (kind == border::wrap)
                    RecordProperty(
                        (along_y ? "along_y_" : "along_x_") + std::to_string(sigma),
                        std::to_string(largest / peak) + " of the peak, sum " + std::to_string(largest_sum));
                // The others show a pixel at several places of the window.
                if (kind == border::wrap) {
                    EXPECT_LE(largest, 5e-4 * peak) << sigma;
                }
                sum_of_both = std::max(sum_of_both, largest_sum);
            }
        EXPECT_LE(sum_of_both * (2 + sum_of_both), decimated_error) << sigma;
    }
    EXPECT_GT(runs_, 0);
}

TEST_F(decimated_gaussian_blur, has_the_window_of_an_impulse_at_any_phase) {
    for (const blur_sigma& sigma : {blur_sigma{8}, {24.5, 37}, {64}})
        for (int phase = 0; phase < 6; ++phase) {
            const window_radius radius{gaussian_radius(sigma.x), gaussian_radius(sigma.y)};
            const problem p{3 * radius.x + 40, 3 * radius.y + 30, 1, radius, sigma};
            const std::int64_t at_x = 3 * radius.x / 2 + 5 * phase, at_y = 3 * radius.y / 2 + 3 * phase;
            std::vector<float> elements(static_cast<std::size_t>(p.elements()));
            elements[static_cast<std::size_t>(at_y * p.width + at_x)] = 1;
            test_image<float> source(p, layout::tight), destination(p, layout::tight);
            source->upload(elements);
            if (!blur<float>(p, source.batch(), destination.batch(), options_of(p), algorithm::decimated))
                continue;
            const std::vector<float> blurred = destination->download();
            const std::vector<double> taps_x = taps_of(sigma.x, p.radius.x),
                                      taps_y = taps_of(sigma.y, p.radius.y);
            const double peak = *std::ranges::max_element(taps_x) * *std::ranges::max_element(taps_y);
            double largest = 0;
            for (std::int64_t y = 0; y < p.height; ++y)
                for (std::int64_t x = 0; x < p.width; ++x) {
                    const std::int64_t dx = x - at_x + p.radius.x, dy = y - at_y + p.radius.y;
                    const bool is_inside = dx >= 0 && dx <= 2 * p.radius.x && dy >= 0 && dy <= 2 * p.radius.y;
                    const double exact = is_inside ? taps_x[static_cast<std::size_t>(dx)] *
                                                         taps_y[static_cast<std::size_t>(dy)]
                                                   : 0;
                    const double value = blurred[static_cast<std::size_t>(y * p.width + x)];
                    largest = std::max(largest, std::abs(value - exact));
                }
            RecordProperty("sigma_" + std::to_string(sigma.x) + "_phase_" + std::to_string(phase),
                           std::to_string(largest / peak));
            EXPECT_LE(largest, 5e-4 * peak) << sigma.x << " phase " << phase;
        }
    EXPECT_GT(runs_, 0);
}

/// fused filters one channel of float with chains of warps from radius 6 to 16, which lend rows to each other; up to 12 of them
/// where images are many or large. Around the edges of their strips, of 128 columns; parts of a large image; and rows that start
/// and end within a packet of 16 bytes, at the source's left edge and inside of it.
TEST_F(gaussian_blur_test, fused_is_right_for_chains_of_warps) {
    constexpr algorithm rung = algorithm::fused;
    constexpr std::int64_t strip_columns = 128, max_warps = 12;
    constexpr std::array<std::int64_t, 8> widths = {1, 5, 127, 128, 129, 131, 257, 400};
    const auto blur_floats = [this](const problem& of, const auto& sources, const auto& destinations,
                                    const gaussian_blur_options& options) {
        return blur<float>(of, sources, destinations, options, rung);
    };
    std::size_t turn = 0;
    for (std::int64_t radius = 5; radius <= 17; ++radius)
        for (const border kind : borders) {
            const std::int64_t warps = 1 + static_cast<std::int64_t>(turn) * 5 % max_warps;
            const std::int64_t width = widths[turn % widths.size()];
            const std::int64_t height = warps * 2 * radius + static_cast<std::int64_t>(turn) * 7 % 40;
            const auto offset = static_cast<std::int64_t>(turn % 3 * 4);
            const problem p{width + offset, height + offset, 1, radius, sigma_of(radius), kind};
            const std::int64_t strips = (width + strip_columns - 1) / strip_columns;
            const std::int64_t warps_of_image = strips * (height / (2 * radius));
            const std::int64_t images = warps * traits_of(current_device()).sm_count / warps_of_image + 1;
            ASSERT_NO_FATAL_FAILURE(check_region_of_many<float>(p, {offset, offset / 2, width, height},
                                                                images, layout::aligned, rung, blur_floats));
            ++turn;
        }
    for (const std::int64_t radius : {6, 11})
        ASSERT_NO_FATAL_FAILURE(
            check_regions<float>({701, 1900, 1, radius, sigma_of(radius), border::reflect}, layout::aligned,
                                 test_image<float>::memory::device, rung, true, blur_floats));
    for (const border kind : borders) {
        const problem p{203, 90, 1, 8, sigma_of(8), kind};
        SCOPED_TRACE(text(p));
        const std::vector<float> elements = random_image<float>(p);
        const std::int64_t stride = test::aligned_stride(p.width);
        guarded<float> source(p.height, p.width, stride, 1);  // so that column 3 is aligned
        source.upload(elements);
        gaussian_blur_options options = options_of(p);
        options.region = image_region{3, 5, 190, 80};
        problem part = p;
        part.width = options.region->width;
        part.height = options.region->height;
        test_image<float> destination(part, layout::aligned);
        const image_view<const float> view{source.data(), p.width, p.height, 1, stride};
        ASSERT_TRUE(blur<float>(part, image_batch_view{view}, destination.batch(), options, rung));
        const reference expected(p, elements);
        const std::vector<float> values = destination->download();
        const std::vector<double> exact = part_of(p, expected.values, *options.region),
                                  magnitudes = part_of(p, expected.magnitudes, *options.region);
        for (std::size_t i = 0; i < values.size(); ++i)
            ASSERT_TRUE(test::is_within(double{values[i]}, exact[i],
                                        bound<float>(p, magnitudes[i], expected.largest, rung)))
                << i;
        EXPECT_TRUE(destination->canaries_alive());
    }
}

/// tensor_core_registers has a kind of its own for windows of up to 32 values and strips of at least 16 rows, which it cuts
/// where images are so many that the device has no multiprocessors for shorter ones. Around the edges of its strips, of 256
/// values, and of those windows.
TEST_F(gaussian_blur_test, tensor_core_registers_is_right_for_windows_of_many_images) {
    if (!test::has_warpgroups()) GTEST_SKIP() << "is for Hopper";
    constexpr algorithm rung = algorithm::tensor_core_registers;
    constexpr std::int64_t strip_columns = 256, strip_rows = 16, most_strips_per_sm = 16;
    constexpr std::array<std::int64_t, 6> extents = {16, 255, 256, 257, 500, 1025};
    constexpr std::array<std::int64_t, 5> heights = {16, 17, 31, 64, 75};
    constexpr std::array kinds = {border::replicate, border::reflect, border::reflect_101};
    const auto check = [this](const problem& p, const image_region& region, layout how) {
        const std::int64_t columns = (region.width * p.channels + strip_columns - 1) / strip_columns;
        const std::int64_t strips = traits_of(current_device()).sm_count * most_strips_per_sm;
        check_region_of_many<std::uint8_t>(
            p, region, strips * strip_rows / (columns * region.height) + 1, how, rung,
            [this](const problem& of, const auto& sources, const auto& destinations,
                   const gaussian_blur_options& options) {
                return blur<std::uint8_t>(of, sources, destinations, options, rung);
            });
    };
    std::size_t turn = 0;
    for (const std::int64_t channels : {1, 2, 3, 4})
        for (std::int64_t radius = 0; radius <= 8; ++radius)
            for (const std::int64_t reach : {0, 3, 4, 7, 8, 9}) {
                const std::int64_t width = (extents[turn % extents.size()] + channels - 1) / channels;
                const std::int64_t height = heights[turn % heights.size()];
                const auto offset = static_cast<std::int64_t>(turn % 4) * 5;
                problem p{width + offset, height + offset, channels, {reach / channels, radius}};
                p.border = kinds[turn % kinds.size()];
                const image_region region{offset, offset / 2, width, height};
                ASSERT_NO_FATAL_FAILURE(check(p, region, layouts[turn / 2 % layouts.size()]));
                ++turn;
            }
    // The last strip has two values, the second and third of a pixel. The mirror of the first lies before what its warp loads.
    for (const std::int64_t width : {86, 1366})
        ASSERT_NO_FATAL_FAILURE(check({width + 1, 16, 3, 1, sigma_of(1), border::reflect_101},
                                      {1, 0, width, 16}, layout::aligned));
    expect_runs(pixel_type::u8, false, rung);
}

class gaussian_blur_on_warpgroups : public gaussian_blur_test {
  protected:
    void SetUp() override {
        gaussian_blur_test::SetUp();
        if (is_set_up() && !test::has_warpgroups()) GTEST_SKIP() << "is for Hopper";
    }

    static constexpr algorithm rung = algorithm::tensor_core_warpgroups;
    static constexpr std::int64_t tile_columns = 256, tile_rows = 64;

    auto blur_bytes() {
        return [this](const problem& p, const auto& sources, const auto& destinations,
                      const gaussian_blur_options& options) {
            return blur<std::uint8_t>(p, sources, destinations, options, rung);
        };
    }
    /// So many that a block has several tiles, of several images.
    static std::int64_t many(const problem& p) {
        const std::int64_t columns = (p.width * p.channels + tile_columns - 1) / tile_columns;
        const std::int64_t tiles = columns * ((p.height + tile_rows - 1) / tile_rows);
        return 2 * traits_of(current_device()).sm_count / tiles + 1;
    }
};

/// Around the edges of tiles and strips; windows of 96 to 320 values, and one that it does not take.
TEST_F(gaussian_blur_on_warpgroups, is_right_for_any_window) {
    constexpr std::array<std::int64_t, 5> heights = {63, 64, 65, 129, 200};
    std::size_t turn = 0;
    for (const std::int64_t channels : {1, 2, 3, 4})
        for (const std::int64_t reach : {3, 16, 17, 32, 33, 64, 120})
            for (const std::int64_t radius : {0, 5, 8, 15, 16, 17}) {
                const std::int64_t values =
                    tile_columns * (1 + static_cast<std::int64_t>(turn % 2)) - 1 + reach % 3;
                problem p{values / channels,
                          heights[(turn + turn / borders.size()) % heights.size()],
                          channels,
                          {std::min<std::int64_t>(reach / channels, 32), radius}};
                p.border = borders[turn % borders.size()];
                const auto offset = static_cast<std::int64_t>(turn % 3) * 9;
                const image_region region{offset, offset, p.width - 2 * offset, p.height - offset};
                const std::int64_t images = turn % 7 == 0 ? many(p) : 2;
                ASSERT_NO_FATAL_FAILURE(check_region_of_many<std::uint8_t>(
                    p, region, images, layouts[turn % layouts.size()], rung, blur_bytes()));
                ++turn;
            }
    expect_runs(pixel_type::u8, false, rung);
}

/// Radii up to 8 have a kind of their own, but for borders that wrap or are a constant: around the edges of its
/// strips, of 16 to 64 pixels, and of its steps, of 16 rows; stored by 16 bytes, words and bytes; images narrower than a window.
TEST_F(gaussian_blur_on_warpgroups, is_right_for_small_windows) {
    constexpr std::array<std::int64_t, 9> widths = {1, 5, 15, 16, 33, 64, 127, 257, 320};
    constexpr std::array<std::int64_t, 7> heights = {1, 7, 16, 17, 48, 95, 300};
    constexpr std::array<std::int64_t, 5> radii = {0, 1, 4, 8, 9};
    constexpr std::array kinds = {border::replicate, border::reflect, border::reflect_101};
    std::size_t turn = 0;
    for (const std::int64_t channels : {1, 2, 3, 4})
        for (const std::int64_t reach : {0, 1, 4, 5, 7, 8, 9})
            for (const std::int64_t radius : radii) {
                const std::int64_t width = widths[turn % widths.size()],
                                   height = heights[turn % heights.size()];
                const auto offset = static_cast<std::int64_t>(turn % 2 == 0 ? turn % 11 : turn % 3 * 8);
                problem p{width + offset, height + offset, channels, {reach, radius}};
                p.border = kinds[(turn + turn / radii.size()) % kinds.size()];
                const image_region region{offset, offset / 2, width, height};
                const std::int64_t images = turn % 7 == 0 ? many(p) : 2;
                ASSERT_NO_FATAL_FAILURE(check_region_of_many<std::uint8_t>(
                    p, region, images, layouts[turn % layouts.size()], rung, blur_bytes()));
                ++turn;
            }
    expect_runs(pixel_type::u8, false, rung);
}

/// Of radius 8 the kind of small windows takes the whole image, but no region that does not begin at a multiple of 8 pixels.
TEST_F(gaussian_blur_on_warpgroups, gives_the_same_pixels_by_both_kinds) {
    for (const std::int64_t channels : {1, 2, 3, 4}) {
        const problem p{150, 90, channels, 8};
        SCOPED_TRACE(text(p));
        test_image<std::uint8_t> source(p, layout::aligned), whole(p, layout::aligned);
        source->upload(random_image<std::uint8_t>(p));
        if (!blur<std::uint8_t>(p, source.batch(), whole.batch(), options_of(p), rung)) return;
        const std::vector<std::uint8_t> of_whole = whole->download();
        for (std::int64_t x = 0; x < 16; ++x) {
            gaussian_blur_options options = options_of(p);
            options.region = image_region{x, 3, p.width - x, p.height - 3};
            problem of_part = p;
            of_part.width = options.region->width;
            of_part.height = options.region->height;
            test_image<std::uint8_t> part(of_part, layout::aligned);
            if (!blur<std::uint8_t>(of_part, source.batch(), part.batch(), options, rung)) return;
            EXPECT_EQ(part->download(), part_of(p, of_whole, *options.region)) << "from " << x;
        }
    }
    expect_runs(pixel_type::u8, false, rung);
}

/// Each image with a source of its own; rows that are stored as boxes, words and bytes; a last strip of one value, whose
/// mirror lies outside of what its window loads.
TEST_F(gaussian_blur_on_warpgroups, is_right_for_many_images) {
    for (problem p :
         {problem{600, 400, 3, {15, 9}}, {1024, 600, 1, 15}, {341, 400, 3, {5, 12}}, {171, 600, 3, {16, 9}}})
        for (const border kind : borders) {
            p.border = kind;
            ASSERT_NO_FATAL_FAILURE(check_batch<std::uint8_t>(p, many(p), layout::aligned,
                                                              test_image<std::uint8_t>::memory::device, rung,
                                                              true, blur_bytes()));
        }
    expect_runs(pixel_type::u8, false, rung);
}

TEST_F(decimated_gaussian_blur, keeps_a_constant) {
    for (const border kind : {border::replicate, border::reflect, border::reflect_101, border::wrap}) {
        problem p{333, 222, 1, 100, 25, kind};
        test_image<float> source(p, layout::tight), destination(p, layout::tight);
        source->upload(std::vector<float>(static_cast<std::size_t>(p.elements()), 1.0f));
        if (!blur<float>(p, source.batch(), destination.batch(), options_of(p), algorithm::decimated))
            continue;
        for (const float value : destination->download())
            ASSERT_TRUE(test::is_within(double{value}, 1, bound<float>(p, 1, 1)));
    }
}

TEST_F(decimated_gaussian_blur, keeps_a_nan_within_six_sigma) {
    constexpr std::int64_t sigma = 12, at_x = 251, at_y = 190;
    const problem p{500, 400, 1, gaussian_radius(sigma), static_cast<double>(sigma)};
    std::vector<float> elements = random_image<float>(p);
    std::vector<std::vector<float>> blurred;
    for (const bool has_nan : {false, true}) {
        if (has_nan) elements[at_y * p.width + at_x] = std::numeric_limits<float>::quiet_NaN();
        test_image<float> source(p, layout::tight), destination(p, layout::tight);
        source->upload(elements);
        if (!blur<float>(p, source.batch(), destination.batch(), options_of(p), algorithm::decimated)) return;
        blurred.push_back(destination->download());
    }
    for (std::int64_t y = 0; y < p.height; ++y)
        for (std::int64_t x = 0; x < p.width; ++x) {
            const auto at = static_cast<std::size_t>(y * p.width + x);
            if (std::max(std::abs(x - at_x), std::abs(y - at_y)) < 6 * sigma) continue;
            ASSERT_EQ(blurred[1][at], blurred[0][at]) << x << ", " << y;
        }
    EXPECT_TRUE(std::isnan(blurred[1][at_y * p.width + at_x]));
}

// The CPU implementation.

/// As the fixtures' on the device.
constexpr auto blur_on_host = [](const problem& p, const auto& sources, const auto& destinations,
                                 const gaussian_blur_options& options) {
    host::gaussian_blur(sources, destinations, p.sigma, options);
    return true;
};

class host_gaussian_blur : public testing::TestWithParam<pixel_type> {};
INSTANTIATE_TEST_SUITE_P(all, host_gaussian_blur, testing::ValuesIn(pixel_types), type_name);

TEST_P(host_gaussian_blur, is_right_at_every_shape_and_border) {
    with_type(GetParam(), []<class T>() {
        int turn = 0;
        for (const problem& sized : problems_of_one_channel())
            for (const std::int64_t channels : {1, 2, 3, 4})
                for (const border kind : borders) {
                    problem p = skewed(sized, turn++);
                    p.channels = channels;
                    p.border = kind;
                    check_image<T>(p, layouts[static_cast<std::size_t>(channels) % layouts.size()],
                                   test_image<T>::memory::host, algorithm::naive, blur_on_host);
                    if (testing::Test::HasFatalFailure()) return;
                }
    });
}

TEST_P(host_gaussian_blur, takes_windows_far_larger_than_the_image) {
    with_type(GetParam(), []<class T>() {
        for (const border kind : borders) {
            problem p{7, 5, 1, {1200, 900}};
            p.border = kind;
            check_image<T>(p, layout::tight, test_image<T>::memory::host, algorithm::naive, blur_on_host);
        }
    });
}

TEST_P(host_gaussian_blur, blurs_regions_as_the_whole) {
    with_type(GetParam(), []<class T>() {
        for (const window_radius radius : {window_radius{2}, {9, 4}, {5, 17}, {20, 40}})
            for (const border kind : borders) {
                problem p{67, 53, 1 + static_cast<std::int64_t>(kind) % 4, radius};
                p.border = kind;
                // Not bit for bit: the compiler may round a loop's last elements otherwise than its vectors.
                check_regions<T>(p, layout::odd, test_image<T>::memory::host, algorithm::naive, false,
                                 blur_on_host);
            }
    });
}

TEST_P(host_gaussian_blur, blurs_batches) {
    with_type(GetParam(), []<class T>() {
        const auto where = test_image<T>::memory::host;
        check_batch<T>({33, 21, 3, 2}, 1, layout::odd, where, algorithm::naive, true, blur_on_host);
        check_batch<T>({65, 40, 1, {5, 3}}, 3, layout::odd, where, algorithm::naive, true, blur_on_host);
        check_batch<T>({3, 2, 2, 1}, 1000, layout::odd, where, algorithm::naive, true, blur_on_host);
    });
}

TEST(host_gaussian_blur_of_uint8, rounds_as_float64_nearly_everywhere) {
    check_rounding_of_uint8(test_image<std::uint8_t>::memory::host, algorithm::naive, blur_on_host);
}

#if HEDDLE_HAS_OPENCV
TEST(host_gaussian_blur_beside_opencv, agrees) {
    check_against_opencv<float>(guarded<float>::memory::host, algorithm::naive, blur_on_host);
    check_against_opencv<std::uint16_t>(guarded<std::uint16_t>::memory::host, algorithm::naive, blur_on_host);
    check_against_opencv<std::uint8_t>(guarded<std::uint8_t>::memory::host, algorithm::naive, blur_on_host);
}
#endif

TEST(host_gaussian_blur_taps, of_zero_take_nothing_from_nan_and_infinity) {
    expect_nothing_from_weights_of_zero(test_image<float>::memory::host,
                                        [](const problem& p, const auto& source, const auto& destination,
                                           const gaussian_blur_options& options) {
                                            host::gaussian_blur<float>(source, destination, p.sigma, options);
                                            return true;
                                        });
}

TEST(host_gaussian_blur_taps, are_the_gaussian_symmetric_and_of_sum_1) {
    for (const double sigma : {0.1, 0.5, 1.0, 2.3, 10.0}) {
        const std::int64_t radius = gaussian_radius(sigma), size = 4 * radius + 1;
        std::vector<float> impulse(static_cast<std::size_t>(size), 0.0f), blurred(impulse);
        impulse[static_cast<std::size_t>(2 * radius)] = 1;
        // Along a row of constant columns only the taps along x show.
        host::gaussian_blur<float>({impulse.data(), size, 1}, image_view{blurred.data(), size, 1}, sigma);
        const problem p{size, 1, 1, radius, sigma};
        const std::vector<double> taps = taps_of(sigma, radius);
        double sum = 0;
        for (std::int64_t i = 0; i < size; ++i) {
            const bool is_inside = std::abs(i - 2 * radius) <= radius;
            const double expected = is_inside ? taps[static_cast<std::size_t>(i - radius)] : 0;
            const float value = blurred[static_cast<std::size_t>(i)];
            EXPECT_TRUE(test::is_within(double{value}, expected, bound<float>(p, expected, 1))) << i;
            EXPECT_EQ(value, blurred[static_cast<std::size_t>(size - 1 - i)]) << i;
            sum += double{value};
        }
        EXPECT_TRUE(test::is_within(sum, 1, bound<float>(p, 1, 1)));
    }
}

TEST(host_gaussian_blur_taps, fall_back_on_the_radius_of_sigma) {
    const problem p{61, 1, 1, gaussian_radius(2.0), 2.0};
    const std::vector<float> elements = random_image<float>(p);
    std::vector<float> given(elements.size()), derived(elements.size());
    host::gaussian_blur<float>({elements.data(), 61, 1}, image_view{given.data(), 61, 1}, 2.0, {.radius = 8});
    host::gaussian_blur<float>({elements.data(), 61, 1}, image_view{derived.data(), 61, 1}, 2.0);
    EXPECT_EQ(given, derived);
}

TEST(host_gaussian_blur_taps, cost_nothing_where_they_vanish) {
    // A window of half a billion pixels of which some 30 count: ends at once.
    std::vector<float> elements(64, 1.0f), blurred(64);
    host::gaussian_blur<float>({elements.data(), 8, 8}, image_view{blurred.data(), 8, 8}, 1.0,
                               {.radius = std::int64_t{1} << 28});
    const problem p{8, 8, 1, 15, 1.0};
    for (const float value : blurred) EXPECT_TRUE(test::is_within(double{value}, 1, bound<float>(p, 1, 1)));
}

TEST(gaussian_radius, is_four_sigma_rounded_up) {
    EXPECT_EQ(gaussian_radius(1.0), 4);
    EXPECT_EQ(gaussian_radius(1.1), 5);
    EXPECT_EQ(gaussian_radius(1e-300), 1);
    for (const double sigma : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity(), 1e9})
        EXPECT_EQ(rejected_argument_of([&] { (void)gaussian_radius(sigma); }), "sigma");
}

// The choice of a rung and its scratch memory.

device_traits hopper() {
    device_traits device;
    device.compute_capability_major = 9;
    device.sm_count = 132;
    device.shared_memory_per_sm = 228 * 1024;
    device.shared_memory_per_block = 48 * 1024;
    device.shared_memory_per_block_optin = 227 * 1024;
    return device;
}

/// Of the rungs that any device has and that have every type.
gaussian_blur_problem exact_problem(std::int64_t width, std::int64_t height, std::int64_t channels,
                                    const window_radius& radius) {
    return {width, height, channels, radius, sigma_of(radius), pixel_type::f32, 1, true};
}

TEST(gaussian_blur_select, goes_down_the_ladder_as_windows_grow) {
    for (const std::int64_t channels : {1, 2, 3, 4}) {
        const auto at = [&](const window_radius& radius) {
            return select(exact_problem(4096, 4096, channels, radius), hopper());
        };
        EXPECT_EQ(at(0), algorithm::fused);
        EXPECT_EQ(at(2), algorithm::fused);
        EXPECT_EQ(at({15, 3}), algorithm::fused);
        EXPECT_EQ(at(30), algorithm::fused);
        EXPECT_EQ(at(300), algorithm::shared_memory);
        EXPECT_EQ(at(1001), algorithm::separable);
        EXPECT_EQ(at(1000000), algorithm::separable);
    }
}

class gaussian_blur_select_of_bytes : public testing::Test {
  protected:
    void SetUp() override {
        if (HEDDLE_COMPILED_FOR_90 == 0) GTEST_SKIP() << "heddle is not built for Hopper";
    }
    static gaussian_blur_problem square(std::int64_t side, const window_radius& radius) {
        gaussian_blur_problem p = exact_problem(side, side, 1, radius);
        p.type = pixel_type::u8;
        return p;
    }
};

TEST_F(gaussian_blur_select_of_bytes, takes_them_to_the_tensor_cores_where_their_words_are_aligned) {
    gaussian_blur_problem p = square(4096, 5);
    p.in_vectors = false;
    EXPECT_EQ(select(p, hopper()), algorithm::tensor_core);
    p.radius = 4;
    EXPECT_EQ(select(p, hopper()), algorithm::fused);
    p.radius = {2, 3};
    EXPECT_EQ(select(p, hopper()), algorithm::tensor_core);
    p.radius = 5;
    p.in_words = false;
    EXPECT_EQ(select(p, hopper()), algorithm::fused);
    p.radius = 20;
    EXPECT_EQ(select(p, hopper()), algorithm::tensor_core);
    p.images = 0;
    EXPECT_EQ(select(p, hopper()), algorithm::tensor_core);
    p.type = pixel_type::u16;
    EXPECT_EQ(select(p, hopper()), algorithm::fused);
}

TEST_F(gaussian_blur_select_of_bytes, keeps_sums_of_small_windows_in_registers_where_rows_are_aligned) {
    gaussian_blur_problem p = square(4096, 2);
    EXPECT_EQ(select(p, hopper()), algorithm::tensor_core_registers);
    p.radius = {0, 1};
    EXPECT_EQ(select(p, hopper()), algorithm::tensor_core_registers);
    p.radius = 1;
    EXPECT_EQ(select(p, hopper()), algorithm::fused);
    p.radius = 2;
    for (const border kind : {border::wrap, border::constant}) {
        p.border = kind;
        EXPECT_EQ(select(p, hopper()), algorithm::fused);
    }
    p.border = border::reflect_101;
    p.in_words = false;
    EXPECT_EQ(select(p, hopper()), algorithm::fused);
}

TEST_F(gaussian_blur_select_of_bytes, leaves_small_windows_of_small_images_to_tiles_of_fused) {
    // A block of tiles has 240 columns and 32 rows here, and an SM holds four.
    gaussian_blur_problem p = square(4096, 2);
    p.width = 240 * 132;
    p.height = 4 * 32;
    EXPECT_EQ(select(p, hopper()), algorithm::fused);
    p.height = 4 * 32 + 1;
    EXPECT_EQ(select(p, hopper()), algorithm::tensor_core_registers);
    p.height = 32;
    p.images = 4;
    EXPECT_EQ(select(p, hopper()), algorithm::fused);
    p.images = 5;
    EXPECT_EQ(select(p, hopper()), algorithm::tensor_core_registers);
    p.images = 1;
    p.radius = 3;
    EXPECT_EQ(select(p, hopper()), algorithm::tensor_core_registers);
    p.radius = {2, 1};
    EXPECT_EQ(select(p, hopper()), algorithm::tensor_core_registers);
}

TEST_F(gaussian_blur_select_of_bytes, takes_large_images_of_wider_windows_to_warpgroups) {
    gaussian_blur_problem p = square(4096, 15);
    EXPECT_EQ(select(p, hopper()), algorithm::tensor_core_warpgroups);
    p.radius = 16;
    EXPECT_EQ(select(p, hopper()), algorithm::tensor_core_warpgroups);
    p.border = border::wrap;
    EXPECT_EQ(select(p, hopper()), algorithm::tensor_core_warpgroups);
    p.radius = {16, 17};
    EXPECT_EQ(select(p, hopper()), algorithm::tensor_core);
    p.radius = {33, 16};
    EXPECT_EQ(select(p, hopper()), algorithm::tensor_core);
    p.radius = 16;
    p.sigma = 0.5;  // one weight of 0.79
    EXPECT_EQ(select(p, hopper()), algorithm::tensor_core);
    EXPECT_EQ(select(square(512, 15), hopper()), algorithm::tensor_core) << "few tiles";
    EXPECT_EQ(select(square(4096, {9, 6}), hopper()), algorithm::tensor_core_warpgroups);
    EXPECT_EQ(select(square(4096, {9, 5}), hopper()), algorithm::tensor_core_registers);
    EXPECT_EQ(select(square(1024, {9, 6}), hopper()), algorithm::tensor_core_registers) << "few tiles";
    p = square(4096, {12, 5});
    EXPECT_EQ(select(p, hopper()), algorithm::tensor_core_registers);
    p.channels = 2;
    EXPECT_EQ(select(p, hopper()), algorithm::tensor_core_warpgroups) << "more products, and tiles";
}

TEST_F(gaussian_blur_select_of_bytes, takes_tall_small_windows_of_any_image_to_warpgroups) {
    for (const std::int64_t side : {1, 512, 4096}) {
        EXPECT_EQ(select(square(side, 5), hopper()), algorithm::tensor_core_warpgroups);
        EXPECT_EQ(select(square(side, {8, 5}), hopper()), algorithm::tensor_core_warpgroups);
        EXPECT_EQ(select(square(side, {8, 4}), hopper()), algorithm::tensor_core_registers);
        gaussian_blur_problem p = square(side, 4);
        EXPECT_EQ(select(p, hopper()), algorithm::tensor_core_registers);
        p.channels = 4;
        EXPECT_EQ(select(p, hopper()), algorithm::tensor_core_warpgroups);
        p.radius = {7, 3};
        EXPECT_EQ(select(p, hopper()), algorithm::tensor_core_warpgroups) << "too wide for registers";
        p = square(side, 5);
        p.sigma = 0.5;
        EXPECT_EQ(select(p, hopper()), algorithm::tensor_core_registers) << "one weight of 0.79";
    }
    gaussian_blur_problem p = square(512, 8);
    p.border = border::wrap;
    EXPECT_EQ(select(p, hopper()), algorithm::tensor_core);
}

TEST_F(gaussian_blur_select_of_bytes, ends_registers_and_warpgroups_where_windows_grow_too_wide) {
    const auto of_few_tiles = [](const window_radius& radius) {
        return select(square(512, radius), hopper());
    };
    EXPECT_EQ(of_few_tiles({24, 8}), algorithm::tensor_core_registers);
    EXPECT_EQ(of_few_tiles({24, 9}), algorithm::tensor_core);
    EXPECT_EQ(of_few_tiles({25, 8}), algorithm::tensor_core);
    const auto of_many_tiles = [](const window_radius& radius) {
        gaussian_blur_problem p = square(4096, radius);
        p.channels = 4;
        return select(p, hopper());
    };
    EXPECT_EQ(of_many_tiles({30, 16}), algorithm::tensor_core_warpgroups);
    EXPECT_EQ(of_many_tiles({31, 16}), algorithm::tensor_core);
}

TEST(gaussian_blur_select, takes_decimated_where_sigma_is_large) {
    gaussian_blur_problem p = exact_problem(4096, 4096, 1, 48);
    p.sigma = 12;
    p.exact = false;
    EXPECT_EQ(select(p, hopper()), algorithm::decimated);
    p.sigma = {12, 11.9};
    EXPECT_NE(select(p, hopper()), algorithm::decimated);
    p.sigma = 12;
    p.radius = {48, 47};  // a window that is cut short
    EXPECT_NE(select(p, hopper()), algorithm::decimated);
}

TEST(gaussian_blur_select, keeps_decimated_from_those_who_want_a_gaussian) {
    gaussian_blur_problem p = exact_problem(4096, 4096, 1, 160);
    p.sigma = 40;
    for (const pixel_type type : pixel_types) {
        p.type = type;
        EXPECT_NE(select(p, hopper()), algorithm::decimated);
    }
}

TEST(gaussian_blur_select, leaves_the_longest_rows_to_separable) {
    EXPECT_EQ(select(exact_problem(std::int64_t{1} << 31, 1, 1, 2), hopper()), algorithm::separable);
    EXPECT_EQ(select(exact_problem(std::int64_t{1} << 29, 1, 4, 40), hopper()), algorithm::separable);
}

TEST(gaussian_blur_select, stays_within_a_smaller_device) {
    device_traits small = hopper();
    small.shared_memory_per_sm = 64 * 1024;
    small.shared_memory_per_block_optin = 48 * 1024;
    EXPECT_EQ(select(exact_problem(4096, 4096, 1, 2), small), algorithm::fused);
    EXPECT_EQ(select(exact_problem(4096, 4096, 1, 40), small), algorithm::shared_memory);
    EXPECT_EQ(select(exact_problem(4096, 4096, 4, 1000), small), algorithm::separable);
}

TEST(gaussian_blur_workspace, is_of_the_radius_that_is_left_without_weights_of_zero) {
    for (const auto& [width, sigma, radius] :
         {std::tuple(4096, 12, 1000), std::tuple(4096, 20, 2000), std::tuple(100000, 50, 20000)}) {
        gaussian_blur_problem p{width, 1, 1, radius, sigma};
        gaussian_blur_problem left = p;
        left.radius = 15 * sigma;  // past which no weight is above 0 in float
        EXPECT_EQ(select(p, hopper()), select(left, hopper())) << width << ' ' << sigma;
        EXPECT_EQ(gaussian_blur_workspace_bytes(p, hopper()), gaussian_blur_workspace_bytes(left, hopper()))
            << width << ' ' << sigma;
        EXPECT_NE(select(p, hopper()), algorithm::decimated) << "the picture is small against the window";
    }
}

TEST(gaussian_blur_workspace, holds_the_intermediate_image_of_two_passes) {
    gaussian_blur_problem p = exact_problem(1001, 50, 3, {5, 7});
    const auto bytes = [&](algorithm which) { return gaussian_blur_workspace_bytes(p, hopper(), which); };
    for (const std::int64_t images : {1, 9}) {
        p.images = images;
        for (const algorithm which :
             {algorithm::separable, algorithm::shared_memory, algorithm::register_window})
            EXPECT_GE(bytes(which), 1001 * (50 + 2 * 7) * 3 * 4 * images);
        for (const algorithm which : {algorithm::naive, algorithm::fused, algorithm::automatic})
            EXPECT_EQ(bytes(which), 0);
    }
    p.radius = 5000;
    p.sigma = 1000;
    EXPECT_GT(bytes(algorithm::automatic), 0);
    for (std::int64_t gaussian_blur_problem::*extent :
         {&gaussian_blur_problem::width, &gaussian_blur_problem::height, &gaussian_blur_problem::images}) {
        gaussian_blur_problem empty = p;
        empty.*extent = 0;
        for (const algorithm which : gaussian_blur_algorithms())
            EXPECT_EQ(gaussian_blur_workspace_bytes(empty, hopper(), which), 0);
    }
}

TEST(gaussian_blur_problem, is_checked) {
    const auto expect_rejected = [](const std::string& argument, const gaussian_blur_problem& p) {
        SCOPED_TRACE(argument);
        EXPECT_EQ(rejected_argument_of([&] { (void)select(p, hopper()); }), argument);
        for (const algorithm which : {algorithm::automatic, algorithm::separable, algorithm::fused})
            EXPECT_EQ(rejected_argument_of([&] { (void)gaussian_blur_workspace_bytes(p, hopper(), which); }),
                      argument);
    };
    expect_rejected("problem.width", {-1, 50, 3, 5});
    expect_rejected("problem.height", {1001, -1, 3, 5});
    for (const std::int64_t channels : {-1, 0, 5})
        expect_rejected("problem.channels", {1001, 50, channels, 5});
    expect_rejected("problem.radius.x", {1001, 50, 3, {-1, 5}});
    expect_rejected("problem.radius.y", {1001, 50, 3, {5, -1}});
    expect_rejected("problem.sigma.x", {1001, 50, 3, 5, {0, 1}});
    expect_rejected("problem.sigma.y", {1001, 50, 3, 5, {1, std::nan("")}});
    expect_rejected("problem.images", {1001, 50, 3, 5, 1, pixel_type::f32, -1});
    EXPECT_EQ(rejected_argument_of([] {
                  (void)gaussian_blur_workspace_bytes({1001, 50, 3, 5}, hopper(), static_cast<algorithm>(99));
              }),
              "options.algorithm");
}

TEST(gaussian_blur_algorithms, are_named) {
    for (const algorithm which : gaussian_blur_algorithms()) {
        EXPECT_NE(which, algorithm::automatic);
        EXPECT_NE(to_string(which), "unknown");
    }
    EXPECT_EQ(to_string(algorithm::fused), "fused");
    EXPECT_EQ(to_string(static_cast<algorithm>(99)), "unknown");
}

// Wrong arguments. Nothing is read or written, so any address will do, and no device is needed.

struct call {
    alignas(16) std::array<float, 4096> memory = [] {
        std::array<float, 4096> numbers{};
        for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i * i % 101);
        return numbers;
    }();
    image_view<const float> source{memory.data(), 10, 8, 3, 40};
    image_view<float> destination{memory.data() + 1024, 10, 8, 3, 32};
    blur_sigma sigma = 1.5;
    gaussian_blur_options options{};
};

/// Changes one argument of a valid call; both implementations must name it.
template <class Change>
void expect_rejected(const std::string& argument, Change change) {
    SCOPED_TRACE(argument);
    call c;
    change(c);
    const auto before = c.memory;
    const cuda::stream_ref stream{cudaStream_t{}};
    EXPECT_EQ(rejected_argument_of(
                  [&] { gaussian_blur<float>(c.source, c.destination, c.sigma, stream, c.options); }),
              argument);
    EXPECT_EQ(rejected_argument_of(
                  [&] { host::gaussian_blur<float>(c.source, c.destination, c.sigma, c.options); }),
              argument);
    EXPECT_EQ(c.memory, before);
}

TEST(gaussian_blur_validation, names_what_is_wrong_with_the_images) {
    expect_rejected("source.width", [](call& c) { c.source.width = 9; });
    expect_rejected("source.width", [](call& c) { c.source.width = -1; });
    expect_rejected("source.height", [](call& c) { c.source.height = 7; });
    expect_rejected("destination.height", [](call& c) { c.destination.height = -1; });
    expect_rejected("source.channels", [](call& c) { c.source.channels = 1; });
    expect_rejected("source.channels", [](call& c) { c.source.channels = 5; });
    expect_rejected("destination.channels", [](call& c) { c.destination.channels = 0; });
    expect_rejected("source.row_stride", [](call& c) { c.source.row_stride = 29; });
    expect_rejected("destination.row_stride", [](call& c) { c.destination.row_stride = -32; });
    expect_rejected("source.data", [](call& c) { c.source.data = nullptr; });
    expect_rejected("destination.data", [](call& c) { c.destination.data = nullptr; });
    expect_rejected("destination.data", [](call& c) {
        c.destination.data = reinterpret_cast<float*>(reinterpret_cast<std::uintptr_t>(c.memory.data()) + 2);
    });
    expect_rejected("destination", [](call& c) { c.destination.data = c.memory.data() + 30; });
    expect_rejected("destination", [](call& c) {
        c.destination.data = c.memory.data();
        c.destination.row_stride = c.source.row_stride;
    });
}

TEST(gaussian_blur_validation, names_what_is_wrong_with_a_region) {
    const auto expect_region_rejected = [](const std::string& argument, const image_region& region) {
        expect_rejected(argument, [&](call& c) {
            c.options.region = region;
            c.destination.width = 4;
            c.destination.height = 3;
        });
    };
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    expect_region_rejected("options.region.x", {-1, 0, 4, 3});
    expect_region_rejected("options.region.x", {7, 0, 4, 3});
    expect_region_rejected("options.region.x", {most, 0, 4, 3});
    expect_region_rejected("options.region.y", {0, -1, 4, 3});
    expect_region_rejected("options.region.y", {0, 6, 4, 3});
    expect_region_rejected("options.region.width", {0, 0, 11, 3});
    expect_region_rejected("options.region.width", {0, 0, -1, 3});
    expect_region_rejected("options.region.width", {0, 0, 5, 3});
    expect_region_rejected("options.region.height", {0, 0, 4, most});
    expect_region_rejected("options.region.height", {0, 0, 4, 2});
}

TEST(gaussian_blur_validation, names_what_is_wrong_with_a_batch) {
    struct batches {
        alignas(16) std::array<float, 4096> memory{};
        image_batch_view<const float> sources{{memory.data(), 10, 8}, 3, 80};
        image_batch_view<float> destinations{{memory.data() + 1024, 10, 8, 1, 12}, 3, 94};
    };
    const auto expect_batch_rejected = [](const std::string& argument, auto change) {
        SCOPED_TRACE(argument);
        batches b;
        change(b);
        const cuda::stream_ref stream{cudaStream_t{}};
        EXPECT_EQ(rejected_argument_of([&] { gaussian_blur<float>(b.sources, b.destinations, 1.0, stream); }),
                  argument);
        EXPECT_EQ(rejected_argument_of([&] { host::gaussian_blur<float>(b.sources, b.destinations, 1.0); }),
                  argument);
    };
    expect_batch_rejected("source.count", [](batches& b) { b.sources.count = 2; });
    expect_batch_rejected("source.count", [](batches& b) { b.sources.count = -1; });
    expect_batch_rejected("source.stride", [](batches& b) { b.sources.stride = -80; });
    expect_batch_rejected(
        "source.stride", [](batches& b) { b.sources.stride = std::numeric_limits<std::int64_t>::max() / 2; });
    expect_batch_rejected("destination.stride", [](batches& b) { b.destinations.stride = 93; });
    expect_batch_rejected("destination.stride", [](batches& b) { b.destinations.stride = 0; });
    expect_batch_rejected("destination.stride", [](batches& b) {  // side by side, the last beyond the row
        b.destinations.first.row_stride = 29;
        b.destinations.stride = 10;
    });
    expect_batch_rejected("destination",
                          [](batches& b) { b.destinations.first.data = b.memory.data() + 239; });
    expect_batch_rejected("destination", [](batches& b) {
        b.destinations.count = b.sources.count = 9;
        b.sources.stride = 119;
    });

    // Planes that take turns row by row share no element, nor do the two halves of each row.
    batches b;
    b.sources = {{b.memory.data(), 10, 8, 1, 60}, 3, 10};
    b.destinations = {{b.memory.data() + 30, 10, 8, 1, 60}, 3, 10};
    EXPECT_NO_THROW(host::gaussian_blur<float>(b.sources, b.destinations, 1.0));
    b.destinations.first.data -= 1;
    EXPECT_EQ(rejected_argument_of([&] { host::gaussian_blur<float>(b.sources, b.destinations, 1.0); }),
              "destination");
}

TEST(gaussian_blur_validation, names_what_is_wrong_with_the_window) {
    for (const double sigma : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity(), 1e12}) {
        expect_rejected("sigma.x", [=](call& c) { c.sigma.x = sigma; });
        expect_rejected("sigma.y", [=](call& c) { c.sigma.y = sigma; });
    }
    for (const std::int64_t radius : {std::int64_t{-1}, std::numeric_limits<std::int64_t>::min(),
                                      std::numeric_limits<std::int64_t>::max()}) {
        expect_rejected("options.radius.x", [=](call& c) { c.options.radius = window_radius{radius, 2}; });
        expect_rejected("options.radius.y", [=](call& c) { c.options.radius = window_radius{2, radius}; });
    }
    expect_rejected("options.border", [](call& c) { c.options.border = static_cast<border>(7); });
}

template <class T>
void expect_border_value(float value, bool is_valid) {
    std::array<T, 64> memory{};
    gaussian_blur_options options{.border = border::constant, .border_value = value};
    const image_view<const T> source{memory.data(), 4, 4};
    const image_view<T> destination{memory.data() + 32, 4, 4};
    const auto run = [&] { host::gaussian_blur<T>(source, destination, 1.0, options); };
    if (is_valid) {
        EXPECT_NO_THROW(run());
        return;
    }
    EXPECT_EQ(rejected_argument_of(run), "options.border_value");
    EXPECT_EQ(rejected_argument_of([&] {
                  gaussian_blur<T>(source, destination, 1.0, cuda::stream_ref{cudaStream_t{}}, options);
              }),
              "options.border_value");
    options.border = border::replicate;  // which has no use for it
    EXPECT_NO_THROW(run());
}

TEST(gaussian_blur_validation, wants_border_values_that_the_type_can_hold) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    for (const float value : {-1.0f, 1.5f, std::numeric_limits<float>::quiet_NaN(), infinity}) {
        expect_border_value<std::uint8_t>(value, false);
        expect_border_value<std::uint16_t>(value, false);
        expect_border_value<half>(value, true);
        expect_border_value<float>(value, true);
    }
    expect_border_value<std::uint8_t>(255, true);
    expect_border_value<std::uint8_t>(256, false);
    expect_border_value<std::uint16_t>(65535, true);
    expect_border_value<std::uint16_t>(65536, false);
    expect_border_value<half>(-65504, true);
    expect_border_value<half>(65536, false);
    expect_border_value<float>(1e30f, true);
}

TEST(gaussian_blur_validation, names_what_is_wrong_with_the_device_options) {
    const cuda::stream_ref stream{cudaStream_t{}};
    call c;
    const auto before = c.memory;
    const auto argument = [&](const call& made) {
        std::string rejected = rejected_argument_of(
            [&] { gaussian_blur<float>(made.source, made.destination, made.sigma, stream, made.options); });
        EXPECT_EQ(made.memory, before);
        return rejected;
    };
    c.options.algorithm = static_cast<algorithm>(99);
    EXPECT_EQ(argument(c), "options.algorithm");

    c.options.algorithm = algorithm::separable;
    alignas(16) std::array<std::byte, 4096> scratch;
    c.options.workspace = std::span(scratch).first(64);
    EXPECT_EQ(argument(c), "options.workspace") << "too small";
    c.options.workspace = std::span(scratch).subspan(1);
    EXPECT_EQ(argument(c), "options.workspace") << "misaligned";
    c.options.workspace = std::as_writable_bytes(std::span(c.memory)).first(4096);
    EXPECT_EQ(argument(c), "options.workspace") << "overlaps the source";
}

TEST(gaussian_blur_validation, accepts_empty_images) {
    const cuda::stream_ref stream{cudaStream_t{}};
    for (const auto& [width, height] : {std::pair{0, 0}, std::pair{0, 5}, std::pair{5, 0}}) {
        const image_view<const float> source{nullptr, width, height};
        const image_view<float> destination{nullptr, width, height};
        // An empty workspace has no address to be misaligned.
        alignas(16) std::array<std::byte, 16> odd;
        const std::span<std::byte> nothing = std::span(odd).subspan(1, 0);
        for (const algorithm which : gaussian_blur_algorithms())
            for (const std::span<std::byte> scratch : {std::span<std::byte>(), nothing})
                EXPECT_NO_THROW(gaussian_blur<float>(source, destination, 1.0, stream,
                                                     {.algorithm = which, .workspace = scratch}));
        EXPECT_NO_THROW(host::gaussian_blur<float>(source, destination, 1.0));
    }
    const image_batch_view<float> none{{nullptr, 5, 5}, 0, 25};
    for (const algorithm which : gaussian_blur_algorithms())
        EXPECT_NO_THROW(gaussian_blur<float>(none, none, 1.0, stream, {.algorithm = which}));
    EXPECT_NO_THROW(host::gaussian_blur<float>(none, none, 1.0));
}

}  // namespace
}  // namespace heddle
