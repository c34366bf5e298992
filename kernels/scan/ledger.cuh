#pragma once

#include "kernels/device/math.hpp"
#include "kernels/device/ptx/relaxed.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/warp_scan.cuh"
#include "kernels/scan/plus.cuh"

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace heddle::kernels::scan {

/// A sum with a flag that it is there. Both are loaded and stored at once.
template <class T>
using entry = std::conditional_t<sizeof(T) == 4, std::uint64_t, ptx::wide_word>;

template <class T>
__device__ void publish(entry<T>* at, T sum) {
    if constexpr (sizeof(T) == 4) {
        std::uint32_t bits;
        memcpy(&bits, &sum, sizeof(bits));
        ptx::store_relaxed(at, std::uint64_t{1} << 32 | bits);
    } else {
        std::uint64_t bits;
        memcpy(&bits, &sum, sizeof(bits));
        ptx::store_relaxed(at, {bits, 1});
    }
}

__device__ inline bool is_there(std::uint64_t entry) {
    return entry >> 32 != 0;
}
__device__ inline bool is_there(ptx::wide_word entry) {
    return entry.high != 0;
}

template <class T>
__device__ T sum_of(entry<T> entry) {
    T sum;
    memcpy(&sum, &entry, sizeof(sum));  // its low bytes
    return sum;
}

/// The sums that the tiles of one scan exchange. 32 tiles make a group and 32 groups a supergroup. The sum
/// before a tile is
///
///   starts[its supergroup]  +  groups before its own in it  +  tiles before it in its group
///
/// which is at most 1 + 31 + 31 entries, wherever the tile is. Which entries are added, and in which order,
/// depends on the tile's number alone. Other look-backs add whichever sums are there already.
template <class T>
struct ledger {
    unsigned* ticket;   ///< the next tile's number; zero between calls
    unsigned* cleared;  ///< blocks that have cleared their share of the entries; zero between calls
    entry<T>* tiles;    ///< the sum of each tile
    entry<T>* groups;   ///< the sum of each group, if it is full
    entry<T>* starts;   ///< the sum before each supergroup but the first
    unsigned tile_count;
    unsigned clearers;  ///< blocks that clear entries

    static constexpr unsigned fan_in = warp_size;
    /// The most additions of look_back(): 5 + 1 to a group's sum, 5 + 1 to a supergroup's, and 2. Those of a
    /// tile and those among supergroups come on top.
    static constexpr int depth = 2 * (warp_scan_depth + 1) + 2;

    __host__ __device__ static constexpr std::int64_t group_count(std::int64_t tiles) {
        return divide_up(tiles, fan_in);
    }
    __host__ __device__ static constexpr std::int64_t start_count(std::int64_t tiles) {
        return group_count(group_count(tiles));
    }
    __host__ __device__ static constexpr std::int64_t entry_count(std::int64_t tiles) {
        return tiles + group_count(tiles) + start_count(tiles);
    }
};

/// Waits until the entry of every lane that wants one is there.
template <class T>
__device__ void wait_for(entry<T>& seen, const entry<T>* at, bool is_wanted, unsigned nap_ns) {
    while (__any_sync(0xffffffffu, is_wanted && !is_there(seen))) {
        ptx::nap(nap_ns);
        if (is_wanted && !is_there(seen)) seen = ptx::load_relaxed(at);
    }
}

/// Returns to every lane the sum of all tiles before `tile`, whose own sum is `sum`. One whole warp calls this, after every
/// entry has been cleared. It waits for tiles with smaller numbers, whose blocks run already.
template <class T>
__device__ T look_back(const ledger<T>& ledger, unsigned tile, T sum, unsigned nap_ns) {
    constexpr unsigned fan_in = scan::ledger<T>::fan_in;
    const unsigned lane = threadIdx.x % warp_size;
    const unsigned group = tile / fan_in, tile_in_group = tile % fan_in;
    const unsigned supergroup = group / fan_in, group_in_supergroup = group % fan_in;
    if (lane == 0) publish(ledger.tiles + tile, sum);

    // A lane that wants no entry loads the tile's own. The three loads are under way together.
    const bool wants_tile = lane < tile_in_group;
    const bool wants_group = lane < group_in_supergroup;
    const bool wants_start = supergroup > 0;
    const entry<T>* own = ledger.tiles + tile;
    const entry<T>* tile_at = wants_tile ? ledger.tiles + group * fan_in + lane : own;
    const entry<T>* group_at = wants_group ? ledger.groups + supergroup * fan_in + lane : own;
    const entry<T>* start_at = wants_start ? ledger.starts + supergroup : own;
    entry<T> tile_entry = ptx::load_relaxed(tile_at);
    entry<T> group_entry = ptx::load_relaxed(group_at);
    entry<T> start_entry = ptx::load_relaxed(start_at);

    wait_for<T>(tile_entry, tile_at, wants_tile, nap_ns);
    const T in_group = warp_all_reduce(wants_tile ? sum_of<T>(tile_entry) : T{}, plus{});
    const T group_sum = plus{}(in_group, sum);
    if (lane == 0 && tile_in_group == fan_in - 1) publish(ledger.groups + group, group_sum);

    wait_for<T>(group_entry, group_at, wants_group, nap_ns);
    const T in_supergroup = warp_all_reduce(wants_group ? sum_of<T>(group_entry) : T{}, plus{});

    wait_for<T>(start_entry, start_at, wants_start, nap_ns);
    const T start = wants_start ? sum_of<T>(start_entry) : T{};
    const bool ends_supergroup = tile_in_group == fan_in - 1 && group_in_supergroup == fan_in - 1;
    if (lane == 0 && ends_supergroup && tile + 1 < ledger.tile_count)
        publish(ledger.starts + supergroup + 1, plus{}(start, plus{}(in_supergroup, group_sum)));

    return plus{}(plus{}(start, in_supergroup), in_group);
}

}  // namespace heddle::kernels::scan
