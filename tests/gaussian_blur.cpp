#include "tests/support/gpu.hpp"
#include "tests/support/guarded.hpp"
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
#include <cstdint>
#include <limits>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#if HEDDLE_HAS_CUDNN
#include <cudnn.h>
#endif

namespace heddle {

void PrintTo(gaussian_blur_algorithm algorithm, std::ostream* out) {
    *out << to_string(algorithm);
}

namespace {

using algorithm = gaussian_blur_algorithm;
using test::guarded;

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

constexpr std::array borders = {border::replicate, border::reflect, border::wrap, border::constant};

struct problem {
    std::int64_t width, height, channels, radius;
    double sigma = std::max(0.5, static_cast<double>(radius) / 3);
    heddle::border border = border::replicate;

    [[nodiscard]] std::int64_t elements() const { return width * height * channels; }
};

std::string text(const problem& p) {
    constexpr std::array names = {"replicate", "reflect", "wrap", "constant"};
    return std::to_string(p.width) + "x" + std::to_string(p.height) + "c" + std::to_string(p.channels) +
           "-r" + std::to_string(p.radius) + " " + names[static_cast<std::size_t>(p.border)];
}

/// A whole number, so that uint8 can hold it.
constexpr float border_value = 77;

gaussian_blur_options options_of(const problem& p, algorithm which = algorithm::automatic) {
    return {.radius = p.radius, .border = p.border, .border_value = border_value, .algorithm = which};
}

/// What border's comments draw, step by step; -1 stands for the constant.
std::int64_t source_index(std::int64_t i, std::int64_t size, border kind) {
    while (i < 0 || i >= size) {
        if (kind == border::constant) return -1;
        if (kind == border::replicate)
            i = i < 0 ? 0 : size - 1;
        else if (kind == border::reflect)
            i = i < 0 ? -1 - i : 2 * size - 1 - i;
        else
            i += i < 0 ? size : -size;
    }
    return i;
}

std::vector<double> taps_of(const problem& p) {
    std::vector<double> taps;
    double sum = 0;
    for (std::int64_t i = -p.radius; i <= p.radius; ++i) {
        taps.push_back(std::exp(-static_cast<double>(i * i) / (2 * p.sigma * p.sigma)));
        sum += taps.back();
    }
    for (double& tap : taps) tap /= sum;
    return taps;
}

/// The blur in float64, along x and then along y: in exact arithmetic the sum over the 2-D window.
std::vector<double> blur_in_double(const problem& p, const std::vector<double>& source, double outside) {
    const std::vector<double> taps = taps_of(p);
    const auto at = [&](std::int64_t x, std::int64_t y, std::int64_t c) {
        return static_cast<std::size_t>((y * p.width + x) * p.channels + c);
    };
    const auto pass = [&](const std::vector<double>& from, bool along_y) {
        std::vector<double> to(from.size());
        for (std::int64_t y = 0; y < p.height; ++y)
            for (std::int64_t x = 0; x < p.width; ++x)
                for (std::int64_t i = -p.radius; i <= p.radius; ++i) {
                    const double tap = taps[static_cast<std::size_t>(i + p.radius)];
                    const std::int64_t j = along_y ? source_index(y + i, p.height, p.border)
                                                   : source_index(x + i, p.width, p.border);
                    for (std::int64_t c = 0; c < p.channels; ++c)
                        to[at(x, y, c)] += tap * (j < 0     ? outside
                                                  : along_y ? from[at(x, j, c)]
                                                            : from[at(j, y, c)]);
                }
        return to;
    };
    return pass(pass(source, false), true);
}

/// The same of one pixel, from its window alone: of images too large to be blurred here as a whole.
/// `pixel(x, y)` is the source's, of one channel.
template <class Pixel>
double pixel_in_double(const problem& p, const std::vector<double>& taps, std::int64_t x, std::int64_t y,
                       Pixel pixel) {
    double sum = 0;
    for (std::int64_t dy = -p.radius; dy <= p.radius; ++dy) {
        const std::int64_t row = source_index(y + dy, p.height, p.border);
        double row_sum = 0;
        for (std::int64_t dx = -p.radius; dx <= p.radius; ++dx) {
            const std::int64_t column = source_index(x + dx, p.width, p.border);
            row_sum += taps[static_cast<std::size_t>(dx + p.radius)] *
                       (row < 0 || column < 0 ? double{border_value} : pixel(column, row));
        }
        sum += taps[static_cast<std::size_t>(dy + p.radius)] * row_sum;
    }
    return sum;
}

struct reference {
    std::vector<double> values;
    std::vector<double> magnitudes;  ///< the blur of |source|, which the bound is relative to

