#pragma once

#include "kernels/device/ptx/tensor_copy.cuh"
#include "kernels/device/warpgroup_tile.cuh"
#include "kernels/matmul/tensor_map.hpp"

#include <cstdint>

/// Tiles of float32 in shared memory, and how they come there.
namespace heddle::kernels::matmul {

/// A or B, with the rows that the tile has.
struct operand {
    CUtensorMap map{};
    bool is_shared = false;  ///< by all products of a batch
};

/// float32 as the tensor memory accelerator brings it: `extent` along m or n by `depth` along k, in boxes of 32
/// elements to a row of 128 swizzled bytes. k-major: the rows run along k.
template <int extent, int depth, bool k_major>
struct float_tile {
    static constexpr int row = swizzle_bytes / static_cast<int>(sizeof(float));
    static constexpr int rows = k_major ? extent : depth;
    static constexpr int boxes = extent * depth / (rows * row);
    static constexpr int box_bytes = rows * swizzle_bytes;
    static constexpr int bytes = boxes * box_bytes;

    /// By one thread.
    static __device__ void load_boxes(unsigned char* to, const operand& from, int position, int k, int batch,
                                      ptx::mbarrier* full) {
        const int from_batch = from.is_shared ? 0 : batch;
        ptx::arrive_and_expect(full, bytes);
        for (int box = 0; box < boxes; ++box) {
            const int x = (k_major ? k : position) + box * row;
            ptx::load_box(to + box * box_bytes, from.map, x, k_major ? position : k, from_batch, full);
        }
    }

    /// Sixteen bytes of a row; `packet` counts through the boxes.
    template <class Byte>
    static __device__ Byte* packet(Byte* begin, int r, int packet) {
        return begin + packet / 8 * box_bytes + r * swizzle_bytes + (packet % 8 ^ r % 8) * 16;
    }

    /// Where a thread reads pairs of neighbours along k. Of the swizzle it knows one half from the start, the other is a
    /// constant of the unrolled loop.
    class pairs {
      public:
        /// k is even, k < 8; position & 8 is 0.
        __device__ pairs(int position, int k)
            : offset_(k_major ? position * swizzle_bytes + (k / 4 ^ position % 8) * 16 + k % 4 * 4
                              : position / row * box_bytes + k * swizzle_bytes +
                                    (position % row / 4 ^ k) * 16 + position % 4 * 4) {}

        /// The elements (position + 8 down, k + 8 along) and the next along k; down < 2.
        __device__ float2 read(const unsigned char* tile, int down, int along) const {
            constexpr int eight_rows = 8 * swizzle_bytes, eight_elements = 32;
            if constexpr (k_major) {
                const int at =
                    (offset_ ^ along % 4 * eight_elements) + along / 4 * box_bytes + down * eight_rows;
                return *reinterpret_cast<const float2*>(tile + at);
            } else {
                const int at = (offset_ ^ down * eight_elements) + along * eight_rows;
                const int next =
                    (offset_ ^ (down * eight_elements + 16)) + along * eight_rows + swizzle_bytes;
                return {*reinterpret_cast<const float*>(tile + at),
                        *reinterpret_cast<const float*>(tile + next)};
            }
        }

      private:
        int offset_;
    };
};

/// `Tile` is its float_tile; `view` has rows as that has. Needs has_tensor_rows().
template <class Tile>
operand make_operand(const matrix_view<const float>& view, std::int64_t batches, std::int64_t batch_stride) {
    return {make_tensor_map(view, Tile::rows, Tile::row, batches, batch_stride), batch_stride == 0};
}

}  // namespace heddle::kernels::matmul
