#pragma once

#include "kernels/device/early_launch.hpp"
#include "kernels/device/grid.hpp"
#include "kernels/gaussian_blur/facts.hpp"
#include "kernels/gaussian_blur/plan/grids.hpp"
#include "kernels/gaussian_blur/plan/intermediate_image.hpp"
#include "kernels/gaussian_blur/plan/predict.hpp"
#include "kernels/gaussian_blur/plan/window.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace heddle::kernels::gaussian_blur {

/// The intermediate image's rows. The stride of a row is the caller's.
inline intermediate_image intermediate_of(const filter_facts& p, std::int64_t stride) {
    intermediate_image image = intermediate_rows(p.source_height, p.y, p.height, p.radius.y, p.border);
    image.stride = stride;
    return image;
}

/// The bytes that an intermediate image takes at most, whatever the region and the border.
inline std::int64_t scratch_bytes_between(const filter_facts& p, std::int64_t stride) {
    return p.images * p.rows_between * stride * std::int64_t{sizeof(float)};
}

/// The time of two passes, from the products of both and the values that they read and write between them.
inline double us_of_two_passes(cost_place row, const filter_facts& p, double values, double products,
                               const device_traits& device) {
    return predicted_us(row, device,
                        {.bytes = values * (p.value_bytes() + static_cast<double>(sizeof(float))),
                         .waits = both_radii(p),
                         .units = products / device.sm_count});
}

struct separable_plan {
    intermediate_image between;
    std::int64_t scratch_bytes;
    kernel_grid along_x;
    kernel_grid along_y;
    double us;  ///< predicted
};

/// Floats of a row between two passes, whole vectors for each channel: in shared_memory each is a plane of its own.
inline std::int64_t row_values_between(const filter_facts& p) {
    return round_up(p.width, 4) * p.channels;
}

/// Neighbouring outputs that a thread of shared_memory sums up in registers: pixels along x, rows along y.
inline constexpr int outputs_of_thread = 8;

/// What a warp of shared_memory filters along x at once.
struct row_tile {
    int groups;  ///< of outputs_of_thread pixels, side by side
    int rows;
    int warps;  ///< of a block, one above the other

    static row_tile of(const filter_facts& p) {
        constexpr std::int64_t lanes = 32, most_bytes = std::int64_t{96} << 10;
        const std::int64_t groups = std::min(divide_up(p.width, outputs_of_thread), lanes / p.channels);
        row_tile tile{static_cast<int>(groups), static_cast<int>(lanes / (groups * p.channels)), 8};
        const auto is_large = [&] { return tile.shared_bytes(p) > most_bytes; };
        while (tile.rows > 1 && is_large()) --tile.rows;
        while (tile.warps > 1 && is_large()) tile.warps /= 2;
        return tile;
    }

    /// Pixels of the source that the outputs of a row need.
    __host__ __device__ int window(int radius) const { return groups * outputs_of_thread + 2 * radius; }
    /// The place of a pixel in a staged row. The gaps keep what lanes read at once in different banks.
    __host__ __device__ static constexpr int place(int pixel) { return pixel + (pixel >> 5) * 4; }
    /// Floats of a channel of a staged row, with those that convolve() loads but does not use. An odd number of vectors,
    /// so that the rows of most warps lie in different banks.
    __host__ __device__ int pitch(int radius) const {
        return (place(groups * outputs_of_thread + round_up(2 * radius + 1, 4)) / 4 | 1) * 4;
    }
    /// Taps, staged rows, the places of a window's values, pointers to rows.
    std::int64_t shared_bytes(const filter_facts& p) const {
        const auto radius = static_cast<int>(p.radius.x);
        const std::int64_t all_rows = std::int64_t{warps} * rows;
        return 4 * (round_up(2 * p.radius.x + 1, 4) + all_rows * p.channels * pitch(radius)) +
               8 * (p.channels * window(radius) + all_rows);
    }
};

/// The strips of columns that a block of shared_memory marches down. The rows of its windows wait in a ring in shared memory.
struct column_strips {
    int columns;  ///< of a strip, 8 to 32: as narrow as a narrow image
    int groups;   ///< of threads that share a column; each thread filters outputs_of_thread rows of a step
    int strips;   ///< side by side
    int rows;     ///< of a block, whole steps

    static column_strips of(const filter_facts& p) {
        constexpr std::int64_t threads = 256, most_bytes = std::int64_t{72} << 10;
        const std::int64_t columns =
            std::max<std::int64_t>(power_at_least(row_values_between(p), 32), outputs_of_thread);
        const std::int64_t groups = power_at_least(divide_up(p.height, outputs_of_thread), threads / columns);
        column_strips strips{static_cast<int>(columns), static_cast<int>(groups),
                             static_cast<int>(threads / columns / groups), 0};
        while (strips.strips > 1 && strips.shared_bytes(p) > most_bytes) strips.strips /= 2;
        while (strips.groups > 32 / columns && strips.shared_bytes(p) > most_bytes) strips.groups /= 2;
        return strips;
    }

