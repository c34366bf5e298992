#pragma once

#include "kernels/device/vector.cuh"
#include "kernels/gaussian_blur/launch.hpp"
#include <heddle/view.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace heddle::kernels::gaussian_blur {

/// What kernels know of the rows of a batch's images, in elements.
template <class T>
struct batch_rows {
    const T* source;  ///< of the first image, at the pixel from which the kernel counts
    T* destination;
    std::int64_t source_stride;
    std::int64_t source_image;
    std::int64_t destination_stride;
    std::int64_t destination_image;
    std::int64_t height;  ///< of the destination
    std::int64_t above;   ///< rows of the source above its place
    std::int64_t source_height;

    static batch_rows of(const arguments<T>& a, std::int64_t first_element) {
        const image_view<const T>& from = a.source.first;
        const image_view<T>& to = a.destination.first;
        return {from.data + first_element,
                to.data,
                from.row_stride,
                a.source.stride,
                to.row_stride,
                a.destination.stride,
                to.height,
                a.y,
                from.height};
    }
};

/// Launches all blocks of a batch, as many images at a time as a grid has room for: launch(the parameters of
/// those images, blocks).
template <class Parameters, class Launch>
void for_each_launch(std::int64_t images, std::int64_t blocks_per_image, const Parameters& all,
                     Launch launch) {
    const std::int64_t most = std::max<std::int64_t>(1, std::numeric_limits<int>::max() / blocks_per_image);
    for (std::int64_t first = 0; first < images; first += most) {
        Parameters part = all;
        part.source += first * all.source_image;
        part.destination += first * all.destination_image;
        launch(part, std::min(most, images - first) * blocks_per_image);
    }
}

/// Whether every row of every image, from element `offset` on, starts at a multiple of `bytes`.
template <class T>
bool is_aligned(const image_batch_view<T>& images, std::int64_t offset, int bytes) {
    constexpr std::int64_t size = sizeof(T);
    const auto address = reinterpret_cast<std::uintptr_t>(images.first.data + offset);
    const std::int64_t row = images.first.height > 1 ? images.first.row_stride * size : 0;
    const std::int64_t image = images.count > 1 ? images.stride * size : 0;
    return common_alignment(address, row, image) >= bytes;
}

}  // namespace heddle::kernels::gaussian_blur
