// grouped: for groups of few channels. A block has a tile of output pixels, and a slab of neighbouring groups.
//
//   patch, in shared memory   | x0: groups 0 1 2 ... 7 | x1: groups 0 1 2 ... 7 | ...    input of the tile's windows
//                                     \__ 4 neighbours, of one tap and one group
//   mma, a step of 16 terms     tap 0 | tap 1 | tap 2 | tap 3     of 16 pixels, times 8 outputs of that group
//
// The channels of neighbouring groups lie side by side in memory. So a slab is loaded and stored in long runs, though a
// group is only a few bytes. A step holds terms of one group only, quads of four channels, tap after tap. If filters were
// padded with zeros to several groups, infinities of other groups would become NaN. A table gives the place of each quad.
//
// Products by mma need 16 bits and a multiple of 4 channels. The others use fma, where a thread has 8 pixels of 4 outputs.
// Needs groups of at most 32 channels and outputs. What limits it: loads from shared memory, with DRAM close behind; for
// float and many channels, FMA units.

#include "kernels/conv/geometry.cuh"
#include "kernels/conv/grouped_products.cuh"
#include "kernels/conv/launch.hpp"
#include "kernels/conv/mma_store.cuh"
#include "kernels/conv/plan/grouped.hpp"
#include "kernels/device/launch.hpp"
#include "kernels/device/launchers.hpp"
#include "kernels/device/ptx/cp_async.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/vector.cuh"
#include <heddle/types.hpp>

#include <cstddef>
#include <cstdint>

