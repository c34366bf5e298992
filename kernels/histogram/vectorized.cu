// vectorized: a column of counts for every lane, so that the lanes of a warp never meet, and 16-byte loads.
//
//   columns:          lane 0   lane 1   ...   lane 31       256 bins: 32 KB
//            bin 0    bank 0   bank 1         bank 31
//            bin 1    bank 0   bank 1         bank 31
//            ...
//
// The 32 additions of a warp go to 32 banks whatever the data is: data of one value takes no longer than random
// data. Only warps of one block meet, and they take turns anyway. With more bins there is room for fewer
// columns, and lanes of one column may meet. At the end a thread adds up the counts of a bin and adds the sum to
// global memory. Each thread starts at another column.
//
// It needs stride 1, and at most as many bins as 48 KB hold. Elements outside the whole packets are taken one by one.
// The limit is shared memory's rate of atomic additions for bytes, and DRAM for floats.

#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/atomic.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/vector.cuh"
#include "kernels/device/warp.hpp"
#include "kernels/histogram/bin.cuh"
#include "kernels/histogram/launch.hpp"
#include "kernels/histogram/plan/blocks.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace heddle::kernels::histogram {
namespace {

struct tile {
    static constexpr int threads = 1024;
    static constexpr int blocks_per_sm = 2;
    static constexpr int unroll = 2;  ///< packets that a thread loads at once
    static constexpr int most_columns = warp_size;
    static constexpr int columns_bytes = 32 << 10;  ///< most bytes of counts with several columns
};

int columns_for(int bins) {
    int columns = tile::most_columns;
    while (columns > 1 && bins * columns * static_cast<int>(sizeof(unsigned)) > tile::columns_bytes)
        columns /= 2;
    return columns;
}

/// Bytes are loaded as words: it takes fewer instructions to extract them from these.
template <class T>
using packet_of = std::conditional_t<sizeof(T) == 1, vector<std::uint32_t, 4>, vector<T, 4>>;

/// Bytes have 256 bins, so there is room for all 32 columns. The row of a byte's bin begins at its value times 128
/// bytes, which takes one shift and one mask.
__device__ void count_packet(unsigned* own, const vector<std::uint32_t, 4>& words, const range&, int, int) {
    static_assert(tile::most_columns * sizeof(unsigned) == 1 << 7);
#pragma unroll
    for (int i = 0; i < 16; ++i) {
        const int shift = 8 * (i % 4) - 7;
        const std::uint32_t word = words[i / 4];
        const std::uint32_t row = (shift < 0 ? word << -shift : word >> shift) & (0xff << 7);
        ptx::atomic_add(reinterpret_cast<unsigned*>(reinterpret_cast<std::byte*>(own) + row), 1u);
    }
}

__device__ void count_packet(unsigned* own, const vector<float, 4>& packet, const range& range, int bins,
                             int columns) {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
        const int bin = bin_of(packet[e], range, bins);
        if (bin >= 0) ptx::atomic_add(own + bin * columns, 1u);
    }
}

template <class T>
__global__ void __launch_bounds__(tile::threads, tile::blocks_per_sm)
    vectorized(const __grid_constant__ arguments<T> a, int head, std::int64_t packets, int columns) {
    constexpr int width = max_vector_bytes / sizeof(T);
    using packet = packet_of<T>;
    extern __shared__ unsigned counts[];
    const int thread = static_cast<int>(threadIdx.x);
    for (int i = thread; i < a.bins * columns; i += tile::threads) counts[i] = 0;
    ptx::sync_threads();

    unsigned* own = counts + thread % columns;
    const auto count = [&](T x) {
        const int bin = bin_of(x, a.range, a.bins);
        if (bin >= 0) ptx::atomic_add(own + bin * columns, 1u);
    };
    const auto* body = reinterpret_cast<const packet*>(a.x.data + head);
    const std::int64_t step = std::int64_t{gridDim.x} * tile::threads;
    const std::int64_t first = std::int64_t{blockIdx.x} * tile::threads + thread;
    std::int64_t i = first;
    for (; i + (tile::unroll - 1) * step < packets; i += tile::unroll * step) {
        packet loaded[tile::unroll];
#pragma unroll
        for (int u = 0; u < tile::unroll; ++u) loaded[u] = body[i + u * step];
#pragma unroll
        for (int u = 0; u < tile::unroll; ++u) count_packet(own, loaded[u], a.range, a.bins, columns);
    }
    for (; i < packets; i += step) count_packet(own, body[i], a.range, a.bins, columns);
    const std::int64_t tail = head + packets * width;
    if (first < head) count(a.x.data[first]);
    if (first < a.x.size - tail) count(a.x.data[tail + first]);
    ptx::sync_threads();

    for (int bin = thread; bin < a.bins; bin += tile::threads) {
        unsigned sum = 0;
        for (int c = 0; c < columns; ++c) sum += counts[bin * columns + (c + thread) % columns];
        if (sum > 0) ptx::atomic_add(a.counts + bin, static_cast<unsigned long long>(sum));
    }
}

}  // namespace

plan plan_vectorized(const histogram_facts& problem, const device_traits& device) {
    const std::int64_t width = max_vector_bytes / static_cast<int>(problem.element_bytes);
    const std::int64_t head = std::min(problem.size, problem.head);
    const std::int64_t packets = (problem.size - head) / width;
    const int bins = static_cast<int>(problem.bins);
    const int columns = columns_for(bins);
    return {.blocks = {blocks_for(problem.size, packets, tile::threads,
                                  std::int64_t{device.sm_count} * tile::blocks_per_sm)},
            .threads = {tile::threads},
            .shared_bytes = static_cast<std::size_t>(bins * columns) * sizeof(unsigned),
            .columns = columns,
            .head = static_cast<int>(head),
            .packets = packets};
}

template <class T>
void launch_vectorized(const plan& plan, const arguments<T>& arguments, cudaStream_t stream) {
    launch(
        {.blocks = plan.blocks, .threads = plan.threads, .shared_bytes = plan.shared_bytes, .stream = stream},
        vectorized<T>, arguments, plan.head, plan.packets, plan.columns);
}

template void launch_vectorized(const plan&, const arguments<std::uint8_t>&, cudaStream_t);
template void launch_vectorized(const plan&, const arguments<float>&, cudaStream_t);

}  // namespace heddle::kernels::histogram
