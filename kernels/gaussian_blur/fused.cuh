#pragma once

#include "kernels/device/border.cuh"
#include "kernels/device/vector.cuh"
#include "kernels/gaussian_blur/launch.hpp"
#include "kernels/gaussian_blur/march.hpp"
#include "kernels/gaussian_blur/pixel.cuh"
#include "kernels/gaussian_blur/round_up.cuh"
#include <heddle/error.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace heddle::kernels::gaussian_blur {

template <class T, int channels, int radius>
struct tile {
    static constexpr int threads = 128;  ///< at most: narrow images take fewer
    static constexpr int halo = radius * channels;
    static constexpr int halo_vectors = (halo + 3) / 4;

    /// Vectors of four values that a thread owns: more where the sums still fit the registers.
    static constexpr int vectors = [] {
        if (channels == 3) return radius <= 4 ? 3 : 1;
        if (channels == 4 || sizeof(T) < 4) return radius <= 5 ? 2 : 1;
        return 1;
    }();
    static constexpr int values = 4 * vectors;

    /// Rows that are fetched and staged at a time.
    static constexpr int rows = (vectors == 3 || (sizeof(T) == 4 && vectors * radius > 5)) ? 2 : 4;

    /// Where vector v of a row lies in shared memory: for two vectors a thread, first the even ones, then,
    /// half the banks further, the odd ones.
    static constexpr int row_vectors = threads * vectors + 2 * halo_vectors;
    static constexpr int odd_vectors = round_up(row_vectors / 2, 8) + 4;
    static constexpr int pitch = vectors == 2 ? 2 * odd_vectors : row_vectors;
    __device__ static int place(int v) { return vectors == 2 ? (v & 1) * odd_vectors + (v >> 1) : v; }

    /// The halos' vectors of a stage are shared out, at most one to a thread.
    static constexpr int halo_loads_per_row = std::max(1, 2 * halo_vectors);
    static constexpr int halo_loads = rows * halo_loads_per_row;
    static constexpr int min_threads = round_up(halo_loads, 32);
    static_assert(min_threads <= threads);

    struct shared_storage {
        float4 stages[2][rows][pitch];
        int columns[4 * row_vectors];
        std::int64_t border_rows[2 * radius + 1];
    };

    /// Rows that are filtered side by side: more than one where few sums leave the registers for it.
    static constexpr int unroll = radius * values <= 8 ? 2 : 1;

    /// What the registers allow: sums, a row's results, the rows under way, and the rest as compiled.
    static constexpr int registers = 2 * radius * values + values +
                                     rows * values * static_cast<int>(sizeof(T)) / 4 +
                                     (vectors == 1   ? 36
                                      : vectors == 2 ? 48
                                                     : 60) +
                                     4 * (unroll - 1);
    static constexpr int blocks_per_sm =
        std::clamp(65536 / threads / round_up(registers, 8), 2, 2048 / threads);

    /// Values that one load or store moves.
    static constexpr int packet = sizeof(T) < 4 && vectors == 2 ? 8 : 4;
};

template <class T, int radius>
struct parameters {
    const T* source;  ///< its first image, where the destination's pixel (0, 0) stands
    T* destination;
    std::int64_t source_stride;
    std::int64_t source_image;
    std::int64_t destination_stride;
    std::int64_t destination_image;
    std::int64_t height;  ///< of the destination
    std::int64_t above;   ///< rows of the source above its place
    std::int64_t source_height;
    int row_values;
    int left;  ///< pixels of the source left of its place
    int source_width;
    unsigned strips;
    unsigned segments;
    int rows_per_block;
    heddle::border border;
    T border_value;
    bool aligned_loads;
    bool aligned_stores;
    float taps_x[2 * radius + 1];
    float taps_y[2 * radius + 1];
};

/// Of a column or a row: the border's constant.
inline constexpr int outside = std::numeric_limits<int>::min();

/// What one instruction loads or stores.
template <class T, int packet>
struct alignas(packet * sizeof(T)) aligned_quads {
    quad<T> quads[packet / 4];
};

/// Full vectors leave as what nobody reads again soon: a large image would only drive its own source out of L2.
template <class Vector>
__device__ void store(Vector* to, const Vector& values) {
    if constexpr (sizeof(Vector) == sizeof(float4))
        __stcs(reinterpret_cast<float4*>(to), *reinterpret_cast<const float4*>(&values));
    else
        *to = values;
}

