// register_window: along x as `shared_memory`. Along y a thread goes down its column, and keeps in registers the sums of
// all outputs that still miss rows.
//
//   row y of the intermediate image -> h:   out[y - r] = sums[0] + w[2r] * h
//                                           sums[i]    = sums[i + 1] + w[2r - 1 - i] * h,  i = 0..2r - 1
//
// Along y the neighbours of a warp's values are whole rows, so that loads are coalesced. A value is loaded once and used
// 2r + 1 times at once. `shared_memory` copies it, and loads it again for every 8 outputs. Each FMA writes its sum one
// place down. The number of sums is compiled in, for radii up to 4, 8, 12 and 16. So they stay in registers, and weights
// come from the constant bank. What remains is the intermediate image: a write and a read of DRAM. Any shape and alignment
// will do.

#include "kernels/device/border.cuh"
#include "kernels/device/grid.hpp"
#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/gaussian_blur/facts.hpp"
#include "kernels/gaussian_blur/launch.hpp"
#include "kernels/gaussian_blur/pixel.cuh"
#include "kernels/gaussian_blur/plan/window.hpp"

#include <algorithm>
#include <iterator>

namespace heddle::kernels::gaussian_blur {
namespace {

struct tile {
    static constexpr int threads = 128;
    static constexpr int rows = 64;  ///< that a thread writes
    static constexpr int batch = 8;  ///< rows under way
    static constexpr int radius_step = 4;
};

/// The taps, in the last places: a radius may be smaller than the compiled one.
template <int radius>
struct last_taps {
    float weights[2 * radius + 1];
};

template <class T, int most_radius>
__global__ void __launch_bounds__(tile::threads)
    along_y(const __grid_constant__ arguments<T> a, const __grid_constant__ last_taps<most_radius> taps,
            const intermediate_image between) {
    __shared__ std::int64_t window_rows[tile::rows + 2 * most_radius];
    const int radius = a.taps_y.radius;
    const image_view<T>& destination = a.destination.first;
    const std::int64_t x = std::int64_t{blockIdx.x} * tile::threads + threadIdx.x;
    const std::int64_t tiles = (destination.height + tile::rows - 1) / tile::rows;

    for (std::int64_t i = blockIdx.y; i < a.destination.count * tiles; i += gridDim.y) {
        const std::int64_t image = i / tiles;
        const std::int64_t top = i % tiles * tile::rows;
        const int outputs = static_cast<int>(min(std::int64_t{tile::rows}, destination.height - top));
        const int inputs = outputs + 2 * radius;
        ptx::sync_threads();
        for (int row = static_cast<int>(threadIdx.x); row < inputs; row += tile::threads) {
            const std::int64_t y = source_index(a.y + top - radius + row, a.source.first.height, a.border);
            window_rows[row] = y < 0 ? -1 : between.row_of(y) * between.stride;
        }
        ptx::sync_threads();
        if (x >= destination.width * destination.channels) continue;

        const float* column = a.intermediate + image * between.rows * between.stride + x;
        T* out = destination.data + image * a.destination.stride + top * destination.row_stride + x;
        float sums[2 * most_radius + 1] = {};
        for (int first = 0; first < inputs; first += tile::batch) {
            float loaded[tile::batch];
#pragma unroll
            for (int b = 0; b < tile::batch; ++b) {
                const std::int64_t at = window_rows[min(first + b, inputs - 1)];
                loaded[b] = at < 0 ? to_float(a.border_value) * a.taps_x.sum : column[at];
            }
#pragma unroll
            for (int b = 0; b < tile::batch; ++b) {
                if (first + b >= inputs) break;
                constexpr int least = least_radius(most_radius, tile::radius_step);
                const float complete = filter_column<most_radius, 0, 2 * most_radius, least>(
                    loaded[b], taps.weights, sums, radius);
                if (first + b < 2 * radius) continue;
                *out = from_float<T>(complete);
                out += destination.row_stride;
            }
        }
    }
}

}  // namespace

two_pass_plan plan_register_window(const filter_facts& p, const device_traits& device) {
    const intermediate_image between = intermediate_of(p);
    const std::int64_t tiles = divide_up(p.height, tile::rows) * p.images;
    return {.between = between,
            .scratch_bytes = scratch_bytes_between(p),
            .along_x = grid_along_x(p, between, device),
            .along_y = {.blocks = {divide_up(p.row_values(), tile::threads), std::min(tiles, max_grid_y)},
                        .threads = {tile::threads}},
            .us = predicted_us("register_window", device,
                               work_of_two_passes(p, between, columns_along_x, tile::threads, device))};
}

template <class T>
void launch_register_window(const two_pass_plan& plan, const arguments<T>& a, cudaStream_t stream) {
    launch_along_x(plan, a, stream);
    constexpr int step = tile::radius_step;
    with_radius<step, max_window_radius, step>(compiled_radius(a.taps_y.radius, step), [&]<int radius>() {
        last_taps<radius> taps{};
        std::ranges::copy_backward(a.taps_y.weights(), std::end(taps.weights));
        launch(config_of(plan.along_y, stream), along_y<T, radius>, a, taps, plan.between);
    });
}

template void launch_register_window(const two_pass_plan&, const arguments<float>&, cudaStream_t);
template void launch_register_window(const two_pass_plan&, const arguments<half>&, cudaStream_t);
template void launch_register_window(const two_pass_plan&, const arguments<std::uint16_t>&, cudaStream_t);
template void launch_register_window(const two_pass_plan&, const arguments<std::uint8_t>&, cudaStream_t);

}  // namespace heddle::kernels::gaussian_blur
