// vectorized (block): a block has some packets of one output pixel, and shares its window out to its threads.
//
//   thread (x, y):   packet x of pixels y, y + Y, y + 2 Y, ... of the window, in one result
//   block:           halves of the Y results meet in shared memory until one is left, in an order that nothing changes
//
// For large windows, as of whole images. What limits it: DRAM; of one image of few channels, blocks too few for the device.

#include "kernels/device/grid.hpp"
#include "kernels/device/launch.hpp"
#include "kernels/pool/launch.hpp"
#include "kernels/pool/operations.cuh"
#include "kernels/pool/vectorized.cuh"
#include <heddle/types.hpp>

#include <algorithm>
#include <cstdint>

namespace heddle::kernels::pool {
namespace {

constexpr int most_threads = 256;

/// Pixels `first`, `first` + `step`, ... of a window.
template <class Operation, int packet, class T>
__device__ vector<float, packet> combined(const tensor_view<const T>& input, const T* from,
                                          const clipped_window& w, std::int64_t first, std::int64_t step) {
    vector<float, packet> result;
#pragma unroll
    for (int e = 0; e < packet; ++e) result[e] = Operation::identity;
    if (w.width == 0) return result;
    const std::int64_t rows = step / w.width, cols = step - rows * w.width;
    std::int64_t r = first / w.width, s = first - r * w.width;
    const std::int64_t count = (w.pixels() - first + step - 1) / step;
#pragma unroll 4
    for (std::int64_t i = 0; i < count; ++i) {
        const T* const pixel = from + r * input.row_stride + s * input.col_stride;
        add<Operation>(result, *reinterpret_cast<const vector<T, packet>*>(pixel));
        const bool is_next = s + cols >= w.width;
        r += rows + (is_next ? 1 : 0);
        s += cols - (is_next ? w.width : 0);
    }
    return result;
}

template <class Operation, int packet, class T>
__global__ void __launch_bounds__(most_threads)
    block(const __grid_constant__ arguments<T> a, const __grid_constant__ tile_counts tiles) {
    using values = vector<float, packet>;
    __shared__ values shared[most_threads];
    for (std::int64_t t = blockIdx.x; t < tiles.all; t += gridDim.x) {
        const tile_place at(tiles, t);
        const std::int64_t channel = (at.chunk * blockDim.x + threadIdx.x) * packet;
        const bool is_inside = channel < a.output.channels;
        const clipped_window w = window_of(a, at.down, at.across);
        values result{};
        if (is_inside)
            result = combined<Operation, packet>(a.input, element(a.input, at.image, w.y, w.x, channel), w,
                                                 threadIdx.y, blockDim.y);
        values* const mine = shared + threadIdx.y * blockDim.x + threadIdx.x;
        for (unsigned rows = blockDim.y / 2; rows > 0; rows /= 2) {
            __syncthreads();  // all have read what was there
            if (threadIdx.y >= rows && threadIdx.y < 2 * rows) *mine = result;
            __syncthreads();
            if (threadIdx.y < rows) add<Operation>(result, mine[rows * blockDim.x]);
        }
        if (is_inside && threadIdx.y == 0)
            store<Operation>(a, element(a.output, at.image, at.down, at.across, channel), result, w);
    }
}

}  // namespace

plan plan_block(const pool_problem& problem, const device_traits& device) {
    const tensor_layout& out = problem.output;
    const std::int64_t pixels = out.count * out.height * out.width, packets = packets_of(problem),
                       most = problem.geometry.window.y * problem.geometry.window.x;
    const bool is_wide = has_packets(problem);
    // A line of packets, and of less where blocks would be too few.
    std::int64_t x = round_up(packets, is_wide ? 8 : 32);
    while (x > 1 && pixels * divide_up(packets, x) < device.sm_count) x /= 2;
    return {.blocks = std::min(pixels * divide_up(packets, x), max_grid_x),
            .threads = {x, round_up(most, most_threads / x)},
            .has_packets = is_wide};
}

template <class T>
void launch_block(const plan& plan, const arguments<T>& a, cudaStream_t stream) {
    const auto run = [&](auto kernel, std::int64_t packet) {
        const std::int64_t chunks = divide_up(a.output.channels / packet, plan.threads.x);
        launch({.blocks = {plan.blocks}, .threads = plan.threads, .stream = stream}, kernel, a,
               tile_counts(chunks, a.output.width, a.output.height, a.output.count));
    };
    const bool is_max = a.mode == pool_mode::max;
    if (plan.has_packets)
        run(is_max ? block<largest, packet_of<T>, T> : block<mean, packet_of<T>, T>, packet_of<T>);
    else
        run(is_max ? block<largest, 1, T> : block<mean, 1, T>, 1);
}

template void launch_block(const plan&, const arguments<float>&, cudaStream_t);
template void launch_block(const plan&, const arguments<half>&, cudaStream_t);
template void launch_block(const plan&, const arguments<bfloat16>&, cudaStream_t);

}  // namespace heddle::kernels::pool