    template <class T>
    reference(const problem& p, const std::vector<T>& source) {
        std::vector<double> elements(source.begin(), source.end());
        values = blur_in_double(p, elements, border_value);
        for (double& element : elements) element = std::abs(element);
        magnitudes = blur_in_double(p, elements, std::abs(double{border_value}));
    }
};

/// docs/accuracy.md: each pass rounds n taps once and n sums once each. Where they are denormal each is off
/// by up to half the smallest number instead, and a tap's error is multiplied with an element: n (1 +
/// largest) times the smallest number for both passes. The n + 1 leaves room for what is of second order.
template <class T>
double bound(const problem& p, double magnitude, double largest) {
    const auto n = static_cast<double>(2 * p.radius + 1);
    const double in_float = (2 * n + 4) * test::unit_roundoff<float>() * magnitude +
                            (n + 1) * (1 + largest) * test::smallest<float>();
    return std::is_integral_v<T> ? 0.5 + in_float : in_float;
}

template <class T>
void expect_close(const problem& p, const std::vector<T>& actual, const std::vector<T>& source) {
    const reference expected(p, source);
    double largest = border_value;
    for (const T element : source)
        if (std::isfinite(test::to_double(element)))
            largest = std::max(largest, std::abs(test::to_double(element)));
    for (std::size_t i = 0; i < actual.size(); ++i)
        ASSERT_TRUE(test::is_within(test::to_double(actual[i]), expected.values[i],
                                    bound<T>(p, expected.magnitudes[i], largest)))
            << "value " << i;
}

template <class T>
std::vector<T> random_image(const problem& p) {
    if constexpr (std::is_integral_v<T>) return test::random_elements<T>(p.elements(), 0, 255);
    return test::random_elements<T>(p.elements(), -100, 100);
}

/// How an image lies in memory: rows back to back, rows at multiples of 16 bytes, rows at odd places.
enum class layout { tight, aligned, odd };
constexpr std::array layouts = {layout::tight, layout::aligned, layout::odd};

template <class T>
class test_image {
  public:
    using memory = typename guarded<T>::memory;

    explicit test_image(const problem& p, layout how, memory where = memory::device)
        : problem_(p),
          stride_(stride_of(p, how)),
          elements_(p.height, p.width * p.channels, stride_, how == layout::odd ? 1 : 0, 1, where) {}

    image_view<T> view() {
        return {elements_.data(), problem_.width, problem_.height, problem_.channels, stride_};
    }
    guarded<T>* operator->() { return &elements_; }

  private:
    static std::int64_t stride_of(const problem& p, layout how) {
        const std::int64_t row = p.width * p.channels;
        if (how == layout::aligned) return (row / 16 + 1) * 16;
        return how == layout::tight ? row : (row + 3) / 2 * 2 + 1;
    }

    problem problem_;
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
        for (const std::int64_t channels : {1, 3, 4}) {
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
            blur(source.view(), destination.view(), sigma, gaussian_blur_options{.radius = radius});
            ASSERT_NO_FATAL_FAILURE(expect_close(p, destination->download(), elements));
            EXPECT_TRUE(destination->canaries_alive());
        }
}

class gaussian_blur_rung : public test::gpu_test, public testing::WithParamInterface<algorithm> {
  protected:
    void SetUp() override {
        gpu_test::SetUp();
        if (is_set_up()) stream_.emplace();
    }

