#pragma once

#include "kernels/device/vector.cuh"
#include "kernels/matmul/epilogue.cuh"
#include "kernels/matmul/warpgroup.cuh"

namespace heddle::kernels::matmul {

inline constexpr int stored_together = 4;  ///< neighbours of a row that a thread stores

/// `count` of the elements from `first` on, in float.
template <class T>
__device__ void read_elements(const T* first, std::int64_t stride, int count,
                              float (&values)[stored_together]) {
    using packet = vector<T, stored_together>;
    if (count == stored_together && stride == 1 &&
        reinterpret_cast<std::uintptr_t>(first) % sizeof(packet) == 0) {
        const packet read = *reinterpret_cast<const packet*>(first);
#pragma unroll
        for (int e = 0; e < stored_together; ++e) values[e] = static_cast<float>(read[e]);
    } else {
#pragma unroll
        for (int e = 0; e < stored_together; ++e)
            values[e] = e < count ? static_cast<float>(first[e * stride]) : 0.0f;
    }
}

template <class T>
__device__ void write_elements(T* first, std::int64_t stride, int count,
                               const float (&values)[stored_together]) {
    using packet = vector<T, stored_together>;
    if (count == stored_together && stride == 1 &&
        reinterpret_cast<std::uintptr_t>(first) % sizeof(packet) == 0) {
        packet written;
#pragma unroll
        for (int e = 0; e < stored_together; ++e) written[e] = static_cast<T>(values[e]);
        *reinterpret_cast<packet*>(first) = written;
    } else {
#pragma unroll
        for (int e = 0; e < stored_together; ++e)
            if (e < count) first[e * stride] = static_cast<T>(values[e]);
    }
}

/// What becomes of the sums of (row, col) and its next neighbours in the row. `c` is where the matrix begins.
template <bool has_epilogue, matmul_activation activation, class Out>
__device__ void store_elements(const tensor_product<Out>& p, Out* c, int row, int col,
                               float (&sums)[stored_together]) {
    const int count = min(stored_together, p.n - col);
    if (row >= p.m || count <= 0) return;
    [[maybe_unused]] const epilogue<Out>& e = p.epilogue;
    c += row * p.c_row_stride + col * p.c_col_stride;
    const auto add = [&](const Out* first, std::int64_t stride, float factor) {
        float read[stored_together];
        read_elements(first, stride, count, read);
#pragma unroll
        for (int i = 0; i < stored_together; ++i) sums[i] = fmaf(factor, read[i], sums[i]);
    };
#pragma unroll
    for (float& sum : sums) sum *= p.alpha;
    if (p.beta != 0) add(c, p.c_col_stride, p.beta);
    if constexpr (has_epilogue) {
        if (e.row_bias != nullptr) add(e.row_bias + col * e.row_bias_stride, e.row_bias_stride, 1);
        if (e.column_bias != nullptr) add(e.column_bias + row * e.column_bias_stride, 0, 1);
#pragma unroll
        for (float& sum : sums) sum = e.scale * activated<Out, activation>(sum);
        if (e.residual != nullptr)
            add(e.residual + row * e.residual_row_stride + col * e.residual_col_stride, e.residual_col_stride,
                1);
    }
    write_elements(c, p.c_col_stride, count, sums);
}

/// Stores a warpgroup's sums, of rows and columns from (row, col) on, 32 columns at a time through shared memory, where
/// they are in rows of 128 swizzled bytes: any C, and what the epilogue makes of it. `sync` is a barrier of the
/// warpgroup; when this begins, `staged` is free.
template <int n, bool has_epilogue, class Out, class Sync>
__device__ void store_through_shared(const tensor_product<Out>& p, int row, int col, int batch,
                                     const float (&sums)[n / 2], unsigned char* staged, Sync sync) {
    constexpr int width = n < 32 ? n : 32;
    constexpr int packets = width / stored_together;
    const int thread = threadIdx.x % warpgroup_threads;
    const int lane = thread % 32;
    Out* const c = p.c_data + batch * p.c_batch_stride;
    // One copy of the code below serves all columns.
#pragma unroll 1
    for (int first = 0; first < n; first += width) {
#pragma unroll
        for (int at = 0; at < n; at += width)
            if (at == first)
#pragma unroll
                for (int j = 0; j < width / 8; ++j)
#pragma unroll
                    for (int half = 0; half < 2; ++half) {
                        const int r = thread / 32 * 16 + lane / 4 + half * 8;
                        const int packet = (2 * j + lane % 4 / 2) ^ (r % 8);
                        const float* const pair = sums + (at / 8 + j) * 4 + half * 2;
                        *reinterpret_cast<float2*>(staged + r * swizzle_bytes + packet * 16 + lane % 2 * 8) =
                            make_float2(pair[0], pair[1]);
                    }
        sync();
        const auto store = [&]<matmul_activation activation>() {
#pragma unroll 1
            for (int i = 0; i < warpgroup_m * packets / warpgroup_threads; ++i) {
                const int index = thread + i * warpgroup_threads;
                const int r = index / packets;
                const int packet = index % packets;
                const float4 read =
                    *reinterpret_cast<const float4*>(staged + r * swizzle_bytes + (packet ^ (r % 8)) * 16);
                float values[stored_together] = {read.x, read.y, read.z, read.w};
                store_elements<has_epilogue, activation>(p, c, row + r,
                                                         col + first + packet * stored_together, values);
            }
        };
        if constexpr (has_epilogue)
            with_activation(p.epilogue.activation, store);
        else
            store.template operator()<matmul_activation::none>();
        sync();
    }
}

}  // namespace heddle::kernels::matmul
