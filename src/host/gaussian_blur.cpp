#include "src/gaussian_blur.hpp"

#include <heddle/host.hpp>

#include <omp.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace heddle::host {
namespace {

/// Sums that are kept at a time: they and a piece of each input fit the first cache.
constexpr std::int64_t block = 1024;

/// The pixel of 0..size-1 that stands at index i; -1: none, but the border's constant.
std::int64_t source_index(std::int64_t i, std::int64_t size, border kind) {
    if (i >= 0 && i < size) return i;
    const auto modulo = [](std::int64_t a, std::int64_t n) { return (a % n + n) % n; };
    switch (kind) {
        case border::replicate:
            return std::clamp<std::int64_t>(i, 0, size - 1);
        case border::reflect:
            return std::min(modulo(i, 2 * size), modulo(-1 - i, 2 * size));
        case border::wrap:
            return modulo(i, size);
        case border::constant:
            break;
    }
    return -1;
}

std::vector<float> taps_of(double sigma, std::int64_t radius) {
    const double scale = detail::blur_scale(sigma, radius);
    std::vector<float> taps;
    for (std::int64_t i = -radius; i <= radius; ++i)
        taps.push_back(static_cast<float>(scale * detail::blur_weight(sigma, i)));
    return taps;
}

/// To nearest, halves to even; see 2^23's last bit. A blur of 0..255 is within 0..255.
void store(std::uint8_t& element, float value) {
    element = static_cast<std::uint8_t>(std::bit_cast<std::uint32_t>(value + 0x1p23f));
}
void store(float& element, float value) {
    element = value;
}

// Built for several instruction sets; the loader picks the processor's own.
__attribute__((target_clones("avx512f", "fma", "default"))) void add_four(float* sums,
                                                                          const float* const (&values)[4],
                                                                          const float* taps,
                                                                          std::int64_t count) {
#pragma omp simd
    for (std::int64_t i = 0; i < count; ++i)
        sums[i] += (taps[0] * values[0][i] + taps[1] * values[1][i]) +
                   (taps[2] * values[2][i] + taps[3] * values[3][i]);
}

__attribute__((target_clones("avx512f", "fma", "default"))) void add_one(float* sums, const float* values,
                                                                         float tap, std::int64_t count) {
#pragma omp simd
    for (std::int64_t i = 0; i < count; ++i) sums[i] += tap * values[i];
}

/// outputs[i] = sum over k of taps[k] * input(k)[i]
template <class T, class Input>
void weighted_sum(T* outputs, std::int64_t size, const std::vector<float>& taps, Input input) {
    const auto last = static_cast<std::int64_t>(taps.size());
    float sums[block];
    for (std::int64_t first = 0; first < size; first += block) {
        const std::int64_t count = std::min(block, size - first);
        std::fill_n(sums, count, 0.0f);
        std::int64_t k = 0;
        for (; k + 4 <= last; k += 4) {
            const float* values[4];
            for (int j = 0; j < 4; ++j) values[j] = input(k + j) + first;
            add_four(sums, values, &taps[static_cast<std::size_t>(k)], count);
        }
        for (; k < last; ++k) add_one(sums, input(k) + first, taps[static_cast<std::size_t>(k)], count);
        for (std::int64_t i = 0; i < count; ++i) store(outputs[first + i], sums[i]);
    }
}

}  // namespace

template <class T>
void gaussian_blur(image_view<const std::type_identity_t<T>> source, image_view<T> destination, double sigma,
                   const gaussian_blur_options& options) {
    detail::validate_blur("host::gaussian_blur", source, destination, sigma, options);
    const std::int64_t width = source.width, height = source.height, channels = source.channels;
    if (width == 0 || height == 0) return;
    const std::int64_t radius = detail::blur_radius(sigma, options);
    const std::vector<float> taps = taps_of(sigma, radius);
    const auto row_values = static_cast<std::size_t>(width * channels);
    const float border_value = options.border == border::constant ? options.border_value : 0.0f;

    // Along x: each row with its borders written out. Along y: whole rows are the inputs.
    std::vector<float> filtered(static_cast<std::size_t>(height) * row_values);
    const std::vector<float> border_row(row_values, border_value);
    // Threads are worth starting for a million products or so.
    const auto products = static_cast<double>(filtered.size()) * static_cast<double>(taps.size());
    const std::int64_t threads = products > 1e6 ? std::min<std::int64_t>(omp_get_max_threads(), height) : 1;
    // Allocated here: no exception may leave a parallel region.
    std::vector<std::vector<float>> padded_rows(
        static_cast<std::size_t>(threads),
        std::vector<float>(static_cast<std::size_t>((width + 2 * radius) * channels)));
#pragma omp parallel num_threads(static_cast <int>(threads))
    {
        std::vector<float>& padded = padded_rows[static_cast<std::size_t>(omp_get_thread_num())];
#pragma omp for schedule(static)
        for (std::int64_t y = 0; y < height; ++y) {
            const T* row = source.data + y * source.row_stride;
            float* next = padded.data();
            for (std::int64_t x = -radius; x < width + radius; ++x) {
                const std::int64_t from = source_index(x, width, options.border);
                for (std::int64_t c = 0; c < channels; ++c)
                    *next++ = from < 0 ? border_value : static_cast<float>(row[from * channels + c]);
            }
            weighted_sum(&filtered[static_cast<std::size_t>(y) * row_values], width * channels, taps,
                         [&](std::int64_t k) { return &padded[static_cast<std::size_t>(k * channels)]; });
        }
#pragma omp for schedule(static)
        for (std::int64_t y = 0; y < height; ++y) {
            weighted_sum(destination.data + y * destination.row_stride, width * channels, taps,
                         [&](std::int64_t k) {
                             const std::int64_t from = source_index(y + k - radius, height, options.border);
                             return from < 0 ? border_row.data()
                                             : &filtered[static_cast<std::size_t>(from) * row_values];
                         });
        }
    }
}

template void gaussian_blur<float>(image_view<const float>, image_view<float>, double,
                                   const gaussian_blur_options&);
template void gaussian_blur<std::uint8_t>(image_view<const std::uint8_t>, image_view<std::uint8_t>, double,
                                          const gaussian_blur_options&);

}  // namespace heddle::host
