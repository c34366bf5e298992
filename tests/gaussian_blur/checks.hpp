#pragma once

#include "tests/gaussian_blur/reference.hpp"
#include <heddle/device.hpp>
#include <heddle/host.hpp>

#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>

namespace heddle::test {

/// A rung on the device, or the host's, which is held to the bound of naive.
template <class T>
struct implementation {
    memory where;
    algorithm which;
    /// Whether it takes the problem.
    std::function<bool(const problem&, const image_batch_view<const T>& sources,
                       const image_batch_view<T>& destinations, const gaussian_blur_options&)>
        blur;
    /// Then it may refuse a layout though it takes the window.
    bool is_variant = false;

    /// The rung whose bound the result is held to: of others than decimated, which one `automatic` takes depends on the layout.
    [[nodiscard]] algorithm bound_of(const problem& p, std::int64_t images = 1) const {
        if (which != algorithm::automatic) return which;
        const bool is_decimated =
            select(p.described<T>(images), traits_of(current_device())) == algorithm::decimated;
        return is_decimated ? algorithm::decimated : algorithm::automatic;
    }
};

template <class T>
implementation<T> on_host() {
    return {memory::host, algorithm::naive,
            [](const problem& p, const image_batch_view<const T>& sources,
               const image_batch_view<T>& destinations, const gaussian_blur_options& options) {
                host::gaussian_blur<T>(sources, destinations, p.sigma, options);
                return true;
            }};
}

inline std::string text(const problem& p, layout how, std::int64_t images = 1) {
    return text(p) + " of " + std::to_string(images) + " " + name_of(how);
}

/// Blurs one image and checks it and all around it.
template <class T>
void check_image(const problem& p, layout how, const implementation<T>& by) {
    SCOPED_TRACE(text(p, how));
    const std::vector<T> elements = random_pixels<T>(p.elements());
    guarded_images<T> source(p, how, by.where), destination(p, how, by.where);
    source.upload(elements);
    if (!by.blur(p, source.batch(), destination.batch(), options_of(p))) {
        EXPECT_TRUE(destination.untouched());
        return;
    }
    expect_close(p, destination.download(), elements, by.bound_of(p));
    EXPECT_TRUE(destination.canaries_alive());
    EXPECT_TRUE(source.untouched());
}

/// Tiles of an image, each blurred as a region, against the blur of the whole: bit for bit, but for `decimated` and where
/// `automatic` may take one rung for the whole and another for a part; nor on the host, where the compiler may round a loop's
/// last elements otherwise than its vectors.
template <class T>
void check_regions(const problem& p, layout how, const implementation<T>& by) {
    SCOPED_TRACE(text(p, how));
    const bool same_bits =
        by.where == memory::device && by.which != algorithm::automatic && by.which != algorithm::decimated;
    const std::vector<T> elements = random_pixels<T>(p.elements());
    const reference expected(p, elements);
    guarded_images<T> source(p, how, by.where), whole(p, layout::aligned, by.where);
    source.upload(elements);
    gaussian_blur_options options = options_of(p);
    if (!by.blur(p, source.batch(), whole.batch(), options)) return;
    const std::vector<T> blurred = whole.download();
    const std::array<std::int64_t, 4> across = {0, p.width / 3, p.width - 1, p.width};
    const std::array<std::int64_t, 4> down = {0, p.height / 2, p.height / 2 + 1, p.height};
    for (std::size_t i = 0; i + 1 < down.size(); ++i)
        for (std::size_t j = 0; j + 1 < across.size(); ++j) {
            const image_region region{across[j], down[i], across[j + 1] - across[j], down[i + 1] - down[i]};
            SCOPED_TRACE(testing::Message() << "region " << region.x << ", " << region.y << ": "
                                            << region.width << "x" << region.height);
            guarded_images<T> part(p.of(region), layouts[(i + j) % layouts.size()], by.where);
            options.region = region;
            if (!by.blur(p.of(region), source.batch(), part.batch(), options)) continue;
            const std::vector<T> values = part.download(), of_whole = part_of(p, blurred, region);
            if (same_bits)
                for (std::size_t k = 0; k < values.size(); ++k)
                    ASSERT_EQ(to_double(values[k]), to_double(of_whole[k])) << k;
            else
                ASSERT_NO_FATAL_FAILURE(expect_close(p, values, expected.of(p, region), by.bound_of(p)));
            EXPECT_TRUE(part.canaries_alive());
        }
    EXPECT_TRUE(source.untouched());
}

/// A batch of images, one after another; the same as planes whose rows lie side by side; and one source for
/// all of them: bit for bit, but where `automatic` may take one rung for one and another for the other.
template <class T>
void check_batch(const problem& p, std::int64_t images, layout how, const implementation<T>& by) {
    SCOPED_TRACE(text(p, how, images));
    const algorithm which = by.bound_of(p, images);
    const std::vector<T> elements = random_pixels<T>(images * p.elements());
    const auto of_image = [&](const std::vector<T>& values, std::int64_t i) {
        const auto first = values.begin() + static_cast<std::ptrdiff_t>(i * p.elements());
        return std::vector<T>(first, first + static_cast<std::ptrdiff_t>(p.elements()));
    };
    guarded_images<T> source(p, how, by.where, images), destination(p, layout::aligned, by.where, images);
    source.upload(elements);
    if (!by.blur(p, source.batch(), destination.batch(), options_of(p))) return;
    const std::vector<T> blurred = destination.download();
    for (std::int64_t i = 0; i < images; ++i)
        ASSERT_NO_FATAL_FAILURE(expect_close(p, of_image(blurred, i), of_image(elements, i), which)) << i;
    EXPECT_TRUE(destination.canaries_alive());
    EXPECT_TRUE(source.untouched());
    const auto expect_blurred = [&](const std::vector<T>& values, std::int64_t i) {
        if (by.which != algorithm::automatic)
            EXPECT_EQ(std::memcmp(values.data(), of_image(blurred, i).data(), values.size() * sizeof(T)), 0);
        else
            expect_close(p, values, of_image(elements, i), which);
    };

    guarded_images<T> from_one(p, layout::tight, by.where, images);
    image_batch_view<T> one = source.batch();
    one.stride = 0;
    if (!by.blur(p, one, from_one.batch(), options_of(p))) {
        ASSERT_TRUE(by.is_variant);
        return;
    }
    const std::vector<T> copies = from_one.download();
    for (std::int64_t i = 0; i < images; ++i) {
        expect_blurred(of_image(copies, i), 0);
        if (testing::Test::HasFailure()) return;
    }

    if (images > 9) return;
    guarded_images<T> planes(p, how, by.where, images, true);
    if (!by.blur(p, source.batch(), planes.batch(), options_of(p))) {
        ASSERT_TRUE(by.is_variant);
        return;
    }
    const std::vector<T> of_batch = planes.download();
    for (std::int64_t i = 0; i < images; ++i) expect_blurred(of_image(of_batch, i), i);
    EXPECT_TRUE(planes.canaries_alive());

    guarded_images<T> again(p, how, by.where, images);
    if (!by.blur(p, planes.batch(), again.batch(), options_of(p))) {
        const bool takes_any_stride = which != algorithm::wgmma_xy;
        ASSERT_TRUE(by.is_variant || !(takes_any_stride || p.row() * sizeof(T) % 16 == 0));
        return;
    }
    const std::vector<T> of_planes = again.download();
    for (std::int64_t i = 0; i < images; ++i)
        ASSERT_NO_FATAL_FAILURE(expect_close(p, of_image(of_planes, i), of_image(of_batch, i), which)) << i;
}

/// A region of so many images that share one source: the first as it should be, the others the same bit for bit.
template <class T>
void check_region_of_many(const problem& p, const image_region& region, std::int64_t images, layout how,
                          const implementation<T>& by, layout of_source = layout::aligned) {
    SCOPED_TRACE(text(p, how, images) + " of a source that is " + name_of(of_source));
    const std::vector<T> elements = random_pixels<T>(p.elements());
    guarded_images<T> source(p, of_source, by.where), destination(p.of(region), how, by.where, images);
    source.upload(elements);
    gaussian_blur_options options = options_of(p);
    options.region = region;
    if (!by.blur(p.of(region), {source.view(), images, 0}, destination.batch(), options)) return;
    std::vector<T> values = destination.download();
    const auto size = static_cast<std::size_t>(p.of(region).elements());
    for (std::size_t i = size; i < values.size(); i += size)
        ASSERT_EQ(std::memcmp(&values[i], values.data(), size * sizeof(T)), 0) << i / size;
    values.resize(size);
    expect_close(p, values, reference(p, elements).of(p, region), by.which);
    EXPECT_TRUE(destination.canaries_alive());
    EXPECT_TRUE(source.untouched());
}

/// Images, regions and batches of any size, window, border and layout.
template <class T>
void check_drawn_problems(const implementation<T>& by) {
    constexpr int draws = 50;  // of each type
    drawing draw;
    const auto draw_size = [&](std::int64_t power) { return draw(1, std::int64_t{1} << draw(0, power)); };
    for (int i = 0; i < draws; ++i) {
        problem p{draw_size(10), 1, draw(1, 4), {draw_size(5) - 1, draw_size(5) - 1}};
        p.height = std::min(draw_size(10), 40000 / p.row());
        p.border = borders[static_cast<std::size_t>(draw(0, std::ssize(borders) - 1))];
        if (draw(0, 4) == 0) {  // a whole window, as decimated takes
            p.sigma = {static_cast<double>(draw(8, 14)), static_cast<double>(draw(8, 14))};
            p.radius = {gaussian_radius(p.sigma.x), gaussian_radius(p.sigma.y)};
        }
        const layout how = draw(0, 1) == 0 ? layout::odd : layout::aligned;
        const std::int64_t images = draw(1, 3);
        SCOPED_TRACE(testing::Message() << "draw " << i);
        ASSERT_NO_FATAL_FAILURE(check_image(p, how, by));
        if (images == 1)
            ASSERT_NO_FATAL_FAILURE(check_regions(p, how, by));
        else
            ASSERT_NO_FATAL_FAILURE(check_batch(p, images, how, by));
    }
}

/// Blurs with windows whose outer weights are 0 in float. The elements under them do not count, not even
/// those that times 0 are NaN.
inline void check_weights_of_zero(const implementation<float>& by) {
    struct window {
        double sigma;
        std::optional<std::int64_t> radius;
        std::int64_t reach;  ///< of the weights that are not 0: exp(-15^2 / 2) is, exp(-14^2 / 2) is not
    };
    for (const auto& [sigma, radius, reach] : {window{0.05, std::nullopt, 0}, window{1.0, 15, 14}})
        for (const std::int64_t channels : {1, 2, 3, 4}) {
            const problem p{61, 43, channels, reach, sigma};
            SCOPED_TRACE(text(p));
            std::vector<float> elements = random_pixels<float>(p.elements());
            elements[p.at(20, 20)] = std::numeric_limits<float>::quiet_NaN();
            elements[p.at(44, 22)] = std::numeric_limits<float>::infinity();
            guarded_images<float> source(p, layout::aligned, by.where),
                destination(p, layout::aligned, by.where);
            source.upload(elements);
            gaussian_blur_options options;
            if (radius) options.radius = *radius;
            if (!by.blur(p, source.batch(), destination.batch(), options)) continue;
            ASSERT_NO_FATAL_FAILURE(expect_close(p, destination.download(), elements));
            EXPECT_TRUE(destination.canaries_alive());
        }
}

/// The share of pixels that are not float64's blur rounded to nearest; fails where one is more than a level
/// off, or is another number though the bound is nearer to the blur than a half.
inline double share_of_unequal(const problem& p, const std::vector<std::uint8_t>& actual,
                               const std::vector<double>& exact, algorithm which) {
    const bound<std::uint8_t> allowed(p, 255, which);
    std::size_t unequal = 0, beyond_bound = 0;
    double most = 0;
    for (std::size_t i = 0; i < actual.size(); ++i) {
        const double difference = std::abs(to_double(actual[i]) - std::nearbyint(exact[i]));
        most = std::max(most, difference);
        if (difference > 0) ++unequal;
        beyond_bound += !is_within(to_double(actual[i]), exact[i], allowed(exact[i]));
    }
    EXPECT_LE(most, 1);
    EXPECT_EQ(beyond_bound, 0);
    return static_cast<double>(unequal) / static_cast<double>(actual.size());
}

/// 200000 pixels of noise, of a slope along both axes and of squares with steep edges. The squares' blur has few
/// values, each that of many pixels: of them decimated promises a level only, wgmma_xy and mma_xy_by_channel 99.9 % of all
/// together (docs/accuracy.md), and automatic is asked for an exact window. The slope at sigma 1.7 is where
/// those two need 24 bits between its passes: 16 would round 2.6 % of the pixels otherwise.
inline void check_rounding_of_uint8(const implementation<std::uint8_t>& by) {
    constexpr double most = 1e-3;
    std::vector<double> of_squares;
    for (const double sigma : {0.65, 0.8, 1.7, 3.0, 4.0, 5.0, 12.0}) {
        const problem p{501, 403, 1, gaussian_radius(sigma), sigma};
        struct picture {
            std::string name;
            std::vector<std::uint8_t> elements;
        };
        std::array<picture, 3> pictures = {
            {{"noise", random_pixels<std::uint8_t>(p.elements())}, {"slope", {}}, {"squares", {}}}};
        for (std::int64_t y = 0; y < p.height; ++y)
            for (std::int64_t x = 0; x < p.width; ++x) {
                pictures[1].elements.push_back(
                    static_cast<std::uint8_t>(x * 160 / p.width + y * 95 / p.height));
                pictures[2].elements.push_back((x / 37 + y / 29) % 2 == 0 ? 20 : 201);
            }
        for (const auto& [picture_name, elements] : pictures) {
            const std::vector<double> exact =
                blur_in_double(p, std::vector<double>(elements.begin(), elements.end()));
            for (const layout how : {layout::tight, layout::aligned}) {
                const std::string name = picture_name + (how == layout::aligned ? "_aligned" : "");
                const bool is_squares = picture_name == "squares";
                SCOPED_TRACE(text(p) + " " + name);
                guarded_images<std::uint8_t> source(p, how, by.where), destination(p, how, by.where);
                source.upload(elements);
                gaussian_blur_options options = options_of(p);
                options.exact = is_squares;
                if (!by.blur(p, source.batch(), destination.batch(), options)) continue;
                // automatic may be decimated.
                const algorithm loosest =
                    by.which == algorithm::automatic && !options.exact ? algorithm::decimated : by.which;
                const double share = share_of_unequal(p, destination.download(), exact, loosest);
                testing::Test::RecordProperty(name + "_sigma_" + std::to_string(sigma),
                                              std::to_string(share));
                if (is_squares && by.which == algorithm::decimated) continue;
                if (is_squares &&
                    (by.which == algorithm::wgmma_xy || by.which == algorithm::mma_xy_by_channel)) {
                    of_squares.push_back(share);
                } else {
                    EXPECT_LE(share, most);
                }
            }
        }
    }
    EXPECT_LE(std::accumulate(of_squares.begin(), of_squares.end(), 0.0),
              most * static_cast<double>(of_squares.size()));
}

}  // namespace heddle::test
