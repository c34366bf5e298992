#pragma once

#include "tests/bounds/windows.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/images.hpp"
#include <heddle/host.hpp>
#include <heddle/image_filter.hpp>
#include <heddle/stream.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <ostream>
#include <utility>

namespace heddle {

inline void PrintTo(image_filter_algorithm algorithm, std::ostream* out) {
    *out << to_string(algorithm);
}

}  // namespace heddle

namespace heddle::test {

using algorithm = image_filter_algorithm;

struct problem {
    image_size size;  ///< the source's
    heddle::border border = heddle::border::replicate;
    layout how = layout::tight;
    bool is_side_by_side = false;
    std::int64_t images = 1;
    std::optional<image_region> region{};
    float border_value = test::border_value;

    [[nodiscard]] image_region wanted() const {
        return region.value_or(image_region{0, 0, size.width, size.height});
    }
    [[nodiscard]] std::int64_t elements() const { return images * size.elements(); }

    template <class T>
    [[nodiscard]] guarded_images<T> source(memory where = memory::device) const {
        return guarded_images<T>(size, how, where, images, is_side_by_side);
    }
    template <class T>
    [[nodiscard]] guarded_images<T> destination(memory where = memory::device) const {
        const image_size of_region{wanted().width, wanted().height, size.channels};
        return guarded_images<T>(of_region, how, where, images, is_side_by_side);
    }
};

inline std::string text(const problem& p) {
    const image_region r = p.wanted();
    return std::to_string(p.images) + " of " + std::to_string(p.size.width) + "x" +
           std::to_string(p.size.height) + "c" + std::to_string(p.size.channels) + " " + name_of(p.border) +
           " " + name_of(p.how) + (p.is_side_by_side ? " side by side" : "") + " from " +
           std::to_string(r.x) + "," + std::to_string(r.y) + " " + std::to_string(r.width) + "x" +
           std::to_string(r.height);
}

inline image_filter_options options_of(const problem& p, algorithm which = algorithm::automatic) {
    return {.border = p.border, .border_value = p.border_value, .region = p.region, .algorithm = which};
}

/// The pixels of a source as doubles.
template <class T>
struct pixels {
    const problem& p;
    const std::vector<T>& elements;

