#pragma once

#include "kernels/device/ptx/mma.cuh"
#include "kernels/device/ptx/prefetch.cuh"
#include "kernels/device/ptx/warpgroup.cuh"
#include "kernels/device/vector.cuh"
#include "kernels/matmul/epilogue.cuh"
#include "kernels/matmul/warpgroup.cuh"

#include <cstdint>
#include <type_traits>

/// From the sums in a warpgroup's registers to C: 64 rows of 32 columns at a time, by way of shared memory, where they
/// lie in rows of 128 swizzled bytes.
namespace heddle::kernels::matmul {

/// A thread has sums of two rows.
__device__ inline int row_of_thread(int half) {
    const int thread = threadIdx.x % warpgroup_threads;
    return thread / 32 * 16 + thread % 32 / 4 + 8 * half;
}

/// And of each eight columns two.
__device__ inline int col_of_thread() {
    return threadIdx.x % 4 * 2;
}

/// Where packet `packet` of row r lies in a box of 64 rows of `cols` columns, swizzled within rows of 128 or 64 bytes.
template <class Out, int cols>
__device__ unsigned char* place_in_box(unsigned char* box, int r, int packet) {
    constexpr int row_bytes = cols * static_cast<int>(sizeof(Out));
    const int at = r * row_bytes + packet * max_vector_bytes;
    return box + (at ^ at / swizzle_bytes % (row_bytes / max_vector_bytes) * max_vector_bytes);
}

/// Calls function(at, i) for what a thread has of a chunk, from column `first` of the box on. Of float, value i and the next lie at
/// `at`; of 16 bits, i and the next seven are of the four matrices of which `at` is the lane's row (mma.cuh).
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

/// What stage_in_box() would have stored.
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

/// Part of a matrix at any address whose elements boxes of shared memory hold: `cols` of a row, in one box after the other.
/// A warp goes along a row, a word of four bytes a lane: whole sectors. Where a row of 16-bit elements begins within a word, the
/// words in the boxes are shifted by an element, and the elements at its ends go for themselves.
template <class T, int box_cols>
struct part_by_threads {
    using Out = std::remove_const_t<T>;
    T* data;
    std::int64_t row_stride;
    std::int64_t col_stride;
    int rows;  ///< that C has of the boxes' 64; so too `cols`, of which there may be none
    int cols;

    template <int most_cols>
    __device__ void load(unsigned char* boxes) const {
        constexpr int words = most_cols / of_line, together = 8 / words;
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
                    const bool is_inside = r < rows && at + of_word <= cols;
                    read[i][w] = is_inside ? *reinterpret_cast<const unsigned*>(row(r) + at) : 0;
                }
#pragma unroll
            for (int i = 0; i < together; ++i)
#pragma unroll
                for (int w = 0; w < words; ++w) {
                    const int r = first + i * warps;
                    unsigned word = read[i][w];
                    if constexpr (of_word == 2) {
                        const unsigned last = w > 0 ? read[i][w - 1] : 0;
                        const unsigned before = from_lane(lane() - 1, lane() == warp_size - 1 ? last : word);
                        if (skipped_of(r) > 0) word = __byte_perm(before, word, 0x5432);
                    }
                    if (r < rows) *word_place(boxes, r, w) = word;
                }
        }
        __syncwarp();
        for_each_end([&](int r, int c) { *place(boxes, r, c) = row(r)[c]; });
    }

    template <int most_cols>
    __device__ void store(unsigned char* boxes) const {
        constexpr int words = most_cols / of_line;
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
                if constexpr (of_word == 2) {
                    const unsigned after = from_lane(lane() + 1, lane() == 0 ? read[w + 1] : word);
                    if (skipped_of(r) > 0) word = __byte_perm(word, after, 0x5432);
                }
                if (const int at = begin_of_word(r, w); at + of_word <= cols)
                    *reinterpret_cast<unsigned*>(row(r) + at) = word;
            }
        }
        for_each_end([&](int r, int c) { row(r)[c] = *place(boxes, r, c); });
    }

    /// Asks the second-level cache for the part, of which each lane names lines.
    __device__ void prefetch() const {
        if (col_stride != 1 || cols <= 0) return;
        constexpr int line = 128 / sizeof(Out);
        for (int r = warp(); r < rows; r += warps)
            if (const int c = lane() * line; c < cols + line - 1)
                ptx::prefetch_to_l2(row(r) + ::min(c, cols - 1));
    }

  private:
    static constexpr int warps = warpgroup_threads / warp_size;
    static constexpr int of_word = sizeof(unsigned) / sizeof(Out), of_line = of_word * warp_size;
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
    /// Elements of a row before its first word.
    __device__ int skipped_of(int r) const {
        return reinterpret_cast<std::uintptr_t>(row(r)) % sizeof(unsigned) / sizeof(Out);
    }
    /// The element with which word w of this lane begins.
    __device__ int begin_of_word(int r, int w) const {
        return (lane() + w * warp_size) * of_word + skipped_of(r);
    }

    /// Calls function(r, c) for the elements at the ends of a warp's rows that have no whole word.
    template <class Function>
    __device__ void for_each_end(Function function) const {
        if constexpr (of_word == 2) {
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
        constexpr int of_packet = max_vector_bytes / static_cast<int>(sizeof(Out));
        constexpr int box_bytes = warpgroup_m * box_cols * static_cast<int>(sizeof(Out));
        unsigned char* const packet =
            place_in_box<Out, box_cols>(boxes + c / box_cols * box_bytes, r, c % box_cols / of_packet);
        return reinterpret_cast<Out*>(packet) + c % of_packet;
    }
    static __device__ unsigned* word_place(unsigned char* boxes, int r, int w) {
        return reinterpret_cast<unsigned*>(place(boxes, r, (lane() + w * warp_size) * of_word));
    }
};

