// cached: a block counts the bins that it meets often in shared memory, and all others in global memory.
//
//   1. some of the block's elements nominate their bins:      owner[hash(bin)] = bin, the last one stays
//   2. each element asks whether its bin was nominated:       yes: counts[hash(bin)] += 1, else an addition in L2
//   3. the block adds its counts to global memory, one addition for each place that counted
//
// A frequent bin is almost surely nominated, and then costs L2 one addition per block. There are two tables with different
// hashes, so two bins that collide in one seldom collide in the other. The hash multiplies by an odd number, which spreads
// neighbouring bins and bins in equal steps alike. Without frequent bins, an element's two shared loads are in vain.
// It takes any stride and any number of bins. The limit is L2's rate of atomic additions.

#include "kernels/device/launch.hpp"
#include "kernels/device/math.hpp"
#include "kernels/device/ptx/atomic.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/histogram/bin.cuh"
#include "kernels/histogram/launch.hpp"

#include <cstdint>

namespace heddle::kernels::histogram {
namespace {

struct tile {
    static constexpr int threads = 128;
    static constexpr int items = 8;  ///< elements of a thread, all loaded at once
    static constexpr int size = threads * items;
    static constexpr int tables = 2;
    static constexpr int place_bits = 8;
    static constexpr int places = 1 << place_bits;  ///< per table
};

struct shared_storage {
    static constexpr int none = -1;
    int owner[tile::tables * tile::places];
    unsigned counts[tile::tables * tile::places];
};

__device__ int place_of(int bin, int table) {
    const std::uint32_t factor = table == 0 ? 0x9e3779b1u : 0x85ebca6bu;
    return table * tile::places +
           static_cast<int>(static_cast<std::uint32_t>(bin) * factor >> (32 - tile::place_bits));
}

template <class T>
__global__ void __launch_bounds__(tile::threads) cached(const __grid_constant__ arguments<T> a) {
    __shared__ shared_storage shared;
    const int thread = static_cast<int>(threadIdx.x);
    const std::int64_t first = std::int64_t{blockIdx.x} * tile::size;
    const int left = static_cast<int>(min(a.x.size - first, std::int64_t{tile::size}));
    const T* x = a.x.data + first * a.x.stride;

    T elements[tile::items];
#pragma unroll
    for (int i = 0; i < tile::items; ++i) {
        const int at = i * tile::threads + thread;
        if (at < left) elements[i] = x[at * a.x.stride];
    }
    for (int place = thread; place < tile::tables * tile::places; place += tile::threads) {
        shared.owner[place] = shared_storage::none;
        shared.counts[place] = 0;
    }
    ptx::sync_threads();

    int bins[tile::items];
#pragma unroll
    for (int i = 0; i < tile::items; ++i)
        bins[i] = i * tile::threads + thread < left ? bin_of(elements[i], a.range, a.bins) : -1;
#pragma unroll
    for (int table = 0; table < tile::tables; ++table) {
        const int bin = bins[table * tile::items / tile::tables];
        if (bin >= 0) ptx::atomic_exchange(shared.owner + place_of(bin, table), bin);
    }
    ptx::sync_threads();

    int places[tile::items];
#pragma unroll
    for (int i = 0; i < tile::items; ++i) {
        const int first_place = place_of(bins[i], 0), second_place = place_of(bins[i], 1);
        const bool is_first = shared.owner[first_place] == bins[i];
        const bool is_second = shared.owner[second_place] == bins[i];
        places[i] = is_first ? first_place : is_second ? second_place : -1;
    }
#pragma unroll
    for (int i = 0; i < tile::items; ++i) {
        if (bins[i] < 0) continue;
        if (places[i] >= 0)
            ptx::atomic_add(shared.counts + places[i], 1u);
        else
            ptx::atomic_add(a.counts + bins[i], 1ull);
    }
    ptx::sync_threads();

    for (int place = thread; place < tile::tables * tile::places; place += tile::threads)
        if (shared.counts[place] > 0)
            ptx::atomic_add(a.counts + shared.owner[place],
                            static_cast<unsigned long long>(shared.counts[place]));
}

}  // namespace

plan plan_cached(const histogram_facts& problem, const device_traits&) {
    return {.blocks = {divide_up(problem.size, tile::size)}, .threads = {tile::threads}};
}

template <class T>
void launch_cached(const plan& plan, const arguments<T>& arguments, cudaStream_t stream) {
    launch({.blocks = plan.blocks, .threads = plan.threads, .stream = stream}, cached<T>, arguments);
}

template void launch_cached(const plan&, const arguments<std::uint8_t>&, cudaStream_t);
template void launch_cached(const plan&, const arguments<float>&, cudaStream_t);

}  // namespace heddle::kernels::histogram
