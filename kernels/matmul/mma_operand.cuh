#pragma once

#include "kernels/device/ptx/cp_async.cuh"
#include "kernels/device/vector.cuh"
#include <heddle/view.hpp>

#include <cstdint>

/// How the rung mma_sync brings tiles of A and B into shared memory.
namespace heddle::kernels::matmul {

/// `extent` along m or n by k. k-major: `extent` rows along k. Otherwise rows along m or n for each k, as often as they make the
/// extent.
template <class tile, int extent, class T, bool k_major>
struct operand {
    static constexpr int packet_bytes = 16;
    static constexpr int packet = 8;                                            ///< elements
    static constexpr int row = k_major || extent > tile::k ? tile::k : extent;  ///< elements in shared memory
    static constexpr int packets = row / packet;
    static constexpr int rows_of_line = 8 / packets;  ///< of 128 bytes: all banks
    static_assert(extent % row == 0 || k_major);

    /// Packet p of row r.
    static __device__ unsigned char* packet_at(unsigned char* tile_begin, int r, int p) {
        return tile_begin + r * (row * 2) + (p ^ r / rows_of_line % packets) * packet_bytes;
    }
    /// The packet of element (position along m or n, k).
    static __device__ unsigned char* at(unsigned char* tile_begin, int position, int k) {
        return packet_at(tile_begin, k_major ? position : position / row * tile::k + k,
                         (k_major ? k : position % row) / packet);
    }

    static constexpr int of_thread = extent * tile::k / packet / tile::threads;  ///< packets

    /// Starts the copies of the tile at (position, k) of `in`, whose rows are contiguous and begin at packets.
    static __device__ void copy_async(unsigned char* tile_begin, const matrix_view<const T>& in,
                                      std::int64_t position, std::int64_t k) {
        const std::int64_t first_row = k_major ? position : k, first_col = k_major ? k : position;
        const T* const first = in.data + first_row * in.row_stride + first_col;
        const auto left = [](std::int64_t n) {
            return static_cast<int>(max(std::int64_t{0}, min(std::int64_t{extent + tile::k}, n)));
        };
        const int rows_left = left(in.rows - first_row), cols_left = left(in.cols - first_col);
#pragma unroll
        for (int i = 0; i < of_thread; ++i) {
            const int index = threadIdx.x + i * tile::threads;
            const int r = index / packets, col = index % packets * packet;
            const int p = k_major ? r : r / tile::k * row + col;
            const int kk = k_major ? col : r % tile::k;
            const int down = k_major ? p : kk, across = k_major ? kk : p;
            const int valid = down < rows_left ? max(0, min(packet, cols_left - across)) : 0;
            const T* const from = valid > 0 ? first + down * in.row_stride + across : in.data;
            ptx::cp_async<packet_bytes>(at(tile_begin, p, kk), from, valid * static_cast<int>(sizeof(T)));
        }
    }
};

/// The same where rows begin at any element: copies bring the aligned packets that cover a row, one more than it has, and what
/// is before the row is shifted out on the way from there into the tile.
template <class tile, int extent, class T, bool k_major>
class realigned_operand {
    using tile_operand = operand<tile, extent, T, k_major>;
    static constexpr int packet_bytes = tile_operand::packet_bytes, packet = tile_operand::packet;
    static constexpr int row = tile_operand::row, packets = tile_operand::packets;
    static constexpr int rows = extent * tile::k / row;
    static constexpr int rows_of_group =
        k_major ? extent : tile::k;                             ///< the next group is further along them
    static constexpr int step = tile::threads / packets;        ///< rows between a thread's packets
    static constexpr int pitch = (packets + 1) * packet_bytes;  ///< of rows that are not shifted yet
    // All rows of a thread begin at the same place in a packet, wherever the tile is.
    static_assert(step % packet == 0 && row % packet == 0 && tile::k % packet == 0 && extent % packet == 0);
    static_assert(rows_of_group % step == 0 && rows_of_group <= tile::threads);

    const matrix_view<const T> in_;
    const int thread_row_ = threadIdx.x / packets;
    const int thread_packet_ = threadIdx.x % packets;
    const int shift_ = shift_of(thread_row_);
    /// Rows back to back: what is before a row is the one above.
    const bool is_line_ = in_.row_stride == in_.cols && in_.cols >= packet;
    // The first elements of row threadIdx.x, where no packet may be read there.
    T head_[packet - 1];
    int of_head_ = 0;

