// im2col: copies the windows to a matrix in scratch memory, and a matrix product does the rest.
//
//   input                     A: a row per window                        output
//   +---+---+---+             | tap 0, its channels | tap 1, ... |
//   | window 0  |    copy     |  window of pixel 0               |  A B^T   row by row
//   +---+---+---+   ------>   |  window of pixel 1               | ------>
//
// So one kernel that copies makes every matmul kernel available. Each pixel is written and read R S times, which takes R S
// times the memory of the input. If filters are 1 x 1 and pixels lie like the rows of a matrix, nothing is copied. The
// product stores the output with the epilogue if matmul has that epilogue and the output is a matrix. Otherwise it stores
// float sums, from which a second kernel computes the output. Groups are separate products. Needs filters whose taps lie
// side by side. What limits it: memory.

#include "kernels/conv/epilogue.cuh"
#include "kernels/conv/geometry.cuh"
#include "kernels/conv/launch.hpp"
#include "kernels/device/grid.hpp"
#include "kernels/device/index_division.cuh"
#include "kernels/device/launch.hpp"
#include "kernels/device/vector.cuh"
#include <heddle/types.hpp>

#include <algorithm>
#include <cstdint>

namespace heddle::kernels::conv {
namespace {

constexpr int threads = 256;

launch_extents blocks_for(std::int64_t count) {
    return {std::min((count - 1) / threads + 1, max_grid_x)};
}

/// A thread copies a packet of a row: channels of one tap, or elements of several taps.
template <bool of_one_tap, class In, class Out>
__global__ void __launch_bounds__(threads)
    lay_out(const __grid_constant__ arguments<In, Out> a, const __grid_constant__ geometry g,
            const __grid_constant__ index_division by_packets, std::int64_t group, In* rows,
            std::int64_t stride) {
    constexpr int width = max_vector_bytes / static_cast<int>(sizeof(In));
    using packet = vector<In, width>;
    const std::int64_t step = std::int64_t{gridDim.x} * threads, end = g.pixels * by_packets.divisor;
    for (std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x; i < end; i += step) {
        const std::int64_t pixel = by_packets.quotient(i), j = (i - pixel * by_packets.divisor) * width;
        const window<In> from = window_of(a, g.place_of_pixel(pixel), group);
        tap_place at = g.place_of_tap(j);
        /// The address of the tap's channels; null outside the image.
        const auto channels_of_tap = [&]() -> const In* {
            const std::int64_t y = from.y + at.r * a.geometry.dilation.y,
                               x = from.x + at.s * a.geometry.dilation.x;
            const bool is_inside = y >= 0 && y < a.input.height && x >= 0 && x < a.input.width;
            return is_inside ? from.image + y * a.input.row_stride + x * a.input.col_stride : nullptr;
        };
        const In* channels = channels_of_tap();
        packet values{};
        if constexpr (of_one_tap) {
            if (channels != nullptr) values = *reinterpret_cast<const packet*>(channels + at.channel);
        } else {
#pragma unroll
            for (int e = 0; e < width; ++e) {
                if (j + e >= g.depth) break;
                if (channels != nullptr) values[e] = channels[at.channel];
                if (++at.channel < a.filters.channels) continue;
                at.channel = 0;
                if (++at.s == a.filters.width) at.s = 0, ++at.r;
                channels = channels_of_tap();
            }
        }
        *reinterpret_cast<packet*>(rows + pixel * stride + j) = values;
    }
}

template <class In, class Out>
__global__ void __launch_bounds__(threads)
    store_sums(const __grid_constant__ arguments<In, Out> a, const __grid_constant__ geometry g,
               const __grid_constant__ index_division by_outputs, const float* sums) {
    const std::int64_t step = std::int64_t{gridDim.x} * threads, end = g.pixels * by_outputs.divisor;
    for (std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x; i < end; i += step) {
        const std::int64_t pixel = by_outputs.quotient(i);
        store(a, g.place_of_pixel(pixel), i - pixel * by_outputs.divisor, sums[i]);
    }
}

}  // namespace

template <class In, class Out>
void launch_lay_out(const plan& plan, const arguments<In, Out>& a, std::int64_t group, In* rows,
                    cudaStream_t stream) {
    const geometry g(a);
    constexpr int packet = max_vector_bytes / static_cast<int>(sizeof(In));
    const auto with = [&]<bool of_one_tap>() {
        const std::int64_t packets = plan.window_stride / packet, count = g.pixels * packets;
        launch({.blocks = blocks_for(count), .threads = {threads}, .stream = stream},
               lay_out<of_one_tap, In, Out>, a, g, index_division(packets, count), group, rows,
               plan.window_stride);
    };
    plan.in_packets ? with.template operator()<true>() : with.template operator()<false>();
}

template <class In, class Out>
void launch_store_sums(const arguments<In, Out>& a, const float* sums, cudaStream_t stream) {
    const geometry g(a);
    const std::int64_t count = g.pixels * a.output.channels;
    launch({.blocks = blocks_for(count), .threads = {threads}, .stream = stream}, store_sums<In, Out>, a, g,
           index_division(a.output.channels, count), sums);
}

#define INSTANTIATE(In, Out)                                                                               \
    template void launch_lay_out(const plan&, const arguments<In, Out>&, std::int64_t, In*, cudaStream_t); \
    template void launch_store_sums(const arguments<In, Out>&, const float*, cudaStream_t);
HEDDLE_PAIRS_OF_TYPES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace heddle::kernels::conv