    __host__ __device__ int step() const { return groups * outputs_of_thread; }
    __host__ __device__ int threads() const { return columns * groups * strips; }
    /// Rows of the first step's windows, with those that convolve() loads but does not use.
    __host__ __device__ static int first_rows(int step, int radius) { return step + 2 * radius + 4; }
    /// Rows of a ring: those of a step's windows, and the next step's. Whole groups of outputs.
    __host__ __device__ int ring(int radius) const {
        return 2 * step() + round_up(2 * radius + 4, outputs_of_thread);
    }
    /// The place of a ring's row. The gaps behind the rows of narrow strips keep what lanes read at once in different banks.
    __host__ __device__ int place(int row) const {
        return row * columns + (columns < 32 ? (row >> 3) * columns : 0);
    }
    /// The rows of a block with which the multiprocessors end soonest. A block loads the rows of a window before it filters.
    int rows_of_block(const filter_facts& p, std::int64_t sets, const device_traits& device) const {
        constexpr std::int64_t most_blocks = 16, start = 16;  // blocks of a multiprocessor, in all waves
        const std::int64_t steps = divide_up(p.height, step());
        std::int64_t best = steps, least = std::numeric_limits<std::int64_t>::max();
        for (std::int64_t wanted = 1; wanted <= most_blocks; ++wanted) {
            const std::int64_t segments = std::clamp<std::int64_t>(wanted * device.sm_count / sets, 1, steps),
                               own_steps = divide_up(steps, segments),
                               blocks = divide_up(sets * divide_up(steps, own_steps), device.sm_count),
                               time = blocks * (own_steps * step() + p.radius.y / 2 + start);
            if (time >= least) continue;
            least = time;
            best = own_steps;
        }
        return static_cast<int>(best) * step();
    }
    /// Taps and rings.
    std::int64_t shared_bytes(const filter_facts& p) const {
        const auto radius = static_cast<int>(p.radius.y);
        return 4 * (round_up(2 * p.radius.y + 1, 4) + std::int64_t{strips} * place(ring(radius)));
    }
};

struct shared_memory_plan {
    intermediate_image between;
    std::int64_t plane;  ///< floats of a channel of a row between the passes
    std::int64_t scratch_bytes;
    row_tile rows;
    column_strips columns;
    kernel_grid along_x;
    kernel_grid along_y;
    double us;  ///< predicted
};

/// Needs tables of both taps, rows and columns of the source counted in 32 bits, and a row_tile and column_strips that fit
/// the shared memory of a block.
inline shared_memory_plan plan_shared_memory(const filter_facts& p, const device_traits& device) {
    const std::int64_t stride = row_values_between(p);
    const intermediate_image between = intermediate_of(p, stride);
    const row_tile rows = row_tile::of(p);
    column_strips columns = column_strips::of(p);
    const auto resident = [&](std::int64_t threads, std::int64_t shared_bytes) {
        constexpr std::int64_t threads_by_registers = 1024;
        return device.sm_count *
               std::clamp<std::int64_t>(static_cast<std::int64_t>(device.shared_memory_per_sm) /
                                            (shared_bytes + shared_bytes_reserved),
                                        1, threads_by_registers / threads);
    };
    const auto grid = [&](std::int64_t across, std::int64_t down, int threads,
                          std::int64_t shared_bytes) -> kernel_grid {
        return {.blocks = {across, down},
                .threads = {threads},
                .shared_bytes = static_cast<std::size_t>(shared_bytes),
                .shared_limit = device.shared_memory_per_block_optin,
                .begins_early = waits_for_grids(device)};
    };

    const std::int64_t across = divide_up(p.width, rows.groups * outputs_of_thread),
                       down = divide_up(p.images * between.rows, rows.warps * rows.rows),
                       bytes_x = rows.shared_bytes(p), threads_x = std::int64_t{rows.warps} * 32;
    const std::int64_t wave_x = std::max<std::int64_t>(1, resident(threads_x, bytes_x) / across);

    const std::int64_t sets = divide_up(stride, columns.strips * columns.columns),
                       bytes_y = columns.shared_bytes(p);
    columns.rows = columns.rows_of_block(p, sets * p.images, device);
    const std::int64_t tasks = divide_up(p.height, columns.rows) * p.images;

    // The outputs of all lanes, also of those beside the image, and what a warp does to stage their inputs.
    const double first = static_cast<double>(across) * static_cast<double>(down) * rows.warps * 32 *
                         outputs_of_thread,
                 second = static_cast<double>(sets) * columns.strips * columns.columns *
                          static_cast<double>(tasks) * columns.rows;
    const double products =
        first * static_cast<double>(2 * p.radius.x + 9) + second * static_cast<double>(2 * p.radius.y + 5);
    return {
        .between = between,
        .plane = stride / p.channels,
        .scratch_bytes = scratch_bytes_between(p, stride),
        .rows = rows,
        .columns = columns,
        .along_x = grid(across, std::min({down, wave_x, max_grid_y}), static_cast<int>(threads_x), bytes_x),
        .along_y = grid(sets, std::min(tasks, max_grid_y), columns.threads(), bytes_y),
        .us = us_of_two_passes("shared_memory", p, values_of(p) * 2, products, device)};
}

}  // namespace heddle::kernels::gaussian_blur
