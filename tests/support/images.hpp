#pragma once

#include "tests/support/guarded.hpp"
#include "tests/support/numeric.hpp"
#include "tests/support/random.hpp"
#include <heddle/error.hpp>
#include <heddle/image.hpp>
#include <heddle/view.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

/// The common parts of tests of operations on images.
namespace heddle::test {

/// The argument that `body`'s invalid_argument names. The test fails where `body` throws none, or one without the
/// given and the expected value.
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

inline constexpr std::array borders = {border::replicate, border::reflect, border::reflect_101, border::wrap,
                                       border::constant};

inline std::string name_of(border kind) {
    constexpr std::array names = {"replicate", "reflect", "reflect_101", "wrap", "constant"};
    return names[static_cast<std::size_t>(kind)];
}

/// A whole number, so that integers can hold it.
inline constexpr float border_value = 77;

/// The pixel that border's comments draw, found step by step; -1 stands for the constant.
inline std::int64_t source_index(std::int64_t i, std::int64_t size, border kind) {
    if (size == 1 && kind != border::constant) return 0;
    while (i < 0 || i >= size) {
        if (kind == border::constant) return -1;
        if (kind == border::replicate)
            i = i < 0 ? 0 : size - 1;
        else if (kind == border::reflect)
            i = i < 0 ? -1 - i : 2 * size - 1 - i;
        else if (kind == border::reflect_101)
            i = i < 0 ? -i : 2 * size - 2 - i;
        else
            i += i < 0 ? size : -size;
    }
    return i;
}

struct image_size {
    std::int64_t width, height, channels;

    [[nodiscard]] std::int64_t row() const { return width * channels; }
    [[nodiscard]] std::int64_t elements() const { return height * row(); }
    /// The place of a pixel's first value.
    [[nodiscard]] std::size_t at(std::int64_t x, std::int64_t y) const {
        return static_cast<std::size_t>((y * width + x) * channels);
    }
};

/// The values of a part of an image.
template <class T>
std::vector<T> part_of(const image_size& size, const std::vector<T>& image, const image_region& region) {
    std::vector<T> part;
    for (std::int64_t y = region.y; y < region.y + region.height; ++y)
        part.insert(part.end(), &image[size.at(region.x, y)],
                    &image[size.at(region.x, y)] + region.width * size.channels);
    return part;
}

template <class T>
std::vector<T> random_pixels(std::int64_t elements) {
    if constexpr (std::is_integral_v<T>)
        return random_elements<T>(elements, 0, std::numeric_limits<T>::max());
    return random_elements<T>(elements, -100, 100);
}

/// out[i] is the sum of all taps[k] * values[i + k * step].
inline void convolve(const double* values, std::size_t step, const std::vector<double>& taps, double* out,
                     std::size_t count) {
    constexpr std::size_t in_cache = 1024;
    for (std::size_t first = 0; first < count; first += in_cache) {
        const std::size_t last = std::min(first + in_cache, count);
        std::fill(out + first, out + last, 0.0);
        for (std::size_t k = 0; k < taps.size(); ++k)
            for (std::size_t i = first; i < last; ++i) out[i] += taps[k] * values[i + k * step];
    }
}

/// An image in float64, convolved along x and then along y: exactly, the sum over the window. `outside` is the value
/// of border::constant.
inline std::vector<double> convolved_in_double(const image_size& size, border kind,
                                               const std::vector<double>& taps_x,
                                               const std::vector<double>& taps_y,
                                               const std::vector<double>& source, double outside) {
    const auto row_values = static_cast<std::size_t>(size.row());
    const auto channels = static_cast<std::size_t>(size.channels);
    /// The sources of a line's elements, and of those that its windows reach before and after it.
    const auto sources_of = [kind](std::int64_t line, std::size_t window) {
        const auto reach = static_cast<std::int64_t>(window / 2);
        std::vector<std::int64_t> from;
        for (std::int64_t i = -reach; i < line + reach; ++i) from.push_back(source_index(i, line, kind));
        return from;
    };
    const std::vector<std::int64_t> columns = sources_of(size.width, taps_x.size());
    const std::vector<std::int64_t> rows = sources_of(size.height, taps_y.size());

    std::vector<double> filtered(source.size()), padded;
    for (std::size_t first = 0; first < source.size(); first += row_values) {
        padded.clear();
        for (const std::int64_t from : columns)
            for (std::size_t c = 0; c < channels; ++c)
                padded.push_back(from < 0 ? outside
                                          : source[first + static_cast<std::size_t>(from) * channels + c]);
        convolve(padded.data(), channels, taps_x, &filtered[first], row_values);
    }
    padded.clear();
    const std::vector<double> border_row(row_values,
                                         outside * std::accumulate(taps_x.begin(), taps_x.end(), 0.0));
    for (const std::int64_t from : rows) {
        const double* const row = from < 0 ? border_row.data() : &filtered[size.at(0, from)];
        padded.insert(padded.end(), row, row + row_values);
    }
    std::vector<double> convolved(source.size());
    convolve(padded.data(), row_values, taps_y, convolved.data(), source.size());
    return convolved;
}

enum class memory { device, host };

/// The layout of rows in memory: back to back, at multiples of 16 elements, at odd places.
enum class layout { tight, aligned, odd };
inline constexpr std::array layouts = {layout::tight, layout::aligned, layout::odd};

inline std::string name_of(layout how) {
    constexpr std::array names = {"tight", "aligned", "odd"};
    return names[static_cast<std::size_t>(how)];
}

/// The row stride in elements for a row of `row` elements; it exceeds `row` except in the tight layout.
constexpr std::int64_t stride_of(layout how, std::int64_t row) {
    if (how == layout::aligned) return (row / 16 + 1) * 16;
    return how == layout::odd ? (row + 3) / 2 * 2 + 1 : row;
}

/// Images of one size among canaries, one after another.
template <class T>
class guarded_images {
  public:
    explicit guarded_images(const image_size& size, layout how, memory where = memory::device,
                            std::int64_t images = 1)
        : size_(size),
          images_(images),
          stride_(stride_of(how, size.row())),
          elements_(size.height * images, size.row(), stride_, how == layout::odd ? 1 : 0, 1,
                    where == memory::host ? guarded<T>::memory::host : guarded<T>::memory::device) {}

    /// The first image.
    image_view<T> view() { return {elements_.data(), size_.width, size_.height, size_.channels, stride_}; }
    image_batch_view<T> batch() { return {view(), images_, size_.height * stride_}; }

    void upload(const std::vector<T>& images) { elements_.upload(images); }
    std::vector<T> download() { return elements_.download(); }
    bool canaries_alive() { return elements_.canaries_alive(); }
    bool untouched() { return elements_.untouched(); }

  private:
    image_size size_;
    std::int64_t images_;
    std::int64_t stride_;
    guarded<T> elements_;
};

}  // namespace heddle::test