    template <class T>
    void run_and_check(problem p, layout how = layout::tight) {
        SCOPED_TRACE(text(p) + (how == layout::odd ? " odd" : how == layout::aligned ? " aligned" : ""));
        const std::vector<T> elements = random_image<T>(p);
        test_image<T> source(p, how), destination(p, how);
        source->upload(elements);
        gaussian_blur<T>(source.view(), destination.view(), p.sigma, *stream_, options_of(p, GetParam()));
        stream_->synchronize();
        expect_close(p, destination->download(), elements);
        EXPECT_TRUE(destination->canaries_alive());
        EXPECT_TRUE(source->untouched());
    }

    template <class T>
    void check_every_tile_edge() {
        int turn = 0;
        for (problem p : problems_of_one_channel())
            for (p.border = borders[0];; p.border = borders[static_cast<std::size_t>(p.border) + 1]) {
                run_and_check<T>(p, layouts[static_cast<std::size_t>(turn++) % layouts.size()]);
                if (p.border == borders.back() || HasFatalFailure()) break;
            }
    }

    template <class T>
    void check_every_radius() {
        for (const std::int64_t channels : {1, 3, 4})
            for (const std::int64_t radius :
                 {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 40})
                for (const layout how : layouts) {
                    problem p{44, 21, channels, radius};
                    p.border = borders[static_cast<std::size_t>(radius + channels) % borders.size()];
                    run_and_check<T>(p, how);
                    if (HasFatalFailure()) return;
                }
    }

    template <class T>
    void check_several_channels() {
        for (const std::int64_t channels : {3, 4})
            for (problem p :
                 {problem{1, 1, channels, 2}, problem{2, 3, channels, 8}, problem{3, 2, channels, 16},
                  problem{31, 9, channels, 12}, problem{33, 20, channels, 9}, problem{257, 9, channels, 2},
                  problem{513, 9, channels, 1}})
                for (const border kind : borders) {
                    p.border = kind;
                    run_and_check<T>(p, layouts[static_cast<std::size_t>(kind) % layouts.size()]);
                    if (HasFatalFailure()) return;
                }
    }

