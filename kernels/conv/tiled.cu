// tiled: a block computes 64 pixels x 64 channels of the output, from windows and filters that it puts into shared memory.
//
//   16 of the depth R S C:   input  64 pixels   [j][i]        thread (x, y) of 16 x 16 -> pixels 4y .. 4y+3,
//                            filters 64 outputs [j][k]                                    channels 4x .. 4x+3
//
// Windows are laid out as columns of a matrix (im2col) where they are used, never in global memory: an element that is loaded
// serves 64 sums, and from shared memory two loads of four serve sixteen. What limits it: the FMA units, the loads that nothing
// hides, and the places in a row that are worked out for each of them. A tile lies in one group: few outputs in a group leave
// most of it empty. Any shape, any address.

#include "kernels/conv/epilogue.cuh"
#include "kernels/conv/geometry.cuh"
#include "kernels/conv/launch.hpp"
#include "kernels/device/grid.hpp"
#include "kernels/device/launch.hpp"
#include <heddle/types.hpp>

#include <algorithm>
#include <cstdint>

namespace heddle::kernels::conv {
namespace {

struct tile {
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

/// Transposed: a thread reads neighbouring pixels, and neighbouring outputs, at once.
struct alignas(16) stage {
    float input[tile::depth][tile::pitch];
    float filters[tile::depth][tile::pitch];
};

/// Tiles of the output, those of one row of them first, so that blocks that run together share windows.
struct tile_counts {
    std::int64_t down, of_a_group, groups;

    __host__ __device__ tile_counts(std::int64_t pixels, std::int64_t outputs_of_a_group,
                                    std::int64_t group_count)
        : down((pixels - 1) / tile::pixels + 1),
          of_a_group((outputs_of_a_group - 1) / tile::outputs + 1),
          groups(group_count) {}
    __host__ __device__ std::int64_t all() const { return down * groups * of_a_group; }
};

__device__ void add_products(float (&sums)[tile::side][tile::side], const stage& from, int y, int x) {
#pragma unroll
    for (int j = 0; j < tile::depth; ++j) {
        const float4 in = reinterpret_cast<const float4&>(from.input[j][y]);
        const float4 by = reinterpret_cast<const float4&>(from.filters[j][x]);
        const float values[tile::side] = {in.x, in.y, in.z, in.w},
                    weights[tile::side] = {by.x, by.y, by.z, by.w};
#pragma unroll
        for (int i = 0; i < tile::side; ++i)
#pragma unroll
            for (int k = 0; k < tile::side; ++k) sums[i][k] += values[i] * weights[k];
    }
}

template <class In, class Out>
__global__ void __launch_bounds__(tile::threads)
    tiled(const __grid_constant__ arguments<In, Out> a, const __grid_constant__ geometry g) {
    __shared__ stage shared;
    const int thread = static_cast<int>(threadIdx.x);
    const int column = thread % tile::depth, line = thread / tile::depth;
    const int y = thread / tile::threads_across * tile::side, x = thread % tile::threads_across * tile::side;
    const tile_counts tiles(g.pixels, g.outputs_of_a_group, a.geometry.groups);

    for (std::int64_t t = blockIdx.x; t < tiles.all(); t += gridDim.x) {
        const std::int64_t row = t / (tiles.groups * tiles.of_a_group),
                           across = t - row * tiles.groups * tiles.of_a_group;
        const std::int64_t group = across / tiles.of_a_group;
        const std::int64_t first_pixel = row * tile::pixels;
        const std::int64_t first_output =
            group * g.outputs_of_a_group + (across - group * tiles.of_a_group) * tile::outputs;
        const std::int64_t last_output = (group + 1) * g.outputs_of_a_group - 1;

        // Past the edges the last line is loaded again. Its sums are not stored.
        window<In> windows[tile::loads];
        const In* filters[tile::loads];
#pragma unroll
        for (int i = 0; i < tile::loads; ++i) {
            const int at = line + i * tile::lines;
            windows[i] = window_of(a, g.place_of_pixel(::min(first_pixel + at, g.pixels - 1)), group);
            filters[i] = a.filters.data + ::min(first_output + at, last_output) * a.filters.output_stride;
        }

        float sums[tile::side][tile::side] = {};
        for (std::int64_t first = 0; first < g.depth; first += tile::depth) {
            const bool is_inside = first + column < g.depth;
            const tap_place at = g.place_of_tap(first + column);
            __syncthreads();  // all have read the stage before
#pragma unroll
            for (int i = 0; i < tile::loads; ++i) {
                const int to = line + i * tile::lines;
                shared.input[column][to] = is_inside ? input_value(a, windows[i], at) : 0;
                shared.filters[column][to] = is_inside ? filter_value(a, filters[i], at) : 0;
            }
            __syncthreads();
            add_products(sums, shared, y, x);
        }

#pragma unroll
        for (int i = 0; i < tile::side; ++i) {
            if (first_pixel + y + i >= g.pixels) break;
            const pixel_place at = g.place_of_pixel(first_pixel + y + i);
#pragma unroll
            for (int k = 0; k < tile::side; ++k)
                if (first_output + x + k <= last_output) store(a, at, first_output + x + k, sums[i][k]);
        }
    }
}

}  // namespace

plan plan_tiled(const conv_problem& problem, const device_traits&) {
    const tile_counts tiles(output_pixels(problem), outputs_of_a_group(problem), problem.geometry.groups);
    return {.blocks = {std::min(tiles.all(), max_grid_x)}, .threads = {tile::threads}};
}

template <class In, class Out>
void launch_tiled(const plan& plan, const arguments<In, Out>& a, cudaStream_t stream) {
    launch({.blocks = plan.blocks, .threads = plan.threads, .stream = stream}, tiled<In, Out>, a,
           geometry(a));
}

template void launch_tiled(const plan&, const arguments<float, float>&, cudaStream_t);
template void launch_tiled(const plan&, const arguments<half, half>&, cudaStream_t);
template void launch_tiled(const plan&, const arguments<half, float>&, cudaStream_t);
template void launch_tiled(const plan&, const arguments<bfloat16, bfloat16>&, cudaStream_t);
template void launch_tiled(const plan&, const arguments<bfloat16, float>&, cudaStream_t);

}  // namespace heddle::kernels::conv
