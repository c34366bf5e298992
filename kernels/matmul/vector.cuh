#pragma once

#include "kernels/device/last_block.cuh"
#include "kernels/device/ptx/cluster.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/vector.cuh"
#include "kernels/matmul/element.cuh"
#include <heddle/types.hpp>

#include <cstdint>
#include <type_traits>

/// Common parts of the kernels of the rung `vector`: y (m) = A (m x k) x (k).
namespace heddle::kernels::matmul {

/// The elements of a packet of 16 bytes.
template <class T>
inline constexpr int packet_width = max_vector_bytes / static_cast<int>(sizeof(T));

/// Elements as they were read, with two of 16 bits in a register; an array of these would take a register for each.
template <class T>
struct packet {
    unsigned words[max_vector_bytes / sizeof(unsigned)];

    __device__ static packet read(const T* from) {
        const uint4 read = *reinterpret_cast<const uint4*>(from);
        return {read.x, read.y, read.z, read.w};
    }
    __device__ float operator[](int i) const {
        if constexpr (sizeof(T) == sizeof(unsigned)) return __uint_as_float(words[i]);
        const auto bits = static_cast<unsigned short>(words[i / 2] >> i % 2 * 16);
        if constexpr (std::is_same_v<T, half>) return __half2float(__ushort_as_half(bits));
        return __bfloat162float(__ushort_as_bfloat16(bits));
    }
    /// Sets element i of a packet that is still zero there.
    __device__ void set(int i, const T& element) {
        if constexpr (sizeof(T) == sizeof(unsigned))
            words[i] = reinterpret_cast<const unsigned&>(element);
        else
            words[i / 2] |= unsigned{reinterpret_cast<const unsigned short&>(element)} << i % 2 * 16;
    }
};

/// The number of elements by which the address lies after a multiple of 16 bytes.
template <class T>
__device__ int phase_of(const T* data) {
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(data) % max_vector_bytes / sizeof(T));
}

/// A row of A, or x: packets that begin at multiples of 16 bytes, and the elements before and after them. If neighbours lie
/// apart in memory, there are no packets.
template <class T>
struct line {
    static constexpr int width = packet_width<T>;
    const T* data;
    std::int64_t size;
    std::int64_t step;
    std::int64_t packets;
    int head;  ///< elements before the first packet

    __device__ line(const T* data, std::int64_t size, std::int64_t step)
        : data(data),
          size(size),
          step(step),
          packets(0),
          head(step == 1 ? (width - phase_of(data)) % width : 0) {
        if (step == 1 && size > head) packets = (size - head) / width;
    }

    __device__ const T* from_packet(std::int64_t q) const { return data + head + q * width; }
    /// The number of elements outside of packets, and the place of each.
    __device__ std::int64_t others() const { return size - packets * width; }
    __device__ std::int64_t other(std::int64_t i) const { return i < head ? i : i + packets * width; }
    __device__ float operator[](std::int64_t i) const { return static_cast<float>(data[i * step]); }
};

/// How a product is divided among blocks and threads.
struct vector_split {
    int lanes;           ///< threads along a row, or side by side along a column; a power of two
    int parts;           ///< blocks that share a row along k, neighbours in the grid
    std::int64_t share;  ///< packets, or columns, of each of these blocks
    float* sums;         ///< that they leave for one another; null if they are a cluster
    unsigned* tickets;   ///< zero between calls

    __device__ int part() const { return static_cast<int>(blockIdx.x % static_cast<unsigned>(parts)); }
    /// The number of the block's tile among the `tiles()` of C.
    __device__ std::int64_t tile() const { return blockIdx.x / static_cast<unsigned>(parts); }
    __device__ std::int64_t tiles() const { return gridDim.x / static_cast<unsigned>(parts); }
};

/// Stores an element as store() of element.cuh does, for the block's matrix of the batch.
template <class In, class Out>
__device__ void store_sum(const product<In, Out>& p, std::int64_t row, float sum) {
    if (row >= p.c.rows) return;
    Out& c = p.c.data[blockIdx.z * p.batch.c + row * p.c.row_stride];
    float result = p.beta == 0.0f ? p.alpha * sum : p.alpha * sum + p.beta * static_cast<float>(c);
    if (!p.epilogue.is_identity) result = applied(p.epilogue, result, row, 0);
    c = static_cast<Out>(result);
}
/// The block's A and x.
template <class In, class Out>
__device__ const In* matrix_of(const product<In, Out>& p) {
    return p.a.data + blockIdx.z * p.batch.a;
}
template <class In, class Out>
__device__ const In* vector_of(const product<In, Out>& p) {
    return p.b.data + blockIdx.z * p.batch.b;
}

/// All threads call this. It adds up the parts of a tile: sums[i] becomes the total for i < `count`, always in the same
/// order. `count` is a power of two up to the number of threads. Returns whether this block then has the totals. Each block
/// has room for parts * count sums in a cluster, else for as many as threads.
template <int threads>
__device__ bool add_up_parts(const vector_split& s, float* sums, int count) {
    const int thread = static_cast<int>(threadIdx.x), part = s.part();
    if (s.sums == nullptr) {
        ptx::sync_threads();
        const float own = thread < count ? sums[thread] : 0;
        ptx::cluster_arrive();  // afterwards all blocks run, and have read their own sums
        ptx::cluster_wait();
        if (thread < count) ptx::store_cluster(sums + part * count + thread, 0, own);
        ptx::cluster_arrive();
        ptx::cluster_wait();
        if (part > 0) return false;
        float sum = 0;
        if (thread < count)
            for (int other = 0; other < s.parts; ++other) sum += sums[other * count + thread];
        ptx::sync_threads();
        if (thread < count) sums[thread] = sum;
    } else {
        const std::int64_t tile = blockIdx.z * s.tiles() + s.tile();
        float* const left = s.sums + tile * s.parts * count;
        ptx::sync_threads();
        const partials_left all_left = leave([&] {
            if (thread < count) left[part * count + thread] = sums[thread];
            if (thread < count && count > 1)
                ptx::fence_device();  // the ticket publishes only writes of its own thread
        });
        ptx::sync_threads();
        if (!is_last_block(s.tickets + tile, static_cast<unsigned>(s.parts - 1), all_left)) return false;
        float sum = 0;
#pragma unroll 4
        for (int at = thread; at < s.parts * count; at += threads) sum += __ldcg(left + at);
        sums[thread] = sum;
        for (int half = threads / 2; half >= count; half /= 2) {
            ptx::sync_threads();
            if (thread < half) sums[thread] += sums[thread + half];
        }
    }
    ptx::sync_threads();
    return true;
}

}  // namespace heddle::kernels::matmul