    std::optional<stream> stream_;
};

std::string algorithm_name(const testing::TestParamInfo<algorithm>& info) {
    return std::string(to_string(info.param));
}

INSTANTIATE_TEST_SUITE_P(all, gaussian_blur_rung,
                         testing::ValuesIn(gaussian_blur_algorithms().begin(),
                                           gaussian_blur_algorithms().end()),
                         algorithm_name);
INSTANTIATE_TEST_SUITE_P(chosen, gaussian_blur_rung, testing::Values(algorithm::automatic), algorithm_name);

TEST_P(gaussian_blur_rung, is_right_around_every_tile_edge_f32) {
    check_every_tile_edge<float>();
}
TEST_P(gaussian_blur_rung, is_right_around_every_tile_edge_u8) {
    check_every_tile_edge<std::uint8_t>();
}
TEST_P(gaussian_blur_rung, is_right_at_every_radius_f32) {
    check_every_radius<float>();
}
TEST_P(gaussian_blur_rung, is_right_at_every_radius_u8) {
    check_every_radius<std::uint8_t>();
}
TEST_P(gaussian_blur_rung, is_right_for_several_channels_f32) {
    check_several_channels<float>();
}
TEST_P(gaussian_blur_rung, is_right_for_several_channels_u8) {
    check_several_channels<std::uint8_t>();
}

TEST_P(gaussian_blur_rung, takes_huge_windows_or_says_why_not) {
    for (const std::int64_t radius : {150, 500, 1200})
        for (const std::int64_t channels : {1, 4})
            for (const border kind : borders) {
                problem p{19, 5, channels, radius};
                p.border = kind;
                SCOPED_TRACE(text(p));
                const std::vector<float> elements = random_image<float>(p);
                test_image<float> source(p, layout::tight), destination(p, layout::tight);
                source->upload(elements);
                const gaussian_blur_problem described{p.width, p.height, channels, radius};
                try {
                    gaussian_blur<float>(source.view(), destination.view(), p.sigma, *stream_,
                                         options_of(p, GetParam()));
                } catch (const unsupported&) {
                    EXPECT_NE(select(described, traits_of(current_device())), GetParam());
                    EXPECT_NE(GetParam(), algorithm::automatic);
                    EXPECT_NE(GetParam(), algorithm::separable);
                    EXPECT_TRUE(destination->untouched());
                    continue;
                }
                stream_->synchronize();
                ASSERT_NO_FATAL_FAILURE(expect_close(p, destination->download(), elements));
            }
}

TEST_P(gaussian_blur_rung, keeps_nan_and_infinity_in_their_windows) {
    for (const std::int64_t channels : {1, 3, 4})
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
            gaussian_blur<float>(source.view(), destination.view(), p.sigma, *stream_,
                                 options_of(p, GetParam()));
            stream_->synchronize();
            ASSERT_NO_FATAL_FAILURE(expect_close(p, destination->download(), elements));
        }
}

TEST_P(gaussian_blur_rung, keeps_nan_and_infinity_from_weights_of_zero) {
    expect_nothing_from_weights_of_zero(
        test_image<float>::memory::device,
        [&](const auto& source, const auto& destination, double sigma, gaussian_blur_options options) {
            options.algorithm = GetParam();
            gaussian_blur<float>(source, destination, sigma, *stream_, options);
            stream_->synchronize();
        });
}

TEST_P(gaussian_blur_rung, keeps_the_extremes_of_uint8) {
    for (const std::int64_t radius : {2, 15, 17})
        for (const std::uint8_t level : std::array<std::uint8_t, 4>{0, 1, 254, 255}) {
            problem p{67, 21, 3, radius};
            const std::vector<std::uint8_t> elements(static_cast<std::size_t>(p.elements()), level);
            test_image<std::uint8_t> source(p, layout::tight), destination(p, layout::tight);
            source->upload(elements);
            gaussian_blur<std::uint8_t>(source.view(), destination.view(), p.sigma, *stream_,
                                        options_of(p, GetParam()));
            stream_->synchronize();
            EXPECT_EQ(destination->download(), elements);
        }
}

TEST_P(gaussian_blur_rung, stays_inside_the_given_workspace) {
    problem p{131, 37, 3, 4};
    const std::vector<float> elements = random_image<float>(p);
    const gaussian_blur_problem described{p.width, p.height, p.channels, p.radius};
    const std::int64_t bytes =
        gaussian_blur_workspace_bytes(described, traits_of(current_device()), GetParam());
    guarded<std::uint8_t> scratch(bytes);
    scratch.upload(std::vector<std::uint8_t>(static_cast<std::size_t>(bytes), 0));
    test_image<float> source(p, layout::tight), destination(p, layout::tight);
    source->upload(elements);
    gaussian_blur_options options = options_of(p, GetParam());
    options.workspace = {reinterpret_cast<std::byte*>(scratch.data()), static_cast<std::size_t>(bytes)};
    gaussian_blur<float>(source.view(), destination.view(), p.sigma, *stream_, options);
    stream_->synchronize();
    expect_close(p, destination->download(), elements);
    EXPECT_TRUE(scratch.canaries_alive());

    // What reductions expect to find zero has stayed so.
    const std::vector<std::uint8_t> left = scratch.download();
    for (std::size_t i = 0; i < std::min<std::size_t>(left.size(), 256); ++i) ASSERT_EQ(left[i], 0);

    // An empty one stands for the pool, wherever it points to.
    test_image<float> from_pool(p, layout::tight);
    options.workspace = {reinterpret_cast<std::byte*>(scratch.data()) + 1, 0};
    gaussian_blur<float>(source.view(), from_pool.view(), p.sigma, *stream_, options);
    stream_->synchronize();
    EXPECT_EQ(from_pool->download(), destination->download());
    EXPECT_TRUE(scratch.canaries_alive());

    if (bytes == 0) return;
    options.workspace = {reinterpret_cast<std::byte*>(scratch.data()), static_cast<std::size_t>(bytes)};
    test_image<float> untouched(p, layout::tight);
    options.workspace = options.workspace.first(static_cast<std::size_t>(bytes) - 1);
    const std::string argument = rejected_argument_of(
        [&] { gaussian_blur<float>(source.view(), untouched.view(), p.sigma, *stream_, options); });
    EXPECT_EQ(argument, "options.workspace");
    EXPECT_TRUE(untouched->untouched());
}

TEST_P(gaussian_blur_rung, can_be_captured_and_replayed) {
    problem p{200, 50, 1, 5};
    test_image<std::uint8_t> source(p, layout::tight), destination(p, layout::tight);
    const graph captured = graph::capture(*stream_, [&] {
        gaussian_blur<std::uint8_t>(source.view(), destination.view(), p.sigma, *stream_,
                                    options_of(p, GetParam()));
    });
    for (int replay = 0; replay < 2; ++replay) {
        const std::vector<std::uint8_t> elements = random_image<std::uint8_t>(p);
        source->upload(elements);
        captured.launch(*stream_);
        stream_->synchronize();
        ASSERT_NO_FATAL_FAILURE(expect_close(p, destination->download(), elements));
    }
}

TEST_P(gaussian_blur_rung, marches_down_tall_images) {
    // On 132 multiprocessors: more rows than all blocks of one wave take at their least, so that each takes
    // more; so many that the blocks come in four waves; and in two of the blocks for large radii.
    for (problem p : {problem{3, 40000, 1, 2}, {3, 400000, 1, 2}, {2, 500000, 1, 17}}) {
        p.border = border::reflect;
        ASSERT_NO_FATAL_FAILURE(run_and_check<float>(p));
        ASSERT_NO_FATAL_FAILURE(run_and_check<std::uint8_t>(p));
    }
}

TEST_P(gaussian_blur_rung, takes_more_than_2_to_31_elements) {
    constexpr std::int64_t side = 46400, size = side * side, canaries = 256;
    static_assert(size > std::int64_t{1} << 31);
    constexpr std::byte canary{0xa5};
    const stream& s = *stream_;
    std::vector<std::int64_t> radii = {1};
    if (GetParam() == algorithm::fused) radii.push_back(17);  // a kernel of its own
    for (const std::int64_t radius : radii) {
        problem p{side, side, 1, radius};
        p.border = border::reflect;
        SCOPED_TRACE(text(p));
        const std::int64_t scratch = gaussian_blur_workspace_bytes({p.width, p.height, p.channels, p.radius},
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
        gaussian_blur<std::uint8_t>({source.data(), side, side}, image_view{first, side, side}, p.sigma, s,
                                    options_of(p, GetParam()));

        const std::vector<double> taps = taps_of(p);
        const auto pixel = [&](std::int64_t x, std::int64_t y) {
            return test::to_double(period[static_cast<std::size_t>((y * side + x) % period_size)]);
        };
        constexpr std::int64_t cols = 24, rows = 16, last_col = side - cols, last_row = side - rows;
        constexpr std::int64_t at_2_to_31 = (std::int64_t{1} << 31) / side - rows / 2;
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
                const double expected = pixel_in_double(p, taps, x, y, pixel);
                // Of elements that are not negative the result is the sum of magnitudes too.
                ASSERT_TRUE(test::is_within(test::to_double(window[static_cast<std::size_t>(i)]), expected,
                                            bound<std::uint8_t>(p, expected, 255)))
                    << "at " << x << ", " << y;
            }
        }
        std::vector<std::byte> around(canaries);
        for (const std::uint8_t* canaries_at : {first - canaries, first + size}) {
            copy_and_wait(vector_view{reinterpret_cast<const std::byte*>(canaries_at), canaries}, around, s);
            EXPECT_EQ(around, std::vector<std::byte>(canaries, canary));
        }
    }
}

