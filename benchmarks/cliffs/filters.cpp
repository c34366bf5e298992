#include "benchmarks/cliffs/images.hpp"
#include "benchmarks/cliffs/vendor_functions.hpp"
#include "tests/bounds/windows.hpp"

namespace heddle::bench::cliffs {
namespace {

enum class operation { separable_convolution, box_blur, sobel_x, sobel_y, sobel_magnitude, laplacian };

/// To is From; for sobel and laplacian it is float.
template <class From, class To>
struct filter_problem {
    operation op = operation::box_blur;
    image_shape images;
    window_radius radius = 1;  ///< of separable_convolution and box_blur
    std::uint64_t seed = 0;

    [[nodiscard]] bool is_stencil() const {
        return op != operation::box_blur && op != operation::separable_convolution;
    }
    [[nodiscard]] image_filter_options options() const { return {.border = images.border}; }
};

/// Taps of either sign.
std::vector<float> drawn_taps(std::int64_t radius, std::uint64_t seed) {
    std::vector<float> taps;
    for (std::int64_t i = 0; i < 2 * radius + 1; ++i) {
        seed = seed * 6364136223846793005 + 1442695040888963407;
        taps.push_back(static_cast<float>(static_cast<std::int32_t>(seed >> 40) - (1 << 23)) /
                       static_cast<float>(1 << 23));
    }
    return taps;
}

template <class From, class To>
struct filter_operands : image_operands<From, To> {
    std::vector<float> taps_x, taps_y;