/// `size` neighbouring values from an aligned address.
template <int size, int packet, class T>
__device__ void load(quad<T> (&values)[size / 4], const T* from) {
#pragma unroll
    for (int i = 0; i < size / packet; ++i) {
        const auto loaded = reinterpret_cast<const aligned_quads<T, packet>*>(from)[i];
#pragma unroll
        for (int q = 0; q < packet / 4; ++q) values[i * packet / 4 + q] = loaded.quads[q];
    }
}

/// The same from element x of a row on, wherever it is. Where they are not all inside of the image, `columns`
/// tells for each the element that stands for it, or `outside`; a null row is all border.
template <int size, int packet, class T, class Parameters>
__device__ void fetch(quad<T> (&values)[size / 4], const T* row, int x, bool is_inside, const int* columns,
                      const Parameters& p) {
    if (is_inside && row != nullptr && p.aligned_loads) return load<size, packet>(values, row + x);
#pragma unroll
    for (int i = 0; i < size; ++i) {
        const int column = row == nullptr ? outside : is_inside ? x + i : columns[i];
        values[i / 4].set(i % 4, column == outside ? p.border_value : row[column]);
    }
}

/// The pass along x of a thread's values: `row` is the thread's place in the row's shared memory.
template <class tile, int channels, int radius>
__device__ void filter_row(const float4* row, const float* taps, float (&h)[tile::values]) {
#pragma unroll
    for (int v = 0; v < tile::vectors + 2 * tile::halo_vectors; ++v) {
        const float4 loaded = row[tile::place(v)];
        const float inputs[4] = {loaded.x, loaded.y, loaded.z, loaded.w};
#pragma unroll
        for (int e = 0; e < 4; ++e) {
#pragma unroll
            for (int i = 0; i < tile::values; ++i) {
                const int distance = 4 * (v - tile::halo_vectors) + e - i;
                if (distance % channels != 0 || distance < -tile::halo || distance > tile::halo) continue;
                const float tap = taps[radius + distance / channels];
                h[i] = distance == -tile::halo ? tap * inputs[e] : fmaf(tap, inputs[e], h[i]);
            }
        }
    }
}

/// The pass along y: adds a row to all sums and gives the one that is complete.
template <int radius>
__device__ float filter_column(float h, const float* taps, float (&sums)[2 * radius + 1]) {
    sums[2 * radius] = 0;
    const float complete = fmaf(taps[2 * radius], h, sums[0]);
#pragma unroll
    for (int i = 0; i < 2 * radius; ++i) sums[i] = fmaf(taps[2 * radius - 1 - i], h, sums[i + 1]);
    return complete;
}

