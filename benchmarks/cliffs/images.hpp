#pragma once

#include "benchmarks/cliffs/family.hpp"

/// The families of images share images, their checks and NPP's calls.
namespace heddle::bench::cliffs {

inline constexpr std::string_view border_names[] = {"replicate", "reflect", "reflect_101", "wrap",
                                                    "constant"};

/// Images of one size, one after the other.
struct image_shape {
    std::int64_t width = 1, height = 1, channels = 1, count = 1;
    placement source, destination;
    heddle::border border = border::replicate;

    [[nodiscard]] double elements() const {
        return static_cast<double>(width) * static_cast<double>(height) * static_cast<double>(channels) *
               static_cast<double>(count);
    }
    /// The bytes of all sources and destinations.
    [[nodiscard]] double memory(double source_bytes, double destination_bytes) const {
        return static_cast<double>(span_of(source, height * count, width * channels)) * source_bytes +
               static_cast<double>(span_of(destination, height * count, width * channels)) *
                   destination_bytes;
    }
};

std::string to_string(const image_shape& s);

/// Draws all but the extents. Most images have one or three channels, half repeat the edge, one case in eight is a batch.
image_shape draw_images(drawing& d, bool& is_batch);
/// Draws the extents, and returns them as they are reported.
std::vector<std::int64_t> draw_extents(drawing& d, image_shape& s, bool is_batch,
                                       const std::function<bool(const image_shape&)>& fits);

template <class T>
numbers pixels() {
    if (std::is_integral_v<T>) return {0, static_cast<double>(std::numeric_limits<T>::max()), 0};
    return {-1, 1, 0};
}

/// The largest magnitude of a pixel.
template <class T>
double most_of_pixels() {
    return pixels<T>().high;
}

template <class From, class To>
struct image_operands {
    image_shape shape;
    operand<From> source;
    operand<To> destination;

    image_operands(const image_shape& s, std::uint64_t seed)
        : shape(s),
          source(s.height * s.count, s.width * s.channels, s.source, seed, pixels<From>()),
          destination(s.height * s.count, s.width * s.channels, s.destination) {}

    image_batch_view<From> sources() { return batch_of(source); }
    image_batch_view<To> destinations() { return batch_of(destination); }

    /// Calls with the views of each source and destination, for libraries that have no batches.
    template <class Call>
    void each(Call call) {
        image_view<From> from = sources().first;
        image_view<To> to = destinations().first;
        for (std::int64_t i = 0; i < shape.count; ++i) {
            call(image_view<const From>(from), to);
            from.data += sources().stride;
            to.data += destinations().stride;
        }
    }

  private:
    template <class T>
    image_batch_view<T> batch_of(operand<T>& all) {
        const std::int64_t row = all.view().row_stride;
        return {
            {all.data(), shape.width, shape.height, shape.channels, row}, shape.count, shape.height * row};
    }
};

using expected_pixel = bounds::approximate;

/// Returns trial::wrong. It compares pixels of the first and the last image with what `expected` computes from the source.
template <class From, class To, class Expected>
std::function<std::string(double)> check_of(const std::shared_ptr<image_operands<From, To>>& o,
                                            std::uint64_t seed, Expected expected) {
    constexpr std::int64_t most_places = 32;
    const image_shape& s = o->shape;
    const auto places = sampled_places(s.height, s.width * s.channels, seed, most_places);
    std::vector<pixel> centres;
    for (const auto& [row, col] : places) centres.push_back({col / s.channels, row, col % s.channels});
    std::vector<std::int64_t> offsets;
    std::vector<expected_pixel> values;
    for (const std::int64_t image : {std::int64_t{0}, s.count - 1}) {
        image_view<const From> view = o->sources().first;
        view.data += image * o->sources().stride;
        for (const expected_pixel& of : expected(view, centres)) values.push_back(of);
        for (const auto& [row, col] : places)
            offsets.push_back(image * o->destinations().stride + row * o->destinations().first.row_stride +
                              col);
    }
    return [o, places, offsets, values](double slack) -> std::string {
        const std::vector<To> actual = gathered<To>(o->destination.data(), offsets);
        for (std::size_t i = 0; i < values.size(); ++i) {
            const place& at = places[i % places.size()];
            std::string wrong = mismatch(fmt::format("value {} of row {}", at.col, at.row),
                                         to_double(actual[i]), values[i].value, slack * values[i].bound);
            if (!wrong.empty()) return wrong;
        }
        return o->destination.changed_gap();
    };
}

#if HEDDLE_HAS_NPP
/// NPP reads a pixel of four channels at once.
/// @throws unsupported  there are four channels, and some pixels do not lie at multiples of their size
void need_whole_pixels(const image_shape& s);

/// Adds a call of NPP's for each image, which is what make() returns and takes a source and a destination. Of the borders NPP
/// has only replicate, which stands for the others, as it is as much work; the name says so. There are no images of two
/// channels.
template <class From, class To, class Make>
void add_npp(trial& t, std::string_view name, const std::shared_ptr<image_operands<From, To>>& o, Make make,
             bool is_checked = true) {
    const bool is_its_border = o->shape.border == border::replicate;
    t.add_peer(
        fmt::format("{}{}", name, is_its_border ? "" : ", replicate"),
        [&] {
            need_whole_pixels(o->shape);
            return [o, call = make()] { o->each(call); };
        },
        is_checked && is_its_border);
}
#endif

/// Adds NPP's filters along rows and then along columns. Its taps are floats in reverse order. NPP has no half.
template <class T>
void add_npp_passes(trial& t, const std::shared_ptr<image_operands<T, T>>& o,
                    const std::vector<double>& taps_x, const std::vector<double>& taps_y);

}  // namespace heddle::bench::cliffs
