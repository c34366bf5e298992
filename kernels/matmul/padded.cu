// padded: operands whose rows do not begin at multiples of 16 bytes are copied to rows that do.
//
//   A, 4097 x 4101:  | row 0, 8202 bytes | row 1 begins at 8202: 10 past a multiple of 16
//   the copy:        | row 0, 8202 bytes, 6 of nothing | row 1 begins at 8208
//
// The tensor memory accelerator addresses rows at multiples of 16 bytes only, and nothing else feeds a tensor core as fast.
// A copy reads and writes an operand once, m k of m n k: at 4096^3 a product of 16 bits takes five times as long. Only
// what needs it is copied; C may have any rows.

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

/// `out` has rows of whole packets, at least as long as those of `in`; both have contiguous rows.
template <class T>
__global__ void __launch_bounds__(warp* rows_of_block) pad(matrix_view<const T> in, matrix_view<T> out) {
    using packet = vector<T, max_vector_bytes / sizeof(T)>;
    constexpr std::int64_t width = sizeof(packet) / sizeof(T);
    const std::int64_t col = (std::int64_t{blockIdx.x} * warp + threadIdx.x) * width;
    if (col >= in.cols) return;
    const std::int64_t step = std::int64_t{gridDim.y} * rows_of_block;
    for (std::int64_t row = std::int64_t{blockIdx.y} * rows_of_block + threadIdx.y; row < in.rows;
         row += step) {
        const T* const first = in.data + row * in.row_stride + col;
        packet moved;
#pragma unroll
        for (int e = 0; e < width; ++e) moved[e] = col + e < in.cols ? first[e] : T(0.0f);
        *reinterpret_cast<packet*>(out.data + row * out.row_stride + col) = moved;
    }
}

/// `m`, or a copy of it at `free`, which then is moved behind the copy.
template <class T>
matrix_view<const T> padded(const matrix_view<const T>& m, std::byte*& free, cudaStream_t stream) {
    if (has_tensor_rows_or_columns(m)) return m;
    const bool by_rows = m.cols <= 1 || m.col_stride == 1;
    const matrix_view<const T> in = by_rows ? m : transposed(m);
    constexpr std::int64_t width = tensor_alignment / std::int64_t{sizeof(T)};
    const matrix_view<T> out{reinterpret_cast<T*>(free), in.rows, in.cols, divide_up(in.cols, width) * width};
    free += padded_bytes(in.rows, in.cols, sizeof(T));
    const std::int64_t across = divide_up(out.row_stride, warp * width);
    const std::int64_t down = std::min(divide_up(in.rows, rows_of_block), max_blocks_down);
    pad<<<dim3(static_cast<unsigned>(across), static_cast<unsigned>(down)), dim3(warp, rows_of_block), 0,
          stream>>>(in, out);
    check(cudaGetLastError());
    return by_rows ? matrix_view<const T>(out) : transposed(matrix_view<const T>(out));
}

}  // namespace

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