    /// The bytes from a packet to the beginning of a tile's row.
    __device__ int shift_of(int r) const {
        return (static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(in_.data)) +
                r * static_cast<unsigned>(in_.row_stride) * static_cast<unsigned>(sizeof(T))) %
               packet_bytes;
    }
    /// Whether elements outside of the matrix are in the packet where a row of it begins.
    __device__ bool has_cut_head(std::int64_t r, int shift) const {
        return shift > 0 && r < in_.rows && (!is_line_ || r == 0);
    }
    static __device__ int clamped(std::int64_t n, int most) {
        return static_cast<int>(max(std::int64_t{0}, min(std::int64_t{most}, n)));
    }

  public:
    static constexpr int bytes = rows * pitch;

    explicit __device__ realigned_operand(const matrix_view<const T>& in) : in_(in) {}

    /// Starts the copies of the tile at (position, k), but for heads.
    __device__ void copy_async(unsigned char* to, std::int64_t position, std::int64_t k) const {
        const std::int64_t first_row = (k_major ? position : k) + thread_row_;
        const int rows_left = clamped(in_.rows - first_row, rows_of_group);
        const bool is_first = thread_packet_ == 0, is_last = thread_packet_ == packets - 1;
        to += thread_row_ * pitch + thread_packet_ * packet_bytes;
#pragma unroll 1
        for (int group = 0; group < rows / rows_of_group; ++group) {
            const std::int64_t first_col = (k_major ? k : position) + group * row;
            const int length = clamped(in_.cols - first_col, row) * static_cast<int>(sizeof(T));
            const int valid = length > 0 ? length + shift_ - thread_packet_ * packet_bytes : 0;
            const auto* from =
                reinterpret_cast<const unsigned char*>(in_.data + first_row * in_.row_stride + first_col) +
                (thread_packet_ * packet_bytes - shift_);
#pragma unroll 1
            for (int r = 0; r < rows_of_group; r += step) {
                const int there = r < rows_left ? valid : 0;
                if (!is_first || first_col > 0 || !has_cut_head(first_row + r, shift_))
                    ptx::cp_async<packet_bytes>(to, from, max(0, min(packet_bytes, there)));
                if (is_last)
                    ptx::cp_async<packet_bytes>(to + packet_bytes, from + packet_bytes,
                                                max(0, min(packet_bytes, there - packet_bytes)));
                from += step * in_.row_stride * static_cast<std::int64_t>(sizeof(T));
                to += step * pitch;
            }
        }
    }

    /// Heads come by way of registers, so that a product may lie between the two.
    __device__ void load_heads(std::int64_t position, std::int64_t k) {
        of_head_ = 0;
        const int r = threadIdx.x;
        const std::int64_t first_row = (k_major ? position : k) + r;
        const int shift = shift_of(r);
        if ((k_major ? k : position) > 0 || r >= rows_of_group || !has_cut_head(first_row, shift)) return;
        of_head_ = packet - shift / static_cast<int>(sizeof(T));
        const T* const from = in_.data + first_row * in_.row_stride;
#pragma unroll
        for (int e = 0; e < packet - 1; ++e) head_[e] = e < of_head_ && e < in_.cols ? from[e] : T(0.0f);
    }
    __device__ void store_heads(unsigned char* to) const {
        T* const head = reinterpret_cast<T*>(to + threadIdx.x * pitch + packet_bytes) - of_head_;
#pragma unroll
        for (int e = 0; e < packet - 1; ++e)
            if (e < of_head_) head[e] = head_[e];
    }

    /// Shifts into the tile what the copies have brought.
    __device__ void realign(unsigned char* tile_begin, const unsigned char* from) const {
        using words = vector<unsigned, 4>;
        from += thread_row_ * pitch + thread_packet_ * packet_bytes;
        unsigned char* to = tile_operand::packet_at(tile_begin, thread_row_, thread_packet_);
#pragma unroll 2
        for (int r = 0; r < rows; r += step) {
            const words low = *reinterpret_cast<const words*>(from);
            const words high = *reinterpret_cast<const words*>(from + packet_bytes);
            unsigned w[8] = {low[0], low[1], low[2], low[3], high[0], high[1], high[2], high[3]};
#pragma unroll
            for (int i = 0; i < 6; ++i) w[i] = shift_ & 8 ? w[i + 2] : w[i];
#pragma unroll
            for (int i = 0; i < 5; ++i) w[i] = shift_ & 4 ? w[i + 1] : w[i];
            words shifted;
#pragma unroll
            for (int i = 0; i < 4; ++i) shifted[i] = __funnelshift_r(w[i], w[i + 1], shift_ % 4 * 8);
            *reinterpret_cast<words*>(to) = shifted;
            from += step * pitch;
            to += step * row * static_cast<int>(sizeof(T));
        }
    }
};

}  // namespace heddle::kernels::matmul
