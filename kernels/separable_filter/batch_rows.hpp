#pragma once

#include "kernels/separable_filter/launch.hpp"
#include <heddle/view.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <source_location>

namespace heddle::kernels::separable_filter {

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

/// Launches all blocks of a batch, as many images at a time as a grid has room for: kernel(the parameters of those images).
template <class Parameters>
void launch_batch(const kernel_grid& grid, std::int64_t images, void (*kernel)(Parameters), Parameters p,
                  cudaStream_t stream, std::source_location where = std::source_location::current()) {
    launch_config config = config_of(grid, stream, where);
    const std::int64_t most = std::max<std::int64_t>(1, std::numeric_limits<int>::max() / grid.blocks.x);
    for (std::int64_t first = 0; first < images; first += most) {
        config.blocks.x = std::min(most, images - first) * grid.blocks.x;
        kernels::launch(config, kernel, p);
        p.source += most * p.source_image;
        p.destination += most * p.destination_image;
    }
}

}  // namespace heddle::kernels::separable_filter
