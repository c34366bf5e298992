#pragma once

#include <heddle/device.hpp>

#include <cstdint>

namespace heddle::kernels::separable_filter {

/// What a card takes how long for, and from where on which kernel is faster. The defaults are measured on an H200.
struct tuning {
    /// The smaller sigma from which on decimated is faster than an exact window.
    double min_sigma_of_decimated = 12;
    /// In taps: what decimated takes for a pixel that the image is extended by.
    double decimated_taps_per_pixel = 8;

    /// What rungs take that use no tensor cores, as plan/costs.hpp adds it up. The numbers make the relative errors' squares
    /// least over the times that an H100 took from DRAM: for all four types, 1, 3 and 4 channels, 640 x 480, 1920 x 1080 and
    /// 4096 x 4096, radii 1 to 40. Two passes take `us` to be launched and radius_us for each pixel of both radii; a value
    /// takes value_ps, value_radius_ps for each of those pixels and value_reach_ps for each value that windows reach along x.
    struct two_passes {
        double us;
        double radius_us;
        double value_ps;
        double value_radius_ps;
        double value_reach_ps;
    };
    two_passes shared_memory{9.57, 0.0370, 6.27, 0.0840, 0.0434};
    two_passes register_window{11.7, 0.121, 5.31, 0.0660, 0.0217};
    /// Blocks that march down strips take `us` to be launched. For a row of theirs a wave waits wave_ns, and a multiprocessor
    /// works block_ns for each of its blocks. The ring does so once a row, and for each pixel of both radii. Warps with sums
    /// in registers wait for each value of a lane and pixel of both radii, and work for each byte of a block's row.
    struct rows {
        double us;
        double wave_ns;
        double block_ns;
    };
    rows ring_of_float{4.87, 107, 0.674};
    rows ring_of_others{5.76, 107, 0.797};
    rows strips{4.38, 2.30, 0.0630};
    rows chains{5.60, 1.45, 0.0784};

    /// The larger radius from which on a kernel of bytes is faster than fused: of one radius, whose sums that keeps in
    /// registers, and of two.
    struct radii {
        std::int64_t equal;
        std::int64_t unequal;
    };
    radii min_radius_on_tensor_cores{5, 3};
    /// They are other ones for the rungs of small windows, mma_x_registers_y and mma_xy_by_channel.
    radii min_radius_of_small_windows{2, 1};
    /// The least radius of boxes of bytes on wgmma_xy: of images of many tiles (below), and of few.
    std::int64_t min_radius_of_boxes_of_many_tiles = 3;
    std::int64_t min_radius_of_boxes_of_few_tiles = 9;

    /// The radius along y from which on mma_xy_by_channel is faster than mma_x_registers_y. A higher window costs it nothing.
    std::int64_t min_radius_y_of_channels = 4;
    /// A higher window costs wgmma_xy nothing either. It is faster than mma_x_registers_y from so many tiles on, for each
    /// multiprocessor, divided by the rows that the radius along y exceeds `radius_y` by.
    struct crossing {
        std::int64_t radius_y;
        std::int64_t tiles_per_sm;
    };
    crossing wgmma_of_gaussians{4, 15};
    crossing wgmma_of_boxes{3, 7};
    /// Where mma_x_registers_y does not run, wgmma_xy is faster than what else does from so many tiles on, and where windows
    /// reach so many values along x, which take mma_xy longer.
    double min_wgmma_tiles_per_sm = 1.5;
    std::int64_t min_wgmma_reach = 36;

    /// A strip that a warp marches down has no more, so that a multiprocessor that is ahead gets further blocks.
    std::int64_t max_strip_rows = 256;

    /// Blocks that march down strips come in several waves where strips have rows enough for that.
    struct marching {
        std::int64_t min_rows = 6;
        std::int64_t max_waves = 4;
        /// Beside so many rows, those that are filtered only to start are a small part.
        std::int64_t rows_to_share = 64;
        std::int64_t rows_to_share_per_extra = 8;
    };
    marching march;

    /// What mma_xy takes for a step of 16 rows, for one that has no result yet, and to start a block.
    struct {
        std::int64_t step = 5;
        std::int64_t filling_step = 2;
        std::int64_t start = 10;
        std::int64_t waves_tried = 4;
    } mma_xy;

    /// What wgmma_xy takes for a tile, for one at an image's side, and to begin a strip; these two where tiles
    /// are many: so many for each block.
    struct {
        int tile = 8;
        int side_tile = 10;
        int start = 8;
        int many_tiles_per_block = 4;
    } wgmma_xy;

    /// decimated reads bands of fewer rows where they would make fewer blocks than this.
    std::int64_t decimated_blocks = 512;
    /// Tiles for each multiprocessor from which on its samples are blurred by fewer threads a tile, which share more of what
    /// they load.
    std::int64_t decimated_tiles_per_sm = 2;
};

inline constexpr tuning h200{};

/// Not measured on the cards that this stands for.
inline constexpr tuning generic = h200;

/// The numbers of the card. An H100 takes an H200's.
inline const tuning& tuning_of(const device_traits& device) {
    const bool is_hopper = device.compute_capability_major == 9 && device.compute_capability_minor == 0;
    return is_hopper ? h200 : generic;
}

}  // namespace heddle::kernels::separable_filter
