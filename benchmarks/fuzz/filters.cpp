#include "benchmarks/fuzz/operations.hpp"
#include "benchmarks/fuzz/rows.hpp"
#include "benchmarks/support/rows.hpp"
#include "tests/bounds/windows.hpp"
#include <heddle/gaussian_blur.hpp>
#include <heddle/host.hpp>
#include <heddle/image_filter.hpp>

#include <array>

namespace heddle::bench::fuzz {
namespace {

const std::vector<std::string_view> pixel_types = {"f32", "f16", "u8", "u16"};
constexpr float border_value = 3;  // which all types hold

template <class Result, class Function>
Result with_pixel(std::int64_t type, Function f) {
    if (type == 0) return f.template operator()<float>();
    if (type == 1) return f.template operator()<half>();
    if (type == 2) return f.template operator()<std::uint8_t>();
    return f.template operator()<std::uint16_t>();
}

/// Left, top, right and bottom are what a region leaves out of the source.
std::vector<field> image_fields(std::vector<field> fields) {
    const std::vector<field> more = {
        {"border", 0, {"replicate", "reflect", "reflect_101", "wrap", "constant"}},
        {"source", 0, {"of_each", "of_all"}},
        {"values", 0, all_values},
        {"images"},
        {"height"},
        {"width"},
        {"channels"},
        {"radius_x", 1},
        {"radius_y", 1},
        {"left", 0},
        {"top", 0},
        {"right", 0},
        {"bottom", 0},
        {"offset", 0},
        {"padding", 0},
        {"to_offset", 0},
        {"to_padding", 0},
        {"seed", 0}};
    fields.insert(fields.end(), more.begin(), more.end());
    return fields;
}

void draw_images(drawing& d, problem& p) {
    p.draw_words(d);
    if (!d.one_in(4)) p.set("source", 0);
    const auto radius = [&] {
        return static_cast<std::int64_t>(d.log_uniform(1, d.one_in(8) ? 60 : 18)) - 1;
    };
    p.set("radius_x", radius());
    p.set("radius_y", d.one_in(3) ? radius() : p["radius_x"]);
    p.set("images", d.one_in(3) ? d.integer(0, 3) : 1);
    p.set("channels", d.integer(1, 4));
    const auto shape = draw_shape(d, 2, (1 << 15) / (p["channels"] * std::max<std::int64_t>(p["images"], 1)));
    p.set("height", shape[0]);
    p.set("width", shape[1]);
    if (d.one_in(3)) {
        p.set("left", d.integer(0, p["width"] / 2));
        p.set("top", d.integer(0, p["height"] / 2));
        p.set("right", d.integer(0, p["width"] / 4));
        p.set("bottom", d.integer(0, p["height"] / 4));
    }
    const cliffs::placement from = d.lie(false), to = d.lie(false);
    p.set("offset", from.offset);
    p.set("padding", from.padding);
    p.set("to_offset", to.offset);
    p.set("to_padding", to.padding);
    p.set("seed", d.integer(0, 1 << 30));
}

/// Integers are of all bits, but where they are two values, squares of which have many sums near a half.
template <class T>
std::vector<T> draw_pixels(values kind, std::int64_t count, std::uint64_t seed) {
    if constexpr (std::is_integral_v<T>) {
        std::mt19937_64 generator(seed);
        std::vector<T> drawn(static_cast<std::size_t>(count));
        for (std::size_t i = 0; i < drawn.size(); ++i)
            drawn[i] = static_cast<T>(kind == values::integers ? (i / 5 % 2 == 0 ? 20 : 201) : generator());
        return drawn;
    } else
        return draw_values<T>(kind, count, seed);
}

/// Images in memory, and what is computed of them.
template <class From, class To = From>
class images {
  public:
    images(const problem& p, processor where)
        : height(p["height"]),
          width(p["width"]),
          channels(std::clamp<std::int64_t>(p["channels"], 1, 4)),
          count(p["images"]),
          part{p["left"], p["top"], width - p["left"] - p["right"], height - p["top"] - p["bottom"]},
          kind_(static_cast<border>(p["border"])),
          sources_(p["source"] == 1 ? 1 : count),
          pixels_(draw_pixels<From>(static_cast<values>(p["values"]), sources_ * height * width * channels,
                                    static_cast<std::uint64_t>(p["seed"]))),
          from_(lie({sources_, height, width * channels}, p["offset"], p["padding"], 1)),
          to_(lie({count, std::max<std::int64_t>(part.height, 0),
                   std::max<std::int64_t>(part.width, 0) * channels},
                  p["to_offset"], p["to_padding"], 1)),
          source_(where, from_, pixels_),
          destination_(where, to_) {
        for (const From pixel : pixels_)
            if (std::isfinite(as_double(pixel))) largest = std::max(largest, std::abs(as_double(pixel)));
    }