    explicit filter_operands(const filter_problem<From, To>& p)
        : image_operands<From, To>(p.images, p.seed),
          taps_x(drawn_taps(p.radius.x, p.seed)),
          taps_y(drawn_taps(p.radius.y, p.seed + 1)) {}
};

constexpr std::string_view names[] = {"separable_convolution", "box_blur", "sobel_x", "sobel_y",
                                      "sobel_magnitude",       "laplacian"};

template <class From, class To>
void run(const filter_problem<From, To>& p, filter_operands<From, To>& o) {
    const image_filter_options options = p.options();
    if constexpr (std::is_same_v<From, To>)
        if (p.op == operation::box_blur)
            return box_blur<From>(o.sources(), o.destinations(), p.radius, stream(), options);
    if constexpr (std::is_same_v<From, float>)
        if (p.op == operation::separable_convolution)
            return separable_convolution(o.sources(), o.destinations(), o.taps_x, o.taps_y, stream(),
                                         options);
    if constexpr (std::is_same_v<To, float>) {
        if (p.op == operation::laplacian)
            return laplacian<From>(o.sources(), o.destinations(), stream(), options);
        sobel<From>(o.sources(), o.destinations(),
                    p.op == operation::sobel_x   ? gradient::x
                    : p.op == operation::sobel_y ? gradient::y
                                                 : gradient::magnitude,
                    stream(), options);
    }
}

struct separable_taps {
    std::vector<double> x, y;
};

/// Every filter but the magnitude is a sum of windows. Each window is the product of taps along x and taps along y.
template <class From, class To>
std::vector<separable_taps> taps_of(const filter_problem<From, To>& p, const filter_operands<From, To>& o) {
    const std::vector<double> smooth{1, 2, 1}, slope{-1, 0, 1}, bend{1, -2, 1}, middle{0, 1, 0};
    if (p.op == operation::box_blur) return {{bounds::box(p.radius.x), bounds::box(p.radius.y)}};
    if (p.op == operation::sobel_x) return {{slope, smooth}};
    if (p.op == operation::sobel_y) return {{smooth, slope}};
    if (p.op == operation::sobel_magnitude) return {{slope, smooth}, {smooth, slope}};
    if (p.op == operation::laplacian) return {{bend, middle}, {middle, bend}};
    return {{{o.taps_x.begin(), o.taps_x.end()}, {o.taps_y.begin(), o.taps_y.end()}}};
}

template <class From, class To>
expected_pixel expected(const filter_problem<From, To>& p, const std::vector<window_facts>& windows) {
    if (p.op == operation::sobel_magnitude) {
        const auto along = [](const window_facts& of) {
            return expected_pixel(of.sum, bounds::of_stencil<From>(of.magnitudes));
        };
        return bounds::gradient_magnitude(along(windows[0]), along(windows[1]));
    }
    double sum = 0, magnitudes = 0;
    for (const window_facts& of : windows) {
        sum += of.sum;
        magnitudes += of.magnitudes;
    }
    if (p.is_stencil()) return {sum, bounds::of_stencil<From>(magnitudes)};
    const auto nx = static_cast<double>(2 * p.radius.x + 1), ny = static_cast<double>(2 * p.radius.y + 1);
    const bool is_box = p.op == operation::box_blur;
    return bounds::mean_pixel<To>(sum, bounds::of_passes(nx, ny, is_box) * magnitudes, nx, ny);
}

#if HEDDLE_HAS_NPP
template <class T>
void add_npp_box(trial& t, const filter_problem<T, T>& p, const std::shared_ptr<image_operands<T, T>>& o) {
    add_npp(t, "npp box", o, [&] {
        const auto function = npp_box_function<T>(p.images.channels);
        const NppiSize window{narrow(2 * p.radius.x + 1), narrow(2 * p.radius.y + 1)};
        const NppiPoint middle{narrow(p.radius.x), narrow(p.radius.y)};
        return [=](image_view<const T> source, image_view<T> destination) {
            npp_filter(function, source, destination, window, middle);
        };
    });
}

/// NPP's results of bytes are int16, of images with one channel only. Its horizontal Sobel is the derivative along y, and
/// its Laplacian has eight neighbours. Both derivatives stand for the magnitude. So no result is compared.
template <class From>
void add_npp_stencil(trial& t, const filter_problem<From, float>& p,
                     const std::shared_ptr<image_operands<From, float>>& o) {
    constexpr bool of_bytes = std::is_same_v<From, std::uint8_t>;
    using results = image_view<std::conditional_t<of_bytes, std::int16_t, float>>;
    const auto make = [&] {
        std::vector<std::function<void(image_view<const From>, results)>> calls;
        const auto add = [&calls](auto* function, auto... mask) {
            calls.push_back([=](auto from, auto to) { npp_filter(function, from, to, mask...); });
        };
        const bool is_laplacian = p.op == operation::laplacian;
        const bool is_along_x = !is_laplacian && p.op != operation::sobel_y;
        const bool is_along_y = !is_laplacian && p.op != operation::sobel_x;
        const std::int64_t channels = p.images.channels;
        constexpr auto mask = NPP_MASK_SIZE_3_X_3;
        if constexpr (of_bytes) {
            if (channels != 1) throw unsupported("several channels");
            if (is_along_x) add(+nppiFilterSobelVertBorder_8u16s_C1R_Ctx, mask);
            if (is_along_y) add(+nppiFilterSobelHorizBorder_8u16s_C1R_Ctx, mask);
            if (is_laplacian) add(+nppiFilterLaplaceBorder_8u16s_C1R_Ctx, mask);
        } else {
            if (is_along_x) add(nppiFilterSobelVertBorder_32f_of(channels));
            if (is_along_y) add(nppiFilterSobelHorizBorder_32f_of(channels));
            if (is_laplacian) add(nppiFilterLaplaceBorder_32f_of(channels), mask);
        }
        return [calls](image_view<const From> source, image_view<float> destination) {
            const results to{reinterpret_cast<decltype(results::data)>(destination.data), source.width,
                             source.height, source.channels, destination.row_stride};
            for (const auto& call : calls) call(source, to);
        };
    };
    add_npp(t, of_bytes ? "npp, int16" : "npp", o, make, false);
}
#endif

template <class From, class To>
void add_peers(trial& t, const filter_problem<From, To>& p,
               const std::shared_ptr<image_operands<From, To>>& o, const separable_taps& taps) {
    if constexpr (std::is_same_v<From, To> && !std::is_same_v<From, half>)
        if (!p.is_stencil()) add_npp_passes<From>(t, o, taps.x, taps.y);
#if HEDDLE_HAS_NPP
    if constexpr (std::is_same_v<From, To> && !std::is_same_v<From, half>)
        if (p.op == operation::box_blur) add_npp_box(t, p, o);
    if constexpr (std::is_same_v<To, float> &&
                  (std::is_same_v<From, float> || std::is_same_v<From, std::uint8_t>))
        if (p.is_stencil()) add_npp_stencil(t, p, o);
#endif
}

template <class From, class To>
trial prepare(const filter_problem<From, To>& p) {
    const auto o = std::make_shared<filter_operands<From, To>>(p);
    trial t;
    t.reset = [o] { o->destination.poison(); };
    t.call = [p, o] { run(p, *o); };
    const std::vector<separable_taps> taps = taps_of(p, *o);
    const std::shared_ptr<image_operands<From, To>> images = o;
    t.wrong = check_of(images, p.seed, [&](const image_view<const From>& image, const auto& centres) {
        std::vector<std::vector<window_facts>> windows(centres.size());
        for (const separable_taps& of : taps) {
            const auto facts = windows_of(image, centres, of.x, of.y, p.images.border, 0);
            for (std::size_t i = 0; i < facts.size(); ++i) windows[i].push_back(facts[i]);
        }
        std::vector<expected_pixel> pixels;
        for (const auto& of_pixel : windows) pixels.push_back(expected(p, of_pixel));
        return pixels;
    });
    add_peers(t, p, images, taps.front());
    return t;
}

template <class From, class To>
drawn_case draw(drawing& d, operation op) {
    filter_problem<From, To> p;
    p.op = op;
    bool is_batch = false;
    p.images = draw_images(d, is_batch);
    constexpr double most_radius = 100;
    const auto radius = [&d] { return static_cast<std::int64_t>(d.log_uniform(1, most_radius)); };
    p.radius = radius();
    if (d.one_in(4)) p.radius.y = radius();
    p.seed = d.bits();
    const double taps = p.is_stencil() ? 9 : 2.0 * static_cast<double>(p.radius.x + p.radius.y + 1);
    drawn_case c;
    c.extents = draw_extents(d, p.images, is_batch, [taps](const image_shape& s) {
        return s.memory(sizeof(From), sizeof(To)) <= most_bytes && 2 * taps * s.elements() <= most_operations;
    });
    c.memory = p.images.memory(sizeof(From), sizeof(To));
    c.bytes = p.images.elements() * (sizeof(From) + sizeof(To));
    c.operations = 2 * taps * p.images.elements();
    c.words = fmt::format("{} {} of {}", dtype<From>, name_of(names, op), to_string(p.images));
    if (!p.is_stencil()) c.words += fmt::format(", radius {}", p.radius.x);
    if (!p.is_stencil() && p.radius.x != p.radius.y) c.words += fmt::format(" by {}", p.radius.y);
    c.prepare = [p] { return prepare(p); };
    return c;
}

}  // namespace

drawn_case draw_filters(drawing& d) {
    const auto op = static_cast<operation>(d.index(std::size(names)));
    const std::size_t type = d.type(4);
    if (op == operation::separable_convolution) return draw<float, float>(d, op);
    return with_type<std::uint8_t, float, half, std::uint16_t>(type, [&]<class T>() {
        return op == operation::box_blur ? draw<T, T>(d, op) : draw<T, float>(d, op);
    });
}

}  // namespace heddle::bench::cliffs
