#include "tests/support/gpu.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/images.hpp"
#include "tests/support/numeric.hpp"
#include "tests/support/random.hpp"
#include <heddle/buffer.hpp>
#include <heddle/copy.hpp>
#include <heddle/device.hpp>
#include <heddle/error.hpp>
#include <heddle/graph.hpp>
#include <heddle/host.hpp>
#include <heddle/image_filter.hpp>
#include <heddle/stream.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#if HEDDLE_HAS_OPENCV
#include <opencv2/imgproc.hpp>
#endif

namespace heddle {

void PrintTo(image_filter_algorithm algorithm, std::ostream* out) {
    *out << to_string(algorithm);
}

namespace {

using algorithm = image_filter_algorithm;
using test::borders;
using test::guarded;
using test::rejected_argument_of;
using test::source_index;

/// How images lie in memory: rows back to back, rows at multiples of 16 bytes, rows at odd places; and of a batch
/// the rows of all images side by side.
enum class layout { tight, aligned, odd, side_by_side };
constexpr std::array layouts = {layout::tight, layout::aligned, layout::odd, layout::side_by_side};

struct problem {
    std::int64_t width, height, channels;  ///< of the source
    heddle::border border = border::replicate;
    layout how = layout::tight;
    std::int64_t images = 1;
    std::optional<image_region> region{};

    [[nodiscard]] image_region wanted() const { return region.value_or(image_region{0, 0, width, height}); }
    [[nodiscard]] std::int64_t elements() const { return images * width * height * channels; }
};

std::string text(const problem& p) {
    constexpr std::array border_names = {"replicate", "reflect", "reflect_101", "wrap", "constant"};
    constexpr std::array layout_names = {"tight", "aligned", "odd", "side by side"};
    const image_region r = p.wanted();
    return std::to_string(p.images) + " of " + std::to_string(p.width) + "x" + std::to_string(p.height) +
           "c" + std::to_string(p.channels) + " " + border_names[static_cast<std::size_t>(p.border)] + " " +
           layout_names[static_cast<std::size_t>(p.how)] + " from " + std::to_string(r.x) + "," +
           std::to_string(r.y) + " " + std::to_string(r.width) + "x" + std::to_string(r.height);
}

/// A whole number, so that uint8 can hold it.
constexpr float border_value = 77;

image_filter_options options_of(const problem& p, algorithm which = algorithm::automatic) {
    return {.border = p.border, .border_value = border_value, .region = p.region, .algorithm = which};
}

template <class T>
using memory = typename guarded<T>::memory;

/// Images of a problem's source or destination.
template <class T>
class test_images {
  public:
    test_images(const problem& p, std::int64_t width, std::int64_t height, bool on_host)
        : width_(width),
          height_(height),
          channels_(p.channels),
          images_(p.images),
          is_side_by_side_(p.how == layout::side_by_side),
          stride_(stride_of(p.how, width * channels_ * (is_side_by_side_ ? images_ : 1))),
          elements_(is_side_by_side_ ? height : images_ * height,
                    width * channels_ * (is_side_by_side_ ? images_ : 1), stride_,
                    p.how == layout::odd ? 1 : 0, 1, on_host ? memory<T>::host : memory<T>::device) {}

    image_batch_view<T> view() {
        return {{elements_.data(), width_, height_, channels_, stride_},
                images_,
                is_side_by_side_ ? width_ * channels_ : height_ * stride_};
    }
    void upload(const std::vector<T>& images) { elements_.upload(permuted(images, false)); }
    std::vector<T> download() { return permuted(elements_.download(), true); }
    guarded<T>* operator->() { return &elements_; }

  private:
    static std::int64_t stride_of(layout how, std::int64_t row) {
        if (how == layout::aligned) return test::aligned_stride(row);
        return how == layout::odd ? test::odd_stride(row) : row;
    }

    /// Between images one after another and their rows side by side.
    std::vector<T> permuted(const std::vector<T>& from, bool back) const {
        if (!is_side_by_side_) return from;
        std::vector<T> to(from.size());
        const std::int64_t row = width_ * channels_;
        for (std::int64_t image = 0; image < images_; ++image)
            for (std::int64_t y = 0; y < height_; ++y)
                for (std::int64_t i = 0; i < row; ++i) {
                    const auto apart = static_cast<std::size_t>((image * height_ + y) * row + i);
                    const auto beside = static_cast<std::size_t>((y * images_ + image) * row + i);
                    to[back ? apart : beside] = from[back ? beside : apart];
                }
        return to;
    }

    std::int64_t width_, height_, channels_, images_;
    bool is_side_by_side_;
    std::int64_t stride_;
    guarded<T> elements_;
};

/// The pixels of a source as doubles.
template <class T>
struct pixels {
    const problem& p;
    const std::vector<T>& elements;

    double operator()(std::int64_t image, std::int64_t x, std::int64_t y, std::int64_t c) const {
        x = source_index(x, p.width, p.border);
        y = source_index(y, p.height, p.border);
        if (x < 0 || y < 0) return double{border_value};
        return test::to_double(
            elements[static_cast<std::size_t>(((image * p.height + y) * p.width + x) * p.channels + c)]);
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
                for (std::int64_t c = 0; c < p.channels; ++c) value(image, x, y, c);
}

constexpr double u = test::unit_roundoff<float>();

/// The windows of 3 x 3 that docs/accuracy.md and image_filter.hpp draw.
using window = std::array<std::array<double, 3>, 3>;
constexpr window sobel_x = {{{-1, 0, 1}, {-2, 0, 2}, {-1, 0, 1}}};
constexpr window sobel_y = {{{-1, -2, -1}, {0, 0, 0}, {1, 2, 1}}};
constexpr window cross = {{{0, 1, 0}, {1, -4, 1}, {0, 1, 0}}};

/// docs/accuracy.md: a term goes through three roundings at most; of integers none rounds.
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
        e.bounds.push_back(std::is_integral_v<T> ? 0 : 3 * u / (1 - 3 * u) * magnitude);
    });
    return e;
}

