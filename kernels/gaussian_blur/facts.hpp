#pragma once

#include "kernels/device/layout.hpp"
#include "kernels/device/tensor_map_limits.hpp"
#include "kernels/gaussian_blur/plan/window.hpp"
#include <heddle/gaussian_blur.hpp>
#include <heddle/image.hpp>
#include <heddle/tensor.hpp>

#include <algorithm>
#include <cstdint>

/// All that the table's rows, plans and messages know of a problem. Pure.
namespace heddle::kernels::gaussian_blur {

constexpr int bytes_of(pixel_type type) {
    return type == pixel_type::u8 ? 1 : type == pixel_type::f32 ? 4 : 2;
}

/// Whether the strides from row to row and from image to image fit a tensor map.
constexpr bool fits_map(const tensor_layout& images) {
    const auto is_short = [&](std::int64_t extent, std::int64_t stride) {
        return extent <= 1 || is_short_tensor_stride(stride, images.element_bytes);
    };
    return is_short(images.height, images.row_stride) && is_short(images.count, images.image_stride);
}

/// An empty problem is taken for one of a single column, row or image.
struct filter_facts {
    explicit filter_facts(const gaussian_blur_problem& problem,
                          gaussian_blur::window weights = gaussian_blur::window::gaussian)
        : width(at_least_one(problem.destination.width)),
          height(at_least_one(problem.destination.height)),
          channels(problem.destination.channels),
          images(at_least_one(problem.destination.count)),
          type(problem.type),
          window(weights),
          radius(problem.radius),
          sigma(problem.sigma),
          exact(problem.exact),
          border(problem.border),
          has_scratch(problem.has_scratch),
          x(problem.region ? problem.region->x : 0),
          y(problem.region ? problem.region->y : 0),
          source_width(at_least_one(problem.source.width)),
          source_height(at_least_one(problem.source.height)),
          rows_between(std::min(source_height, height + 2 * radius.y)),
          source_offset(static_cast<int>(problem.source.offset % packet_bytes)),
          source_steps(alignment_of_steps(problem.source)),
          destination_alignment(alignment_of_rows(problem.destination)),
          in_words(source_steps >= 4 && destination_alignment >= 4),
          in_vectors(source_alignment() == packet_bytes),
          source_fits_map(fits_map(problem.source)),
          destination_fits_map(fits_map(problem.destination)) {}

    /// The extents of the destination, and its number of images.
    std::int64_t width, height, channels, images;
    pixel_type type;
    gaussian_blur::window window;
    window_radius radius;
    blur_sigma sigma;
    bool exact;
    heddle::border border;
    bool has_scratch;

    /// The pixel of the source at which the wanted region begins.
    std::int64_t x, y;
    std::int64_t source_width, source_height;
    /// The most rows of the source that windows reach. The image between two passes has so many rows.
    std::int64_t rows_between;

    /// In bytes. The source begins source_offset after a multiple of packet_bytes. Its rows and images lie multiples of
    /// source_steps apart. Rows of the destination begin at multiples of destination_alignment.
    int source_offset, source_steps, destination_alignment;
    /// Rows of the source lie multiples of 4 bytes apart, and rows of the destination begin at multiples of 4 bytes.
    bool in_words;
    /// Rows of the source begin at multiples of packet_bytes.
    bool in_vectors;
    bool source_fits_map, destination_fits_map;

    constexpr int value_bytes() const { return bytes_of(type); }
    constexpr std::int64_t row_values() const { return width * channels; }
    /// The radius along x, in values.
    std::int64_t reach() const { return radius.x * channels; }
    std::int64_t largest_radius() const { return std::max(radius.x, radius.y); }
    bool has_one_radius_up_to(std::int64_t most) const { return radius.x == radius.y && radius.x <= most; }
    /// The alignment in bytes of each row of the source: of its start, and of the region's place in it.
    int source_alignment() const { return common_alignment(source_offset, source_steps); }
    int place_alignment() const { return common_alignment(place_offset(), source_steps); }
    std::int64_t place_offset() const { return source_offset + x * channels * value_bytes(); }

  private:
    static constexpr std::int64_t at_least_one(std::int64_t extent) {
        return std::max<std::int64_t>(extent, 1);
    }
};

}  // namespace heddle::kernels::gaussian_blur
