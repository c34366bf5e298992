#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace heddle::kernels::matmul {

/// A kernel for a short k, all of which lies in shared memory. Its warps have 32 x 64 of C each. Tiles of one
/// operand move, and those of the other stay.
struct stream_mma_kernel {
    std::string_view name;
    int warps;
    bool goes_across;  ///< whether tiles of B move, across C; else those of A, down C
    int blocks_per_sm;
    static constexpr int warp_m = 32, warp_n = 64;
    static constexpr int max_k_bytes = 256;
    static constexpr int staged_stride =
        warp_n + 8;  ///< floats; rows that a warp stores at once lie in different banks
    static constexpr int staged_size = 16 * staged_stride;
    static constexpr int packet_bytes = 16;

    constexpr int m() const { return goes_across ? warp_m : warps * warp_m; }
    constexpr int n() const { return goes_across ? warps * warp_n : warp_n; }
    constexpr int moving() const { return goes_across ? n() : m(); }
    constexpr int chunk() const { return goes_across ? m() : n(); }  ///< the same of the tile that stays
    constexpr int staged_bytes() const { return warps * staged_size * static_cast<int>(sizeof(float)); }
    /// The bytes of k in whole steps of an instruction.
    static constexpr int depth_bytes(int k, int element) { return (k * element + 31) / 32 * 32; }
    /// From line to line of a tile in shared memory. The gaps put lines that are read at once into different banks.
    static constexpr int line_bytes(bool by_k, int extent, int k, int element) {
        return by_k ? depth_bytes(k, element) + packet_bytes : (extent + 8) * element;
    }
    /// The bytes of a tile in either order.
    static constexpr int tile_bytes(int extent, int k, int element) {
        const int by_k = extent * line_bytes(true, extent, k, element),
                  otherwise = depth_bytes(k, element) / element * line_bytes(false, extent, k, element);
        return std::max(by_k, otherwise);
    }
    /// The bytes of a block with `chunks` tiles that stay and `buffers` tiles that move.
    constexpr int shared_bytes(int k, int element, int chunks, int buffers) const {
        return staged_bytes() + tile_bytes(chunks * chunk(), k, element) +
               buffers * tile_bytes(moving(), k, element);
    }
    /// Two blocks of it fit a multiprocessor of compute capability 9.0, unless one chunk of the largest k takes more.
    constexpr int most_shared_bytes() const {
        return std::max(113 * 1024, shared_bytes(max_k_bytes / 2, 2, 1, 2));
    }
};

}  // namespace heddle::kernels::matmul