/// Squares, their sum and the root round once each; squares below the smallest number are lost.
template <class T>
expectation magnitude_in_double(const problem& p, const std::vector<T>& source) {
    const expectation x = stencil_in_double(p, source, sobel_x), y = stencil_in_double(p, source, sobel_y);
    expectation e;
    for (std::size_t i = 0; i < x.values.size(); ++i) {
        const double value = std::sqrt(x.values[i] * x.values[i] + y.values[i] * y.values[i]);
        const double of_terms = std::sqrt(x.bounds[i] * x.bounds[i] + y.bounds[i] * y.bounds[i]);
        e.values.push_back(value);
        e.bounds.push_back(of_terms + 3 * u * (value + of_terms) + 0x1p-74);
    }
    return e;
}

template <class T>
expectation gradient_in_double(const problem& p, const std::vector<T>& source, gradient which) {
    if (which == gradient::magnitude) return magnitude_in_double(p, source);
    return stencil_in_double(p, source, which == gradient::x ? sobel_x : sobel_y);
}

/// Along x and then along y. Each of n fused multiply-adds of a pass rounds once, where it is denormal by half the
/// smallest number; `tap_roundings` is how often the taps that were given are rounded.
template <class T>
expectation convolution_in_double(const problem& p, const std::vector<T>& source,
                                  const std::vector<double>& taps_x, const std::vector<double>& taps_y,
                                  int tap_roundings) {
    const pixels<T> pixel{p, source};
    const auto nx = static_cast<std::int64_t>(taps_x.size()), ny = static_cast<std::int64_t>(taps_y.size());
    double largest = border_value, weight_y = 0;
    for (const T element : source)
        if (std::isfinite(test::to_double(element)))
            largest = std::max(largest, std::abs(test::to_double(element)));
    for (const double tap : taps_y) weight_y += std::abs(tap);

    struct sums {
        double value = 0, magnitude = 0;
        void add(double tap, const sums& of) {
            value += tap * of.value;
            magnitude += std::abs(tap) * of.magnitude;
        }
    };
    const image_region r = p.wanted();
    expectation e;
    for (std::int64_t image = 0; image < p.images; ++image) {
        // Rows r.y - ry .. of the window's, filtered along x.
        std::vector<sums> rows;
        for (std::int64_t y = r.y - ny / 2; y < r.y + r.height + ny / 2; ++y)
            for (std::int64_t x = r.x; x < r.x + r.width; ++x)
                for (std::int64_t c = 0; c < p.channels; ++c) {
                    sums sum;
                    for (std::int64_t i = 0; i < nx; ++i) {
                        const double value = pixel(image, x + i - nx / 2, y, c);
                        sum.add(taps_x[static_cast<std::size_t>(i)], {value, std::abs(value)});
                    }
                    rows.push_back(sum);
                }
        const std::int64_t row = r.width * p.channels;
        for (std::int64_t y = 0; y < r.height; ++y)
            for (std::int64_t x = 0; x < row; ++x) {
                sums sum;
                for (std::int64_t i = 0; i < ny; ++i)
                    sum.add(taps_y[static_cast<std::size_t>(i)],
                            rows[static_cast<std::size_t>((y + i) * row + x)]);
                const auto roundings = static_cast<double>(nx + ny + 2 * tap_roundings + 2);
                const double denormals = static_cast<double>(nx) * (1 + largest) * weight_y +
                                         static_cast<double>(ny) * (1 + largest);
                const double in_float = roundings * u * sum.magnitude + denormals * test::smallest<float>();
                double bound = in_float;
                if constexpr (std::is_integral_v<T>) {
                    // A mean of nx * ny integers is half a step of 1 / (nx * ny) away from halves at least.
                    sum.value =
                        in_float < 0.5 / static_cast<double>(nx * ny) ? std::round(sum.value) : sum.value;
                    bound = in_float < 0.5 / static_cast<double>(nx * ny) ? 0 : 0.5 + in_float;
                } else if constexpr (std::is_same_v<T, half>) {
                    bound += test::unit_roundoff<half>() * (std::abs(sum.value) + in_float) +
                             test::smallest<half>();
                }
                e.values.push_back(sum.value);
                e.bounds.push_back(bound);
            }
    }
    return e;
}

std::vector<double> box_taps(std::int64_t radius) {
    const auto n = static_cast<std::size_t>(2 * radius + 1);
    return std::vector<double>(n, 1 / static_cast<double>(n));
}

template <class T>
std::vector<T> random_pixels(const problem& p) {
    if constexpr (std::is_integral_v<T>)
        return test::random_elements<T>(p.elements(), 0, std::numeric_limits<T>::max());
    return test::random_elements<T>(p.elements(), -100, 100);
}

template <class T>
void expect_close(const std::vector<T>& actual, const expectation& expected) {
    ASSERT_EQ(actual.size(), expected.values.size());
    for (std::size_t i = 0; i < actual.size(); ++i)
        ASSERT_TRUE(test::is_within(test::to_double(actual[i]), expected.values[i], expected.bounds[i]))
            << "value " << i;
}

