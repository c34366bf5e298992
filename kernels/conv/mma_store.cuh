#pragma once

#include "kernels/conv/epilogue.cuh"
#include "kernels/conv/launch.hpp"
#include "kernels/device/vector.cuh"

#include <cstdint>

/// Stores output from a tile of sums in shared memory.
namespace heddle::kernels::conv {

/// The offsets of the first channel of an output pixel and of its residual; -1 past the last pixel.
struct alignas(16) output_place {
    std::int64_t output, residual;
};

template <class In, class Out, class Activation>
__device__ output_place place_in(const arguments<In, Out, Activation>& a, const pixel_place& at) {
    const auto offset = [&](const auto& t) {
        return at.image * t.image_stride + at.y * t.row_stride + at.x * t.col_stride;
    };
    return {offset(a.output), offset(a.epilogue.residual)};
}

/// Applies the epilogue to neighbouring channels. Not inlined, because it is long.
template <class Out, int width>
__device__ __noinline__ vector<float, width> finished(const epilogue<Out>& e, vector<float, width> values,
                                                      vector<float, width> residual, std::int64_t channel) {
#pragma unroll
    for (int i = 0; i < width; ++i) {
        float& x = values[i];
        if (e.scale != nullptr) x *= static_cast<float>(e.scale[(channel + i) * e.scale_stride]);
        if (e.bias != nullptr) x += static_cast<float>(e.bias[(channel + i) * e.bias_stride]);
        if (e.residual_before_activation) x += residual[i];
        x = activated<Out>(e.activation, x);
        if (!e.residual_before_activation) x += residual[i];
    }
    return values;
}

/// Stores the first `channels` channels of a tile, from `channel` on. A thread stores `width` neighbouring channels, which
/// divide those of a pixel. It reads output and residual for up to four of these at once. Neighbouring sums may have
/// swapped places.
template <class tile, int width, class In, class Out>
__device__ void store_tile(const arguments<In, Out>& a, const output_place* places, const float* sums,
                           std::int64_t channel, std::int64_t channels) {
    using packet = vector<Out, width>;
    constexpr int across = tile::n / width, per_thread = tile::m * across / tile::threads,
                  together = per_thread < 4 ? per_thread : 4;
    static_assert(tile::m * across % (together * tile::threads) == 0);
#pragma unroll 1
    for (int first = threadIdx.x; first < tile::m * across; first += together * tile::threads) {
        packet old[together], residual[together];
        const auto each = [&](auto function) {
#pragma unroll
            for (int i = 0; i < together; ++i) {
                const int index = first + i * tile::threads;
                const int row = index / across, c = index % across * width;
                if (const output_place at = places[row]; at.output >= 0 && c < channels)
                    function(i, row * tile::sums_pitch + c, at, channel + c);
            }
        };
        if (a.beta != 0.0f || a.epilogue.residual.data != nullptr)
            each([&](int i, int, const output_place& at, std::int64_t k) {
                if (a.beta != 0.0f) old[i] = *reinterpret_cast<const packet*>(a.output.data + at.output + k);
                if (a.epilogue.residual.data != nullptr)
                    residual[i] =
                        *reinterpret_cast<const packet*>(a.epilogue.residual.data + at.residual + k);
            });
        each([&](int i, int from, const output_place& at, std::int64_t k) {
            const auto packet_sums = *reinterpret_cast<const vector<float, width>*>(
                sums + (width == 1 ? from ^ tile::swaps : from));
            vector<float, width> x, added;
#pragma unroll
            for (int e = 0; e < width; ++e) {
                x[e] = a.alpha * packet_sums[(e ^ tile::swaps) % width];
                if (a.beta != 0.0f) x[e] += a.beta * static_cast<float>(old[i][e]);
                added[e] = a.epilogue.residual.data != nullptr ? static_cast<float>(residual[i][e]) : 0;
            }
            if (!a.epilogue.is_identity) x = finished(a.epilogue, x, added, k);
            packet stored;
#pragma unroll
            for (int e = 0; e < width; ++e) stored[e] = static_cast<Out>(x[e]);
            *reinterpret_cast<packet*>(a.output.data + at.output + k) = stored;
        });
    }
}

/// The same with a user's function, one element at a time. `pixel` is the tile's first pixel.
template <class tile, class In, class Out, class Function>
__device__ void store_elements(const arguments<In, Out, element_function<Function>>& a, const geometry& g,
                               const float* sums, std::int64_t pixel, std::int64_t channel,
                               std::int64_t channels) {
    static_assert(tile::swaps == 0);
#pragma unroll 1
    for (int i = threadIdx.x; i < tile::m * tile::n; i += tile::threads) {
        const int row = i / tile::n, c = i % tile::n;
        if (pixel + row < g.pixels && c < channels)
            store(a, g.place_of_pixel(pixel + row), channel + c, sums[row * tile::sums_pitch + c]);
    }
}

}  // namespace heddle::kernels::conv
