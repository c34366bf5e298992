// kn2row: multiplies each pixel by all taps of all filters, and then adds up what belongs to each output.
//
//   input                      shares, in float                       output
//   +---+---+---+              | filter 0: tap 0, tap 1 ... | filter 1 ... |
//   | x | y | z |   product    |  x by each tap                     |   add up     (i, k) = x by tap 0 of filter k
//   +---+---+---+   ------>    |  y by each tap                     |   ------>           + y by tap 1 + z by tap 2
//
// im2col lays out each pixel R S times, so with few filters it moves mostly copies. Here a product reads each pixel once.
// Its columns are the R S K taps, so that a single filter of 3 x 3 taps already has nine. A share is written and read once.
// A pixel of padding is a pixel of zeros. A product of zeros with the filters is computed once, as it may be NaN.
//
// Needs one group, pixels at one stride, and taps at one stride. Steps of windows waste products. What limits it: memory,
// for 4 R S K bytes of shares a pixel.

#include "kernels/conv/epilogue.cuh"
#include "kernels/conv/geometry.cuh"
#include "kernels/conv/launch.hpp"
#include "kernels/device/grid.hpp"
#include "kernels/device/index_division.cuh"
#include "kernels/device/launch.hpp"
#include "kernels/device/warp.hpp"
#include <heddle/types.hpp>

#include <algorithm>
#include <cstdint>

namespace heddle::kernels::conv {
namespace {

constexpr int threads = 256;

launch_extents blocks_for(std::int64_t count) {
    return {std::min((count - 1) / threads + 1, max_grid_x)};
}

/// A warp computes the share of zeros in a tap.
template <class In>
__global__ void __launch_bounds__(threads)
    shares_of_padding(const In* filters, std::int64_t tap_stride, std::int64_t taps, std::int64_t channels,
                      float* shares) {
    constexpr int lanes = warp_size;
    const std::int64_t first = (std::int64_t{blockIdx.x} * threads + threadIdx.x) / lanes,
                       step = std::int64_t{gridDim.x} * threads / lanes;
    const int lane = static_cast<int>(threadIdx.x) % lanes;
    for (std::int64_t tap = first; tap < taps; tap += step) {
        float sum = 0;
        for (std::int64_t c = lane; c < channels; c += lanes)
            sum = fmaf(static_cast<float>(filters[tap * tap_stride + c]), 0.0f, sum);
#pragma unroll
        for (int distance = lanes / 2; distance > 0; distance /= 2)
            sum += __shfl_xor_sync(0xffffffffu, sum, distance);
        if (lane == 0) shares[tap] = sum;
    }
}

/// A thread adds up the shares in an output. Neighbours have neighbouring channels, and then neighbouring pixels.
template <class In, class Out>
__global__ void __launch_bounds__(threads)
    add_shares(const __grid_constant__ arguments<In, Out> a, const __grid_constant__ geometry g,
               const __grid_constant__ index_division by_outputs, const float* shares, std::int64_t pitch,
               const float* of_padding) {
    const std::int64_t step = std::int64_t{gridDim.x} * threads, end = g.pixels * by_outputs.divisor;
    const int height = static_cast<int>(a.filters.height), width = static_cast<int>(a.filters.width);
    for (std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x; i < end; i += step) {
        const std::int64_t pixel = by_outputs.quotient(i), k = i - pixel * by_outputs.divisor;
        const pixel_place at = g.place_of_pixel(pixel);
        const std::int64_t top = at.y * a.geometry.stride.y - a.geometry.padding.top,
                           left = at.x * a.geometry.stride.x - a.geometry.padding.left;
        const std::int64_t image = at.image * a.input.height;
        std::int64_t tap = k * height * width;
        float sum = 0;
        for (int r = 0; r < height; ++r) {
            const std::int64_t y = top + r * a.geometry.dilation.y;
            const bool is_row = y >= 0 && y < a.input.height;
            const float* const row = shares + (image + y) * a.input.width * pitch;
#pragma unroll 4
            for (int s = 0; s < width; ++s, ++tap) {
                const std::int64_t x = left + s * a.geometry.dilation.x;
                const bool is_inside = is_row && x >= 0 && x < a.input.width;
                sum += (is_inside ? row + x * pitch : of_padding)[tap];
            }
        }
        store(a, at, k, sum);
    }
}

}  // namespace

template <class In>
void launch_shares_of_padding(const In* filters, std::int64_t tap_stride, std::int64_t taps,
                              std::int64_t channels, float* shares, cudaStream_t stream) {
    launch({.blocks = blocks_for(taps * warp_size), .threads = {threads}, .stream = stream},
           shares_of_padding<In>, filters, tap_stride, taps, channels, shares);
}

template <class In, class Out>
void launch_add_shares(const arguments<In, Out>& a, const float* shares, std::int64_t pitch,
                       const float* of_padding, cudaStream_t stream) {
    const geometry g(a);
    const std::int64_t count = g.pixels * a.output.channels;
    launch({.blocks = blocks_for(count), .threads = {threads}, .stream = stream}, add_shares<In, Out>, a, g,
           index_division(a.output.channels, count), shares, pitch, of_padding);
}

#define INSTANTIATE(In)                                                                                 \
    template void launch_shares_of_padding(const In*, std::int64_t, std::int64_t, std::int64_t, float*, \
                                           cudaStream_t);
INSTANTIATE(float)
INSTANTIATE(half)
INSTANTIATE(bfloat16)
#undef INSTANTIATE
#define INSTANTIATE(In, Out)                                                                             \
    template void launch_add_shares(const arguments<In, Out>&, const float*, std::int64_t, const float*, \
                                    cudaStream_t);
INSTANTIATE(float, float)
INSTANTIATE(half, half)
INSTANTIATE(half, float)
INSTANTIATE(bfloat16, bfloat16)
INSTANTIATE(bfloat16, float)
#undef INSTANTIATE

}  // namespace heddle::kernels::conv