/// Where a filter runs: on the host, or on a stream of the device.
struct place {
    const stream* on = nullptr;
    algorithm which = algorithm::automatic;

    [[nodiscard]] bool is_host() const { return on == nullptr; }
};

/// Runs a filter, `run(sources, destinations, options)`, and checks all that it wrote, and that it wrote nothing else.
template <class From, class To, class Run>
void run_and_check(const problem& p, place where, const std::vector<From>& elements,
                   const expectation& expected, Run run) {
    SCOPED_TRACE(text(p));
    const image_region r = p.wanted();
    test_images<From> source(p, p.width, p.height, where.is_host());
    test_images<To> destination(p, r.width, r.height, where.is_host());
    source.upload(elements);
    run(image_batch_view<const From>(source.view()), destination.view(), options_of(p, where.which));
    if (!where.is_host()) where.on->synchronize();
    expect_close(destination.download(), expected);
    EXPECT_TRUE(destination->canaries_alive());
    EXPECT_TRUE(source->untouched());
}

template <class T>
void check_sobel(const problem& p, place where, gradient which, const std::vector<T>& elements) {
    run_and_check<T, float>(p, where, elements, gradient_in_double(p, elements, which),
                            [&](auto source, auto destination, const image_filter_options& options) {
                                if (where.is_host())
                                    host::sobel<T>(source, destination, which, options);
                                else
                                    sobel<T>(source, destination, which, *where.on, options);
                            });
}

template <class T>
void check_laplacian(const problem& p, place where, const std::vector<T>& elements) {
    run_and_check<T, float>(p, where, elements, stencil_in_double(p, elements, cross),
                            [&](auto source, auto destination, const image_filter_options& options) {
                                if (where.is_host())
                                    host::laplacian<T>(source, destination, options);
                                else
                                    laplacian<T>(source, destination, *where.on, options);
                            });
}

template <class T>
void check_stencils(const problem& p, place where, const std::vector<T>& elements) {
    for (const gradient which : {gradient::x, gradient::y, gradient::magnitude})
        check_sobel<T>(p, where, which, elements);
    check_laplacian<T>(p, where, elements);
}

template <class T>
void check_box(const problem& p, place where, window_radius radius, const std::vector<T>& elements) {
    SCOPED_TRACE("radius " + std::to_string(radius.x) + ", " + std::to_string(radius.y));
    run_and_check<T, T>(p, where, elements,
                        convolution_in_double(p, elements, box_taps(radius.x), box_taps(radius.y), 1),
                        [&](auto source, auto destination, const image_filter_options& options) {
                            if (where.is_host())
                                host::box_blur<T>(source, destination, radius, options);
                            else
                                box_blur<T>(source, destination, radius, *where.on, options);
                        });
}

void check_convolution(const problem& p, place where, const std::vector<float>& taps_x,
                       const std::vector<float>& taps_y, const std::vector<float>& elements) {
    SCOPED_TRACE("taps " + std::to_string(taps_x.size()) + ", " + std::to_string(taps_y.size()));
    const auto exact = [](const std::vector<float>& taps) {
        return std::vector<double>(taps.begin(), taps.end());
    };
    run_and_check<float, float>(
        p, where, elements, convolution_in_double(p, elements, exact(taps_x), exact(taps_y), 0),
        [&](auto source, auto destination, const image_filter_options& options) {
            if (where.is_host())
                host::separable_convolution(source, destination, taps_x, taps_y, options);
            else
                separable_convolution(source, destination, taps_x, taps_y, *where.on, options);
        });
}

/// Sizes from 1 x 1 to around the edges of a warp's strip, with every border; in turn of every layout and number of
/// channels, whole images, regions of them and batches.
std::vector<problem> problems() {
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
            all.push_back({.width = width,
                           .height = height,
                           .channels = 1 + std::ssize(all) * 3 / 2 % 4,
                           .border = kind});
    for (std::size_t i = 0; i < all.size(); ++i) {
        problem& p = all[i];
        p.how = layouts[i % layouts.size()];
        p.images = p.how == layout::side_by_side || i % 7 == 0 ? 3 : 1;
        // The middle, each corner, and the whole.
        const std::int64_t width = (p.width + 1) / 2, height = (p.height + 1) / 2;
        const std::int64_t right = p.width - width, bottom = p.height - height;
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
        check_stencils<T>(p, where, random_pixels<T>(p));
        if (testing::Test::HasFailure()) return;
    }
}

template <class T>
void check_boxes_everywhere(place where) {
    constexpr std::array<std::int64_t, 10> radii = {0, 1, 2, 4, 7, 12, 16, 17, 33, 40};
    const std::vector<problem> all = problems();
    for (std::size_t i = 0; i < all.size(); ++i) {
        const window_radius radius{radii[i % radii.size()], radii[i * 5 / 3 % radii.size()]};
        check_box<T>(all[i], where, radius, random_pixels<T>(all[i]));
        if (testing::Test::HasFailure()) return;
    }
}

void check_convolutions_everywhere(place where) {
    constexpr std::array<std::int64_t, 8> counts = {1, 3, 5, 7, 17, 21, 33, 35};
    const std::vector<problem> all = problems();
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto taps_x = test::random_elements<float>(counts[i % counts.size()]);
        const auto taps_y = test::random_elements<float>(counts[i * 7 / 3 % counts.size()]);
        check_convolution(all[i], where, taps_x, taps_y, random_pixels<float>(all[i]));
        if (testing::Test::HasFailure()) return;
    }
}