    double operator()(std::int64_t image, std::int64_t x, std::int64_t y, std::int64_t c) const {
        x = source_index(x, p.size.width, p.border);
        y = source_index(y, p.size.height, p.border);
        if (x < 0 || y < 0) return double{p.border_value};
        return to_double(elements[p.size.at(x, image * p.size.height + y) + static_cast<std::size_t>(c)]);
    }
};

/// What a filter should give in float64, and by how much a result in float may be off.
struct expectation {
    std::vector<double> values;
    std::vector<double> bounds;
};

/// Calls value(image, x, y, c), coordinates the source's, for all elements of the destination.
template <class Value>
void for_each_element(const problem& p, Value value) {
    const image_region r = p.wanted();
    for (std::int64_t image = 0; image < p.images; ++image)
        for (std::int64_t y = r.y; y < r.y + r.height; ++y)
            for (std::int64_t x = r.x; x < r.x + r.width; ++x)
                for (std::int64_t c = 0; c < p.size.channels; ++c) value(image, x, y, c);
}

/// The windows of 3 x 3 that docs/accuracy.md and image_filter.hpp draw.
using window = std::array<std::array<double, 3>, 3>;
inline constexpr window sobel_x = {{{-1, 0, 1}, {-2, 0, 2}, {-1, 0, 1}}};
inline constexpr window sobel_y = {{{-1, -2, -1}, {0, 0, 0}, {1, 2, 1}}};
inline constexpr window cross = {{{0, 1, 0}, {1, -4, 1}, {0, 1, 0}}};

template <class T>
expectation stencil_in_double(const problem& p, const std::vector<T>& source, const window& weights) {
    const pixels<T> pixel{p, source};
    expectation e;
    for_each_element(p, [&](auto image, auto x, auto y, auto c) {
        double sum = 0, magnitude = 0;
        for (std::int64_t dy = -1; dy <= 1; ++dy)
            for (std::int64_t dx = -1; dx <= 1; ++dx) {
                const double weight =
                    weights[static_cast<std::size_t>(dy + 1)][static_cast<std::size_t>(dx + 1)];
                if (weight == 0) continue;
                const double term = weight * pixel(image, x + dx, y + dy, c);
                sum += term;
                magnitude += std::abs(term);
            }
        e.values.push_back(sum);
        e.bounds.push_back(bounds::of_stencil<T>(magnitude));
    });
    return e;
}

template <class T>
expectation magnitude_in_double(const problem& p, const std::vector<T>& source) {
    const expectation x = stencil_in_double(p, source, sobel_x), y = stencil_in_double(p, source, sobel_y);
    expectation e;
    for (std::size_t i = 0; i < x.values.size(); ++i) {
        const bounds::approximate magnitude =
            bounds::gradient_magnitude({x.values[i], x.bounds[i]}, {y.values[i], y.bounds[i]});
        e.values.push_back(magnitude.value);
        e.bounds.push_back(magnitude.bound);
    }
    return e;
}

template <class T>
expectation gradient_in_double(const problem& p, const std::vector<T>& source, gradient which) {
    if (which == gradient::magnitude) return magnitude_in_double(p, source);
    return stencil_in_double(p, source, which == gradient::x ? sobel_x : sobel_y);
}

/// Along x and then along y, by taps that are given in float, or rounded to it.
template <class T>
expectation convolution_in_double(const problem& p, const std::vector<T>& source,
                                  const std::vector<double>& taps_x, const std::vector<double>& taps_y,
                                  bool rounds_taps) {
    const auto magnitudes_of = [](std::vector<double> values) {
        for (double& value : values) value = std::abs(value);
        return values;
    };
    const auto nx = static_cast<double>(taps_x.size()), ny = static_cast<double>(taps_y.size());
    double largest = p.border_value, weight_y = 0;
    for (const T element : source)
        if (std::isfinite(to_double(element))) largest = std::max(largest, std::abs(to_double(element)));
    for (const double tap : taps_y) weight_y += std::abs(tap);
    const double share = bounds::of_passes(nx, ny, rounds_taps),
                 denormals = bounds::of_denormals(nx, ny, weight_y, largest);

    expectation e;
    const auto expect = [&](double value, double magnitude) {  // of integers a mean
        const auto pixel = bounds::mean_pixel<T>(value, share * magnitude + denormals, nx, ny);
        e.values.push_back(pixel.value);
        e.bounds.push_back(pixel.bound);
    };
    for (std::int64_t image = 0; image < p.images; ++image) {
        std::vector<double> elements;
        for (std::int64_t i = image * p.size.elements(); i < (image + 1) * p.size.elements(); ++i)
            elements.push_back(to_double(source[static_cast<std::size_t>(i)]));
        const auto convolved = [&](const auto& of_x, const auto& of_y, const auto& pixel_values) {
            return part_of(p.size,
                           convolved_in_double(p.size, p.border, of_x, of_y, pixel_values, p.border_value),
                           p.wanted());
        };
        const std::vector<double> values = convolved(taps_x, taps_y, elements);
        const std::vector<double> magnitudes =
            convolved(magnitudes_of(taps_x), magnitudes_of(taps_y), magnitudes_of(elements));
        for (std::size_t i = 0; i < values.size(); ++i) expect(values[i], magnitudes[i]);
    }
    return e;
}

template <class T>
expectation mean_in_double(const problem& p, const std::vector<T>& source, const window_radius& radius) {
    return convolution_in_double(p, source, bounds::box(radius.x), bounds::box(radius.y), true);
}

template <class T>
void expect_close(const std::vector<T>& actual, const expectation& expected) {
    ASSERT_EQ(actual.size(), expected.values.size());
    for (std::size_t i = 0; i < actual.size(); ++i)
        ASSERT_TRUE(is_within(to_double(actual[i]), expected.values[i], expected.bounds[i])) << "value " << i;
}

/// Where a filter runs: on the host, or on a stream of the device.
struct place {
    const stream* on = nullptr;
    algorithm which = algorithm::automatic;

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

inline auto convolution_at(place where, const std::vector<float>& taps_x, const std::vector<float>& taps_y) {
    return [=](const image_batch_view<const float>& sources, const image_batch_view<float>& destinations,
               const image_filter_options& options) {
        if (where.is_host())
            host::separable_convolution(sources, destinations, taps_x, taps_y, options);
        else
            separable_convolution(sources, destinations, taps_x, taps_y, *where.on, options);
    };
}

/// Runs a filter and checks all that it wrote, and that it wrote nothing else.
template <class From, class To, class Filter>
void run_and_check(const problem& p, place where, const std::vector<From>& elements,
                   const expectation& expected, Filter filter) {
    SCOPED_TRACE(text(p));
    const memory in = where.is_host() ? memory::host : memory::device;
    guarded_images<From> source = p.source<From>(in);
    guarded_images<To> destination = p.destination<To>(in);
    source.upload(elements);
    filter(source.batch(), destination.batch(), options_of(p, where.which));
    if (!where.is_host()) where.on->synchronize();
    expect_close(destination.download(), expected);
    EXPECT_TRUE(destination.canaries_alive());
    EXPECT_TRUE(source.untouched());
}

template <class T>
void check_stencils(const problem& p, place where, const std::vector<T>& elements) {
    for (const gradient which : {gradient::x, gradient::y, gradient::magnitude})
        run_and_check<T, float>(p, where, elements, gradient_in_double(p, elements, which),
                                sobel_at<T>(where, which));
    run_and_check<T, float>(p, where, elements, stencil_in_double(p, elements, cross),
                            laplacian_at<T>(where));
}

template <class T>
void check_box(const problem& p, place where, window_radius radius, const std::vector<T>& elements) {
    SCOPED_TRACE("radius " + std::to_string(radius.x) + ", " + std::to_string(radius.y));
    run_and_check<T, T>(p, where, elements, mean_in_double(p, elements, radius),
                        box_blur_at<T>(where, radius));
}

inline void check_convolution(const problem& p, place where, const std::vector<float>& taps_x,
                              const std::vector<float>& taps_y, const std::vector<float>& elements) {
    SCOPED_TRACE("taps " + std::to_string(taps_x.size()) + ", " + std::to_string(taps_y.size()));
    const auto exact = [](const std::vector<float>& taps) {
        return std::vector<double>(taps.begin(), taps.end());
    };
    run_and_check<float, float>(p, where, elements,
                                convolution_in_double(p, elements, exact(taps_x), exact(taps_y), false),
                                convolution_at(where, taps_x, taps_y));
}

/// Sizes from 1 x 1 to around the edges of a warp's strip, with every border; in turn of every layout and number of
/// channels, whole images, regions of them and batches.
inline std::vector<problem> problems() {
    std::vector<problem> all;
    for (const auto& [width, height] : {std::pair{1, 1},
                                        {1, 9},
                                        {9, 1},
                                        {2, 3},
                                        {3, 2},
                                        {5, 4},
                                        {29, 10},
                                        {30, 11},
                                        {31, 39},
                                        {40, 7},
                                        {59, 5},
                                        {60, 6},
                                        {61, 8},
                                        {119, 5},
                                        {120, 9},
                                        {121, 4},
                                        {127, 17},
                                        {241, 3}})
        for (const border kind : borders)
            all.push_back({.size = {width, height, 1 + std::ssize(all) * 3 / 2 % 4}, .border = kind});
    for (std::size_t i = 0; i < all.size(); ++i) {
        problem& p = all[i];
        p.is_side_by_side = i % 4 == 3;
        p.how = p.is_side_by_side ? layout::tight : layouts[i % 4];
        p.images = p.is_side_by_side || i % 7 == 0 ? 3 : 1;
        // The middle, each corner, and the whole.
        const std::int64_t width = (p.size.width + 1) / 2, height = (p.size.height + 1) / 2;
        const std::int64_t right = p.size.width - width, bottom = p.size.height - height;
        const std::array<image_region, 5> regions = {{{right / 2, bottom / 2, width, height},
                                                      {0, 0, width, height},
                                                      {right, 0, width, height},
                                                      {0, bottom, width, height},
                                                      {right, bottom, width, height}}};
        if (i % 3 != 0) p.region = regions[i % regions.size()];
    }
    return all;
}

template <class T>
void check_stencils_everywhere(place where) {
    for (const problem& p : problems()) {
        check_stencils<T>(p, where, random_pixels<T>(p.elements()));
        if (testing::Test::HasFailure()) return;
    }
}

template <class T>
void check_boxes_everywhere(place where) {
    constexpr std::array<std::int64_t, 10> radii = {0, 1, 2, 4, 7, 12, 16, 17, 33, 40};
    const std::vector<problem> all = problems();
    for (std::size_t i = 0; i < all.size(); ++i) {
        const window_radius radius{radii[i % radii.size()], radii[i * 5 / 3 % radii.size()]};
        check_box<T>(all[i], where, radius, random_pixels<T>(all[i].elements()));
        if (testing::Test::HasFailure()) return;
    }
}

inline void check_convolutions_everywhere(place where) {
    constexpr std::array<std::int64_t, 8> counts = {1, 3, 5, 7, 17, 21, 33, 35};
    const std::vector<problem> all = problems();
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto taps_x = random_elements<float>(counts[i % counts.size()]);
        const auto taps_y = random_elements<float>(counts[i * 7 / 3 % counts.size()]);
        check_convolution(all[i], where, taps_x, taps_y, random_pixels<float>(all[i].elements()));
        if (testing::Test::HasFailure()) return;
    }
}

inline void check_the_most_taps(place where) {
    for (const border kind : borders) {
        const problem p{.size = {7, 5, 2}, .border = kind};
        const std::vector<float> elements = random_pixels<float>(p.elements());
        for (const auto& [x, y] : {std::pair{2001, 3}, {3, 2001}, {301, 281}})
            check_convolution(p, where, random_elements<float>(x), random_elements<float>(y), elements);
        for (const window_radius radius : {window_radius{70, 60}, {1001, 2}, {2, 1500}})
            check_box<float>(p, where, radius, elements);
    }
}

inline void check_nan_and_infinity(place where) {
    for (const border kind : borders) {
        const std::int64_t channels = 1 + static_cast<std::int64_t>(kind) % 4;
        const problem p{.size = {150, 40, channels}, .border = kind};
        std::vector<float> elements = random_pixels<float>(p.elements());
        elements[p.size.at(0, 0)] = std::numeric_limits<float>::quiet_NaN();
        elements[p.size.at(20, 10)] = std::numeric_limits<float>::quiet_NaN();
        elements[p.size.at(75, 19)] = std::numeric_limits<float>::infinity();
        elements[p.size.at(149, 31)] = -std::numeric_limits<float>::infinity();
        check_stencils<float>(p, where, elements);
        check_box<float>(p, where, {3, 2}, elements);
        check_box<float>(p, where, {20, 18}, elements);
        check_convolution(p, where, {0.5f, -2, 3}, {1, 2, -1, 4, 5}, elements);
        if (testing::Test::HasFailure()) return;
    }
}

/// Asymmetric taps of distinct powers of two show which one meets which pixel.
inline void check_that_no_window_is_turned_round(place where) {
    const problem p{.size = {9, 9, 1}};
    std::vector<float> impulse(81, 0.0f);
    impulse[4 * 9 + 4] = 1;
    check_convolution(p, where, {1, 2, 4}, {8, 64, 512, 4096, 32768}, impulse);
    check_stencils<float>(p, where, impulse);
}

class image_filter : public gpu_test {
  protected:
    void SetUp() override {
        gpu_test::SetUp();
        if (is_set_up()) stream_.emplace();
    }

    [[nodiscard]] place device(algorithm which = algorithm::automatic) const { return {&*stream_, which}; }

    std::optional<stream> stream_;
};

class image_filter_rung : public image_filter, public testing::WithParamInterface<algorithm> {
  protected:
    template <class T>
    void check_everything() {
        check_stencils_everywhere<T>(device(GetParam()));
    }
};

}  // namespace heddle::test