namespace heddle::kernels::conv {
namespace {

using tile = grouped_tile;

/// Loads the input from row `top` and column `left` on, `width` channels at once, with zeros outside the image.
template <int width, class In, class Out>
__device__ void load_patch(unsigned char* patch, const arguments<In, Out>& a, const grouped_layout& l,
                           const In* image, int top, int left, int channels) {
    constexpr int bytes = width * static_cast<int>(sizeof(In));
    const int thread = static_cast<int>(threadIdx.x), across = channels / width,
              together = tile::threads / across, first = thread / across;
    const int channel = (thread - first * across) * width;
    if (first >= together) return;
    const auto height_in = static_cast<unsigned>(a.input.height),
               width_in = static_cast<unsigned>(a.input.width);
    const int first_row = first / l.patch_width;
    int y = top + first_row, x = first - first_row * l.patch_width;
    unsigned char* to =
        patch + first_row * l.patch_row + x * l.patch_pitch + channel * static_cast<int>(sizeof(In));
    const In* from = image + y * a.input.row_stride + (left + x) * a.input.col_stride + channel;
    const std::int64_t step = together * a.input.col_stride,
                       next_row = a.input.row_stride - l.patch_width * a.input.col_stride;
#pragma unroll 4
    for (int pixel = first; pixel < l.patch_height * l.patch_width; pixel += together) {
        const bool is_inside =
            static_cast<unsigned>(y) < height_in && static_cast<unsigned>(left + x) < width_in;
        if constexpr (bytes >= 4)
            ptx::cp_async<bytes>(to, from, is_inside ? bytes : 0);
        else
            *reinterpret_cast<In*>(to) = is_inside ? *from : In(0.0f);
        x += together, from += step, to += together * l.patch_pitch;
        for (; x >= l.patch_width; x -= l.patch_width, ++y)
            from += next_row, to += l.patch_row - l.patch_width * l.patch_pitch;
    }
}

/// Not inlined, because most activations are long. relu, the usual one, is short and not called here.
template <class Out>
__device__ __noinline__ float other_activation(matmul_activation activation, float x) {
    return activated<Out>(activation, x);
}

/// Stores the tile's sums as store() of epilogue.cuh does. A thread has `width` channels of every `together`-th pixel.
template <int width, class In, class Out>
__device__ void store_slab(const arguments<In, Out>& a, const grouped_work& w, const output_place* places,
                           int outputs) {
    using values = vector<float, width>;
    using packet = vector<Out, width>;
    constexpr int across = tile::n / width, together = tile::threads / across;
    const epilogue<Out>& e = a.epilogue;
    const int first = static_cast<int>(threadIdx.x) % across * width;
    if (first >= outputs) return;
    const std::int64_t channel = w.output + first;
    values scale, bias;
#pragma unroll
    for (int i = 0; i < width; ++i) {
        scale[i] = e.scale != nullptr ? static_cast<float>(e.scale[(channel + i) * e.scale_stride]) : 1;
        bias[i] = e.bias != nullptr ? static_cast<float>(e.bias[(channel + i) * e.bias_stride]) : 0;
    }
    for (int pixel = static_cast<int>(threadIdx.x) / across; pixel < w.pixels; pixel += together) {
        const output_place at = places[pixel];
        if (at.output < 0) continue;
        packet& out = *reinterpret_cast<packet*>(a.output.data + at.output + channel);
        packet old, residual, stored;
        if (a.beta != 0.0f) old = out;
        if (e.residual.data != nullptr)
            residual = *reinterpret_cast<const packet*>(e.residual.data + at.residual + channel);
        const values sums = *reinterpret_cast<const values*>(w.sums + pixel * tile::sums_pitch + first);
#pragma unroll
        for (int i = 0; i < width; ++i) {
            const float added = e.residual.data != nullptr ? static_cast<float>(residual[i]) : 0;
            float x = a.alpha * sums[i];
            if (a.beta != 0.0f) x += a.beta * static_cast<float>(old[i]);
            x = x * scale[i] + bias[i];
            if (e.residual_before_activation) x += added;
            if (e.activation == matmul_activation::relu)
                x = x < 0 ? 0 : x;
            else if (e.activation != matmul_activation::none)
                x = other_activation<Out>(e.activation, x);
            stored[i] = static_cast<Out>(e.residual_before_activation ? x : x + added);
        }
        out = stored;
    }
}

template <class Products, class In, class Out>
__global__ void __launch_bounds__(tile::threads, grouped_blocks_per_sm)
    grouped(const __grid_constant__ arguments<In, Out> a, const __grid_constant__ grouped_layout l,
            bool in_packets, bool stores_packets) {
    extern __shared__ __align__(128) unsigned char storage[];
    auto* const sums = reinterpret_cast<float*>(storage);
    auto* const places = reinterpret_cast<output_place*>(sums + tile::m * tile::sums_pitch);
    auto* const starts = reinterpret_cast<int*>(places + tile::m);
    auto* const patch = reinterpret_cast<unsigned char*>(starts + tile::m);

    // locate; blocks for slabs of the same pixels run at the same time
    const auto slabs = static_cast<unsigned>(l.slabs), across = static_cast<unsigned>(l.tiles_across),
               down = static_cast<unsigned>(l.tiles_down);
    const unsigned tile_number = blockIdx.x / slabs, line = tile_number / across, image = line / down;
    const std::int64_t group = std::int64_t{blockIdx.x - tile_number * slabs} * l.groups;
    const pixel_place first{image, std::int64_t{line - image * down} * l.height,
                            std::int64_t{tile_number - line * across} * l.width};
    const auto left = [](int most, std::int64_t n) { return static_cast<int>(::min(std::int64_t{most}, n)); };
    const grouped_work w{group * l.outputs,
                         left(l.groups, a.geometry.groups - group),
                         left(l.height, a.output.height - first.y) * l.width,
                         sums,
                         starts,
                         patch,
                         patch + l.patch_bytes};
    const int pixel = static_cast<int>(threadIdx.x), y = pixel / l.width, x = pixel - y * l.width;
    const bool is_there = pixel < w.pixels && first.x + x < a.output.width;
    places[pixel] = is_there ? place_in(a, {image, first.y + y, first.x + x}) : output_place{-1, 0};
    starts[pixel] = is_there ? y * static_cast<int>(a.geometry.stride.y) * l.patch_row +
                                   x * static_cast<int>(a.geometry.stride.x) * l.patch_pitch
                             : 0;

    // load
    const window<In> from = window_of(a, first, group);
    const auto load = [&]<int width>() {
        load_patch<width>(patch, a, l, from.image, static_cast<int>(from.y), static_cast<int>(from.x),
                          w.groups * l.channels);
    };
    if (in_packets)
        load.template operator()<max_vector_bytes / sizeof(In)>();
    else
        load.template operator()<1>();
    ptx::cp_async_commit_group();
    Products::load_filters(a, l, w, in_packets);
    ptx::cp_async_wait_group<0>();
    ptx::sync_threads();

    Products::multiply(a, l, w);
    ptx::sync_threads();
    if (stores_packets)
        store_slab<output_packet>(a, w, places, w.groups * l.outputs);
    else
        store_slab<1>(a, w, places, w.groups * l.outputs);
}

template <class Products, class In, class Out>
void launch_products(const plan& plan, const arguments<In, Out>& a, cudaStream_t stream) {
    launch({.blocks = plan.blocks,
            .threads = plan.threads,
            .shared_bytes = static_cast<std::size_t>(plan.grouped.shared_bytes()),
            .shared_limit = grouped_most_bytes,
            .stream = stream},
           grouped<Products, In, Out>, a, plan.grouped, plan.in_packets, plan.stores_packets);
}

}  // namespace

template <class In, class Out>
void launch_grouped_fma(const plan& plan, const arguments<In, Out>& a, cudaStream_t stream) {
    plan.grouped.channels % 4 == 0 ? launch_products<fma_products<4>>(plan, a, stream)
                                   : launch_products<fma_products<1>>(plan, a, stream);
}

template <class In, class Out>
void launch_grouped_mma(const plan& plan, const arguments<In, Out>& a, cudaStream_t stream) {
    const int outputs = plan.grouped.outputs;
    outputs > 16  ? launch_products<mma_products<4>>(plan, a, stream)
    : outputs > 8 ? launch_products<mma_products<2>>(plan, a, stream)
                  : launch_products<mma_products<1>>(plan, a, stream);
}

HEDDLE_LAUNCHES_OF_PAIRS(launch_grouped_fma, plan, arguments)
template void launch_grouped_mma(const plan&, const arguments<half, half>&, cudaStream_t);
template void launch_grouped_mma(const plan&, const arguments<half, float>&, cudaStream_t);
template void launch_grouped_mma(const plan&, const arguments<bfloat16, bfloat16>&, cudaStream_t);
template void launch_grouped_mma(const plan&, const arguments<bfloat16, float>&, cudaStream_t);

}  // namespace heddle::kernels::conv