void check_the_most_taps(place where) {
    for (const border kind : borders) {
        const problem p{.width = 7, .height = 5, .channels = 2, .border = kind};
        const std::vector<float> elements = random_pixels<float>(p);
        for (const auto& [x, y] : {std::pair{2001, 3}, {3, 2001}, {301, 281}})
            check_convolution(p, where, test::random_elements<float>(x), test::random_elements<float>(y),
                              elements);
        for (const window_radius radius : {window_radius{70, 60}, {1001, 2}, {2, 1500}})
            check_box<float>(p, where, radius, elements);
    }
}

void check_nan_and_infinity(place where) {
    for (const border kind : borders) {
        const std::int64_t channels = 1 + static_cast<std::int64_t>(kind) % 4;
        const problem p{.width = 150, .height = 40, .channels = channels, .border = kind};
        std::vector<float> elements = random_pixels<float>(p);
        const auto at = [&](std::int64_t x, std::int64_t y) {
            return static_cast<std::size_t>((y * p.width + x) * channels);
        };
        elements[at(0, 0)] = std::numeric_limits<float>::quiet_NaN();
        elements[at(20, 10)] = std::numeric_limits<float>::quiet_NaN();
        elements[at(75, 19)] = std::numeric_limits<float>::infinity();
        elements[at(149, 31)] = -std::numeric_limits<float>::infinity();
        check_stencils<float>(p, where, elements);
        check_box<float>(p, where, {3, 2}, elements);
        check_box<float>(p, where, {20, 18}, elements);
        check_convolution(p, where, {0.5f, -2, 3}, {1, 2, -1, 4, 5}, elements);
        if (testing::Test::HasFailure()) return;
    }
}

/// Asymmetric taps of distinct powers of two show which one meets which pixel.
void check_that_no_window_is_turned_round(place where) {
    const problem p{.width = 9, .height = 9, .channels = 1};
    std::vector<float> impulse(81, 0.0f);
    impulse[4 * 9 + 4] = 1;
    check_convolution(p, where, {1, 2, 4}, {8, 64, 512, 4096, 32768}, impulse);
    check_stencils<float>(p, where, impulse);
}

// On the CPU.

template <class T>
class host_image_filter : public testing::Test {};
using element_types = testing::Types<float, half, std::uint16_t, std::uint8_t>;

TYPED_TEST_SUITE(host_image_filter, element_types, test::type_names);

TYPED_TEST(host_image_filter, takes_stencils_of_every_shape) {
    check_stencils_everywhere<TypeParam>({});
}
TYPED_TEST(host_image_filter, takes_means_of_every_shape) {
    check_boxes_everywhere<TypeParam>({});
}
TEST(host_separable_convolution, is_right_at_every_shape) {
    check_convolutions_everywhere({});
}
TEST(host_separable_convolution, takes_the_most_taps) {
    check_the_most_taps({});
}
TEST(host_separable_convolution, turns_no_window_round) {
    check_that_no_window_is_turned_round({});
}
TEST(host_filters, keep_nan_and_infinity_in_their_windows) {
    check_nan_and_infinity({});
}

// On the device.