/// What is added to a tile's sums before their activation, fetched while the tensor cores work: by thread t, of the
/// columns t and t + 128, and of its two rows.
template <int n>
struct tile_biases {
    static_assert(n % warpgroup_threads == 0);
    float of_columns[n / warpgroup_threads];
    float of_rows[2];

    template <class Out, class Activation>
    __device__ void fetch(const tensor_product<Out, Activation>& p, int row, int col) {
        const epilogue<Out, Activation>& e = p.epilogue;
#pragma unroll
        for (int i = 0; i < n / warpgroup_threads; ++i) {
            const int at = col + i * warpgroup_threads + static_cast<int>(threadIdx.x % warpgroup_threads);
            of_columns[i] = e.row_bias != nullptr && at < p.n
                                ? static_cast<float>(e.row_bias[at * e.row_bias_stride])
                                : 0.0f;
        }
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int at = row + row_of_thread(half);
            of_rows[half] = e.column_bias != nullptr && at < p.m
                                ? static_cast<float>(e.column_bias[at * e.column_bias_stride])
                                : 0.0f;
        }
    }

    __device__ void share(float* columns) const {
#pragma unroll
        for (int i = 0; i < n / warpgroup_threads; ++i)
            columns[i * warpgroup_threads + threadIdx.x % warpgroup_threads] = of_columns[i];
    }
};

/// Calls function(i, r, c) for a thread's part of the chunk at (row, col): value i is of row r and column c of C.
template <class Out, class Activation, class Function>
__device__ void for_each_place(const tensor_product<Out, Activation>& p, int row, int col,
                               Function function) {
#pragma unroll
    for (int i = 0; i < chunk_sums; ++i) {
        const int r = row + row_of_thread(i % 4 / 2);
        const int c = col + i / 4 * 8 + col_of_thread() + i % 2;
        if (r < p.m && c < p.n) function(i, r, c);
    }
}

/// Adds the residual to a thread's part of a chunk.
template <class Out, class Activation>
__device__ void add_residual(const tensor_product<Out, Activation>& p, int row, int col,
                             float (&values)[chunk_sums]) {
    const epilogue<Out, Activation>& e = p.epilogue;
    for_each_place(p, row, col, [&](int i, int r, int c) {
        values[i] += static_cast<float>(e.residual[r * e.residual_row_stride + c * e.residual_col_stride]);
    });
}

/// The activation of a thread's part of a chunk, and the scale.
template <class Out>
__device__ void activate(const tensor_product<Out>& p, int, int, float (&values)[chunk_sums]) {
    const epilogue<Out>& e = p.epilogue;
    with_activation(e.activation, [&]<matmul_activation activation>() {
#pragma unroll
        for (float& value : values) value = e.scale * activated<Out, activation>(value);
    });
}

/// The same of a user's function, which may look something up by row and column: it is not called outside of C.
template <class Out, class Function>
__device__ void activate(const tensor_product<Out, element_function<Function>>& p, int row, int col,
                         float (&values)[chunk_sums]) {
    for_each_place(p, row, col, [&](int i, int r, int c) {
        values[i] = p.epilogue.scale * p.epilogue.activation(values[i], r, c);
    });
}

/// alpha times the sums, and the biases: `columns` of the chunk, `rows` of the thread.
template <class Out, class Activation>
__device__ void add_biases(const tensor_product<Out, Activation>& p, const float* columns,
                           const float (&rows)[2], float (&values)[chunk_sums]) {
#pragma unroll
    for (int j = 0; j < chunk_cols / 8; ++j) {
        const float2 bias = *reinterpret_cast<const float2*>(columns + 8 * j + col_of_thread());
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            float* const pair = values + 4 * j + 2 * half;
            pair[0] = fmaf(p.alpha, pair[0], bias.x);
            pair[1] = fmaf(p.alpha, pair[1], bias.y);
        }
    }
    if (p.epilogue.column_bias == nullptr) return;
#pragma unroll
    for (int i = 0; i < chunk_sums; ++i) values[i] += rows[i % 4 / 2];
}

template <class Out, class Activation>
__device__ void scale(const tensor_product<Out, Activation>& p, float (&values)[chunk_sums]) {
    if (p.epilogue.scale == 1) return;
#pragma unroll
    for (float& value : values) value *= p.epilogue.scale;
}

/// What becomes of a thread's part of a chunk. `addend` has what C was, if beta is not 0, else the residual, where there is one.
template <class Out, class Activation>
__device__ void apply_epilogue(const tensor_product<Out, Activation>& p, int row, int col,
                               const float* columns, const float (&rows)[2],
                               const float (&addend)[chunk_sums], float (&values)[chunk_sums]) {
    const epilogue<Out, Activation>& e = p.epilogue;
    const auto add = [&](float factor) {
#pragma unroll
        for (int i = 0; i < chunk_sums; ++i) values[i] = fmaf(factor, addend[i], values[i]);
    };
    const bool adds_c = p.beta != 0, adds_residual = e.residual != nullptr;
    add_biases(p, columns, rows, values);
    if (adds_c) add(p.beta);
    activate(p, row, col, values);
    if (adds_residual && adds_c)
        add_residual(p, row, col, values);
    else if (adds_residual)
        add(1);
}

}  // namespace heddle::kernels::matmul
