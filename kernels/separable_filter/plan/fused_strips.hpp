#pragma once

#include "kernels/device/early_launch.hpp"
#include "kernels/separable_filter/plan/extents.hpp"
#include "kernels/separable_filter/plan/fused_tiles.hpp"
#include "kernels/separable_filter/plan/kernel_grid.hpp"
#include "kernels/separable_filter/plan/march.hpp"
#include "kernels/separable_filter/plan/problem.hpp"
#include "kernels/separable_filter/tuning/tuning.hpp"
#include <heddle/device.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace heddle::kernels::separable_filter {

/// The largest radius of windows whose sums fit the registers. It is the same for both axes.
constexpr int max_register_radius(pixel_type type, std::int64_t channels) {
    return type == pixel_type::f32 && channels == 1 ? 16 : 8;
}

/// What a warp of fused_strips marches down with: a strip of as many columns as its lanes own.
struct strip_shape {
    static constexpr int lanes = 32;
    static constexpr int warps = 4;  ///< of a block, at most: narrow images take fewer

    /// Neighbours that a thread owns, a packet: 16 bytes, or 8 of uint8 where sums of more would not fit the
    /// registers and, of one and two channels, where 8 are faster.
    int values;
    int words;
    int halo;
    int lead;     ///< values of a window before a thread's own
    int packets;  ///< of a window

    /// Where rows are not aligned, a packet is put together from words of memory, which reach beyond it on
    /// both sides. They stay in the row, as its first packet, the head, and the last one that is followed by
    /// fewer than `slack` values are fetched singly.
    bool shifts;
    int slack;
    int head;
    /// Values of a row that a lane fetches singly: of the halos, the head, and what the last packet leaves.
    int singles;

    int rows;  ///< that are fetched and staged at a time
    int staged_bytes;
    int blocks_per_sm;

    constexpr strip_shape(int size, int channels, int radius, bool aligned)
        : values(size > 1 || (channels >= 3 && radius <= 3) ? packet_bytes / size : 8),
          words(values * size / 4),
          halo(radius * channels),
          lead(round_up(halo, values)),
          packets(1 + 2 * lead / values),
          shifts(!aligned && size < 4),
          slack(shifts ? 4 / size : 0),
          head(shifts ? values : 0),
          singles((lead + head + values - 1 + slack + halo + lanes - 1) / lanes),
          rows(size > 1      ? 7 - singles
               : values == 8 ? 4
                             : 3),
          staged_bytes(warps * rows * (lanes * values + 2 * lead) * size),
          blocks_per_sm(blocks_of(size, radius)) {}

  private:
    constexpr int blocks_of(int size, int radius) const {
        // What the registers allow: sums, a row's results, the rows under way, and the rest as compiled.
        const int registers = 2 * radius * values + values + rows * (words + singles) + 52;
        // Few blocks of float keep DRAM busy: more would only filter more rows to start.
        const int most = size == 4 ? 3 : 6;
        return std::clamp(65536 / (lanes * warps) / round_up(registers, 8), 2, most);
    }
};

struct fused_strips_plan {
    kernel_grid grid;
    bool aligned;  ///< packets of source and destination start at multiples of their size
    unsigned strips;
    separable_filter::march march;
};

/// Whether strips are compiled for rows that are aligned: but of windows that fused_tiles or fused_chains takes then.
constexpr bool has_aligned_strips(pixel_type type, std::int64_t channels, std::int64_t radius) {
    return radius > max_tile_radius(type, channels) && !(type == pixel_type::f32 && channels == 1);
}

/// Needs one radius up to max_register_radius().
inline fused_strips_plan plan_fused_strips(const problem& p, const device_traits& device) {
    const auto shape_of = [&p](bool aligned) {
        return strip_shape(p.value_bytes(), static_cast<int>(p.channels), static_cast<int>(p.radius.x),
                           aligned);
    };
    const int packet = shape_of(true).values * p.value_bytes();
    const bool aligned = has_aligned_strips(p.type, p.channels, p.radius.x) &&
                         p.place_alignment() >= packet && p.destination_alignment >= packet;
    const strip_shape shape = shape_of(aligned);

    // Strips of equal width.
    const std::int64_t row_warps = divide_up(p.row_values(), std::int64_t{strip_shape::lanes} * shape.values);
    const std::int64_t warps = divide_up(row_warps, divide_up(row_warps, strip_shape::warps));
    const std::int64_t strips = divide_up(row_warps, warps);
    const std::int64_t fit =
        static_cast<std::int64_t>(device.shared_memory_per_sm) / (shape.staged_bytes + shared_bytes_reserved);
    const std::int64_t blocks_per_sm =
        std::clamp<std::int64_t>(fit, 1, std::int64_t{shape.blocks_per_sm} * strip_shape::warps / warps);
    const separable_filter::march down =
        plan_march(p.height, strips, p.images, device.sm_count * blocks_per_sm,
                   static_cast<int>(2 * p.radius.x), shape.rows, tuning_of(device).march);
    return {.grid = {.blocks = {strips * down.segments},
                     .threads = {strip_shape::lanes * warps},
                     .shared_bytes = static_cast<std::size_t>(std::max<std::int64_t>(
                         shared_bytes_of_one_of(blocks_per_sm, device) - shape.staged_bytes, 0)),
                     .shared_limit = static_cast<std::size_t>(shared_bytes_of_one_of(1, device)),
                     .begins_early = waits_for_grids(device)},
            .aligned = aligned,
            .strips = static_cast<unsigned>(strips),
            .march = down};
}

}  // namespace heddle::kernels::separable_filter