class image_filter : public test::gpu_test {
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

std::string algorithm_name(const testing::TestParamInfo<algorithm>& info) {
    return std::string(to_string(info.param));
}

INSTANTIATE_TEST_SUITE_P(all, image_filter_rung,
                         testing::ValuesIn(image_filter_algorithms().begin(),
                                           image_filter_algorithms().end()),
                         algorithm_name);
INSTANTIATE_TEST_SUITE_P(chosen, image_filter_rung, testing::Values(algorithm::automatic), algorithm_name);

TEST_P(image_filter_rung, takes_stencils_of_every_shape_f32) {
    check_everything<float>();
}
TEST_P(image_filter_rung, takes_stencils_of_every_shape_f16) {
    check_everything<half>();
}
TEST_P(image_filter_rung, takes_stencils_of_every_shape_u16) {
    check_everything<std::uint16_t>();
}
TEST_P(image_filter_rung, takes_stencils_of_every_shape_u8) {
    check_everything<std::uint8_t>();
}

TEST_P(image_filter_rung, marches_down_tall_images_and_many) {
    for (problem p : {problem{.width = 3, .height = 20000, .channels = 1},
                      {.width = 500, .height = 700, .channels = 4},
                      {.width = 7, .height = 5, .channels = 3, .images = 9000}}) {
        p.border = border::reflect_101;
        check_stencils<std::uint8_t>(p, device(GetParam()), random_pixels<std::uint8_t>(p));
    }
}

TEST_P(image_filter_rung, can_be_captured_and_replayed) {
    const problem p{.width = 200, .height = 50, .channels = 1};
    test_images<std::uint8_t> source(p, p.width, p.height, false);
    test_images<float> destination(p, p.width, p.height, false);
    const graph captured = graph::capture(*stream_, [&] {
        sobel<std::uint8_t>(source.view().first, destination.view().first, gradient::x, *stream_,
                            options_of(p, GetParam()));
    });
    for (int replay = 0; replay < 2; ++replay) {
        const std::vector<std::uint8_t> elements = random_pixels<std::uint8_t>(p);
        source.upload(elements);
        captured.launch(*stream_);
        stream_->synchronize();
        ASSERT_NO_FATAL_FAILURE(
            expect_close(destination.download(), gradient_in_double(p, elements, gradient::x)));
    }
}

TEST_F(image_filter, takes_means_of_every_shape_f32) {
    check_boxes_everywhere<float>(device());
}
TEST_F(image_filter, takes_means_of_every_shape_f16) {
    check_boxes_everywhere<half>(device());
}
TEST_F(image_filter, takes_means_of_every_shape_u16) {
    check_boxes_everywhere<std::uint16_t>(device());
}
TEST_F(image_filter, takes_means_of_every_shape_u8) {
    check_boxes_everywhere<std::uint8_t>(device());
}
/// On warpgroups, where there are some: every image of a batch with one source.
TEST_F(image_filter, takes_means_of_many_images_of_bytes) {
    constexpr std::int64_t images = 6;
    for (const window_radius radius : {window_radius{5}, {11}, {7, 3}, {15}, {3, 16}}) {
        const problem p{.width = 600, .height = 400, .channels = 3, .how = layout::aligned};
        problem all = p;
        all.images = images;
        SCOPED_TRACE(text(p) + " radius " + std::to_string(radius.x));
        const std::vector<std::uint8_t> elements = random_pixels<std::uint8_t>(p);
        test_images<std::uint8_t> source(p, p.width, p.height, false);
        test_images<std::uint8_t> destination(all, p.width, p.height, false);
        source.upload(elements);
        box_blur<std::uint8_t>({source.view().first, images, 0}, destination.view(), radius, *stream_,
                               options_of(p));
        stream_->synchronize();
        std::vector<std::uint8_t> means = destination.download();
        const auto size = static_cast<std::size_t>(p.elements());
        for (std::size_t i = size; i < means.size(); i += size)
            ASSERT_EQ(std::memcmp(&means[i], means.data(), size), 0) << "image " << i / size;
        means.resize(size);
        ASSERT_NO_FATAL_FAILURE(expect_close(
            means, convolution_in_double(p, elements, box_taps(radius.x), box_taps(radius.y), 1)));
    }
}
TEST_F(image_filter, takes_taps_of_every_shape) {
    check_convolutions_everywhere(device());
}
TEST_F(image_filter, takes_the_most_taps) {
    check_the_most_taps(device());
}
TEST_F(image_filter, turns_no_window_round) {
    check_that_no_window_is_turned_round(device());
}
TEST_F(image_filter, keeps_nan_and_infinity_in_their_windows) {
    check_nan_and_infinity(device());
    check_nan_and_infinity(device(algorithm::naive));
}

TEST_F(image_filter, serves_many_destinations_from_one_source) {
    const problem one{.width = 61, .height = 17, .channels = 3};
    problem three = one;
    three.images = 3;
    const std::vector<float> elements = random_pixels<float>(one);
    test_images<float> source(one, one.width, one.height, false);
    test_images<float> destination(three, one.width, one.height, false);
    source.upload(elements);
    sobel<float>({source.view().first, 3, 0}, destination.view(), gradient::y, *stream_);
    stream_->synchronize();
    const std::vector<float> all = destination.download();
    const expectation expected = gradient_in_double(one, elements, gradient::y);
    for (auto begin = all.begin(); begin != all.end(); begin += std::ssize(expected.values))
        expect_close(std::vector<float>(begin, begin + std::ssize(expected.values)), expected);
}

TEST_F(image_filter, captures_a_convolution_whose_taps_go_away) {
    const problem p{.width = 200, .height = 50, .channels = 1};
    test_images<float> source(p, p.width, p.height, false), destination(p, p.width, p.height, false);
    const std::vector<double> taps = {1, -2, 5};
    std::optional<graph> captured;
    {
        std::vector<float> gone(taps.begin(), taps.end());
        captured = graph::capture(*stream_, [&] {
            separable_convolution(source.view().first, destination.view().first, gone, gone, *stream_);
        });
        std::ranges::fill(gone, 1e9f);
    }
    const std::vector<float> elements = random_pixels<float>(p);
    source.upload(elements);
    captured->launch(*stream_);
    stream_->synchronize();
    expect_close(destination.download(), convolution_in_double(p, elements, taps, taps, 0));
}

TEST_F(image_filter, stays_inside_the_given_workspace) {
    const problem p{.width = 31, .height = 17, .channels = 3, .region = image_region{5, 3, 20, 10}};
    const window_radius radius{700, 300};
    const std::vector<float> elements = random_pixels<float>(p);
    const std::int64_t bytes = image_filter_workspace_bytes(
        {.width = 20, .height = 10, .channels = 3, .radius = radius}, traits_of(current_device()));
    ASSERT_GT(bytes, 0);
    guarded<std::uint8_t> scratch(bytes);
    scratch.upload(std::vector<std::uint8_t>(static_cast<std::size_t>(bytes), 0));
    test_images<float> source(p, p.width, p.height, false), destination(p, 20, 10, false);
    source.upload(elements);
    image_filter_options options = options_of(p);
    options.workspace = {reinterpret_cast<std::byte*>(scratch.data()), static_cast<std::size_t>(bytes)};
    box_blur<float>(source.view().first, destination.view().first, radius, *stream_, options);
    stream_->synchronize();
    expect_close(destination.download(),
                 convolution_in_double(p, elements, box_taps(radius.x), box_taps(radius.y), 1));
    EXPECT_TRUE(scratch.canaries_alive());

    test_images<float> untouched(p, 20, 10, false);
    options.workspace = options.workspace.first(64);
    EXPECT_EQ(rejected_argument_of([&] {
                  box_blur<float>(source.view().first, untouched.view().first, radius, *stream_, options);
              }),
              "options.workspace");
    EXPECT_TRUE(untouched->untouched());
}

TEST_F(image_filter, large_rows_of_more_than_2_to_29_values) {
    const problem p{.width = (std::int64_t{1} << 29) + 5, .height = 1, .channels = 1};
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total));
    if (free < std::size_t{6} << 29) GTEST_SKIP() << "needs 3 GB of free device memory";
    device_buffer<std::uint8_t> source(p.width, *stream_);
    device_buffer<float> destination(p.width, *stream_);
    fill_bytes(source, std::byte{7}, *stream_);
    const image_view<const std::uint8_t> from{source.data(), p.width, 1};
    const image_view<float> to{destination.data(), p.width, 1};
    EXPECT_THROW(laplacian<std::uint8_t>(from, to, *stream_, options_of(p, algorithm::register_window)),
                 unsupported);
    laplacian<std::uint8_t>(from, to, *stream_, {.border = border::constant, .border_value = 9});
    std::array<float, 2> ends{};
    copy_and_wait(vector_view<const float>{destination.data(), 2, p.width - 1},
                  vector_view<float>{ends.data(), 2}, *stream_);
    EXPECT_EQ(ends[0], 9 + 7 + 9 + 9 - 4 * 7);
    EXPECT_EQ(ends[1], ends[0]);
}