template <class T, int channels, int radius>
__global__ void __launch_bounds__(tile<T, channels, radius>::threads,
                                  tile<T, channels, radius>::blocks_per_sm)
    fused(const __grid_constant__ parameters<T, radius> p) {
    using tile = tile<T, channels, radius>;
    __shared__ typename tile::shared_storage shared;
    int* columns = shared.columns;
    std::int64_t* border_rows = shared.border_rows;

    const int thread = static_cast<int>(threadIdx.x);
    const int threads = static_cast<int>(blockDim.x);
    const int strip = static_cast<int>(blockIdx.x % p.strips);
    const std::int64_t image = blockIdx.x / p.strips / p.segments;
    const std::int64_t top = std::int64_t{blockIdx.x / p.strips % p.segments} * p.rows_per_block;
    const int outputs = static_cast<int>(min(std::int64_t{p.rows_per_block}, p.height - top));
    const int inputs = outputs + 2 * radius;
    const std::int64_t first_row = p.above + top - radius;
    const T* source = p.source + image * p.source_image;
    // Values that the source has left and right of where the destination's rows begin.
    const int row_begin = -p.left * channels;
    const int row_end = (p.source_width - p.left) * channels;

    // This thread's values, and its vector of the halo: which row of a stage, which vector of that row.
    const int strip_begin = strip * threads * tile::values;
    const int strip_end = strip_begin + threads * tile::values;
    const int window_begin = strip_begin - 4 * tile::halo_vectors;
    const int x = strip_begin + thread * tile::values;
    const bool is_inside = x + tile::values <= row_end;
    const bool is_plain = is_inside && p.aligned_loads;  // then rows inside of the image need no look-ups
    const bool has_outputs = x < p.row_values;
    const bool is_whole = x + tile::values <= p.row_values && p.aligned_stores;
    const int halo_row = thread / tile::halo_loads_per_row;
    const int halo_vector = [&] {
        const int v = thread % tile::halo_loads_per_row;
        return v < tile::halo_vectors ? v : v + threads * tile::vectors;
    }();
    const int halo_x = window_begin + 4 * halo_vector;
    const bool halo_is_inside = halo_x >= row_begin && halo_x + 4 <= row_end;

    // What stands outside of the image is looked up once: the columns of a strip and the rows above and
    // below.
    if (window_begin < row_begin || strip_end + 4 * tile::halo_vectors > row_end) {
        const int window = 4 * (threads * tile::vectors + 2 * tile::halo_vectors);
        for (int i = thread; i < window; i += threads) {
            const int at = window_begin + i + tile::halo;  // not negative where it is needed
            int column = outside;
            if (at >= 0 && at < p.row_values + 2 * tile::halo) {
                const int pixel = source_index(p.left + at / channels - radius, p.source_width, p.border);
                if (pixel >= 0) column = (pixel - p.left) * channels + at % channels;
            }
            columns[i] = column;
        }
    }
    if (first_row < 0 || first_row + inputs > p.source_height) {
        for (int i = thread; i < 2 * radius; i += threads)
            border_rows[i] = source_index(i < radius ? i - radius : p.source_height + i - radius,
                                          p.source_height, p.border);
    }

    const auto source_row = [&](int input) -> const T* {
        std::int64_t y = first_row + input;
        if (y < 0)
            y = border_rows[y + radius];
        else if (y >= p.source_height)
            y = border_rows[y - p.source_height + radius];
        return y < 0 ? nullptr : source + (y - p.above) * p.source_stride;
    };

    quad<T> own[tile::rows][tile::vectors] = {};
    quad<T> halo[1] = {};
    const auto fetch_rows = [&](int first) {
        const std::int64_t y = first_row + first;
        if (is_plain && y >= 0 && y + tile::rows <= p.source_height && first + tile::rows <= inputs) {
            const T* from = source + (y - p.above) * p.source_stride + x;
#pragma unroll
            for (int i = 0; i < tile::rows; ++i, from += p.source_stride)
                load<tile::values, tile::packet>(own[i], from);
        } else {
#pragma unroll
            for (int i = 0; i < tile::rows; ++i) {
                if (first + i >= inputs) break;
                fetch<tile::values, tile::packet>(own[i], source_row(first + i), x, is_inside,
                                                  columns + (x - window_begin), p);
            }
        }
        if (tile::halo_vectors > 0 && halo_row < tile::rows && first + halo_row < inputs)
            fetch<4, 4>(halo, source_row(first + halo_row), halo_x, halo_is_inside, columns + 4 * halo_vector,
                        p);
    };

    float sums[tile::values][2 * radius + 1] = {};
    T* out = p.destination + image * p.destination_image + top * p.destination_stride + x;
    // Each round stages what the last one fetched, and the first one only fetches.
    for (int first = -tile::rows, buffer = 0; first < inputs; first += tile::rows, buffer ^= 1) {
        // The last reader of this buffer has passed the barrier of the round between.
        float4(&stage)[tile::rows][tile::pitch] = shared.stages[buffer];
        if (first >= 0) {
#pragma unroll
            for (int i = 0; i < tile::rows; ++i)
#pragma unroll
                for (int v = 0; v < tile::vectors; ++v)
                    stage[i][tile::place(tile::halo_vectors + tile::vectors * thread + v)] =
                        own[i][v].to_floats();
            if (tile::halo_vectors > 0 && halo_row < tile::rows)
                stage[halo_row][tile::place(halo_vector)] = halo[0].to_floats();
        }
        __syncthreads();
        fetch_rows(first + tile::rows);

        if (first < 0 || !has_outputs) continue;
#pragma unroll tile::unroll
        for (int i = 0; i < tile::rows; ++i) {
            if (first + i >= inputs) break;
            float h[tile::values];
            float complete[tile::values];
            filter_row<tile, channels, radius>(&stage[i][tile::place(tile::vectors * thread)], p.taps_x, h);
#pragma unroll
            for (int e = 0; e < tile::values; ++e)
                complete[e] = filter_column<radius>(h[e], p.taps_y, sums[e]);
            if (first + i < 2 * radius) continue;

            aligned_quads<T, tile::packet> results[tile::values / tile::packet];
#pragma unroll
            for (int v = 0; v < tile::vectors; ++v)
                results[4 * v / tile::packet].quads[v % (tile::packet / 4)] =
                    quad<T>::from_floats(complete + 4 * v);
            if (is_whole) {
#pragma unroll
                for (int i = 0; i < tile::values / tile::packet; ++i)
                    store(reinterpret_cast<aligned_quads<T, tile::packet>*>(out) + i, results[i]);
            } else {
#pragma unroll
                for (int e = 0; e < tile::values; ++e)
                    if (x + e < p.row_values)
                        out[e] = results[e / tile::packet].quads[e % tile::packet / 4].get(e % 4);
            }
            out += p.destination_stride;
        }
    }
}

