#pragma once

#include "kernels/device/launch.hpp"
#include "kernels/device/layout.hpp"
#include <heddle/device.hpp>
#include <heddle/image.hpp>
#include <heddle/image_filter.hpp>
#include <heddle/tensor.hpp>
#include <heddle/view.hpp>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace heddle::kernels::image_filter {

enum class stencil { sobel_x, sobel_y, sobel_magnitude, laplacian };

/// Images without an extent of 0. Pixel (0, 0) of the destination is pixel (x, y) of the source, for results of a region.
template <class T>
struct arguments {
    image_filter::stencil stencil;
    image_batch_view<const T> source;
    image_batch_view<float> destination;
    std::int64_t x = 0;
    std::int64_t y = 0;
    heddle::border border;
    T border_value;
};

/// Whether rows of all images begin at multiples of four values, counted from this value of the row.
constexpr bool has_quads(const tensor_layout& images, std::int64_t first_value) {
    constexpr std::int64_t quad = 4;
    return alignment_of_rows(images, first_value) >= quad * images.element_bytes;
}

/// The properties by which a rung is chosen. Width and height are those of the destination.
struct problem {
    std::int64_t width = 0;
    std::int64_t height = 0;
    std::int64_t channels = 1;
    std::int64_t images = 1;
    std::int64_t source_width = width;
    /// Whether rows begin at multiples of four values: the source's from the region's start on, and the destination's.
    bool has_source_quads = true;
    bool has_destination_quads = true;
};

/// How a rung solves a problem.
struct plan {
    launch_extents blocks;  ///< along z of register_window: images of a launch
    launch_extents threads;
    // Only register_window uses these.
    int groups = 1;  ///< of a warp, at different rows
    int rows_per_group = 0;
    bool aligned_loads = false;
    bool aligned_stores = false;
};

/// register_window counts the values of a row in 32 bits, for the source too.
inline constexpr std::int64_t max_row_values = std::int64_t{1} << 29;

/// Each rung has a plan and a launch. The plan is pure. It takes the problems that meet the needs in the rung's row.
/// The launch filters by the plan for these arguments.
#define DECLARE(rung, ...)                                                 \
    plan plan_##rung(const problem& problem, const device_traits& device); \
    template <class T>                                                     \
    void launch_##rung(const plan& plan, const arguments<T>& arguments, cudaStream_t stream);
HEDDLE_IMAGE_FILTER_RUNGS(DECLARE)
#undef DECLARE

}  // namespace heddle::kernels::image_filter
