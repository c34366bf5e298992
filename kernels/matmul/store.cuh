#pragma once

#include "kernels/device/ptx/mma.cuh"
#include "kernels/device/ptx/warpgroup.cuh"
#include "kernels/device/vector.cuh"
#include "kernels/matmul/epilogue.cuh"
#include "kernels/matmul/warpgroup.cuh"

/// From the sums in a warpgroup's registers to C: 64 rows of 32 columns at a time, by way of shared memory, where they
/// lie in rows of 128 swizzled bytes.
namespace heddle::kernels::matmul {

inline constexpr int stored_together = 4;  ///< neighbours of a row that a thread stores

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

/// Stores what is staged as float to any C, with beta times C: a thread four neighbours of a row.
template <class Out, class Activation>
__device__ void store_staged(const tensor_product<Out, Activation>& p, int row, int col, int batch,
                             const unsigned char* staged, float beta) {
    using packet = vector<Out, stored_together>;
    constexpr int packets = chunk_cols / stored_together;
    Out* const c = p.c_data + batch * p.c_batch_stride;
#pragma unroll 1
    for (int i = threadIdx.x % warpgroup_threads; i < warpgroup_m * packets; i += warpgroup_threads) {
        const int r = i / packets;
        const int at = i % packets;
        const int first = col + at * stored_together;
        const int count = ::min(stored_together, p.n - first);
        if (row + r >= p.m || count <= 0) continue;
        const float4 read =
            *reinterpret_cast<const float4*>(staged + r * swizzle_bytes + (at ^ (r % 8)) * max_vector_bytes);
        float values[stored_together] = {read.x, read.y, read.z, read.w};
        Out* const to = c + (row + r) * p.c_row_stride + first * p.c_col_stride;
        if (beta != 0)
#pragma unroll
            for (int e = 0; e < stored_together; ++e)
                if (e < count) values[e] += beta * static_cast<float>(to[e * p.c_col_stride]);
        if (count == stored_together && p.c_col_stride == 1 &&
            reinterpret_cast<std::uintptr_t>(to) % sizeof(packet) == 0) {
            packet written;
#pragma unroll
            for (int e = 0; e < stored_together; ++e) written[e] = static_cast<Out>(values[e]);
            *reinterpret_cast<packet*>(to) = written;
        } else {
#pragma unroll
            for (int e = 0; e < stored_together; ++e)
                if (e < count) to[e * p.c_col_stride] = static_cast<Out>(values[e]);
        }
    }
}

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

/// Adds `factor` times what `from` has at the places of a thread's part of a chunk.
template <class Out, class Activation>
__device__ void add_elements(const tensor_product<Out, Activation>& p, const Out* from,
                             std::int64_t row_stride, std::int64_t col_stride, int row, int col, float factor,
                             float (&values)[chunk_sums]) {
    for_each_place(p, row, col, [&](int i, int r, int c) {
        values[i] = fmaf(factor, static_cast<float>(from[r * row_stride + c * col_stride]), values[i]);
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

/// What becomes of a thread's part of a chunk. `addend`, where it is there, has what C was, if beta is not 0, else the residual.
template <class Out, class Activation>
__device__ void apply_epilogue(const tensor_product<Out, Activation>& p, int row, int col,
                               const float* columns, const float (&rows)[2], bool has_addend,
                               const float (&addend)[chunk_sums], float (&values)[chunk_sums]) {
    const epilogue<Out, Activation>& e = p.epilogue;
    const auto add = [&](float factor) {
#pragma unroll
        for (int i = 0; i < chunk_sums; ++i) values[i] = fmaf(factor, addend[i], values[i]);
    };
    add_biases(p, columns, rows, values);
    const bool adds_c = p.beta != 0;
    if (adds_c && has_addend)
        add(p.beta);
    else if (adds_c)
        add_elements(p, p.c_data, p.c_row_stride, p.c_col_stride, row, col, p.beta, values);
    activate(p, row, col, values);
    if (e.residual == nullptr) return;
    if (!adds_c && has_addend)
        add(1);
    else
        add_elements(p, e.residual, e.residual_row_stride, e.residual_col_stride, row, col, 1, values);
}

}  // namespace heddle::kernels::matmul
