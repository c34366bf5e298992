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
// global memory. Each thread starts at another column. Bins that no shared memory holds are divided into parts, and each part
// has blocks that read all of x, once from DRAM and then from L2. There are as many blocks as make the least of reading x and
// adding up their counts.
//
// It needs stride 1, and at most 2^20 bins. Elements outside the whole packets are taken one by one.
// The limit is shared memory's rate of atomic additions for bytes, and DRAM for floats; of many bins L2.

#include "kernels/device/launch.hpp"
#include "kernels/device/math.hpp"
#include "kernels/device/ptx/atomic.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/vector.cuh"
#include "kernels/device/warp.hpp"
#include "kernels/histogram/bin.cuh"
#include "kernels/histogram/launch.hpp"
#include "kernels/histogram/plan/blocks.hpp"
#include "kernels/histogram/plan/parts.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace heddle::kernels::histogram {
namespace {

struct tile {
    static constexpr int threads = parts::threads;
    static constexpr int blocks_per_sm = 2;
    static constexpr int unroll = 2;  ///< packets that a thread loads at once
    static_assert(parts::most_columns == warp_size);
};

/// The bins that a block counts, and the counts of a lane's column.
struct own_bins {
    int first;
    int count;
    int columns;
    unsigned* counts;

    /// Bins of other parts, and -1, lie outside.
    __device__ void add(int bin) const {
        const auto at = static_cast<unsigned>(bin - first);
        if (at < static_cast<unsigned>(count)) ptx::atomic_add(counts + at * columns, 1u);
    }
};

/// Bytes are loaded as words: it takes fewer instructions to extract them from these.
template <class T>
using packet_of = std::conditional_t<sizeof(T) == 1, vector<std::uint32_t, 4>, vector<T, 4>>;

/// Bytes have 256 bins, so there is room for all 32 columns. The row of a byte's bin begins at its value times 128
/// bytes, which takes one shift and one mask.
__device__ void count_packet(const own_bins& own, const vector<std::uint32_t, 4>& words, const range&, int) {
    static_assert(parts::most_columns * sizeof(unsigned) == 1 << 7);
#pragma unroll
    for (int i = 0; i < 16; ++i) {
        const int shift = 8 * (i % 4) - 7;
        const std::uint32_t word = words[i / 4];
        const std::uint32_t row = (shift < 0 ? word << -shift : word >> shift) & (0xff << 7);
        ptx::atomic_add(reinterpret_cast<unsigned*>(reinterpret_cast<std::byte*>(own.counts) + row), 1u);
    }
}

__device__ void count_packet(const own_bins& own, const vector<float, 4>& packet, const range& range,
                             int bins) {
#pragma unroll
    for (int e = 0; e < 4; ++e) own.add(bin_of(packet[e], range, bins));
}

template <class T>
__global__ void __launch_bounds__(tile::threads, tile::blocks_per_sm)
    vectorized(const __grid_constant__ arguments<T> a, int head, std::int64_t packets, int part_bins,
               int columns) {
    constexpr int width = max_vector_bytes / sizeof(T);
    using packet = packet_of<T>;
    extern __shared__ unsigned counts[];
    const int thread = static_cast<int>(threadIdx.x);
    const int first_bin = static_cast<int>(blockIdx.y) * part_bins;
    const int bins = min(part_bins, a.bins - first_bin);
    for (int i = thread; i < bins * columns; i += tile::threads) counts[i] = 0;
    ptx::sync_threads();

    const own_bins own{first_bin, bins, columns, counts + thread % columns};
    const auto* body = reinterpret_cast<const packet*>(a.x.data + head);
    const std::int64_t step = std::int64_t{gridDim.x} * tile::threads;
    const std::int64_t first = std::int64_t{blockIdx.x} * tile::threads + thread;
    std::int64_t i = first;
    for (; i + (tile::unroll - 1) * step < packets; i += tile::unroll * step) {
        packet loaded[tile::unroll];
#pragma unroll
        for (int u = 0; u < tile::unroll; ++u) loaded[u] = body[i + u * step];
#pragma unroll
        for (int u = 0; u < tile::unroll; ++u) count_packet(own, loaded[u], a.range, a.bins);
    }
    for (; i < packets; i += step) count_packet(own, body[i], a.range, a.bins);
    const std::int64_t tail = head + packets * width;
    if (first < head) own.add(bin_of(a.x.data[first], a.range, a.bins));
    if (first < a.x.size - tail) own.add(bin_of(a.x.data[tail + first], a.range, a.bins));
    ptx::sync_threads();

    // Each block begins elsewhere, so that few blocks meet at a count.
    const int rounds = divide_up(bins, tile::threads);
    int round = static_cast<int>(blockIdx.x % rounds);
    for (int i = 0; i < rounds; ++i, round = round + 1 < rounds ? round + 1 : 0) {
        const int bin = round * tile::threads + thread;
        unsigned sum = 0;
        if (bin < bins)
            for (int c = 0; c < columns; ++c) sum += counts[bin * columns + (c + thread) % columns];
        if (sum > 0) ptx::atomic_add(a.counts + first_bin + bin, static_cast<unsigned long long>(sum));
    }
}

}  // namespace

plan plan_vectorized(const histogram_facts& problem, const device_traits& device) {
    const std::int64_t width = max_vector_bytes / static_cast<int>(problem.element_bytes);
    const std::int64_t head = std::min(problem.size, problem.head);
    const std::int64_t packets = (problem.size - head) / width;
    const parts parts(problem, device);
    return {.blocks = {blocks_for(problem.size, packets, tile::threads, parts.blocks), parts.count},
            .threads = {tile::threads},
            .shared_bytes = parts.shared_bytes(),
            .shared_limit = parts.shared_limit(device),
            .part_bins = parts.bins,
            .columns = parts.columns,
            .head = static_cast<int>(head),
            .packets = packets};
}

template <class T>
void launch_vectorized(const plan& plan, const arguments<T>& arguments, cudaStream_t stream) {
    launch({.blocks = plan.blocks,
            .threads = plan.threads,
            .shared_bytes = plan.shared_bytes,
            .shared_limit = plan.shared_limit,
            .stream = stream},
           vectorized<T>, arguments, plan.head, plan.packets, plan.part_bins, plan.columns);
}

template void launch_vectorized(const plan&, const arguments<std::uint8_t>&, cudaStream_t);
template void launch_vectorized(const plan&, const arguments<float>&, cudaStream_t);

}  // namespace heddle::kernels::histogram
