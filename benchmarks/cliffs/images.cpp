#include "benchmarks/cliffs/images.hpp"

#include "benchmarks/cliffs/vendor_functions.hpp"

namespace heddle::bench::cliffs {

#if HEDDLE_HAS_NPP
namespace {

HEDDLE_NPP_FILTER(row_function, nppiFilterRowBorder32f_8u, nppiFilterRowBorder32f_16u,
                  nppiFilterRowBorder_32f)
HEDDLE_NPP_FILTER(column_function, nppiFilterColumnBorder32f_8u, nppiFilterColumnBorder32f_16u,
                  nppiFilterColumnBorder_32f)

}  // namespace

template <class T>
void add_npp_passes(trial& t, const std::shared_ptr<image_operands<T, T>>& o,
                    const std::vector<double>& taps_x, const std::vector<double>& taps_y) {
    add_npp(t, "npp rows, columns", o, [&] {
        const image_shape& s = o->shape;
        const auto rows = row_function<T>(s.channels);
        const auto columns = column_function<T>(s.channels);
        const auto x = npp_taps(taps_x), y = npp_taps(taps_y);
        const auto between = std::make_shared<device_buffer<T>>(s.height * s.width * s.channels, stream());
        return [=](image_view<const T> source, image_view<T> destination) {
            const image_view<T> middle{between->data(), source.width, source.height, source.channels};
            const auto taps = [](const auto& of) { return static_cast<int>(of->size()); };
            npp_filter(rows, source, middle, x->data(), taps(x), taps(x) / 2);
            npp_filter(columns, middle, destination, y->data(), taps(y), taps(y) / 2);
        };
    });
}

void need_whole_pixels(const image_shape& s) {
    for (const placement& lie : {s.source, s.destination})
        if (s.channels == 4 && (lie.offset % 4 != 0 || lie.padding % 4 != 0))
            throw unsupported("pixels of four channels that are not aligned");
}
#else
template <class T>
void add_npp_passes(trial&, const std::shared_ptr<image_operands<T, T>>&, const std::vector<double>&,
                    const std::vector<double>&) {}
#endif

#define HEDDLE_CLIFFS_PASSES(T)                                                        \
    template void add_npp_passes(trial&, const std::shared_ptr<image_operands<T, T>>&, \
                                 const std::vector<double>&, const std::vector<double>&);
HEDDLE_CLIFFS_PASSES(float)
HEDDLE_CLIFFS_PASSES(std::uint16_t)
HEDDLE_CLIFFS_PASSES(std::uint8_t)
#undef HEDDLE_CLIFFS_PASSES

std::string to_string(const image_shape& s) {
    std::string words = fmt::format("{} x {}", s.width, s.height);
    if (s.channels != 1) words += fmt::format(" of {} channels", s.channels);
    if (s.count != 1) words += fmt::format(", {} images", s.count);
    if (s.border != border::replicate) words += fmt::format(", border {}", name_of(border_names, s.border));
    words += to_string(s.source);
    if (s.destination != placement{}) words += "; result" + to_string(s.destination);
    return words;
}

image_shape draw_images(drawing& d, bool& is_batch) {
    image_shape s;
    s.source = d.lie(false, never);
    s.destination = d.one_in(2) ? s.source : d.lie(false, never);
    s.channels = d.one_of<std::int64_t>({1, 1, 1, 3, 3, 3, 4, 2});
    if (d.one_in(2)) s.border = static_cast<border>(d.integer(1, 4));
    is_batch = d.one_in(8);
    return s;
}

std::vector<std::int64_t> draw_extents(drawing& d, image_shape& s, bool is_batch,
                                       const std::function<bool(const image_shape&)>& fits) {
    // NPP and OpenCV count in 32 bits.
    constexpr std::int64_t most_extent = std::int64_t{1} << 24;
    // NPP needs a call for each image. With more images, the time of the host would show.
    constexpr std::int64_t most_images = 16;
    const auto with = [&s](std::span<const std::int64_t> e) {
        image_shape tried = s;
        tried.width = e[0];
        tried.height = e[1];
        if (e.size() > 2) tried.count = e[2];
        return tried;
    };
    const auto extents = d.extents(is_batch ? 3 : 2, [&](auto e) {
        return std::ranges::all_of(e, [](std::int64_t extent) { return extent <= most_extent; }) &&
               (e.size() < 3 || e[2] <= most_images) && fits(with(e));
    });
    s = with(extents);
    return extents;
}

}  // namespace heddle::bench::cliffs