// Beside OpenCV.

#if HEDDLE_HAS_OPENCV
template <class T>
constexpr int opencv_depth = std::is_same_v<T, float> ? CV_32F
                             : sizeof(T) == 1         ? CV_8U
                                                      : CV_16U;

/// What OpenCV's filters do with a border of zeros or of pixels; of wrap they know nothing.
std::vector<problem> opencv_problems() {
    std::vector<problem> all;
    for (const std::int64_t channels : {1, 2, 3, 4})
        for (const border kind : {border::replicate, border::reflect, border::reflect_101, border::constant})
            all.push_back({.width = 65, .height = 43, .channels = channels, .border = kind});
    return all;
}

/// Compares what ours(source, destination, options) writes with what theirs(cv source, cv destination) does,
/// `allowed` being what both may be off by together.
template <class From, class To, class Ours, class Theirs>
void compare_with_opencv(const problem& p, std::vector<From>& elements, Ours ours, Theirs theirs,
                         const std::function<double(std::size_t)>& allowed) {
    SCOPED_TRACE(text(p));
    const auto type = [&](int depth) { return CV_MAKETYPE(depth, static_cast<int>(p.channels)); };
    const int rows = static_cast<int>(p.height), cols = static_cast<int>(p.width);
    std::vector<To> their_values(elements.size()), our_values(elements.size());
    const cv::Mat source(rows, cols, type(opencv_depth<From>), elements.data());
    cv::Mat destination(rows, cols, type(opencv_depth<To>), their_values.data());
    theirs(source, destination);
    ASSERT_EQ(destination.data, reinterpret_cast<unsigned char*>(their_values.data()));
    const image_filter_options options{.border = p.border};  // whose constant is 0, as OpenCV's
    ours(image_view<const From>{elements.data(), p.width, p.height, p.channels},
         image_view<To>{our_values.data(), p.width, p.height, p.channels}, options);
    for (std::size_t i = 0; i < our_values.size(); ++i)
        ASSERT_TRUE(
            test::is_within(test::to_double(our_values[i]), test::to_double(their_values[i]), allowed(i)))
            << "value " << i;
}

/// As the operations of heddle::host, on the device: copies the images there and back.
template <class From, class To, class Run>
auto on_device(const stream& s, Run run) {
    return [&s, run](image_view<const From> source, image_view<To> destination,
                     const image_filter_options& options) {
        const std::int64_t size = source.width * source.height * source.channels;
        device_buffer<From> from(size, s);
        device_buffer<To> to(size, s);
        copy(vector_view<const From>{source.data, size}, vector_view<From>{from.data(), size}, s);
        run(image_view<const From>{from.data(), source.width, source.height, source.channels},
            image_view<To>{to.data(), source.width, source.height, source.channels}, options);
        copy_and_wait(vector_view<const To>{to.data(), size}, vector_view<To>{destination.data, size}, s);
    };
}

template <class T>
void compare_stencils(place where) {
    for (const problem& p : opencv_problems()) {
        std::vector<T> elements = random_pixels<T>(p);
        // Both sides round three times; of integers none.
        const double allowed = std::is_integral_v<T> ? 0 : 2 * 3 * u * 8 * 100;
        const auto compare = [&](auto on_host, auto on_stream, auto theirs) {
            if (where.is_host())
                compare_with_opencv<T, float>(p, elements, on_host, theirs,
                                              [=](std::size_t) { return allowed; });
            else
                compare_with_opencv<T, float>(p, elements, on_device<T, float>(*where.on, on_stream), theirs,
                                              [=](std::size_t) { return allowed; });
        };
        for (const bool along_y : {false, true}) {
            const gradient which = along_y ? gradient::y : gradient::x;
            compare([=](auto s, auto d, const auto& options) { host::sobel<T>(s, d, which, options); },
                    [=](auto s, auto d, const auto& options) { sobel<T>(s, d, which, *where.on, options); },
                    [&](const cv::Mat& s, cv::Mat& d) {
                        cv::Sobel(s, d, CV_32F, along_y ? 0 : 1, along_y ? 1 : 0, 3, 1, 0,
                                  test::opencv_border(p.border));
                    });
        }
        compare([=](auto s, auto d, const auto& options) { host::laplacian<T>(s, d, options); },
                [=](auto s, auto d, const auto& options) { laplacian<T>(s, d, *where.on, options); },
                [&](const cv::Mat& s, cv::Mat& d) {
                    cv::Laplacian(s, d, CV_32F, 1, 1, 0, test::opencv_border(p.border));
                });
    }
}