    [[nodiscard]] bool is_whole() const { return part.width == width && part.height == height; }
    [[nodiscard]] bool has_part() const { return part.width >= 0 && part.height >= 0; }

    template <class Options>
    void set(Options& options) const {
        options.border = kind_;
        options.border_value = border_value;
        if (!is_whole()) options.region = part;
    }
    [[nodiscard]] image_batch_view<const From> sources() {
        return {{source_.data(), width, height, channels, from_.strides[1]},
                count,
                sources_ == count ? from_.strides[0] : 0};
    }
    [[nodiscard]] image_batch_view<To> destinations() {
        return {
            {destination_.data(), part.width, part.height, channels, to_.strides[1]}, count, to_.strides[0]};
    }

    /// A pixel of the source or of its border.
    [[nodiscard]] double at(std::int64_t image, std::int64_t y, std::int64_t x, std::int64_t channel) const {
        const std::int64_t row = inside(y, height), col = inside(x, width);
        if (row < 0 || col < 0) return static_cast<double>(border_value);
        const std::int64_t of = sources_ == count ? image : 0;
        return as_double(
            pixels_[static_cast<std::size_t>(((of * height + row) * width + col) * channels + channel)]);
    }
    /// function(image, y, x, channel) of each pixel of the result, its place that in the source.
    template <class Function>
    void for_each(Function function) const {
        for (std::int64_t image = 0; image < count; ++image)
            for (std::int64_t y = part.y; y < part.y + part.height; ++y)
                for (std::int64_t x = part.x; x < part.x + part.width; ++x)
                    for (std::int64_t c = 0; c < channels; ++c) function(image, y, x, c);
    }
    [[nodiscard]] std::string wrong(const expectation& expected) {
        return first_of(
            {expected.mismatch("destination", destination_.read()), destination_.damage(), source_.change()});
    }

    std::int64_t height, width, channels, count;
    image_region part;
    double largest = static_cast<double>(border_value);  ///< of the magnitudes

  private:
    /// The place that stands for one outside of 0 to n - 1; -1 where that is the constant.
    [[nodiscard]] std::int64_t inside(std::int64_t i, std::int64_t n) const {
        while (i < 0 || i >= n) {
            if (kind_ == border::constant) return -1;
            if (kind_ == border::replicate) i = i < 0 ? 0 : n - 1;
            if (kind_ == border::wrap) i += i < 0 ? n : -n;
            if (kind_ == border::reflect) i = i < 0 ? -1 - i : 2 * n - 1 - i;
            if (kind_ == border::reflect_101) i = n == 1 ? 0 : i < 0 ? -i : 2 * n - 2 - i;
        }
        return i;
    }

