// look_back: one launch, in which x is read once and y written once (Merrill and Garland, "Single-pass parallel
// prefix scan with decoupled look-back", 2016).
//
//   a block draws the next tile's number, starts its loads and, when they have arrived,
//   tile t:  scans it -> publishes its sum -> looks back for the sum of all before it -> adds it -> y
//   warp w of a tile:  8 rows (2 where x is short) of 32 packets of 16 bytes, one a lane, one row after another in memory
//
// A tile waits for the sums of the tiles before it, not for their y. Their blocks run already, because blocks draw numbers
// in the order in which they start. Which sums a tile adds depends on its number alone (ledger.cuh), so the same call
// gives the same bits. A lane copies its packets to shared memory asynchronously, and no other lane reads them there. Where x
// does not lie like y, the lanes of a warp copy neighbouring elements of its packets.
// Shared memory keeps twice as much under way as registers would. Shuffles scan the rows, so nothing is ever
// transposed. The first blocks clear the ledger's entries while their loads are under way. So the workspace may hold
// anything, except that two counters are zero before and after. It takes any stride and address; README.md says which
// packets there are. The limit is DRAM, and below some MB the latency of the launch and of the look-back.

#include "kernels/device/launch.hpp"
#include "kernels/device/launchers.hpp"
#include "kernels/device/math.hpp"
#include "kernels/device/ptx/cp_async.cuh"
#include "kernels/device/ptx/store.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/vector.cuh"
#include "kernels/scan/launch.hpp"
#include "kernels/scan/ledger.cuh"
#include "kernels/scan/tile.cuh"
#include "kernels/scan/tuning/tuning.hpp"

#include <algorithm>
#include <cstddef>

namespace heddle::kernels::scan {
namespace {

template <class T, int packet_width, int rows_of_warp = 8>
struct tile {
    static constexpr int width = packet_width;  ///< elements of a packet
    static constexpr int threads = 256;
    static constexpr int warps = threads / warp_size;
    static constexpr int rows = rows_of_warp;
    static constexpr int unroll = std::min(rows, sizeof(T) == 4 ? 4 : 2);  ///< rows whose shuffles overlap
    static constexpr int packets = threads * rows;
    static constexpr int elements = packets * width;
    static constexpr int blocks_per_sm = 5;  ///< 160 KB of packets on an SM
    static constexpr unsigned nap_ns = 50;   ///< between two looks at an entry