void compare_convolutions(place where) {
    for (const problem& p : opencv_problems()) {
        std::vector<float> elements = random_pixels<float>(p);
        const std::vector<float> taps_x = test::random_elements<float>(7),
                                 taps_y = test::random_elements<float>(5);
        const auto allowed = [](std::size_t) { return 2 * (7 + 5 + 2) * u * 7 * 5 * 100; };
        const auto theirs = [&](const cv::Mat& s, cv::Mat& d) {
            cv::sepFilter2D(s, d, CV_32F, taps_x, taps_y, {-1, -1}, 0, test::opencv_border(p.border));
        };
        if (where.is_host())
            compare_with_opencv<float, float>(
                p, elements,
                [&](auto s, auto d, const auto& options) {
                    host::separable_convolution(s, d, taps_x, taps_y, options);
                },
                theirs, allowed);
        else
            compare_with_opencv<float, float>(
                p, elements,
                on_device<float, float>(*where.on,
                                        [&](auto s, auto d, const auto& options) {
                                            separable_convolution(s, d, taps_x, taps_y, *where.on, options);
                                        }),
                theirs, allowed);
    }
}

template <class T>
void compare_boxes(place where) {
    for (const problem& p : opencv_problems())
        for (const int radius : {1, 3}) {
            std::vector<T> elements = random_pixels<T>(p);
            const int n = 2 * radius + 1;
            // OpenCV's running sum of floats is in double; ours rounds as docs/accuracy.md has it: for uint16 it may end on the
            // other side of a half.
            const bool is_exact = std::is_same_v<T, std::uint8_t> || n == 3;
            const double roundings = std::is_integral_v<T> ? (is_exact ? 0 : 1) : (2 * n + 6) * u * 100;
            const auto allowed = [=](std::size_t) { return roundings; };
            const auto theirs = [&](const cv::Mat& s, cv::Mat& d) {
                cv::blur(s, d, {n, n}, {-1, -1}, test::opencv_border(p.border));
            };
            if (where.is_host())
                compare_with_opencv<T, T>(
                    p, elements,
                    [&](auto s, auto d, const auto& options) { host::box_blur<T>(s, d, radius, options); },
                    theirs, allowed);
            else
                compare_with_opencv<T, T>(p, elements,
                                          on_device<T, T>(*where.on,
                                                          [&](auto s, auto d, const auto& options) {
                                                              box_blur<T>(s, d, radius, *where.on, options);
                                                          }),
                                          theirs, allowed);
        }
}

TEST(host_filters, agree_with_opencv) {
    compare_stencils<float>({});
    compare_stencils<std::uint16_t>({});
    compare_stencils<std::uint8_t>({});
    compare_convolutions({});
    compare_boxes<float>({});
    compare_boxes<std::uint16_t>({});
    compare_boxes<std::uint8_t>({});
}

TEST_F(image_filter, agrees_with_opencv) {
    compare_stencils<float>(device());
    compare_stencils<std::uint16_t>(device());
    compare_stencils<std::uint8_t>(device());
    compare_convolutions(device());
    compare_boxes<float>(device());
    compare_boxes<std::uint16_t>(device());
    compare_boxes<std::uint8_t>(device());
}
#else
TEST(image_filter_beside_opencv, agrees) {
    GTEST_SKIP() << "OpenCV is not installed";
}
#endif

// Names, workspaces and wrong arguments. Nothing is read or written, so any address will do, and no device is needed.

TEST(image_filter_algorithms, are_named) {
    for (const algorithm which : image_filter_algorithms()) {
        EXPECT_NE(which, algorithm::automatic);
        EXPECT_NE(to_string(which), "unknown");
    }
    EXPECT_EQ(to_string(static_cast<algorithm>(99)), "unknown");
}

device_traits hopper() {
    device_traits device;
    device.compute_capability_major = 9;
    device.sm_count = 132;
    device.shared_memory_per_sm = 228 * 1024;
    device.shared_memory_per_block = 48 * 1024;
    device.shared_memory_per_block_optin = 227 * 1024;
    return device;
}

TEST(image_filter_workspace, is_for_large_windows) {
    EXPECT_EQ(image_filter_workspace_bytes({.width = 1000, .height = 50, .radius = 2}, hopper()), 0);
    EXPECT_GE(
        image_filter_workspace_bytes({.width = 1000, .height = 50, .radius = 900, .images = 2}, hopper()),
        2 * 1000 * 50 * 4);
    EXPECT_EQ(image_filter_workspace_bytes({.width = 0, .height = 50, .radius = 900}, hopper()), 0);
    const auto rejected = [](const image_filter_problem& p) {
        return rejected_argument_of([&] { (void)image_filter_workspace_bytes(p, hopper()); });
    };
    EXPECT_EQ(rejected({.width = -1}), "problem.width");
    EXPECT_EQ(rejected({.height = -1}), "problem.height");
    EXPECT_EQ(rejected({.channels = 5}), "problem.channels");
    EXPECT_EQ(rejected({.radius = -1}), "problem.radius.x");
    EXPECT_EQ(rejected({.images = -1}), "problem.images");
}

struct call {
    alignas(16) std::array<float, 4096> memory = [] {
        std::array<float, 4096> numbers{};
        for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i * i % 101);
        return numbers;
    }();
    image_view<const float> source{memory.data(), 10, 8, 3, 40};
    image_view<float> destination{memory.data() + 1024, 10, 8, 3, 32};
    std::vector<float> taps_x = {1, 2, 3};
    std::vector<float> taps_y = {1, 2, 3};
    window_radius radius = 1;
    heddle::gradient gradient = gradient::x;
    image_filter_options options{};
};