template <class T, int channels, int radius>
void launch(const arguments<T>& a, const device_traits& device, cudaStream_t stream) {
    using tile = tile<T, channels, radius>;
    constexpr int packet_bytes = tile::packet * static_cast<int>(sizeof(T));
    const image_view<const T>& from = a.source.first;
    const image_view<T>& to = a.destination.first;
    const int row_values = static_cast<int>(to.width) * channels;
    // Strips of equal width, a whole number of warps each.
    const int most_strips = (row_values - 1) / (tile::threads * tile::values) + 1;
    const int needed = (row_values - 1) / (most_strips * tile::values) + 1;
    const int threads = std::clamp(round_up(needed, 32), tile::min_threads, tile::threads);
    const int strips = (row_values - 1) / (threads * tile::values) + 1;
    constexpr std::int64_t shared_bytes = sizeof(typename tile::shared_storage) + shared_bytes_reserved;
    const std::int64_t fit = static_cast<std::int64_t>(device.shared_memory_per_sm) / shared_bytes;
    // Four blocks of float keep DRAM busy: more would only filter more rows to start.
    constexpr int most_blocks = sizeof(T) == 4 ? std::min(tile::blocks_per_sm, 4) : tile::blocks_per_sm;
    const std::int64_t blocks_per_sm = std::clamp<std::int64_t>(fit, 1, most_blocks);
    const march m = plan_march(to.height, strips, a.destination.count, device.sm_count * blocks_per_sm,
                               2 * radius, tile::rows);
    const std::int64_t offset = a.y * from.row_stride + a.x * channels;

    parameters<T, radius> p{from.data + offset,
                            to.data,
                            from.row_stride,
                            a.source.stride,
                            to.row_stride,
                            a.destination.stride,
                            to.height,
                            a.y,
                            from.height,
                            row_values,
                            static_cast<int>(a.x),
                            static_cast<int>(from.width),
                            static_cast<unsigned>(strips),
                            m.segments,
                            m.rows_per_block,
                            a.border,
                            a.border_value,
                            is_aligned(a.source, offset, packet_bytes),
                            is_aligned(a.destination, 0, packet_bytes),
                            {},
                            {}};
    std::copy_n(a.taps_x.table, 2 * radius + 1, p.taps_x);
    std::copy_n(a.taps_y.table, 2 * radius + 1, p.taps_y);
    for_each_launch(
        a.destination.count, std::int64_t{strips} * m.segments, [&](std::int64_t first, unsigned blocks) {
            parameters<T, radius> part = p;
            part.source += first * p.source_image;
            part.destination += first * p.destination_image;
            fused<T, channels, radius><<<blocks, static_cast<unsigned>(threads), 0, stream>>>(part);
            check(cudaGetLastError());
        });
}

template <int channels, class T, int... radii>
void launch_one_of(const arguments<T>& a, const device_traits& device, cudaStream_t stream,
                   std::integer_sequence<int, radii...>) {
    ((a.taps_x.radius == radii ? launch<T, channels, radii>(a, device, stream) : void()), ...);
}

template <int channels, class T>
void launch_channels(const arguments<T>& a, const device_traits& device, cudaStream_t stream) {
    launch_one_of<channels>(a, device, stream, std::make_integer_sequence<int, max_register_radius + 1>{});
}

template <class T>
void launch_registers(const arguments<T>& a, const device_traits& device, cudaStream_t stream) {
    with_channels(a.source.first.channels,
                  [&]<int channels>() { launch_channels<channels>(a, device, stream); });
}

// Each in a file of its own.
extern template void launch_registers(const arguments<float>&, const device_traits&, cudaStream_t);
extern template void launch_registers(const arguments<half>&, const device_traits&, cudaStream_t);
extern template void launch_registers(const arguments<std::uint16_t>&, const device_traits&, cudaStream_t);
extern template void launch_registers(const arguments<std::uint8_t>&, const device_traits&, cudaStream_t);

}  // namespace heddle::kernels::gaussian_blur
