#pragma once

#include "kernels/separable_filter/plan/extents.hpp"
#include <heddle/gaussian_blur.hpp>
#include <heddle/image.hpp>

#include <cstdint>

namespace heddle::kernels::separable_filter {

/// All rungs but naive and separable count the values of a row, the source's too, in 32 bits, and twice a
/// row's in border.cuh.
inline constexpr std::int64_t max_row_values = std::int64_t{1} << 29;
/// mma_x_registers_y and wgmma_xy count a source's rows in 32 bits, and twice those in border.cuh.
inline constexpr std::int64_t max_counted_rows = std::int64_t{1} << 29;
/// In bytes; those of a tensor map, which wgmma_xy reads a source by, are less.
inline constexpr std::int64_t end_of_map_strides = std::int64_t{1} << 40;

enum class taps_kind {
    gaussian,
    box,  ///< a Gaussian's whose sigma is infinite
    any   ///< symmetric or not, in tables; what sigma is says nothing
};

/// All that the choice of a kernel and its plan depend on; none of the extents is 0. What only a call's images tell has
/// defaults that stand for the best case.
struct problem : gaussian_blur_problem {
    taps_kind kind = taps_kind::gaussian;
    /// The rung was asked for, so whether another is faster is not the question.
    bool is_asked_for = false;

    /// The place in the source, in pixels, of the region that is wanted.
    std::int64_t x = 0;
    std::int64_t y = 0;
    std::int64_t source_width = width;
    std::int64_t source_height = height;
    /// Rows of the source that windows reach, at most: those of an image between two passes.
    std::int64_t rows_between = height + 2 * radius.y;

    /// In bytes. The source begins so many behind a multiple of packet_bytes, and its rows and images lie multiples of
    /// source_steps apart; rows of the destination begin at multiples of destination_alignment.
    int source_offset = 0;
    int source_steps = packet_bytes;
    int destination_alignment = packet_bytes;
    /// A tensor map can count from row to row, and from image to image.
    bool source_fits_map = true;
    bool destination_fits_map = true;

    int value_bytes() const { return type == pixel_type::u8 ? 1 : type == pixel_type::f32 ? 4 : 2; }
    std::int64_t row_values() const { return width * channels; }
    /// Along x, in values.
    std::int64_t reach() const { return radius.x * channels; }
    std::int64_t largest_radius() const { return radius.x > radius.y ? radius.x : radius.y; }
    bool has_one_radius_up_to(std::int64_t most) const { return radius.x == radius.y && radius.x <= most; }
    /// What each row of the source begins at a multiple of, in bytes, and what from the region's place on.
    int source_alignment() const { return alignment_of(source_offset | source_steps); }
    int place_alignment() const { return alignment_of(place_offset() | source_steps); }
    std::int64_t place_offset() const { return source_offset + x * channels * value_bytes(); }
};

}  // namespace heddle::kernels::separable_filter
