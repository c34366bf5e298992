#pragma once

#include "kernels/device/ptx/mma.cuh"
#include "kernels/device/ptx/prefetch.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/ptx/warpgroup.cuh"
#include "kernels/device/vector.cuh"
#include "kernels/device/warp_reduce.cuh"
#include "kernels/frame/sums.cuh"

#include <cstdint>
#include <type_traits>

/// Boxes of shared memory between a warpgroup's registers and C. A box has 64 swizzled rows of 128 or 64 bytes.
namespace heddle::kernels::frame {

/// The place of packet `packet` of row r in a box of 64 rows and `cols` columns, swizzled within rows of 128 or 64 bytes.
template <class Out, int cols>
__device__ unsigned char* place_in_box(unsigned char* box, int r, int packet) {
    constexpr int row_bytes = cols * static_cast<int>(sizeof(Out));
    const int at = r * row_bytes + packet * max_vector_bytes;
    return box + (at ^ at / swizzle_bytes % (row_bytes / max_vector_bytes) * max_vector_bytes);
}

/// Calls function(at, i) for a thread's values of the chunk that begins at column `first` of the box. For float, values i
/// and i + 1 lie at `at`. For 16 bits, values i to i + 7 belong to four matrices, with the lane's row at `at` (mma.cuh).
template <class Out, int cols, class Function>
__device__ void for_each_in_box(unsigned char* box, int first, Function function) {
    constexpr bool is_float = sizeof(Out) == sizeof(float);
    const int thread = threadIdx.x % warpgroup_threads;
    const int lane = thread % 32;
    const int first_packet = first * static_cast<int>(sizeof(Out)) / max_vector_bytes;
#pragma unroll
    for (int i = 0; i < chunk_sums; i += is_float ? 2 : 8) {
        const int r = is_float ? row_of_thread(i % 4 / 2) : thread / 32 * 16 + lane % 16;
        const int packet = first_packet + (is_float ? i / 4 * 2 + lane % 4 / 2 : i / 4 + lane / 16);
        function(place_in_box<Out, cols>(box, r, packet) + (is_float ? lane % 2 * 8 : 0), i);
    }
}

template <class Out, int cols>
__device__ void stage_in_box(unsigned char* box, int first, const float (&values)[chunk_sums]) {
    for_each_in_box<Out, cols>(box, first, [&](unsigned char* at, int i) {
        if constexpr (sizeof(Out) == sizeof(float)) {
            *reinterpret_cast<float2*>(at) = make_float2(values[i], values[i + 1]);
        } else {
            unsigned bits[4];
#pragma unroll
            for (int pair = 0; pair < 4; ++pair) {
                const auto both = pair_of<Out>(values[i + 2 * pair], values[i + 2 * pair + 1]);
                bits[pair] = reinterpret_cast<const unsigned&>(both);
            }
            ptx::store_matrices(at, bits[0], bits[1], bits[2], bits[3]);
        }
    });
}

/// Reads from the place where stage_in_box() stores.
template <class Out, int cols>
__device__ void read_from_box(unsigned char* box, int first, float (&values)[chunk_sums]) {
    for_each_in_box<Out, cols>(box, first, [&](const unsigned char* at, int i) {
        if constexpr (sizeof(Out) == sizeof(float)) {
            const float2 both = *reinterpret_cast<const float2*>(at);
            values[i] = both.x;
            values[i + 1] = both.y;
        } else {
            unsigned bits[4];
            ptx::load_matrices<false>(bits, at);
#pragma unroll
            for (int pair = 0; pair < 4; ++pair) {
                const auto both = reinterpret_cast<const decltype(pair_of<Out>(0, 0))&>(bits[pair]);
                values[i + 2 * pair] = static_cast<float>(both.x);
                values[i + 2 * pair + 1] = static_cast<float>(both.y);
            }
        }
    });
}

/// A part of a matrix at any address. Boxes hold `cols` elements of each row, one box after another. The lanes of a warp go
/// along a row and take a word of four bytes each: whole sectors. Where a row of 16-bit elements begins within a word,
/// words in the boxes are shifted by an element. The row's end elements are then copied singly.
template <class T, int box_cols>
struct part_by_threads {
    using Out = std::remove_const_t<T>;
    T* data;
    std::int64_t row_stride;
    std::int64_t col_stride;
    int rows;  ///< rows of C among the boxes' 64; may be none, as may `cols`
    int cols;

