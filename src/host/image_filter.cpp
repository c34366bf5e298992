#include "src/host/border.hpp"
#include "src/host/separable.hpp"
#include "src/image_filter/validate.hpp"
#include <heddle/host.hpp>

#include <omp.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#pragma GCC visibility push(default)

namespace heddle::host {
namespace {

using kernels::image_filter::stencil;

/// Pointers to element 0 of three rows. Each row has a pixel more on either side.
struct rows {
    const float* above;
    const float* here;
    const float* below;
};

/// The stencil's result for element i. Its left and right neighbours are `channels` elements away.
float value_of(stencil stencil, const rows& rows, std::int64_t i, std::int64_t channels) {
    const float *above = rows.above, *here = rows.here, *below = rows.below;
    const std::int64_t left = i - channels, right = i + channels;
    const auto along_x = [&](const float* row) { return row[right] - row[left]; };
    const auto along_y = [&](std::int64_t at) { return below[at] - above[at]; };
    const auto sobel_x = [&] { return along_x(above) + 2 * along_x(here) + along_x(below); };
    const auto sobel_y = [&] { return along_y(left) + 2 * along_y(i) + along_y(right); };
    switch (stencil) {
        case stencil::sobel_x:
            return sobel_x();
        case stencil::sobel_y:
            return sobel_y();
        case stencil::sobel_magnitude:
            return std::sqrt(sobel_x() * sobel_x() + sobel_y() * sobel_y());
        case stencil::laplacian:
            return here[left] + here[right] - 4 * here[i] + (above[i] + below[i]);
    }
    return 0;
}

template <class T>
void filter(const char* operation, stencil stencil, const image_batch_view<const T>& sources,
            const image_batch_view<float>& destinations, const image_filter_options& options) {
    detail::validate_filter(operation, sources, destinations, options);
    const image_view<const T>& source = sources.first;
    const image_view<float>& destination = destinations.first;
    const std::int64_t width = destination.width, height = destination.height, channels = source.channels;
    if (width == 0 || height == 0) return;
    const image_region region = options.region.value_or(image_region{});
    const float border_value =
        options.border == border::constant ? static_cast<float>(static_cast<T>(options.border_value)) : 0.0f;

    // For a row with a pixel more on either side: each element's source column, or -1 for the border's constant.
    std::vector<std::int64_t> columns;
    for (std::int64_t x = -1; x <= width; ++x)
        for (std::int64_t c = 0; c < channels; ++c) {
            const std::int64_t pixel = detail::source_index(region.x + x, source.width, options.border);
            columns.push_back(pixel < 0 ? -1 : pixel * channels + c);
        }
    const auto padded = static_cast<std::int64_t>(columns.size());
    const std::int64_t all_rows = height * destinations.count;
    // Threads are worth their start from some hundred thousand elements on.
    const bool is_large = static_cast<double>(padded) * static_cast<double>(all_rows) > 2e5;
    const int threads = is_large ? omp_get_max_threads() : 1;
    // Allocated here because no exception may leave a parallel region.
    std::vector<std::vector<float>> windows(static_cast<std::size_t>(threads),
                                            std::vector<float>(3 * columns.size()));
#pragma omp parallel num_threads(threads)
    {
        float* const window = windows[static_cast<std::size_t>(omp_get_thread_num())].data();
#pragma omp for schedule(static)
        for (std::int64_t i = 0; i < all_rows; ++i) {
            const std::int64_t image = i / height, y = i % height;
            for (std::int64_t dy = -1; dy <= 1; ++dy) {
                const std::int64_t from =
                    detail::source_index(region.y + y + dy, source.height, options.border);
                const T* row = source.data + image * sources.stride + from * source.row_stride;
                float* padded_row = window + (dy + 1) * padded;
                for (std::int64_t j = 0; j < padded; ++j) {
                    const std::int64_t column = columns[static_cast<std::size_t>(j)];
                    padded_row[j] = from < 0 || column < 0 ? border_value : static_cast<float>(row[column]);
                }
            }
            const float* first = window + channels;
            const rows rows{first, first + padded, first + 2 * padded};
            float* out = destination.data + image * destinations.stride + y * destination.row_stride;
            for (std::int64_t j = 0; j < width * channels; ++j) out[j] = value_of(stencil, rows, j, channels);
        }
    }
}

std::vector<float> box_taps(std::int64_t radius) {
    const std::int64_t size = 2 * radius + 1;
    return std::vector<float>(static_cast<std::size_t>(size),
                              static_cast<float>(1 / static_cast<double>(size)));
}

}  // namespace

void separable_convolution(image_batch_view<const float> sources, image_batch_view<float> destinations,
                           std::span<const float> taps_x, std::span<const float> taps_y,
                           const image_filter_options& options) {
    constexpr const char* operation = "host::separable_convolution";
    detail::validate_filter(operation, sources, destinations, options);
    detail::validate_taps(operation, "taps_x", taps_x);
    detail::validate_taps(operation, "taps_y", taps_y);
    detail::convolve_on_host<float>(sources, destinations, {taps_x.begin(), taps_x.end()},
                                    {taps_y.begin(), taps_y.end()}, options.border, options.border_value,
                                    options.region);
}

template <class T>
void box_blur(image_batch_view<const std::type_identity_t<T>> sources, image_batch_view<T> destinations,
              window_radius radius, const image_filter_options& options) {
    constexpr const char* operation = "host::box_blur";
    detail::validate_filter(operation, sources, destinations, options);
    detail::validate_radius(operation, "radius", radius);
    detail::convolve_on_host<T>(sources, destinations, box_taps(radius.x), box_taps(radius.y), options.border,
                                options.border_value, options.region);
}

template <class T>
void sobel(image_batch_view<const std::type_identity_t<T>> sources, image_batch_view<float> destinations,
           heddle::gradient gradient, const image_filter_options& options) {
    constexpr const char* operation = "host::sobel";
    filter<T>(operation, detail::stencil_of(operation, gradient), sources, destinations, options);
}

template <class T>
void laplacian(image_batch_view<const std::type_identity_t<T>> sources, image_batch_view<float> destinations,
               const image_filter_options& options) {
    filter<T>("host::laplacian", stencil::laplacian, sources, destinations, options);
}

template void box_blur(image_batch_view<const float>, image_batch_view<float>, window_radius,
                       const image_filter_options&);
template void box_blur(image_batch_view<const half>, image_batch_view<half>, window_radius,
                       const image_filter_options&);
template void box_blur(image_batch_view<const std::uint16_t>, image_batch_view<std::uint16_t>, window_radius,
                       const image_filter_options&);
template void box_blur(image_batch_view<const std::uint8_t>, image_batch_view<std::uint8_t>, window_radius,
                       const image_filter_options&);

template void sobel<float>(image_batch_view<const float>, image_batch_view<float>, gradient,
                           const image_filter_options&);
template void sobel<half>(image_batch_view<const half>, image_batch_view<float>, gradient,
                          const image_filter_options&);
template void sobel<std::uint16_t>(image_batch_view<const std::uint16_t>, image_batch_view<float>, gradient,
                                   const image_filter_options&);
template void sobel<std::uint8_t>(image_batch_view<const std::uint8_t>, image_batch_view<float>, gradient,
                                  const image_filter_options&);

template void laplacian<float>(image_batch_view<const float>, image_batch_view<float>,
                               const image_filter_options&);
template void laplacian<half>(image_batch_view<const half>, image_batch_view<float>,
                              const image_filter_options&);
template void laplacian<std::uint16_t>(image_batch_view<const std::uint16_t>, image_batch_view<float>,
                                       const image_filter_options&);
template void laplacian<std::uint8_t>(image_batch_view<const std::uint8_t>, image_batch_view<float>,
                                      const image_filter_options&);

}  // namespace heddle::host

#pragma GCC visibility pop