#if HEDDLE_HAS_CUDNN
void cudnn_blur(const problem& p, const float* source, const float* window, float* destination,
                cudaStream_t stream) {
    cudnnHandle_t handle{};
    cudnnTensorDescriptor_t image{};
    cudnnFilterDescriptor_t filter{};
    cudnnConvolutionDescriptor_t convolution{};
    const int n = static_cast<int>(2 * p.radius + 1), radius = static_cast<int>(p.radius);
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
        const std::vector<double> taps = taps_of(p);
        std::vector<float> products;
        for (const double down : taps)
            for (const double across : taps) products.push_back(static_cast<float>(down * across));
        const std::vector<float> elements = test::random_elements<float>(p.elements(), 0, 1);
        test_image<float> source(p, layout::tight), ours(p, layout::tight), theirs(p, layout::tight);
        guarded<float> window(static_cast<std::int64_t>(products.size()));
        source->upload(elements);
        window.upload(products);
        // cuDNN pads with zeros.
        gaussian_blur<float>(source.view(), ours.view(), p.sigma, *stream_,
                             {.radius = radius, .border = border::constant, .algorithm = GetParam()});
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

// The CPU implementation.

template <class T>
class host_gaussian_blur : public testing::Test {};
using element_types = testing::Types<float, std::uint8_t>;
TYPED_TEST_SUITE(host_gaussian_blur, element_types, test::type_names);

template <class T>
void run_on_host_and_check(const problem& p, layout how) {
    SCOPED_TRACE(text(p));
    using memory = typename test_image<T>::memory;
    const std::vector<T> elements = random_image<T>(p);
    test_image<T> source(p, how, memory::host), destination(p, how, memory::host);
    source->upload(elements);
    host::gaussian_blur<T>(source.view(), destination.view(), p.sigma, options_of(p));
    expect_close(p, destination->download(), elements);
    EXPECT_TRUE(destination->canaries_alive());
    EXPECT_TRUE(source->untouched());
}

TYPED_TEST(host_gaussian_blur, is_right_at_every_shape_and_border) {
    for (problem p : problems_of_one_channel())
        for (const std::int64_t channels : {1, 3, 4})
            for (const border kind : borders) {
                p.channels = channels;
                p.border = kind;
                ASSERT_NO_FATAL_FAILURE(run_on_host_and_check<TypeParam>(
                    p, layouts[static_cast<std::size_t>(channels) % layouts.size()]));
            }
}

TYPED_TEST(host_gaussian_blur, takes_windows_far_larger_than_the_image) {
    for (const border kind : borders) {
        problem p{7, 5, 1, 1200};
        p.border = kind;
        ASSERT_NO_FATAL_FAILURE(run_on_host_and_check<TypeParam>(p, layout::tight));
    }
}

TEST(host_gaussian_blur_taps, of_zero_take_nothing_from_nan_and_infinity) {
    expect_nothing_from_weights_of_zero(
        test_image<float>::memory::host,
        [](const auto& source, const auto& destination, double sigma, const gaussian_blur_options& options) {
            host::gaussian_blur<float>(source, destination, sigma, options);
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
        const std::vector<double> taps = taps_of(p);
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

TEST(gaussian_blur_select, goes_down_the_ladder_as_windows_grow) {
    for (const std::int64_t channels : {1, 3, 4}) {
        const auto at = [&](std::int64_t radius) {
            return select(gaussian_blur_problem{4096, 4096, channels, radius}, hopper());
        };
        EXPECT_EQ(at(0), algorithm::fused);
        EXPECT_EQ(at(2), algorithm::fused);
        EXPECT_EQ(at(15), algorithm::fused);
        EXPECT_EQ(at(30), algorithm::fused);
        EXPECT_EQ(at(300), algorithm::shared_memory);
        EXPECT_EQ(at(1001), algorithm::separable);
        EXPECT_EQ(at(1000000), algorithm::separable);
    }
}

TEST(gaussian_blur_select, leaves_the_longest_rows_to_separable) {
    EXPECT_EQ(select(gaussian_blur_problem{std::int64_t{1} << 31, 1, 1, 2}, hopper()), algorithm::separable);
    EXPECT_EQ(select(gaussian_blur_problem{std::int64_t{1} << 29, 1, 4, 40}, hopper()), algorithm::separable);
}

TEST(gaussian_blur_select, stays_within_a_smaller_device) {
    device_traits small = hopper();
    small.shared_memory_per_sm = 64 * 1024;
    small.shared_memory_per_block_optin = 48 * 1024;
    EXPECT_EQ(select(gaussian_blur_problem{4096, 4096, 1, 2}, small), algorithm::fused);
    EXPECT_EQ(select(gaussian_blur_problem{4096, 4096, 1, 40}, small), algorithm::shared_memory);
    EXPECT_EQ(select(gaussian_blur_problem{4096, 4096, 1, 300}, small), algorithm::separable);
}

TEST(gaussian_blur_workspace, holds_the_intermediate_image_of_two_passes) {
    const gaussian_blur_problem p{1001, 50, 3, 5};
    for (const algorithm which : {algorithm::separable, algorithm::shared_memory})
        EXPECT_GE(gaussian_blur_workspace_bytes(p, hopper(), which), 1001 * 50 * 3 * 4);
    for (const algorithm which : {algorithm::naive, algorithm::fused, algorithm::automatic})
        EXPECT_EQ(gaussian_blur_workspace_bytes(p, hopper(), which), 0);
    EXPECT_EQ(gaussian_blur_workspace_bytes({0, 50, 3, 5}, hopper(), algorithm::separable), 0);
    EXPECT_GT(gaussian_blur_workspace_bytes({1001, 50, 3, 5000}, hopper()), 0);
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
    for (const std::int64_t channels : {-1, 0, 2, 5})
        expect_rejected("problem.channels", {1001, 50, channels, 5});
    expect_rejected("problem.radius", {1001, 50, 3, -1});
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
    double sigma = 1.5;
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
    expect_rejected("source.channels", [](call& c) { c.source.channels = 2; });
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

TEST(gaussian_blur_validation, names_what_is_wrong_with_the_window) {
    for (const double sigma : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity(), 1e12})
        expect_rejected("sigma", [=](call& c) { c.sigma = sigma; });
    for (const std::int64_t radius : {std::int64_t{-1}, std::numeric_limits<std::int64_t>::min(),
                                      std::numeric_limits<std::int64_t>::max()})
        expect_rejected("options.radius", [=](call& c) { c.options.radius = radius; });
    expect_rejected("options.border", [](call& c) { c.options.border = static_cast<border>(7); });
}

TEST(gaussian_blur_validation, wants_border_values_that_uint8_can_hold) {
    std::array<std::uint8_t, 64> memory{};
    memory[5] = 200;
    const auto before = memory;
    for (const float value : {-1.0f, 256.0f, 1.5f, std::numeric_limits<float>::quiet_NaN()}) {
        gaussian_blur_options options{.border = border::constant, .border_value = value};
        const auto run = [&] {
            host::gaussian_blur<std::uint8_t>({memory.data(), 4, 4}, image_view{memory.data() + 32, 4, 4},
                                              1.0, options);
        };
        EXPECT_EQ(rejected_argument_of(run), "options.border_value");
        EXPECT_EQ(rejected_argument_of([&] {
                      gaussian_blur<std::uint8_t>({memory.data(), 4, 4}, image_view{memory.data() + 32, 4, 4},
                                                  1.0, cuda::stream_ref{cudaStream_t{}}, options);
                  }),
                  "options.border_value");
        EXPECT_EQ(memory, before);
        options.border = border::replicate;  // which has no use for it
        EXPECT_NO_THROW(run());
        memory = before;
    }
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
}

}  // namespace
}  // namespace heddle