    template <int most_cols>
    __device__ void load(unsigned char* boxes) const {
        constexpr int words = most_cols / per_line, together = 8 / words;
        if (col_stride != 1)
            return for_each_element(
                [&](int r, int c) { *place(boxes, r, c) = data[r * row_stride + c * col_stride]; });
        for (int first = warp(); first < rows; first += warps * together) {
            unsigned read[together][words];
#pragma unroll
            for (int i = 0; i < together; ++i)
#pragma unroll
                for (int w = 0; w < words; ++w) {
                    const int r = first + i * warps, at = begin_of_word(r, w);
                    const bool is_inside = r < rows && at + per_word <= cols;
                    read[i][w] = is_inside ? *reinterpret_cast<const unsigned*>(row(r) + at) : 0;
                }
#pragma unroll
            for (int i = 0; i < together; ++i)
#pragma unroll
                for (int w = 0; w < words; ++w) {
                    const int r = first + i * warps;
                    unsigned word = read[i][w];
                    if constexpr (per_word == 2) {
                        const unsigned last = w > 0 ? read[i][w - 1] : 0;
                        const unsigned before = from_lane(lane() - 1, lane() == warp_size - 1 ? last : word);
                        if (skipped_of(r) > 0) word = __byte_perm(before, word, 0x5432);
                    }
                    if (r < rows) *word_place(boxes, r, w) = word;
                }
        }
        ptx::sync_warp();
        for_each_end([&](int r, int c) { *place(boxes, r, c) = row(r)[c]; });
    }

    template <int most_cols>
    __device__ void store(unsigned char* boxes) const {
        constexpr int words = most_cols / per_line;
        if (col_stride != 1)
            return for_each_element(
                [&](int r, int c) { data[r * row_stride + c * col_stride] = *place(boxes, r, c); });
#pragma unroll 4
        for (int r = warp(); r < rows; r += warps) {
            unsigned read[words + 1]{};
#pragma unroll
            for (int w = 0; w < words; ++w) read[w] = *word_place(boxes, r, w);
#pragma unroll
            for (int w = 0; w < words; ++w) {
                unsigned word = read[w];
                if constexpr (per_word == 2) {
                    const unsigned after = from_lane(lane() + 1, lane() == 0 ? read[w + 1] : word);
                    if (skipped_of(r) > 0) word = __byte_perm(word, after, 0x5432);
                }
                if (const int at = begin_of_word(r, w); at + per_word <= cols)
                    *reinterpret_cast<unsigned*>(row(r) + at) = word;
            }
        }
        for_each_end([&](int r, int c) { row(r)[c] = *place(boxes, r, c); });
    }

    /// Prefetches the part into L2; each lane prefetches some of its lines.
    __device__ void prefetch() const {
        if (col_stride != 1 || cols <= 0) return;
        constexpr int line = 128 / sizeof(Out);
        for (int r = warp(); r < rows; r += warps)
            if (const int c = lane() * line; c < cols + line - 1)
                ptx::prefetch_to_l2(row(r) + ::min(c, cols - 1));
    }

  private:
    static constexpr int warps = warpgroup_threads / warp_size;
    static constexpr int per_word = sizeof(unsigned) / sizeof(Out), per_line = per_word * warp_size;
    static __device__ int warp() {
        return threadIdx.x % warpgroup_threads / warp_size;
    }
    static __device__ int lane() {
        return threadIdx.x % warp_size;
    }
    static __device__ unsigned from_lane(int lane, unsigned word) {
        return __shfl_sync(~0u, word, lane & (warp_size - 1));
    }

    __device__ T* row(int r) const {
        return data + r * row_stride;
    }
    /// The number of elements of a row before its first whole word.
    __device__ int skipped_of(int r) const {
        return reinterpret_cast<std::uintptr_t>(row(r)) % sizeof(unsigned) / sizeof(Out);
    }
    /// The first element of this lane's word w.
    __device__ int begin_of_word(int r, int w) const {
        return (lane() + w * warp_size) * per_word + skipped_of(r);
    }

    /// Calls function(r, c) for the elements at the ends of the rows that belong to no whole word.
    template <class Function>
    __device__ void for_each_end(Function function) const {
        if constexpr (per_word == 2) {
            static_assert(2 * warpgroup_m / warps == warp_size, "a lane has an end");
            const int r = warp() + lane() / 2 * warps;
            if (r >= rows || cols <= 0) return;
            const int skipped = skipped_of(r);
            const bool is_first = lane() % 2 == 0;
            if (is_first ? skipped > 0 : (cols - skipped) % 2 > 0) function(r, is_first ? 0 : cols - 1);
        }
    }
    template <class Function>
    __device__ void for_each_element(Function function) const {
#pragma unroll 1
        for (int r = warp(); r < rows; r += warps)
            for (int c = lane(); c < cols; c += warp_size) function(r, c);
    }

    static __device__ Out* place(unsigned char* boxes, int r, int c) {
        constexpr int per_packet = max_vector_bytes / static_cast<int>(sizeof(Out));
        constexpr int box_bytes = warpgroup_m * box_cols * static_cast<int>(sizeof(Out));
        unsigned char* const packet =
            place_in_box<Out, box_cols>(boxes + c / box_cols * box_bytes, r, c % box_cols / per_packet);
        return reinterpret_cast<Out*>(packet) + c % per_packet;
    }
    static __device__ unsigned* word_place(unsigned char* boxes, int r, int w) {
        return reinterpret_cast<unsigned*>(place(boxes, r, (lane() + w * warp_size) * per_word));
    }
};

}  // namespace heddle::kernels::frame