enum class filter { convolution, box, sobel, laplacian };
constexpr std::array filters = {filter::convolution, filter::box, filter::sobel, filter::laplacian};

void run(const call& c, filter which, bool on_host) {
    const cuda::stream_ref stream{cudaStream_t{}};
    switch (which) {
        case filter::convolution:
            return on_host
                       ? host::separable_convolution(c.source, c.destination, c.taps_x, c.taps_y, c.options)
                       : separable_convolution(c.source, c.destination, c.taps_x, c.taps_y, stream,
                                               c.options);
        case filter::box:
            return on_host ? host::box_blur<float>(c.source, c.destination, c.radius, c.options)
                           : box_blur<float>(c.source, c.destination, c.radius, stream, c.options);
        case filter::sobel:
            return on_host ? host::sobel<float>(c.source, c.destination, c.gradient, c.options)
                           : sobel<float>(c.source, c.destination, c.gradient, stream, c.options);
        case filter::laplacian:
            return on_host ? host::laplacian<float>(c.source, c.destination, c.options)
                           : laplacian<float>(c.source, c.destination, stream, c.options);
    }
}

/// Changes one argument of a valid call; both implementations must name it.
template <class Change>
void expect_rejected(filter which, const std::string& argument, Change change) {
    SCOPED_TRACE(argument);
    call c;
    change(c);
    const auto before = c.memory;
    for (const bool on_host : {false, true})
        EXPECT_EQ(rejected_argument_of([&] { run(c, which, on_host); }), argument);
    EXPECT_EQ(c.memory, before);
}

TEST(image_filter_validation, names_what_is_wrong_with_the_images) {
    for (const filter which : filters) {
        SCOPED_TRACE(static_cast<int>(which));
        const auto rejected = [which](const std::string& argument, auto change) {
            expect_rejected(which, argument, change);
        };
        rejected("source.width", [](call& c) { c.source.width = 9; });
        rejected("source.height", [](call& c) { c.source.height = 7; });
        rejected("destination.height", [](call& c) { c.destination.height = -1; });
        rejected("source.channels", [](call& c) { c.source.channels = 2; });
        rejected("source.channels", [](call& c) { c.source.channels = 5; });
        rejected("destination.channels", [](call& c) { c.destination.channels = 0; });
        rejected("source.row_stride", [](call& c) { c.source.row_stride = 29; });
        rejected("source.data", [](call& c) { c.source.data = nullptr; });
        rejected("destination.data", [](call& c) { c.destination.data = nullptr; });
        rejected("destination", [](call& c) { c.destination.data = c.memory.data() + 30; });
        rejected("options.region.width", [](call& c) { c.options.region = {0, 0, 9, 8}; });
        rejected("options.region.x", [](call& c) { c.options.region = {1, 0, 10, 8}; });
        rejected("options.region.y", [](call& c) { c.options.region = {0, -1, 10, 8}; });
        rejected("options.border", [](call& c) { c.options.border = static_cast<border>(7); });
    }
}

TEST(image_filter_validation, names_what_is_wrong_with_the_window) {
    expect_rejected(filter::convolution, "taps_x.size", [](call& c) { c.taps_x = {1, 2}; });
    expect_rejected(filter::convolution, "taps_y.size", [](call& c) { c.taps_y = {}; });
    expect_rejected(filter::convolution, "taps_x.size", [](call& c) { c.taps_x.resize(2003); });
    expect_rejected(filter::box, "radius.x", [](call& c) { c.radius = -1; });
    expect_rejected(filter::box, "radius.y", [](call& c) { c.radius = {1, std::int64_t{1} << 40}; });
    expect_rejected(filter::sobel, "gradient", [](call& c) { c.gradient = static_cast<gradient>(3); });
}

TEST(image_filter_validation, names_what_is_wrong_with_the_device_options) {
    for (const filter which : filters) {
        call c;
        c.options.algorithm = static_cast<algorithm>(99);
        EXPECT_EQ(rejected_argument_of([&] { run(c, which, false); }), "options.algorithm");
        c.options = {};
        c.options.workspace = std::as_writable_bytes(std::span(c.memory)).first(64);
        EXPECT_EQ(rejected_argument_of([&] { run(c, which, false); }), "options.workspace");
    }
}

TEST(image_filter_validation, wants_border_values_that_the_source_can_hold) {
    std::array<std::uint8_t, 16> pixels{};
    std::array<float, 16> out{};
    for (const float value : {-1.0f, 256.0f, 1.5f, std::numeric_limits<float>::quiet_NaN()}) {
        const image_filter_options options{.border = border::constant, .border_value = value};
        EXPECT_EQ(rejected_argument_of([&] {
                      host::laplacian<std::uint8_t>(image_view<const std::uint8_t>{pixels.data(), 4, 4},
                                                    image_view{out.data(), 4, 4}, options);
                  }),
                  "options.border_value");
    }
}

TEST(image_filter_validation, accepts_empty_images_and_batches) {
    for (const filter which : filters)
        for (const bool on_host : {false, true})
            for (const auto& [width, height] : {std::pair{0, 0}, std::pair{0, 5}, std::pair{5, 0}}) {
                call c;
                c.source = {nullptr, width, height};
                c.destination = {nullptr, width, height};
                EXPECT_NO_THROW(run(c, which, on_host));
            }
    EXPECT_NO_THROW(sobel<float>(image_batch_view<const float>{{nullptr, 5, 5}, 0, 25},
                                 image_batch_view<float>{{nullptr, 5, 5}, 0, 25}, gradient::x,
                                 cuda::stream_ref{cudaStream_t{}}));
}

}  // namespace
}  // namespace heddle
