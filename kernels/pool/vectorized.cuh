#pragma once

#include "kernels/device/index_division.cuh"
#include "kernels/device/ptx/store.cuh"
#include "kernels/device/vector.cuh"
#include "kernels/pool/launch.hpp"

#include <cstdint>

/// Parts that the kernels of `vectorized` share.
namespace heddle::kernels::pool {

template <class T>
inline constexpr int packet_of = max_vector_bytes / static_cast<int>(sizeof(T));

/// Whether each pixel of both tensors has whole packets.
inline bool has_packets(const pool_problem& p) {
    const auto is_whole = [](std::int64_t extent, std::int64_t stride, std::int64_t bytes) {
        return extent <= 1 || stride * bytes % max_vector_bytes == 0;
    };
    const auto has = [&](const tensor_layout& t) {
        return t.channels * t.element_bytes % max_vector_bytes == 0 &&
               t.alignment() % max_vector_bytes == 0 && is_whole(t.width, t.col_stride, t.element_bytes) &&
               is_whole(t.height, t.row_stride, t.element_bytes) &&
               is_whole(t.count, t.image_stride, t.element_bytes);
    };
    return has(p.input) && has(p.output);
}

inline std::int64_t packets_of(const pool_problem& p) {
    return has_packets(p) ? p.output.channels * p.output.element_bytes / max_vector_bytes : p.output.channels;
}

/// Counts the tiles of the output. The tiles of one pixel's channels follow each other.
struct tile_counts {
    std::int64_t all;
    index_division by_chunks, by_across, by_down;

    __host__ tile_counts(std::int64_t chunks, std::int64_t across, std::int64_t down, std::int64_t images)
        : all(chunks * across * down * images),
          by_chunks(chunks, all),
          by_across(across, across * down * images),
          by_down(down, down * images) {}
};

struct tile_place {
    std::int64_t image, down, across, chunk;

    __device__ tile_place(const tile_counts& counts, std::int64_t i) {
        const std::int64_t place = counts.by_chunks.quotient(i), row = counts.by_across.quotient(place);
        image = counts.by_down.quotient(row);
        down = row - image * counts.by_down.divisor;
        across = place - row * counts.by_across.divisor;
        chunk = i - place * counts.by_chunks.divisor;
    }
};

template <class Operation, class T, int packet>
__device__ void add(vector<float, packet>& to, const vector<T, packet>& from) {
#pragma unroll
    for (int e = 0; e < packet; ++e) to[e] = Operation::combine(to[e], static_cast<float>(from[e]));
}

template <class Operation, class T, int packet>
__device__ void store(const arguments<T>& a, T* to, const vector<float, packet>& values,
                      const clipped_window& w) {
    vector<T, packet> stored;
#pragma unroll
    for (int e = 0; e < packet; ++e) stored[e] = static_cast<T>(Operation::finish(values[e], a, w));
    ptx::store(reinterpret_cast<vector<T, packet>*>(to), stored);
}

template <class T>
__device__ T* element(const tensor_view<T>& t, std::int64_t image, std::int64_t y, std::int64_t x,
                      std::int64_t channel) {
    return t.data + image * t.image_stride + y * t.row_stride + x * t.col_stride + channel;
}

}  // namespace heddle::kernels::pool
