#include "tests/gaussian_blur/rungs.hpp"

namespace heddle::test {
namespace {

class decimated_gaussian_blur : public gaussian_blur_test {
  protected:
    /// Nothing where the rung does not take the problem.
    std::vector<float> decimated(const problem& p, const std::vector<float>& elements,
                                 std::int64_t images = 1) {
        guarded_images<float> source(p, layout::tight, memory::device, images);
        guarded_images<float> destination(p, layout::tight, memory::device, images);
        source.upload(elements);
        if (!blur<float>(p, source.batch(), destination.batch(), options_of(p), algorithm::decimated))
            return {};
        return destination.download();
    }

    /// What the rung makes of lines of 1 in images of 0, a line of each position along an axis, less what a
    /// Gaussian makes of them: its errors' matrix, borders included, row by row of the images' positions.
    std::vector<double> errors_along(bool along_y, double sigma, border kind) {
        const std::int64_t size = 3 * gaussian_radius(sigma), across = 33;
        const problem p{
            along_y ? across : size, along_y ? size : across, 1, gaussian_radius(sigma), sigma, kind};
        std::vector<float> elements;
        for (std::int64_t line = 0; line < size; ++line)
            for (std::int64_t y = 0; y < p.height; ++y)
                for (std::int64_t x = 0; x < p.width; ++x)
                    elements.push_back((along_y ? y : x) == line ? 1.0f : 0.0f);
        std::vector<double> errors;
        const std::vector<float> blurred = decimated(p, elements, size);
        if (blurred.empty()) return errors;
        const std::vector<double> taps = bounds::gaussian(sigma, p.radius.x);
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
                const double peak = bounds::gaussian(
                    sigma, gaussian_radius(sigma))[static_cast<std::size_t>(gaussian_radius(sigma))];
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
        EXPECT_LE(sum_of_both * (2 + sum_of_both), bounds::of_decimated) << sigma;
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
            elements[p.at(at_x, at_y)] = 1;
            const std::vector<float> blurred = decimated(p, elements);
            if (blurred.empty()) continue;
            const std::vector<double> taps_x = bounds::gaussian(sigma.x, p.radius.x),
                                      taps_y = bounds::gaussian(sigma.y, p.radius.y);
            const double peak = *std::ranges::max_element(taps_x) * *std::ranges::max_element(taps_y);
            double largest = 0;
            for (std::int64_t y = 0; y < p.height; ++y)
                for (std::int64_t x = 0; x < p.width; ++x) {
                    const std::int64_t dx = x - at_x + p.radius.x, dy = y - at_y + p.radius.y;
                    const bool is_inside = dx >= 0 && dx <= 2 * p.radius.x && dy >= 0 && dy <= 2 * p.radius.y;
                    const double exact = is_inside ? taps_x[static_cast<std::size_t>(dx)] *
                                                         taps_y[static_cast<std::size_t>(dy)]
                                                   : 0;
                    const double value = blurred[p.at(x, y)];
                    largest = std::max(largest, std::abs(value - exact));
                }
            RecordProperty("sigma_" + std::to_string(sigma.x) + "_phase_" + std::to_string(phase),
                           std::to_string(largest / peak));
            EXPECT_LE(largest, 5e-4 * peak) << sigma.x << " phase " << phase;
        }
    EXPECT_GT(runs_, 0);
}

TEST_F(decimated_gaussian_blur, keeps_a_constant) {
    for (const border kind : {border::replicate, border::reflect, border::reflect_101, border::wrap}) {
        const problem p{333, 222, 1, 100, 25, kind};
        const std::vector<float> ones(static_cast<std::size_t>(p.elements()), 1.0f);
        for (const float value : decimated(p, ones))
            ASSERT_TRUE(is_within(double{value}, 1, bound<float>(p, 1)(1)));
    }
}

TEST_F(decimated_gaussian_blur, keeps_a_nan_within_six_sigma) {
    constexpr std::int64_t sigma = 12, at_x = 251, at_y = 190;
    const problem p{500, 400, 1, gaussian_radius(sigma), static_cast<double>(sigma)};
    std::vector<float> elements = random_pixels<float>(p.elements());
    std::vector<std::vector<float>> blurred;
    for (const bool has_nan : {false, true}) {
        if (has_nan) elements[p.at(at_x, at_y)] = std::numeric_limits<float>::quiet_NaN();
        if (blurred.emplace_back(decimated(p, elements)).empty()) return;
    }
    for (std::int64_t y = 0; y < p.height; ++y)
        for (std::int64_t x = 0; x < p.width; ++x) {
            if (std::max(std::abs(x - at_x), std::abs(y - at_y)) < 6 * sigma) continue;
            ASSERT_EQ(blurred[1][p.at(x, y)], blurred[0][p.at(x, y)]) << x << ", " << y;
        }
    EXPECT_TRUE(std::isnan(blurred[1][p.at(at_x, at_y)]));
}

}  // namespace
}  // namespace heddle::test
