#pragma once

#include "kernels/conv/epilogue.cuh"
#include "kernels/conv/geometry.cuh"
#include "kernels/conv/launch.hpp"
#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/sync.cuh"

#include <cstdint>

/// The kernel of the rung `tiled`.
namespace heddle::kernels::conv {

struct tiled_tile {
    static constexpr int pixels = 64;
    static constexpr int outputs = 64;
    static constexpr int depth = 16;
    static constexpr int side = 4;  ///< of a thread's square of sums
    static constexpr int threads_across = outputs / side;
    static constexpr int threads = pixels / side * threads_across;
    static constexpr int lines = threads / depth;  ///< that all threads load at once
    static constexpr int loads = pixels / lines;
    static constexpr int pitch = pixels + 4;
    static_assert(pixels == outputs);
};

/// Terms are transposed, so that a thread reads neighbouring pixels, or neighbouring outputs, at once.
struct alignas(16) tiled_stage {
    float input[tiled_tile::depth][tiled_tile::pitch];
    float filters[tiled_tile::depth][tiled_tile::pitch];
};

/// The tiles of the output. Those of the same pixels are neighbours, so that blocks that run together share windows.
struct tiled_counts {
    std::int64_t down, group_tiles, groups;

    __host__ __device__ tiled_counts(std::int64_t pixels, std::int64_t outputs_of_a_group,
                                     std::int64_t group_count)
        : down((pixels - 1) / tiled_tile::pixels + 1),
          group_tiles((outputs_of_a_group - 1) / tiled_tile::outputs + 1),
          groups(group_count) {}
    __host__ __device__ std::int64_t all() const { return down * groups * group_tiles; }
};

__device__ inline void add_products(float (&sums)[tiled_tile::side][tiled_tile::side],
                                    const tiled_stage& from, int y, int x) {
#pragma unroll
    for (int j = 0; j < tiled_tile::depth; ++j) {
        const float4 in = reinterpret_cast<const float4&>(from.input[j][y]);
        const float4 by = reinterpret_cast<const float4&>(from.filters[j][x]);
        const float values[tiled_tile::side] = {in.x, in.y, in.z, in.w},
                    weights[tiled_tile::side] = {by.x, by.y, by.z, by.w};
#pragma unroll
        for (int i = 0; i < tiled_tile::side; ++i)
#pragma unroll
            for (int k = 0; k < tiled_tile::side; ++k) sums[i][k] += values[i] * weights[k];
    }
}

template <class In, class Out, class Activation>
__global__ void __launch_bounds__(tiled_tile::threads)
    tiled(const __grid_constant__ arguments<In, Out, Activation> a, const __grid_constant__ geometry g) {
    __shared__ tiled_stage shared;
    const int thread = static_cast<int>(threadIdx.x);
    const int column = thread % tiled_tile::depth, line = thread / tiled_tile::depth;
    const int y = thread / tiled_tile::threads_across * tiled_tile::side,
              x = thread % tiled_tile::threads_across * tiled_tile::side;
    const tiled_counts tiles(g.pixels, g.outputs_of_a_group, a.geometry.groups);

    for (std::int64_t t = blockIdx.x; t < tiles.all(); t += gridDim.x) {
        const std::int64_t row = t / (tiles.groups * tiles.group_tiles),
                           across = t - row * tiles.groups * tiles.group_tiles;
        const std::int64_t group = across / tiles.group_tiles;
        const std::int64_t first_pixel = row * tiled_tile::pixels;
        const std::int64_t first_output =
            group * g.outputs_of_a_group + (across - group * tiles.group_tiles) * tiled_tile::outputs;
        const std::int64_t last_output = (group + 1) * g.outputs_of_a_group - 1;

        // Past the edges the last line is loaded again; its sums are not stored.
        window<In> windows[tiled_tile::loads];
        const In* filters[tiled_tile::loads];
#pragma unroll
        for (int i = 0; i < tiled_tile::loads; ++i) {
            const int at = line + i * tiled_tile::lines;
            windows[i] = window_of(a, g.place_of_pixel(::min(first_pixel + at, g.pixels - 1)), group);
            filters[i] = a.filters.data + ::min(first_output + at, last_output) * a.filters.output_stride;
        }

        float sums[tiled_tile::side][tiled_tile::side] = {};
        for (std::int64_t first = 0; first < g.depth; first += tiled_tile::depth) {
            const bool is_inside = first + column < g.depth;
            const tap_place at = g.place_of_tap(first + column);
            ptx::sync_threads();  // all have read the previous stage
#pragma unroll
            for (int i = 0; i < tiled_tile::loads; ++i) {
                const int to = line + i * tiled_tile::lines;
                shared.input[column][to] = is_inside ? input_value(a, windows[i], at) : 0;
                shared.filters[column][to] = is_inside ? filter_value(a, filters[i], at) : 0;
            }
            ptx::sync_threads();
            add_products(sums, shared, y, x);
        }

#pragma unroll
        for (int i = 0; i < tiled_tile::side; ++i) {
            if (first_pixel + y + i >= g.pixels) break;
            const pixel_place at = g.place_of_pixel(first_pixel + y + i);
#pragma unroll
            for (int k = 0; k < tiled_tile::side; ++k)
                if (first_output + x + k <= last_output) store(a, at, first_output + x + k, sums[i][k]);
        }
    }
}

template <class In, class Out, class Activation>
void launch_tiled(const plan& plan, const arguments<In, Out, Activation>& a, cudaStream_t stream) {
    launch({.blocks = plan.blocks, .threads = plan.threads, .stream = stream}, tiled<In, Out, Activation>, a,
           geometry(a));
}

}  // namespace heddle::kernels::conv
