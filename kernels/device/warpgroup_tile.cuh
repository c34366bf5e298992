#pragma once

#include "kernels/device/math.hpp"
#include "kernels/device/ptx/tensor_copy.cuh"
#include "kernels/device/ptx/wgmma.cuh"

#include <cstdint>

namespace heddle::kernels {

inline constexpr int warpgroup_threads = 128;
inline constexpr int warpgroup_m = 64;  ///< rows of a wgmma instruction

/// The bytes of a swizzled row in shared memory. Its 16-byte packet p of row r lies at p ^ r % 8, so the packets of a
/// column of eight rows are in different banks. Tiles begin at multiples of eight rows.
constexpr int swizzle_bytes = 128;

/// A tile of an operand of wgmma in shared memory. It has `extent` elements along m (for A) or n (for B). Along k it has as
/// many as a row of 128 bytes. If k-major, rows run along k. Otherwise there is a row for each k, which runs along m or n,
/// and longer extents take several boxes.
template <class T, int extent, bool k_major>
struct warpgroup_tile {
    static constexpr int row = swizzle_bytes / sizeof(T);
    static constexpr int depth = row;
    static constexpr int boxes =
        divide_up(extent, row);  ///< where the tile is not k-major; the last box may reach past the extent
    static constexpr int bytes = (k_major ? extent : boxes * row) * depth * static_cast<int>(sizeof(T));
    static constexpr int box_rows = k_major ? extent : depth;
    static constexpr int box_bytes = box_rows * swizzle_bytes;
    static constexpr int step = 32 / sizeof(T);  ///< elements along k of one instruction

    /// Starts the copy of part `part` of `parts`, to every block of the cluster where there are several parts. Where the tile
    /// has several boxes, copies those of the first `count`.
    template <int parts>
    static __device__ void load(unsigned char* tile, const CUtensorMap& map, int position, int k, int batch,
                                int part, ptx::mbarrier* barrier, int count = boxes) {
        const auto copy = [&](unsigned char* to, int x, int y) {
            if constexpr (parts == 1)
                ptx::load_box(to, map, x, y, batch, barrier);
            else
                ptx::load_box_multicast(to, map, x, y, batch, barrier, (1 << parts) - 1);
        };
        if constexpr (k_major) {
            constexpr int part_rows = extent / parts;
            static_assert(part_rows * parts == extent && part_rows % 8 == 0);
            copy(tile + part * part_rows * swizzle_bytes, k, position + part * part_rows);
        } else {
#pragma unroll
            for (int box = 0; box < boxes; ++box)
                if (box % parts == part && box < count) copy(tile + box * box_bytes, position + box * row, k);
        }
    }

    /// The descriptor by which wgmma reads the tile from element `first` along m or n on.
    static __device__ std::uint64_t descriptor(const unsigned char* tile, int first) {
        const unsigned start =
            ptx::shared_address(tile) + (k_major ? first * swizzle_bytes : first / row * box_bytes);
        constexpr std::uint64_t eight_rows = 8 * swizzle_bytes;
        constexpr std::uint64_t swizzled_128 = 1;
        constexpr unsigned within_block = 0x3ffff;  // in a cluster, the bits above hold the block's rank
        return (start & within_block) >> 4 | std::uint64_t{box_bytes >> 4} << 16 | eight_rows >> 4 << 32 |
               swizzled_128 << 62;
    }

    /// The difference between the descriptors of two consecutive instructions along k.
    static constexpr std::uint64_t advance =
        (k_major ? step * static_cast<int>(sizeof(T)) : step * swizzle_bytes) >> 4;
};

}  // namespace heddle::kernels
