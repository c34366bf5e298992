// vectorized (window): a thread takes 16 bytes of neighbouring channels of an output pixel, and the whole window.
//
//   block:  x  packets, a whole line of them     row r of the window:  | p p p |   the loads of a row of two or three
//           y  columns                                                             pixels are under way together
//           z  rows
//
// A block's windows are neighbours both ways, so their overlaps are read from L1. Sums of very many pixels are made of
// parts, so that none stops growing. Channels that do not lie in packets are taken one by one. The limit is DRAM. Where
// windows are large, a thread's loads follow one after another.

#include "kernels/device/grid.hpp"
#include "kernels/device/launch.hpp"
#include "kernels/device/launchers.hpp"
#include "kernels/device/math.hpp"
#include "kernels/device/warp.hpp"
#include "kernels/pool/launch.hpp"
#include "kernels/pool/operations.cuh"
#include "kernels/pool/vectorized.cuh"
#include <heddle/types.hpp>

#include <algorithm>
#include <cstdint>

namespace heddle::kernels::pool {
namespace {

constexpr int most_threads = 256;
constexpr std::int64_t part_pixels = 4096;

template <class Operation, int packet>
__device__ vector<float, packet> identities() {
    vector<float, packet> values;
#pragma unroll
    for (int e = 0; e < packet; ++e) values[e] = Operation::identity;
    return values;
}

/// `width` is the window's, or 0 for any width.
template <class Operation, int width, int packet, class T>
__global__ void __launch_bounds__(most_threads)
    window(const __grid_constant__ arguments<T> a, const __grid_constant__ tile_counts tiles) {
    using loaded = vector<T, packet>;
    for (std::int64_t t = blockIdx.x; t < tiles.all; t += gridDim.x) {
        const tile_place at(tiles, t);
        const std::int64_t channel = (at.chunk * blockDim.x + threadIdx.x) * packet;
        const std::int64_t x = at.across * blockDim.y + threadIdx.y, y = at.down * blockDim.z + threadIdx.z;
        if (channel >= a.output.channels || x >= a.output.width || y >= a.output.height) continue;

        const clipped_window w = window_of(a, y, x);
        auto result = identities<Operation, packet>(), part = result;
        std::int64_t pixels_of_part = 0;
        const auto count_pixels = [&](std::int64_t pixels) {
            if constexpr (!Operation::needs_parts) return;
            pixels_of_part += pixels;
            if (pixels_of_part < part_pixels) return;
            add<Operation>(result, part);
            part = identities<Operation, packet>();
            pixels_of_part = 0;
        };
        const T* row = element(a.input, at.image, w.y, w.x, channel);
        for (std::int64_t r = 0; r < w.height; ++r, row += a.input.row_stride) {
            const auto pixel = [&](std::int64_t s) {
                return *reinterpret_cast<const loaded*>(row + s * a.input.col_stride);
            };
            if constexpr (width == 0) {
                for (std::int64_t first = 0; first < w.width; first += part_pixels) {
                    const std::int64_t end = ::min(first + part_pixels, w.width);
                    for (std::int64_t s = first; s < end; ++s) add<Operation>(part, pixel(s));
                    count_pixels(end - first);
                }
            } else {
                loaded pixels[width];
#pragma unroll
                for (int s = 0; s < width; ++s)
                    if (s < w.width) pixels[s] = pixel(s);
#pragma unroll
                for (int s = 0; s < width; ++s)
                    if (s < w.width) add<Operation>(part, pixels[s]);
                count_pixels(w.width);
            }
        }
        if constexpr (Operation::needs_parts)
            add<Operation>(result, part);
        else
            result = part;
        store<Operation>(a, element(a.output, at.image, y, x, channel), result, w);
    }
}

template <class Operation, int packet, class T>
auto kernel_of(std::int64_t width) -> void (*)(arguments<T>, tile_counts) {
    if (width == 2) return window<Operation, 2, packet, T>;
    if (width == 3) return window<Operation, 3, packet, T>;
    return window<Operation, 0, packet, T>;
}

template <class Problem>
tile_counts tiles_of(const Problem& p, std::int64_t packets, const launch_extents& threads) {
    return {divide_up(packets, threads.x), divide_up(p.output.width, threads.y),
            divide_up(p.output.height, threads.z), p.output.count};
}

}  // namespace

plan plan_vectorized_window(const pool_problem& problem, const device_traits&) {
    constexpr std::int64_t most_packets = 8, most_rows = 8;
    const bool is_wide = has_packets(problem);
    const std::int64_t packets = packets_of(problem);
    launch_extents threads{power_at_least(packets, is_wide ? most_packets : warp_size)};
    threads.z = power_at_least(problem.output.height, std::min(most_rows, most_threads / threads.x));
    threads.y = power_at_least(problem.output.width, most_threads / (threads.x * threads.z));
    threads.x = power_at_least(packets, most_threads / (threads.y * threads.z));
    return {.blocks = std::min(tiles_of(problem, packets, threads).all, max_grid_x),
            .threads = threads,
            .has_packets = is_wide};
}

template <class T>
void launch_vectorized_window(const plan& plan, const arguments<T>& a, cudaStream_t stream) {
    const auto run = [&]<class Operation, int packet>() {
        launch({.blocks = {plan.blocks}, .threads = plan.threads, .stream = stream},
               kernel_of<Operation, packet, T>(a.geometry.window.x), a,
               tiles_of(a, a.output.channels / packet, plan.threads));
    };
    const auto run_packets = [&]<int packet>() {
        if (a.mode == pool_mode::max)
            run.template operator()<largest, packet>();
        else
            run.template operator()<mean, packet>();
    };
    if (plan.has_packets)
        run_packets.template operator()<packet_of<T>>();
    else
        run_packets.template operator()<1>();
}

HEDDLE_LAUNCHES(launch_vectorized_window, plan, arguments)

}  // namespace heddle::kernels::pool
