#include "src/host/separable.hpp"

#include "kernels/gaussian_blur/plan/intermediate_image.hpp"
#include "src/host/border.hpp"

#include <omp.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>

namespace heddle::detail {
namespace {

/// Sums that are computed at a time. They and a piece of each input fit the first-level cache.
constexpr std::int64_t block = 1024;

/// Integers round to nearest, halves to even: adding 2^23 leaves the rounded value in the low bits of the mantissa.
template <class T>
void store(T& element, float value) {
    if constexpr (std::is_integral_v<T>) {
        constexpr float largest = std::numeric_limits<T>::max();
        element = static_cast<T>(std::bit_cast<std::uint32_t>(std::min(value, largest) + 0x1p23f));
    } else {
        element = static_cast<T>(value);
    }
}

// Compiled for several instruction sets. The loader picks the best one for the processor.
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
void convolve_on_host(const image_batch_view<const T>& sources, const image_batch_view<T>& destinations,
                      const std::vector<float>& taps_x, const std::vector<float>& taps_y, border kind,
                      float constant, const std::optional<image_region>& region) {
    const image_view<const T>& source = sources.first;
    const image_view<T>& destination = destinations.first;
    const std::int64_t width = destination.width, height = destination.height, channels = source.channels;
    if (width == 0 || height == 0 || destinations.count == 0) return;
    const image_region part = region.value_or(image_region{});
    const std::int64_t left = part.x, top = part.y;
    const auto radius_of = [](const std::vector<float>& taps) {
        return static_cast<std::int64_t>(taps.size() / 2);
    };
    const std::int64_t radius_x = radius_of(taps_x), radius_y = radius_of(taps_y);
    const auto row_values = static_cast<std::size_t>(width * channels);
    const float border_value = kind == border::constant ? static_cast<float>(static_cast<T>(constant)) : 0.0f;

    // The pass along x filters each row with its border pixels written out. The pass along y adds whole rows.
    const kernels::gaussian_blur::intermediate_image between =
        kernels::gaussian_blur::intermediate_rows(source.height, top, height, radius_y, kind);
    std::vector<float> filtered(static_cast<std::size_t>(between.rows) * row_values);
    // A row of the border's constant, filtered along x.
    const double sum = std::accumulate(taps_x.begin(), taps_x.end(), 0.0);
    const std::vector<float> border_row(row_values, static_cast<float>(sum * double{border_value}));
    // Threads are worth their start from about a million products on.
    const auto products =
        static_cast<double>(filtered.size()) * static_cast<double>(taps_x.size()) +
        static_cast<double>(row_values) * static_cast<double>(height) * static_cast<double>(taps_y.size());
    const std::int64_t threads = products > 2e6 ? std::min<std::int64_t>(omp_get_max_threads(), height) : 1;
    // Allocated here because no exception may leave a parallel region.
    std::vector<std::vector<float>> padded_rows(
        static_cast<std::size_t>(threads),
        std::vector<float>(static_cast<std::size_t>((width + 2 * radius_x) * channels)));
    for (std::int64_t image = 0; image < destinations.count; ++image) {
#pragma omp parallel num_threads(static_cast <int>(threads))
        {
            std::vector<float>& padded = padded_rows[static_cast<std::size_t>(omp_get_thread_num())];
#pragma omp for schedule(static)
            for (std::int64_t y = 0; y < between.rows; ++y) {
                const T* row =
                    source.data + image * sources.stride + between.source_row(y) * source.row_stride;
                float* next = padded.data();
                for (std::int64_t x = left - radius_x; x < left + width + radius_x; ++x) {
                    const std::int64_t from = source_index(x, source.width, kind);
                    for (std::int64_t c = 0; c < channels; ++c)
                        *next++ = from < 0 ? border_value : static_cast<float>(row[from * channels + c]);
                }
                weighted_sum(&filtered[static_cast<std::size_t>(y) * row_values], width * channels, taps_x,
                             [&](std::int64_t k) { return &padded[static_cast<std::size_t>(k * channels)]; });
            }
#pragma omp for schedule(static)
            for (std::int64_t y = 0; y < height; ++y) {
                weighted_sum(
                    destination.data + image * destinations.stride + y * destination.row_stride,
                    width * channels, taps_y, [&](std::int64_t k) {
                        const std::int64_t from = source_index(top + y + k - radius_y, source.height, kind);
                        return from < 0
                                   ? border_row.data()
                                   : &filtered[static_cast<std::size_t>(between.row_of(from)) * row_values];
                    });
            }
        }
    }
}

template void convolve_on_host(const image_batch_view<const float>&, const image_batch_view<float>&,
                               const std::vector<float>&, const std::vector<float>&, border, float,
                               const std::optional<image_region>&);
template void convolve_on_host(const image_batch_view<const half>&, const image_batch_view<half>&,
                               const std::vector<float>&, const std::vector<float>&, border, float,
                               const std::optional<image_region>&);
template void convolve_on_host(const image_batch_view<const std::uint16_t>&,
                               const image_batch_view<std::uint16_t>&, const std::vector<float>&,
                               const std::vector<float>&, border, float, const std::optional<image_region>&);
template void convolve_on_host(const image_batch_view<const std::uint8_t>&,
                               const image_batch_view<std::uint8_t>&, const std::vector<float>&,
                               const std::vector<float>&, border, float, const std::optional<image_region>&);

}  // namespace heddle::detail
