#include "kernels/device/math.hpp"
#include "src/host/activations.hpp"
#include "src/host/strips.hpp"
#include "src/matmul/validate.hpp"
#include <heddle/host.hpp>
#include <heddle/types.hpp>

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#pragma GCC visibility push(default)

namespace heddle::host {
namespace {

using detail::multiply_strips, detail::strip_m, detail::strip_n;

// C is computed in blocks that remain in L2. For each block, slabs of A and B are packed, so that the innermost
// loop reads both contiguously for any strides.
constexpr auto block_m = std::int64_t{16} * strip_m;
constexpr auto block_n = std::int64_t{16} * strip_n;
constexpr std::int64_t block_k = 256;

/// packed[s][k][i] = m(row + s * strip + i, col + k) in float, and 0 beyond the block's rows.
template <int strip, class T>
void pack(float* packed, const matrix_view<const T>& m, std::int64_t row, std::int64_t rows, std::int64_t col,
          std::int64_t cols) {
    for (std::int64_t first = 0; first < rows; first += strip, packed += strip * cols) {
        const int filled = static_cast<int>(std::min<std::int64_t>(strip, rows - first));
        const T* const source = m.data + (row + first) * m.row_stride + col * m.col_stride;
        if (filled < strip) std::fill_n(packed, strip * cols, 0.0f);
        const bool is_packed = std::is_same_v<T, float> && m.row_stride == 1 && filled == strip;
        for (std::int64_t k = 0; k < cols; ++k) {
            const T* const column = source + k * m.col_stride;
            if (is_packed)
                std::memcpy(packed + k * strip, column, strip * sizeof(float));
            else
                for (int i = 0; i < filled; ++i)
                    packed[k * strip + i] = static_cast<float>(column[i * m.row_stride]);
        }
    }
}

struct workspace {
    std::vector<float> a = std::vector<float>(block_m * block_k);
    std::vector<float> b = std::vector<float>(block_n * block_k);
    std::vector<float> sums = std::vector<float>(block_m * block_n);
};

/// The epilogue of x = alpha * sum + beta * C.
template <class Out>
float finished(const matmul_epilogue<Out>& e, float x, std::int64_t row, std::int64_t col) {
    if (e.row_bias.size > 0) x += static_cast<float>(e.row_bias.data[col * e.row_bias.stride]);
    if (e.column_bias.size > 0) x += static_cast<float>(e.column_bias.data[row * e.column_bias.stride]);
    x = e.scale * activations::activated(e.activation, x);
    const matrix_view<const Out>& r = e.residual;
    return r.data == nullptr ? x : x + static_cast<float>(r.data[row * r.row_stride + col * r.col_stride]);
}

/// Computes one block of C, at most block_m x block_n. `b` is B transposed, so that k runs along the columns of both
/// operands.
template <class In, class Out>
void multiply_block(workspace& work, const matrix_view<const In>& a, const matrix_view<const In>& b,
                    const matrix_view<Out>& c, const matmul_epilogue<Out>& epilogue, float alpha, float beta,
                    std::int64_t row, std::int64_t col) {
    const std::int64_t rows = std::min(block_m, c.rows - row);
    const std::int64_t cols = std::min(block_n, c.cols - col);
    constexpr int strip = strip_m * strip_n;
    std::ranges::fill(work.sums, 0.0f);
    for (std::int64_t k = 0; k < a.cols; k += block_k) {
        const std::int64_t depth = std::min(block_k, a.cols - k);
        pack<strip_m>(work.a.data(), a, row, rows, k, depth);
        pack<strip_n>(work.b.data(), b, col, cols, k, depth);
        float* sums = work.sums.data();
        for (std::int64_t j = 0; j < cols; j += strip_n)
            for (std::int64_t i = 0; i < rows; i += strip_m, sums += strip)
                multiply_strips(sums, work.a.data() + i * depth, work.b.data() + j * depth, depth);
    }
    const float* sums = work.sums.data();
    for (std::int64_t j = 0; j < cols; j += strip_n)
        for (std::int64_t i = 0; i < rows; i += strip_m, sums += strip)
            for (std::int64_t r = 0; r < std::min<std::int64_t>(strip_m, rows - i); ++r)
                for (std::int64_t s = 0; s < std::min<std::int64_t>(strip_n, cols - j); ++s) {
                    Out& out = c.data[(row + i + r) * c.row_stride + (col + j + s) * c.col_stride];
                    const float sum = alpha * sums[r * strip_n + s];
                    const float x = beta == 0 ? sum : sum + beta * static_cast<float>(out);
                    out = static_cast<Out>(finished(epilogue, x, row + i + r, col + j + s));
                }
}

/// The arguments must be valid.
template <class In, class Out>
void compute(matrix_view<const In> a, const matrix_view<const In>& b, const matrix_view<Out>& c,
             const matmul_epilogue<Out>& epilogue, float alpha, float beta) {
    if (c.rows == 0 || c.cols == 0) return;
    if (alpha == 0) a.cols = 0;
    if (a.cols == 0) alpha = 0;  // an infinite alpha would turn the empty sum into NaN
    const std::int64_t down = kernels::divide_up(c.rows, block_m);
    const std::int64_t across = kernels::divide_up(c.cols, block_n);
    const std::int64_t blocks = down * across;
    // Allocated here because no exception may leave a parallel region.
    std::vector<workspace> workspaces(
        static_cast<std::size_t>(std::min<std::int64_t>(omp_get_max_threads(), blocks)));
#pragma omp parallel for schedule(dynamic) num_threads(static_cast <int>(workspaces.size()))
    for (std::int64_t block = 0; block < blocks; ++block)
        multiply_block(workspaces[static_cast<std::size_t>(omp_get_thread_num())], a, transposed(b), c,
                       epilogue, alpha, beta, block / across * block_m, block % across * block_n);
}

template <class T>
matrix_view<T> matrix_of(const batch_view<T>& batch, std::int64_t index) {
    matrix_view<T> result = batch.first;
    result.data += index * batch.stride;
    return result;
}

}  // namespace

template <class Out, class In>
void matmul(matrix_view<const std::type_identity_t<In>> a, matrix_view<const std::type_identity_t<In>> b,
            matrix_view<Out> c, const matmul_epilogue<std::type_identity_t<Out>>& epilogue, float alpha,
            float beta) {
    detail::validate_matmul<In, Out>("host::matmul", a, b, c);
    detail::validate_epilogue(epilogue, c);
    compute<In, Out>(a, b, c, epilogue, alpha, beta);
}

template <class Out, class In>
void matmul(matrix_view<const std::type_identity_t<In>> a, matrix_view<const std::type_identity_t<In>> b,
            matrix_view<Out> c, float alpha, float beta) {
    matmul<Out, In>(a, b, c, {}, alpha, beta);
}

template <class Out, class In>
void batched_matmul(batch_view<const std::type_identity_t<In>> a,
                    batch_view<const std::type_identity_t<In>> b, batch_view<Out> c, float alpha,
                    float beta) {
    detail::validate_batch(a, b, c);
    detail::validate_matmul<In, Out>("host::batched_matmul", a.first, b.first, c.first, c.count > 0);
    for (std::int64_t i = 0; i < c.count; ++i)
        compute<In, Out>(matrix_of(a, i), matrix_of(b, i), matrix_of(c, i), {}, alpha, beta);
}

template <class Out, class In>
void batched_matmul(std::type_identity_t<std::span<const matmul_operands<Out, In>>> products, float alpha,
                    float beta) {
    for (const auto& each : products)
        detail::validate_matmul<In, Out>("host::batched_matmul", each.a, each.b, each.c);
    for (const auto& each : products) compute<In, Out>(each.a, each.b, each.c, {}, alpha, beta);
}

#define INSTANTIATE(In, Out)                                                                             \
    template void matmul<Out, In>(matrix_view<const In>, matrix_view<const In>, matrix_view<Out>,        \
                                  const matmul_epilogue<Out>&, float, float);                            \
    template void matmul<Out, In>(matrix_view<const In>, matrix_view<const In>, matrix_view<Out>, float, \
                                  float);                                                                \
    template void batched_matmul<Out, In>(batch_view<const In>, batch_view<const In>, batch_view<Out>,   \
                                          float, float);                                                 \
    template void batched_matmul<Out, In>(std::span<const matmul_operands<Out, In>>, float, float);
HEDDLE_PAIRS_OF_TYPES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace heddle::host

#pragma GCC visibility pop
