// padded: operands whose rows do not begin at multiples of 16 bytes are copied to rows that do, to multiples of 128
// even.
//
//   A, 4097 x 4101:  | row 0, 8202 bytes | row 1 begins at 8202: 10 past a multiple of 16
//   the copy:        | row 0, 8202 bytes, 118 of nothing | row 1 begins at 8320
//
// The tensor memory accelerator addresses rows at multiples of 16 bytes only, and nothing else feeds a tensor core as fast.
// A copy reads and writes an operand once, m k of m n k: at 4096^3 a product of 16 bits takes five times as long. Only
// what needs it is copied; C may have any rows. tma_pipelined's operands are copied alike. For TF32, of which one operand has
// to lie along k, a copy may also be of another order.

#include "kernels/device/vector.cuh"
#include "kernels/matmul/launch.hpp"
#include <heddle/error.hpp>
#include <heddle/types.hpp>

#include <algorithm>
#include <type_traits>

namespace heddle::kernels::matmul {
namespace {

constexpr int warp = 32;
constexpr int rows_of_block = 8;  ///< a warp each
constexpr std::int64_t max_blocks_down = 65535;

/// What a thread moves at once: packets of neighbours, a warp's neighbours apart. Floats one by one, which a warp then reads in
/// whole lines.
template <class T>
struct share {
    static constexpr int width =
        sizeof(T) < sizeof(float) ? max_vector_bytes / static_cast<int>(sizeof(T)) : 1;
    static constexpr int count = sizeof(T) < sizeof(float) ? 1 : 8;
    static constexpr int of_warp = warp * width * count;
};

/// `out` has rows of whole packets, at least as long as those of `in`; both have contiguous rows.
template <class T>
__global__ void __launch_bounds__(warp* rows_of_block) pad(matrix_view<const T> in, matrix_view<T> out) {
    constexpr int width = share<T>::width, count = share<T>::count;
    using packet = vector<T, width>;
    const std::int64_t col = std::int64_t{blockIdx.x} * share<T>::of_warp + threadIdx.x * width;
    const std::int64_t step = std::int64_t{gridDim.y} * rows_of_block;
    for (std::int64_t row = std::int64_t{blockIdx.y} * rows_of_block + threadIdx.y; row < in.rows;
         row += step) {
        const T* const first = in.data + row * in.row_stride + col;
        T* const to = out.data + row * out.row_stride + col;
        packet moved[count];
#pragma unroll
        for (int i = 0; i < count; ++i)
#pragma unroll
            for (int e = 0; e < width; ++e) {
                const int at = i * warp * width + e;
                moved[i][e] = col + at < in.cols ? first[at] : T(0.0f);
            }
#pragma unroll
        for (int i = 0; i < count; ++i)
            if (col + i * warp * width < in.cols)
                *reinterpret_cast<packet*>(to + i * warp * width) = moved[i];
    }
}

/// out = in, where the columns of `in` are contiguous and the rows of `out`.
__global__ void __launch_bounds__(warp* rows_of_block)
    turn(matrix_view<const float> in, matrix_view<float> out) {
    __shared__ float tile[warp][warp + 1];  // a row and a column are in different banks
    const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
    const std::int64_t first_col = std::int64_t{blockIdx.x} * warp;
    for (std::int64_t first_row = std::int64_t{blockIdx.y} * warp; first_row < in.rows;
         first_row += std::int64_t{gridDim.y} * warp) {
        for (int i = y; i < warp; i += rows_of_block)
            if (first_row + x < in.rows && first_col + i < in.cols)
                tile[i][x] = in.data[first_row + x + (first_col + i) * in.col_stride];
        __syncthreads();
        for (int i = y; i < warp; i += rows_of_block)
            if (first_row + i < in.rows && first_col + x < in.cols)
                out.data[(first_row + i) * out.row_stride + first_col + x] = tile[x][i];
        __syncthreads();
    }
}

/// Rows at multiples of the alignment, at `free`, which is moved behind them.
template <class T>
matrix_view<T> rows_at(std::byte*& free, std::int64_t rows, std::int64_t cols) {
    constexpr std::int64_t width = copy_alignment / std::int64_t{sizeof(T)};
    T* const begin = reinterpret_cast<T*>(free);
    free += padded_bytes(rows, cols, sizeof(T));
    return {begin, rows, cols, divide_up(cols, width) * width};
}

template <class T>
bool is_contiguous_by_rows(const matrix_view<T>& m) {
    return m.cols <= 1 || m.col_stride == 1;
}

/// A copy with the same contiguous dimension, which has to be that of the rows.
template <class T>
matrix_view<const T> copy_rows(const matrix_view<const T>& in, std::byte*& free, cudaStream_t stream) {
    const matrix_view<T> out = rows_at<T>(free, in.rows, in.cols);
    const std::int64_t across = divide_up(in.cols, share<T>::of_warp);
    const std::int64_t down = std::min(divide_up(in.rows, rows_of_block), max_blocks_down);
    pad<<<dim3(static_cast<unsigned>(across), static_cast<unsigned>(down)), dim3(warp, rows_of_block), 0,
          stream>>>(in, out);
    check(cudaGetLastError());
    return out;
}

/// A copy with contiguous rows.
matrix_view<const float> copy_columns(const matrix_view<const float>& in, std::byte*& free,
                                      cudaStream_t stream) {
    const matrix_view<float> out = rows_at<float>(free, in.rows, in.cols);
    const auto across = static_cast<unsigned>(divide_up(in.cols, warp));
    const auto down = static_cast<unsigned>(std::min(divide_up(in.rows, warp), max_blocks_down));
    turn<<<dim3(across, down), dim3(warp, rows_of_block), 0, stream>>>(in, out);
    check(cudaGetLastError());
    return out;
}

/// `m`, or a copy of it at `free`, which then is moved behind the copy.
template <class T>
matrix_view<const T> padded(const matrix_view<const T>& m, std::byte*& free, cudaStream_t stream) {
    if (has_tensor_rows_or_columns(m)) return m;
    return is_contiguous_by_rows(m) ? copy_rows(m, free, stream)
                                    : transposed(copy_rows(transposed(m), free, stream));
}

matrix_view<const float> along_rows(const matrix_view<const float>& m, std::byte*& free,
                                    cudaStream_t stream) {
    return is_contiguous_by_rows(m) ? copy_rows(m, free, stream) : copy_columns(m, free, stream);
}

}  // namespace

void launch_padded_tma_pipelined(const arguments& arguments, std::byte* workspace,
                                 const device_traits& device, cudaStream_t stream) {
    std::byte* free =
        workspace + workspace_ticket_bytes +
        tma_pipelined_sums_bytes(arguments.c.rows, arguments.c.cols, arguments.a.cols, device.sm_count);
    matmul::arguments fit = arguments;
    fit.a = padded(fit.a, free, stream);
    fit.b = padded(fit.b, free, stream);
    launch_tma_pipelined(fit, workspace, device, stream);
}

void launch_padded_tf32(const arguments& arguments, std::byte* workspace, const device_traits& device,
                        cudaStream_t stream) {
    std::byte* free = workspace + workspace_ticket_bytes +
                      tf32_sums_bytes(arguments.c.rows, arguments.c.cols, arguments.a.cols, device.sm_count);
    matmul::arguments fit = arguments;
    if (!has_tensor_operand_along_k(fit.a, fit.b)) {
        const matrix_view<const float> b = transposed(fit.b);
        const bool copies_a =
            is_contiguous_by_rows(fit.a) || (!is_contiguous_by_rows(b) && fit.a.rows <= b.rows);
        if (copies_a)
            fit.a = along_rows(fit.a, free, stream);
        else
            fit.b = transposed(along_rows(b, free, stream));
    }
    fit.a = padded(fit.a, free, stream);
    fit.b = padded(fit.b, free, stream);
    launch_tf32(fit, workspace, device, stream);
}

template <class In, class Out>
void launch_padded(const product<In, Out>& arguments, std::byte* workspace, const device_traits& device,
                   cudaStream_t stream) {
    const std::int64_t m = arguments.c.rows, n = arguments.c.cols, k = arguments.a.cols;
    std::byte* free = workspace + workspace_ticket_bytes;
    if constexpr (std::is_same_v<In, float>)  // bf16x6 has its sums first
        free += bf16x6_sums_bytes(m, n, k, device.sm_count);
    product<In, Out> aligned = arguments;
    aligned.a = padded(arguments.a, free, stream);
    aligned.b = padded(arguments.b, free, stream);
    if constexpr (std::is_same_v<In, float>) {
        launch_bf16x6(aligned, workspace, device, stream);
    } else {
        const bool shares = cheapest_whole(multicast_tiles, m, n, k, device.sm_count).us <
                            cheapest_whole(persistent_tiles, m, n, k, device.sm_count).us;
        shares ? launch_cluster_multicast(aligned, device, stream)
               : launch_persistent(aligned, device, stream);
    }
}

template void launch_padded(const product<float, float>&, std::byte*, const device_traits&, cudaStream_t);
template void launch_padded(const product<half, half>&, std::byte*, const device_traits&, cudaStream_t);
template void launch_padded(const product<half, float>&, std::byte*, const device_traits&, cudaStream_t);
template void launch_padded(const product<bfloat16, bfloat16>&, std::byte*, const device_traits&,
                            cudaStream_t);
template void launch_padded(const product<bfloat16, float>&, std::byte*, const device_traits&, cudaStream_t);

}  // namespace heddle::kernels::matmul
