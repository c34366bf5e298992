#pragma once

#include "tests/gaussian_blur/reference.hpp"
#include "tests/support/headers.hpp"

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

    /// The rung whose bound holds for the result. Which of the others than decimated `automatic` takes depends on the
    /// layout.
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

/// Tiles of an image, each blurred as a region, bit for bit as the blur of the whole: by a rung that promises that.
template <class T>
void check_regions(const problem& p, layout how, const implementation<T>& by) {
    SCOPED_TRACE(text(p, how));
    guarded_images<T> source(p, how, by.where), whole(p, layout::aligned, by.where);
    source.upload(random_pixels<T>(p.elements()));
    gaussian_blur_options options = options_of(p);
    if (!by.blur(p, source.batch(), whole.batch(), options)) return;
    const std::vector<T> blurred = whole.download();
    const std::array<std::int64_t, 4> across = {0, p.width / 3, p.width - 1, p.width};
    const std::array<std::int64_t, 4> down = {0, p.height / 2, p.height / 2 + 1, p.height};
    for (std::size_t i = 0; i + 1 < down.size(); ++i)
        for (std::size_t j = 0; j + 1 < across.size(); ++j) {
            const image_region region{across[j], down[i], across[j + 1] - across[j], down[i + 1] - down[i]};
            guarded_images<T> part(p.of(region), layouts[(i + j) % layouts.size()], by.where);
            options.region = region;
            if (!by.blur(p.of(region), source.batch(), part.batch(), options)) continue;
            const std::vector<T> values = part.download(), of_whole = part_of(p, blurred, region);
            for (std::size_t k = 0; k < values.size(); ++k)
                ASSERT_EQ(to_double(values[k]), to_double(of_whole[k]))
                    << "value " << k << " of " << region.width << "x" << region.height << " from " << region.x
                    << ", " << region.y;
        }
}

/// A NaN comes to all pixels whose windows have it, and to no others.
template <class T>
void check_nan(const problem& p, layout how, const implementation<T>& by) {
    SCOPED_TRACE(text(p, how));
    const std::int64_t at_x = p.width / 2, at_y = p.height / 2;
    std::vector<T> elements = random_pixels<T>(p.elements());
    elements[p.at(at_x, at_y)] = static_cast<T>(std::numeric_limits<float>::quiet_NaN());
    guarded_images<T> source(p, how, by.where), destination(p, how, by.where);
    source.upload(elements);
    if (!by.blur(p, source.batch(), destination.batch(), options_of(p))) return;
    const std::vector<T> values = destination.download();
    for (std::int64_t y = 0; y < p.height; ++y)
        for (std::int64_t x = 0; x < p.width; ++x) {
            const bool is_in_window = std::abs(x - at_x) <= p.radius.x && std::abs(y - at_y) <= p.radius.y;
            ASSERT_EQ(std::isnan(to_double(values[p.at(x, y)])), is_in_window) << x << ", " << y;
        }
}

/// Checks a region of so many images. Where they have one source, the first must be right, and the others the same bit
/// for bit. Where each has a source, all must be right.
template <class T>
void check_region_of_many(const problem& p, const image_region& region, std::int64_t images, layout how,
                          const implementation<T>& by, layout of_source = layout::aligned,
                          bool has_own_sources = false) {
    SCOPED_TRACE(text(p, how, images) + " of a source that is " + name_of(of_source));
    const std::vector<T> elements = random_pixels<T>(p.elements() * (has_own_sources ? images : 1));
    guarded_images<T> source(p, of_source, by.where, has_own_sources ? images : 1),
        destination(p.of(region), how, by.where, images);
    source.upload(elements);
    gaussian_blur_options options = options_of(p);
    options.region = region;
    image_batch_view<T> sources = source.batch();
    if (!has_own_sources) sources = {source.view(), images, 0};
    if (!by.blur(p.of(region), sources, destination.batch(), options)) return;
    const std::vector<T> values = destination.download();
    const auto size = static_cast<std::ptrdiff_t>(p.of(region).elements());
    for (std::int64_t i = 0; i < images; ++i) {
        const auto first = values.begin() + i * size;
        if (i > 0 && !has_own_sources) {
            ASSERT_EQ(std::memcmp(&*first, values.data(), static_cast<std::size_t>(size) * sizeof(T)), 0)
                << i;
            continue;
        }
        const auto from = elements.begin() + i * p.elements();
        const reference expected(p, std::vector<T>(from, from + p.elements()));
        ASSERT_NO_FATAL_FAILURE(expect_close(p, std::vector<T>(first, first + size), expected.of(p, region),
                                             by.bound_of(p, images)))
            << i;
    }
    EXPECT_TRUE(destination.canaries_alive());
    EXPECT_TRUE(source.untouched());
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
/// values, each that of many pixels: of them decimated promises a level only, wgmma_xy and mma_xy_by_channel 99.9 % of
/// all together (docs/accuracy.md), and automatic is asked for an exact window. The slope at sigma 1.7 is where
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