    static std::int64_t count(std::int64_t positions) { return divide_up(positions, elements); }
};

template <class T>
inline constexpr int widest = max_vector_bytes / sizeof(T);

/// Where x is short, tiles of few rows arrive sooner, and more blocks have one.
template <class T>
using small_tile = tile<T, widest<T>, 2>;

template <class Tile, class T>
struct shared_storage {
    vector<T, Tile::width> packets[Tile::packets];
    T of_warp[Tile::warps];
    T before;
    unsigned tile;
};

/// Each thread clears 16 bytes. `share` is the block's number among those that clear.
template <class T>
__device__ void clear_entries(const ledger<T>& ledger, unsigned share) {
    using zeros = vector<std::uint64_t, 2>;
    const std::int64_t bytes =
        scan::ledger<T>::entry_count(ledger.tile_count) * std::int64_t{sizeof(entry<T>)};
    const std::int64_t at = (std::int64_t{share} * blockDim.x + threadIdx.x) * std::int64_t{sizeof(zeros)};
    if (at < bytes) *reinterpret_cast<zeros*>(reinterpret_cast<std::byte*>(ledger.tiles) + at) = zeros{};
}

/// Returns a value that all lanes of a warp have, so that the compiler sees this: branches on it do not diverge.
template <class T>
__device__ T warp_uniform(T value) {
    return __shfl_sync(0xffffffffu, value, 0);
}

/// Element i of x is at position shift + i. Where x lies like y, x is copied in packets, elsewhere an element at a
/// time.
template <class Tile, bool copies_packets, class T>
__global__ void __launch_bounds__(Tile::threads, Tile::blocks_per_sm)
    look_back(vector_view<const T> x, vector_view<T> y, scan::kind kind, int shift, ledger<T> ledger) {
    constexpr int width = Tile::width, rows = Tile::rows;
    using packet = vector<T, width>;
    __shared__ shared_storage<Tile, T> shared;
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const int warp = warp_uniform(static_cast<int>(threadIdx.x) / warp_size);
    const bool is_alone = ledger.tile_count == 1;

    if (threadIdx.x == 0)
        shared.tile = is_alone ? 0 : ptx::atomic_increment_relaxed(ledger.ticket, ledger.tile_count - 1);
    ptx::sync_threads();
    const unsigned tile = warp_uniform(shared.tile);
    const std::int64_t first = std::int64_t{tile} * Tile::elements - shift;
    const int begin = static_cast<int>(max(-first, std::int64_t{0}));
    const int end = static_cast<int>(min(x.size - first, std::int64_t{Tile::elements}));
    const bool is_inside = begin == 0 && end == Tile::elements;
    const auto index = [&](int p) { return (warp * rows + p) * warp_size + lane; };
    // The places of copies of one element. Lanes copy neighbours, so that a sector is asked for once, and read others' copies.
    const auto place = [&](int p, int e) {
        return copies_packets ? index(p) * width + e : ((warp * rows + p) * width + e) * warp_size + lane;
    };
    T* const places = shared.packets[0].elements;
    const T* from = x.data + first * (copies_packets ? 1 : x.stride);
    T* to = y.data + first * (width == 1 ? y.stride : 1);

    if (is_inside) {
#pragma unroll
        for (int p = 0; p < rows; ++p)
            if constexpr (copies_packets)
                ptx::cp_async<sizeof(packet)>(&shared.packets[index(p)], from + index(p) * width,
                                              sizeof(packet));
            else
#pragma unroll
                for (int e = 0; e < width; ++e)
                    ptx::cp_async<sizeof(T)>(places + place(p, e), from + place(p, e) * x.stride, sizeof(T));
    } else {
        // A copy of no bytes writes zeros. All of these copies are under way together too.
#pragma unroll 2
        for (int p = 0; p < rows; ++p)
#pragma unroll
            for (int e = 0; e < width; ++e) {
                const int at = place(p, e);
                const bool is_there = at >= begin && at < end;
                ptx::cp_async<sizeof(T)>(places + at,
                                         is_there ? from + at * (copies_packets ? 1 : x.stride) : x.data,
                                         is_there ? sizeof(T) : 0);
            }
    }
    ptx::cp_async_commit_group();
    if (!is_alone) {
        if (tile < ledger.clearers) {
            clear_entries(ledger, tile);
            ptx::sync_threads();
            if (threadIdx.x == 0) ptx::add_release(ledger.cleared, 1);
        }
        if (threadIdx.x == 0)
            while (ptx::load_acquire(ledger.cleared) != ledger.clearers) ptx::nap(Tile::nap_ns);
    }
    ptx::cp_async_wait_group<0>();
    if constexpr (!copies_packets) ptx::sync_warp();

    // The part of each y that comes from its own warp goes back to shared memory: no register has to keep it.
    T of_warp{};
#pragma unroll Tile::unroll
    for (int p = 0; p < rows; ++p) {
        packet& own = shared.packets[index(p)];
        packet sums = own;
#pragma unroll
        for (int e = 1; e < width; ++e) sums[e] = plus{}(sums[e - 1], sums[e]);
        const T before = scan_row(sums[width - 1], of_warp);
        if (kind == kind::exclusive) {
#pragma unroll
            for (int e = width - 1; e > 0; --e) sums[e] = sums[e - 1];
            sums[0] = T{};
        }
#pragma unroll
        for (int e = 0; e < width; ++e) sums[e] = plus{}(before, sums[e]);
        own = sums;
    }
    if (lane == 0) shared.of_warp[warp] = of_warp;
    ptx::sync_threads();
    const block_sums<T> block = sum_warps(shared.of_warp);

    T start = block.before;
    if (!is_alone) {
        if (warp == 0) {
            const T before = scan::look_back(ledger, tile, block.all, Tile::nap_ns);
            if (lane == 0) {
                shared.before = before;
                if (tile == ledger.tile_count - 1) ptx::store_relaxed(ledger.cleared, 0);
            }
        }
        ptx::sync_threads();
        start = plus{}(shared.before, start);
    }

    if (is_inside) {
#pragma unroll
        for (int p = 0; p < rows; ++p) {
            packet sums = shared.packets[index(p)];
#pragma unroll
            for (int e = 0; e < width; ++e) sums[e] = plus{}(start, sums[e]);
            auto* at = reinterpret_cast<packet*>(to + index(p) * (width == 1 ? y.stride : width));
            if constexpr (sizeof(packet) == max_vector_bytes)
                ptx::store(at, sums);
            else
                *at = sums;
        }
    } else {
#pragma unroll 2
        for (int p = 0; p < rows; ++p)
#pragma unroll
            for (int e = 0; e < width; ++e) {
                const int at = index(p) * width + e;
                if (at >= begin && at < end)
                    to[at * (width == 1 ? y.stride : 1)] = plus{}(start, shared.packets[index(p)][e]);
            }
    }
}

/// The most additions from one element to a sum: in its tile, in the look-back, and one each for the warps before
/// and the elements before in the warp. Those among supergroups come on top.
template <class Tile, class T>
constexpr std::int64_t depth_of() {
    return block_depth(Tile::width, Tile::rows, Tile::warps) + ledger<T>::depth + 2;
}

template <class T>
std::int64_t entry_bytes(std::int64_t tiles) {
    return ledger<T>::entry_count(tiles) * std::int64_t{sizeof(entry<T>)};
}

/// A single tile has no look-back.
template <class T>
bool has_small_tiles(std::int64_t size, const device_traits& device) {
    const std::int64_t positions = size + widest<T> - 1;  // at any alignment
    const std::int64_t small = small_tile<T>::count(positions);
    return small == 1 ||
           (tile<T, widest<T>>::count(positions) > 1 &&
            small <= std::int64_t{device.sm_count} * small_tile<T>::blocks_per_sm / places_of_small_tile);
}

template <class T>
plan plan_of(const scan_facts& problem, const device_traits& device) {
    using packets = tile<T, widest<T>>;
    using elements = tile<T, 1>;
    const bool is_small = has_small_tiles<T>(problem.size, device);
    const auto count = is_small ? small_tile<T>::count : packets::count;
    plan result{.blocks = elements::count(problem.size)};
    if (problem.unit_stride) {
        result.blocks = count(problem.size + problem.misalignment);
        result.width = packets::width;
        result.shift = problem.misalignment;
        result.copies_packets = problem.x_is_alike;
        result.is_small = is_small;
    }
    const std::int64_t most_tiles =
        std::max(count(problem.size + packets::width - 1), elements::count(problem.size));
    if (most_tiles > 1) result.scratch_bytes = entry_bytes<T>(most_tiles);
    result.depth =
        std::max(depth_of<packets, T>(), depth_of<elements, T>()) + ledger<T>::start_count(most_tiles);
    return result;
}

template <class Tile, bool copies_packets, class T>
void launch(const plan& plan, const arguments<T>& arguments, cudaStream_t stream) {
    const std::int64_t tiles = plan.blocks;
    const std::int64_t bytes = entry_bytes<T>(tiles);
    constexpr std::int64_t bytes_each = Tile::threads * std::int64_t{16};
    auto* entries = reinterpret_cast<entry<T>*>(arguments.scratch);
    const ledger<T> ledger{.ticket = arguments.counters,
                           .cleared = arguments.counters + 1,
                           .tiles = entries,
                           .groups = entries + tiles,
                           .starts = entries + tiles + scan::ledger<T>::group_count(tiles),
                           .tile_count = static_cast<unsigned>(tiles),
                           .clearers = static_cast<unsigned>(divide_up(bytes, bytes_each))};
    kernels::launch({.blocks = {tiles}, .threads = {Tile::threads}, .stream = stream},
                    look_back<Tile, copies_packets, T>, arguments.x, arguments.y, arguments.kind, plan.shift,
                    ledger);
}

}  // namespace

plan plan_look_back(const scan_facts& problem, const device_traits& device) {
    return problem.element_bytes == 4 ? plan_of<float>(problem, device) : plan_of<double>(problem, device);
}

template <class T>
void launch_look_back(const plan& plan, const arguments<T>& arguments, cudaStream_t stream) {
    if (plan.width == 1)
        launch<tile<T, 1>, false>(plan, arguments, stream);
    else if (plan.is_small)
        plan.copies_packets ? launch<small_tile<T>, true>(plan, arguments, stream)
                            : launch<small_tile<T>, false>(plan, arguments, stream);
    else if (plan.copies_packets)
        launch<tile<T, widest<T>>, true>(plan, arguments, stream);
    else
        launch<tile<T, widest<T>>, false>(plan, arguments, stream);
}

HEDDLE_WIDE_TYPES(HEDDLE_LAUNCH, launch_look_back, plan, arguments)

}  // namespace heddle::kernels::scan
