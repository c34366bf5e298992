#include "tests/bounds/windows.hpp"
#include "tests/fuzz/operations.hpp"
#include "tests/fuzz/rows.hpp"

#include <array>

namespace heddle::fuzz {
namespace {

const std::vector<std::string_view> pixel_types = {"f32", "f16", "u8", "u16"};
constexpr float border_value = 3;  // a value of all types

template <class Result, class Function>
Result with_pixel(std::int64_t type, Function f) {
    if (type == 0) return f.template operator()<float>();
    if (type == 1) return f.template operator()<half>();
    if (type == 2) return f.template operator()<std::uint8_t>();
    return f.template operator()<std::uint16_t>();
}

/// Left, top, right and bottom are the margins of a region in the source.
std::vector<field> image_fields(std::vector<field> fields) {
    const std::vector<field> more = {
        {"border", 0, {"replicate", "reflect", "reflect_101", "wrap", "constant"}},
        {"source", 0, {"of_each", "of_all"}},
        {"beside", 0, {"none", "sources", "destinations"}},
        {"values", 0, all_values}};
    fields.insert(fields.end(), more.begin(), more.end());
    return with_numbers(
        std::move(fields),
        "images height width channels radius_x radius_y left=0 top=0 right=0 bottom=0 offset=0 "
        "padding=0 to_offset=0 to_padding=0 seed=0");
}

void draw_images(drawing& d, problem& p) {
    p.draw_words(d);
    for (const char* const word : {"source", "beside"})
        if (!d.one_in(4)) p.set(word, 0);
    const bool is_huge = d.one_in(24);  // a huge window of a small image
    const auto radius = [&] {
        return static_cast<std::int64_t>(d.log_uniform(1, is_huge ? 1300 : d.one_in(8) ? 60 : 18)) - 1;
    };
    p.set("radius_x", radius());
    p.set({{"radius_y", d.one_in(3) ? radius() : p["radius_x"]},
           {"images", d.one_in(3) ? d.integer(0, 3) : 1}});
    if (d.one_in(16)) p.set("images", static_cast<std::int64_t>(d.log_uniform(4, 5000)));
    p.set("channels", d.integer(1, 4));
    const std::int64_t reach = std::max<std::int64_t>(p["radius_x"] + p["radius_y"], 32),
                       in_all = reach * p["channels"] * std::max<std::int64_t>(p["images"], 1),
                       most = std::max<std::int64_t>((1 << 20) / in_all, 1);
    const auto shape = draw_shape(d, 2, most);
    p.set({{"height", shape[0]}, {"width", shape[1]}});
    if (d.one_in(16)) {
        p.set("width", d.integer(1, 4));
        p.set("height", std::max<std::int64_t>(most / p["width"], 1));
    }
    if (d.one_in(3)) {
        p.set("left", d.integer(0, p["width"] / 2));
        p.set("top", d.integer(0, p["height"] / 2));
        p.set("right", d.integer(0, p["width"] / 4));
        p.set("bottom", d.integer(0, p["height"] / 4));
    }
    const std::int64_t packet = 16, lie = d.integer(0, 3);
    if (lie < 2) {  // rows at multiples of 16 bytes, and a region that begins there
        p.set("left", p["left"] / packet * packet);
        const std::int64_t row = p["width"] * p["channels"],
                           to_row = row - (p["left"] + p["right"]) * p["channels"];
        p.set({{"padding", (packet - row % packet) % packet},
               {"to_padding", (packet - to_row % packet) % packet}});
    } else
        for (const char* const which : {"", "to_"}) {
            const placement at = d.lie(false);
            const std::string name(which);
            p.set({{name + "offset", lie == 2 ? at.offset : d.integer(0, packet - 1)},
                   {name + "padding", lie == 2 ? at.padding : d.integer(0, 31)}});
        }
    p.set("seed", d.integer(0, 1 << 30));
}

/// Integers of all bits; or two values in squares, with many sums near a half; or all at an end of their range.
template <class T>
std::vector<T> draw_pixels(values kind, std::int64_t count, std::uint64_t seed) {
    if constexpr (std::is_integral_v<T>) {
        std::mt19937_64 generator(seed);
        std::vector<T> drawn(static_cast<std::size_t>(count));
        const auto level = static_cast<T>(seed % 4 - 2);
        for (std::size_t i = 0; i < drawn.size(); ++i)
            drawn[i] = kind == values::tiny       ? level
                       : kind == values::integers ? static_cast<T>(i / 5 % 2 == 0 ? 20 : 201)
                                                  : static_cast<T>(generator());
        return drawn;
    } else
        return draw_for_windows<T>(kind, count, seed);
}

/// Images one after another, or the rows of all images interleaved.
lattice lie_apart(std::int64_t images, std::int64_t height, std::int64_t row, std::int64_t offset,
                  std::int64_t padding, bool beside) {
    lattice all = lie({images, height, row}, offset, padding, 1);
    if (beside) all.strides = {row, std::max<std::int64_t>(images, 1) * row + padding, 1};
    return all;
}

/// Images in memory, and their results.
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
          pixels_(draw_pixels<From>(kind_of(p), sources_ * height * width * channels, p.seed())),
          from_(lie_apart(sources_, height, width * channels, p["offset"], p["padding"],
                          p.word("beside") == "sources")),
          to_(lie_apart(count, std::max<std::int64_t>(part.height, 0),
                        std::max<std::int64_t>(part.width, 0) * channels, p["to_offset"], p["to_padding"],
                        p.word("beside") == "destinations")),
          source_(where, from_, pixels_),
          destination_(where, to_) {
        for (const From pixel : pixels_)
            if (std::isfinite(to_double(pixel))) largest = std::max(largest, std::abs(to_double(pixel)));
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

    [[nodiscard]] std::int64_t source_of(std::int64_t image) const { return sources_ == count ? image : 0; }
    /// A pixel of the source, or of its border, where the row or the column is -1.
    [[nodiscard]] double pixel(std::int64_t image, std::int64_t row, std::int64_t col,
                               std::int64_t channel) const {
        if (row < 0 || col < 0) return static_cast<double>(border_value);
        const std::int64_t line = source_of(image) * height + row;
        return to_double(pixels_[static_cast<std::size_t>((line * width + col) * channels + channel)]);
    }
    [[nodiscard]] double at(std::int64_t image, std::int64_t y, std::int64_t x, std::int64_t channel) const {
        return pixel(image, inside(y, height), inside(x, width), channel);
    }
    /// The source places for the places from `first` on, and for so many before and after them, along a line of n.
    [[nodiscard]] std::vector<std::int64_t> places(std::int64_t first, std::int64_t size, std::int64_t reach,
                                                   std::int64_t n) const {
        std::vector<std::int64_t> all;
        for (std::int64_t i = first - reach; i < first + size + reach; ++i) all.push_back(inside(i, n));
        return all;
    }
    /// function(image, y, x, channel) for each pixel of the result, with its place in the source.
    template <class Function>
    void for_each(Function function) const {
        for (std::int64_t image = 0; image < count; ++image)
            for (std::int64_t y = part.y; y < part.y + part.height; ++y)
                for (std::int64_t x = part.x; x < part.x + part.width; ++x)
                    for (std::int64_t c = 0; c < channels; ++c) function(image, y, x, c);
    }
    /// run() writes the destinations.
    template <class Run>
    [[nodiscard]] std::string wrong(const expectation& expected, Run run) {
        destination_.clear();
        run();
        return first_of(
            {expected.mismatch("destination", destination_.read()), destination_.damage(), source_.change()});
    }

    std::int64_t height, width, channels, count;
    image_region part;
    double largest = static_cast<double>(border_value);  ///< of the magnitudes

  private:
    /// The source place for one outside of 0 to n - 1; -1 for the constant border.
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

/// Sums along x and then along y. `extra` is the additional error of a rung's sums, in levels.
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
    // The sums along x of each source row, the last that of the constant; then the same for magnitudes.
    const auto line_elements = static_cast<std::size_t>(of.part.width * of.channels);
    std::vector<double> sums(static_cast<std::size_t>(of.height + 1) * line_elements),
        magnitudes(sums.size());
    expectation expected;
    if (line_elements == 0 || of.part.height == 0) return expected;
    const auto columns = of.places(of.part.x, of.part.width, radius_x, of.width),
               rows = of.places(of.part.y, of.part.height, radius_y, of.height);
    std::int64_t last = -1;
    of.for_each([&](std::int64_t image, std::int64_t y, std::int64_t x, std::int64_t c) {
        if (of.source_of(image) != last) {
            last = of.source_of(image);
            for (std::size_t i = 0; i < sums.size(); ++i) {
                const auto line = static_cast<std::int64_t>(i / line_elements);
                const std::size_t column = i % line_elements / static_cast<std::size_t>(of.channels);
                sums[i] = magnitudes[i] = 0;
                for (std::size_t k = 0; k < along_x.size(); ++k) {
                    const double term =
                        along_x[k] * of.pixel(image, line == of.height ? -1 : line, columns[column + k],
                                              static_cast<std::int64_t>(i) % of.channels);
                    sums[i] += term, magnitudes[i] += std::abs(term);
                }
            }
        }
        double sum = 0, magnitude = 0;
        const auto at = static_cast<std::size_t>((x - of.part.x) * of.channels + c);
        for (std::size_t k = 0; k < along_y.size(); ++k) {
            const std::int64_t row = rows[static_cast<std::size_t>(y - of.part.y) + k];
            const std::size_t from = static_cast<std::size_t>(row < 0 ? of.height : row) * line_elements + at;
            sum += along_y[k] * sums[from];
            magnitude += std::abs(along_y[k]) * magnitudes[from];
        }
        const double error = share * magnitude + denormals + extra;
        const auto pixel = kind == filter::box ? bounds::mean_pixel<T>(sum, error, nx, ny)
                                               : bounds::approximate(sum, bounds::pixel_of<T>(sum, error));
        expected.add(pixel.value, pixel.bound);
    });
    return expected;
}

/// The weights of a Gaussian, without those that are 0 in float.
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
    if (where == processor::cpu)
        return of.wrong(convolved(of, along_x, along_y, filter::blur),
                        [&] { host::gaussian_blur<T>(of.sources(), of.destinations(), sigma, options); });
    options.algorithm = rung_of(p, where, gaussian_blur_algorithms());
    options.exact = p["values"] == static_cast<std::int64_t>(values::special);
    using enum gaussian_blur_algorithm;
    const bool is_any = options.algorithm == automatic;
    const bool may_decimate =
        options.algorithm == decimated || (is_any && !options.exact && std::min(sigma.x, sigma.y) >= 12);
    const bool is_cut =
        static_cast<double>(radius.x) < 4 * sigma.x || static_cast<double>(radius.y) < 4 * sigma.y;
    if (options.algorithm == decimated && (is_cut || options.exact))
        throw unsupported("its window is another, and so are the places that infinities reach");
    double extra = may_decimate && !is_cut ? bounds::of_decimated * of.largest : 0;
    if (std::is_same_v<T, std::uint8_t>)
        extra = std::max(extra, bounds::of_whole_numbers(options.algorithm, along_x, along_y, of.channels));
    const expectation expected = convolved(of, along_x, along_y, filter::blur, extra);
    const auto kernels =
        is_any ? std::span<const std::string_view>{} : gaussian_blur_kernels(options.algorithm);
    return wrong_of_plans(kernels, [&](std::string_view kernel) {
        options.kernel = kernel;
        return of.wrong(expected,
                        [&] { gaussian_blur<T>(of.sources(), of.destinations(), sigma, stream(), options); });
    });
}

void draw_gaussian_blur(drawing& d, problem& p) {
    draw_images(d, p);
    const std::string_view rung = p.word("rung");
    if (rung.starts_with("mma") || rung.starts_with("wgmma")) p.set("type", 2);
    const bool is_wide = rung == "decimated";
    if (is_wide) p.set("radius", 0);
    if (is_wide && p.word("values") == "special") p.set("values", 0);
    const bool is_full = !d.one_in(4);  // the outermost weights of a given window count
    const auto sigma = [&](std::int64_t radius) {
        if (p["radius"] == 1 && is_full) return std::max<std::int64_t>(5, radius * 10 / 3);
        return is_wide ? d.integer(80, 160)
                       : static_cast<std::int64_t>(d.log_uniform(1, d.one_in(8) ? 150 : 50));
    };
    p.set("sigma_x", sigma(p["radius_x"]));
    p.set("sigma_y", d.one_in(3) || p["radius"] == 1 ? sigma(p["radius_y"]) : p["sigma_x"]);
}

template <class T>
std::string wrong_box_blur(const problem& p, processor where) {
    const window_radius radius(p["radius_x"], p["radius_y"]);
    images<T> of(p, where);
    if (!of.has_part()) return {};
    image_filter_options options;
    of.set(options);
    return of.wrong(convolved(of, bounds::box(radius.x), bounds::box(radius.y), filter::box), [&] {
        where == processor::cpu ? host::box_blur<T>(of.sources(), of.destinations(), radius, options)
                                : box_blur<T>(of.sources(), of.destinations(), radius, stream(), options);
    });
}

std::string wrong_convolution(const problem& p, processor where) {
    const auto seed = p.seed();
    const auto taps = [](std::int64_t radius) { return 2 * std::min<std::int64_t>(radius, 1000) + 1; };
    auto along_x = draw_values<float>(values::uniform, taps(p["radius_x"]), seed + 1),
         along_y = draw_values<float>(values::uniform, taps(p["radius_y"]), seed + 2);
    along_x.front() = 0, along_y[along_y.size() / 2] = 0;  // zero taps multiply too
    images<float> of(p, where);
    if (!of.has_part()) return {};
    image_filter_options options;
    of.set(options);
    const auto expected = convolved(of, {along_x.begin(), along_x.end()}, {along_y.begin(), along_y.end()},
                                    filter::convolution);
    return of.wrong(expected, [&] {
        where == processor::cpu
            ? host::separable_convolution(of.sources(), of.destinations(), along_x, along_y, options)
            : separable_convolution(of.sources(), of.destinations(), along_x, along_y, stream(), options);
    });
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
    return of.wrong(expected, [&] {
        if (where == processor::cpu)
            kind == laplacian_ ? host::laplacian<T>(of.sources(), of.destinations(), options)
                               : host::sobel<T>(of.sources(), of.destinations(), which, options);
        else
            kind == laplacian_ ? laplacian<T>(of.sources(), of.destinations(), stream(), options)
                               : sobel<T>(of.sources(), of.destinations(), which, stream(), options);
    });
}

}  // namespace

operation gaussian_blur_cases() {
    return {"gaussian_blur",
            image_fields({{"type", 0, pixel_types},
                          {"radius", 0, {"by_sigma", "given"}},
                          {"rung", 0, rung_words(gaussian_blur_algorithms())},
                          {"sigma_x", 10},
                          {"sigma_y", 10}}),
            draw_gaussian_blur,
            [](const problem& p, processor where) {
                return with_pixel<std::string>(p["type"],
                                               [&]<class T>() { return wrong_gaussian_blur<T>(p, where); });
            },
            2};
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

}  // namespace heddle::fuzz
