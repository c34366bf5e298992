#include "examples/blur_image/compare.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace examples {

template <class T>
double psnr(const image<T>& a, const image<T>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.pixels.size(); ++i) {
        const double difference = a.pixels[i] - b.pixels[i];
        sum += difference * difference;
    }
    const double peak = std::numeric_limits<T>::max();
    return 10 * std::log10(peak * peak * static_cast<double>(a.pixels.size()) / sum);
}

template <class T>
image<T> side_by_side(std::span<const image<T>> pictures) {
    const image<T>& first = pictures.front();
    const std::int64_t row = first.width * first.channels;
    image<T> result = make_image<T>(first.width * std::ssize(pictures), first.height, first.channels);
    auto to = result.pixels.begin();
    for (std::int64_t y = 0; y < first.height; ++y)
        for (const image<T>& picture : pictures) to = std::copy_n(picture.pixels.begin() + y * row, row, to);
    return result;
}

template double psnr(const image<std::uint8_t>&, const image<std::uint8_t>&);
template double psnr(const image<std::uint16_t>&, const image<std::uint16_t>&);
template image<std::uint8_t> side_by_side(std::span<const image<std::uint8_t>>);
template image<std::uint16_t> side_by_side(std::span<const image<std::uint16_t>>);

}  // namespace examples