    border kind_;
    std::int64_t sources_;
    std::vector<From> pixels_;
    lattice from_, to_;
    operand<From> source_;
    operand<To> destination_;
};

enum class filter { convolution, box, blur };

/// Sums along x and then along y. `extra` is what a rung's sums are off by, in levels.
template <class T>
expectation convolved(const images<T>& of, const std::vector<double>& along_x,
                      const std::vector<double>& along_y, filter kind, double extra = 0) {
    const auto nx = static_cast<double>(along_x.size()), ny = static_cast<double>(along_y.size());
    const auto radius_x = static_cast<std::int64_t>(along_x.size() / 2),
               radius_y = static_cast<std::int64_t>(along_y.size() / 2);
    double weight_y = 0;
    for (const double tap : along_y) weight_y += std::abs(tap);
    const double share = bounds::of_passes(nx, ny, kind != filter::convolution),
                 denormals = kind == filter::blur ? bounds::of_blurred_denormals(nx, ny, of.largest)
                                                  : bounds::of_denormals(nx, ny, weight_y, of.largest);
    // All rows that windows reach: sums along x of one column of the result, and of magnitudes.
    const std::int64_t lines = of.part.height + 2 * radius_y;
    const auto line_elements = static_cast<std::size_t>(of.part.width * of.channels);
    std::vector<double> sums(static_cast<std::size_t>(lines) * line_elements), magnitudes(sums.size());
    expectation expected;
    std::int64_t last_image = -1;
    of.for_each([&](std::int64_t image, std::int64_t y, std::int64_t x, std::int64_t c) {
        if (image != last_image) {
            last_image = image;
            for (std::int64_t line = 0; line < lines; ++line)
                for (std::size_t i = 0; i < line_elements; ++i) {
                    const std::int64_t column = static_cast<std::int64_t>(i) / of.channels + of.part.x;
                    double sum = 0, magnitude = 0;
                    for (std::size_t k = 0; k < along_x.size(); ++k) {
                        const double term =
                            along_x[k] * of.at(image, of.part.y + line - radius_y,
                                               column + static_cast<std::int64_t>(k) - radius_x,
                                               static_cast<std::int64_t>(i) % of.channels);
                        sum += term, magnitude += std::abs(term);
                    }
                    sums[static_cast<std::size_t>(line) * line_elements + i] = sum;
                    magnitudes[static_cast<std::size_t>(line) * line_elements + i] = magnitude;
                }
        }
        double sum = 0, magnitude = 0;
        const std::size_t first = static_cast<std::size_t>(y - of.part.y) * line_elements +
                                  static_cast<std::size_t>((x - of.part.x) * of.channels + c);
        for (std::size_t k = 0; k < along_y.size(); ++k) {
            sum += along_y[k] * sums[first + k * line_elements];
            magnitude += std::abs(along_y[k]) * magnitudes[first + k * line_elements];
        }
        const double error = share * magnitude + denormals + extra;
        const auto pixel = kind == filter::box ? bounds::mean_pixel<T>(sum, error, nx, ny)
                                               : bounds::approximate(sum, bounds::pixel_of<T>(sum, error));
        expected.add(pixel.value, pixel.bound);
    });
    return expected;
}

/// The weights of a Gaussian, but those that are 0 in float.
std::vector<double> gaussian(double sigma, std::int64_t radius) {
    std::vector<double> weights = bounds::gaussian(sigma, radius);
    while (static_cast<float>(weights.front()) == 0) {
        weights.pop_back();
        weights.erase(weights.begin());
    }
    return weights;
}

template <class T>
std::string wrong_gaussian_blur(const problem& p, processor where) {
    const blur_sigma sigma(static_cast<double>(std::max<std::int64_t>(p["sigma_x"], 1)) / 10,
                           static_cast<double>(std::max<std::int64_t>(p["sigma_y"], 1)) / 10);
    const bool is_given = p["radius"] == 1;
    const window_radius radius = is_given ? window_radius(p["radius_x"], p["radius_y"])
                                          : window_radius(gaussian_radius(sigma.x), gaussian_radius(sigma.y));
    images<T> of(p, where);
    if (!of.has_part()) return {};
    gaussian_blur_options options;
    of.set(options);
    if (is_given) options.radius = radius;
    const std::vector<double> along_x = gaussian(sigma.x, radius.x), along_y = gaussian(sigma.y, radius.y);
    double extra = 0;
    if (where == processor::cpu)
        host::gaussian_blur<T>(of.sources(), of.destinations(), sigma, options);
    else {
        options.algorithm = rung_of(p, where, gaussian_blur_algorithms());
        options.exact = p["values"] == static_cast<std::int64_t>(values::special);
        using enum gaussian_blur_algorithm;
        const bool is_any = options.algorithm == automatic;
        const bool may_decimate =
            options.algorithm == decimated || (is_any && !options.exact && std::min(sigma.x, sigma.y) >= 12);
        const bool is_cut =
            static_cast<double>(radius.x) < 4 * sigma.x || static_cast<double>(radius.y) < 4 * sigma.y;
        if (options.algorithm == decimated && (is_cut || options.exact))
            return {};  // other windows, and other places that infinities reach
        if (may_decimate && !is_cut) extra = bounds::of_decimated * of.largest;
        if (std::is_same_v<T, std::uint8_t>)
            extra =
                std::max(extra, bounds::of_whole_numbers(options.algorithm, along_x, along_y, of.channels));
        gaussian_blur<T>(of.sources(), of.destinations(), sigma, stream(), options);
    }
    return of.wrong(convolved(of, along_x, along_y, filter::blur, extra));
}

void draw_gaussian_blur(drawing& d, problem& p) {
    draw_images(d, p);
    const auto sigma = [&] { return static_cast<std::int64_t>(d.log_uniform(3, d.one_in(8) ? 150 : 50)); };
    p.set("sigma_x", sigma());
    p.set("sigma_y", d.one_in(3) ? sigma() : p["sigma_x"]);
}

template <class T>
std::string wrong_box_blur(const problem& p, processor where) {
    const window_radius radius(p["radius_x"], p["radius_y"]);
    images<T> of(p, where);
    if (!of.has_part()) return {};
    image_filter_options options;
    of.set(options);
    where == processor::cpu ? host::box_blur<T>(of.sources(), of.destinations(), radius, options)
                            : box_blur<T>(of.sources(), of.destinations(), radius, stream(), options);
    return of.wrong(convolved(of, bounds::box(radius.x), bounds::box(radius.y), filter::box));
}

std::string wrong_convolution(const problem& p, processor where) {
    const auto seed = static_cast<std::uint64_t>(p["seed"]);
    auto along_x = draw_values<float>(values::uniform, 2 * p["radius_x"] + 1, seed + 1),
         along_y = draw_values<float>(values::uniform, 2 * p["radius_y"] + 1, seed + 2);
    along_x.front() = 0, along_y[along_y.size() / 2] = 0;  // they multiply too
    images<float> of(p, where);
    if (!of.has_part()) return {};
    image_filter_options options;
    of.set(options);
    where == processor::cpu
        ? host::separable_convolution(of.sources(), of.destinations(), along_x, along_y, options)
        : separable_convolution(of.sources(), of.destinations(), along_x, along_y, stream(), options);
    return of.wrong(convolved(of, {along_x.begin(), along_x.end()}, {along_y.begin(), along_y.end()},
                              filter::convolution));
}

template <class T>
std::string wrong_stencil(const problem& p, processor where) {
    enum { x_ = 2, y_, magnitude_, laplacian_ };
    const std::int64_t kind = p["function"];
    images<T, float> of(p, where);
    if (!of.has_part()) return {};
    image_filter_options options{.algorithm = rung_of(p, where, image_filter_algorithms())};
    of.set(options);
    const auto which = kind == x_ ? gradient::x : kind == y_ ? gradient::y : gradient::magnitude;
    if (where == processor::cpu)
        kind == laplacian_ ? host::laplacian<T>(of.sources(), of.destinations(), options)
                           : host::sobel<T>(of.sources(), of.destinations(), which, options);
    else
        kind == laplacian_ ? laplacian<T>(of.sources(), of.destinations(), stream(), options)
                           : sobel<T>(of.sources(), of.destinations(), which, stream(), options);
    using window = std::array<double, 9>;
    static constexpr window along_x = {-1, 0, 1, -2, 0, 2, -1, 0, 1},
                            along_y = {-1, -2, -1, 0, 0, 0, 1, 2, 1}, cross = {0, 1, 0, 1, -4, 1, 0, 1, 0};
    expectation expected;
    of.for_each([&](std::int64_t image, std::int64_t y, std::int64_t x, std::int64_t c) {
        const auto sum_of = [&](const window& weights) {
            double sum = 0, magnitudes = 0;
            for (std::size_t i = 0; i < weights.size(); ++i) {
                if (weights[i] == 0) continue;
                const auto at = static_cast<std::int64_t>(i);
                const double term = weights[i] * of.at(image, y + at / 3 - 1, x + at % 3 - 1, c);
                sum += term, magnitudes += std::abs(term);
            }
            return bounds::approximate(sum, bounds::of_stencil<T>(magnitudes));
        };
        const auto sum = kind == magnitude_ ? bounds::gradient_magnitude(sum_of(along_x), sum_of(along_y))
                                            : sum_of(kind == x_           ? along_x
                                                     : kind == laplacian_ ? cross
                                                                          : along_y);
        expected.add(sum.value, sum.bound);
    });
    return of.wrong(expected);
}

}  // namespace

operation gaussian_blur_cases() {
    return {"gaussian_blur",
            image_fields({{"type", 0, pixel_types},
                          {"radius", 0, {"by_sigma", "given"}},
                          {"rung", 0, rung_words(gaussian_blur_algorithms())},
                          {"sigma_x", 10},
                          {"sigma_y", 10}}),
            draw_gaussian_blur, [](const problem& p, processor where) {
                return with_pixel<std::string>(p["type"],
                                               [&]<class T>() { return wrong_gaussian_blur<T>(p, where); });
            }};
}

operation image_filter_cases() {
    return {"image_filter",
            image_fields({{"type", 0, pixel_types},
                          {"function",
                           0,
                           {"separable_convolution", "box_blur", "sobel_x", "sobel_y", "sobel_magnitude",
                            "laplacian"}},
                          {"rung", 0, rung_words(image_filter_algorithms())}}),
            draw_images, [](const problem& p, processor where) {
                if (p["function"] == 0) return wrong_convolution(p, where);  // of float alone
                return with_pixel<std::string>(p["type"], [&]<class T>() {
                    return p["function"] == 1 ? wrong_box_blur<T>(p, where) : wrong_stencil<T>(p, where);
                });
            }};
}

}  // namespace heddle::bench::fuzz
