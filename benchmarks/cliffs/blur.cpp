#include "benchmarks/cliffs/family.hpp"
#include "benchmarks/cliffs/images.hpp"
#include "benchmarks/cliffs/vendor_functions.hpp"
#include "tests/bounds/windows.hpp"

namespace heddle::bench::cliffs {
namespace {

struct problem {
    image_shape images;
    double sigma_x = 1, sigma_y = 1;
    std::optional<window_radius> radius;
    bool exact = false;
    std::uint64_t seed = 0;

    [[nodiscard]] window_radius window() const {
        return radius ? *radius : window_radius(gaussian_radius(sigma_x), gaussian_radius(sigma_y));
    }
    [[nodiscard]] double taps() const { return 2.0 * static_cast<double>(window().x + window().y + 1); }
    [[nodiscard]] gaussian_blur_options options(std::string_view kernel = {}) const {
        return {.radius = radius, .border = images.border, .exact = exact, .kernel = kernel};
    }
    /// Whether `automatic` may choose `decimated`, whose window is not exactly a Gaussian.
    [[nodiscard]] bool may_be_decimated() const {
        return !exact && !radius && std::min(sigma_x, sigma_y) >= 12;
    }
};

/// The bound holds for every rung that `automatic` may choose.
template <class T>
double bound(const problem& p, const window_facts& exact, const std::vector<double>& taps_x,
             const std::vector<double>& taps_y) {
    double of_rung = 0;
    if (p.may_be_decimated()) of_rung = bounds::of_decimated * most_of_pixels<T>();
    if (std::is_same_v<T, std::uint8_t>)
        of_rung = std::max(of_rung, bounds::of_whole_numbers(gaussian_blur_algorithm::automatic, taps_x,
                                                             taps_y, p.images.channels));
    const double share =
        bounds::of_passes(static_cast<double>(taps_x.size()), static_cast<double>(taps_y.size()), true);
    return bounds::pixel_of<T>(exact.sum, share * exact.magnitudes + of_rung);
}

#if HEDDLE_HAS_NPP
/// NPP's call with the whole window. It is left out where it takes long.
template <class T>
void add_npp_gauss(trial& t, const problem& p, const std::shared_ptr<image_operands<T, T>>& o) {
    constexpr double most_products = 5e10;
    const window_radius r = p.window();
    const double side = 2.0 * static_cast<double>(r.x) + 1;
    if (r.x != r.y || p.sigma_x != p.sigma_y || side * side * p.images.elements() > most_products) return;
    add_npp(t, "npp gauss", o, [&] {
        const auto function = npp_gauss_function<T>(p.images.channels);
        const auto taps = npp_taps(bounds::gaussian(p.sigma_x, r.x));
        return [function, taps](image_view<const T> source, image_view<T> destination) {
            npp_filter(function, source, destination, static_cast<int>(taps->size()), taps->data());
        };
    });
}
#endif

/// What the choice of a kernel depends on, as benchmarks/tuning reads it.
template <class T>
std::string json_of(const problem& p, image_operands<T, T>& o) {
    const auto lie = [](const auto& images) {
        return fmt::format("[{}, {}, {}]", reinterpret_cast<std::uintptr_t>(images.first.data) % 256,
                           images.first.row_stride, images.stride);
    };
    const image_shape& s = p.images;
    return fmt::format(
        R"({{"type": "{}", "images": [{}, {}, {}, {}], "source": {}, "destination": {}, "sigma": [{}, {}], )"
        R"("radius": [{}, {}], "border": "{}", "may_be_decimated": {}}})",
        dtype<T>, s.count, s.height, s.width, s.channels, lie(o.sources()), lie(o.destinations()), p.sigma_x,
        p.sigma_y, p.window().x, p.window().y, name_of(border_names, s.border), p.may_be_decimated());
}

/// Adds each kernel that `automatic` may choose, but not `naive` where it takes seconds.
template <class T>
void add_choices(trial& t, const problem& p, const std::shared_ptr<image_operands<T, T>>& o,
                 const std::function<void(std::string_view)>& run) {
    constexpr double most_products = 1e10;
    const bool is_long = p.taps() * p.taps() * p.images.elements() > most_products;
    t.problem = json_of(p, *o);
    for (const std::string_view kernel : gaussian_blur_kernels()) {
        if ((kernel == "naive" && is_long) || (kernel == "decimated" && !p.may_be_decimated())) continue;
        t.add_peer(std::string(kernel), [&] {
            run(kernel);  // it throws where it cannot
            return [run, kernel] { run(kernel); };
        });
    }
}

template <class T>
trial prepare(const problem& p, bool with_choices) {
    const auto o = std::make_shared<image_operands<T, T>>(p.images, p.seed);
    const blur_sigma sigma(p.sigma_x, p.sigma_y);
    trial t;
    t.reset = [o] { o->destination.poison(); };
    const auto run = [p, o, sigma](std::string_view kernel) {
        gaussian_blur<T>(o->sources(), o->destinations(), sigma, stream(), p.options(kernel));
    };
    t.call = [run] { run({}); };
    const std::vector<double> taps_x = bounds::gaussian(p.sigma_x, p.window().x);
    const std::vector<double> taps_y = bounds::gaussian(p.sigma_y, p.window().y);
    t.wrong = check_of(o, p.seed, [&](const image_view<const T>& image, const std::vector<pixel>& centres) {
        std::vector<expected_pixel> expected;
        for (const window_facts& facts : windows_of(image, centres, taps_x, taps_y, p.images.border, 0))
            expected.push_back({facts.sum, bound<T>(p, facts, taps_x, taps_y)});
        return expected;
    });
    if (with_choices) {
        add_choices(t, p, o, run);
    } else if constexpr (!std::is_same_v<T, half>) {
        add_npp_passes<T>(t, o, taps_x, taps_y);
#if HEDDLE_HAS_NPP
        add_npp_gauss<T>(t, p, o);
#endif
    }
    return t;
}

template <class T>
drawn_case draw(drawing& d) {
    problem p;
    bool is_batch = false;
    p.images = draw_images(d, is_batch);
    p.sigma_x = p.sigma_y = d.log_uniform(0.5, 50);
    if (d.one_in(6)) p.sigma_y = d.log_uniform(0.5, 50);
    if (d.one_in(6)) p.radius = window_radius(d.integer(1, 15));
    p.exact = d.one_in(3);
    p.seed = d.bits();
    drawn_case c;
    const auto operations = [&p](const image_shape& s) { return 2 * p.taps() * s.elements(); };
    c.extents = draw_extents(d, p.images, is_batch, [&](const image_shape& s) {
        return s.memory(sizeof(T), sizeof(T)) <= most_bytes && operations(s) <= most_operations;
    });
    c.memory = p.images.memory(sizeof(T), sizeof(T));
    c.bytes = 2 * p.images.elements() * sizeof(T);
    c.operations = operations(p.images);
    c.words = fmt::format("{} gaussian_blur of {}, sigma {:.3g}{}{}{}", dtype<T>, to_string(p.images),
                          p.sigma_x, p.sigma_y == p.sigma_x ? "" : fmt::format(" by {:.3g}", p.sigma_y),
                          p.radius ? fmt::format(", radius {}", p.radius->x) : "", p.exact ? ", exact" : "");
    c.prepare = [p] { return prepare<T>(p, false); };
    c.prepare_choices = [p] { return prepare<T>(p, true); };
    return c;
}

}  // namespace

drawn_case draw_blur(drawing& d) {
    return with_type<std::uint8_t, float, half, std::uint16_t>(d.type(4),
                                                               [&]<class T>() { return draw<T>(d); });
}

}  // namespace heddle::bench::cliffs
