// skinny, for float: C has a short side, and the other operand is read at the memory's rate.
//
//   thin: 16 x k     wide: k x n     (or their transposes if C is tall; more rows take more blocks)
//
//   wide by rows:     a block has 32 columns, or 8; each warp takes every 32nd row of them, in whole sectors
//   wide by columns:  a block has 4 columns, or 8; each warp takes every 8th 512 bytes of each column
//
// Each element of the wide operand is multiplied at most 16 times. The tiles of pipelined would leave the memory idle: for
// n = 4096 they are 32 blocks. Here the warps of a block divide k. Each warp has its own sums of all of the block's C, and
// shared memory combines them at the end. A sum has k / 32, k / 128 or k / 256 terms in sequence, which is more exact than
// k terms. What limits it: memory; at 16 rows, FFMA and reads of the thin operand come close.

#include "kernels/device/launch.hpp"
#include "kernels/device/math.hpp"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/matmul/element.cuh"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace heddle::kernels::matmul {
namespace {

constexpr int warp = 32;

/// C (t x n) = alpha * thin (t x k) * wide (k x n) + beta * C.
struct skinny_product {
    matrix_view<const float> thin;
    matrix_view<const float> wide;
    matrix_view<float> c;
    float alpha = 1;
    float beta = 0;
    frame::epilogue<float> epilogue;
    batch_strides batch;
    /// The rows of the wide operand that stay in L2. The others stream through it. So the next product with the same operand
    /// finds these rows there; otherwise all rows would evict one another.
    std::int64_t kept = 0;

    __device__ void store(int row, std::int64_t col, float sum) const {
        if (row >= c.rows || col >= c.cols) return;
        float& to = c.data[blockIdx.z * batch.c + row * c.row_stride + col * c.col_stride];
        const float x = beta == 0 ? alpha * sum : fmaf(alpha, sum, beta * to);
        to = epilogue.is_identity ? x : applied(epilogue, x, row, col);
    }
    __device__ float of_thin(int row, std::int64_t k) const {
        return row < thin.rows && k < thin.cols
                   ? __ldg(thin_data() + row * thin.row_stride + k * thin.col_stride)
                   : 0;
    }
    __device__ const float* thin_data() const { return thin.data + blockIdx.z * batch.a; }
    __device__ const float* wide_data() const { return wide.data + blockIdx.z * batch.b; }
};

template <int rows_, int cols_>
struct by_rows {
    static constexpr int rows = rows_;  ///< of C
    static constexpr int cols = cols_;  ///< of C
    static constexpr int warps = 32;
    static constexpr int threads = warps * warp;
    static constexpr int lanes_down = warp / cols;
    static constexpr int lines = warps * lanes_down;   ///< rows along k that the block reads at once
    static constexpr int ahead = rows == 16 ? 6 : 16;  ///< rows that a thread reads before it needs them
    static constexpr int depth = lines * ahead;
    /// From row to row of the transposed thin operand. The gap puts elements that lanes write at once into different banks.
    static constexpr int stride = rows == 16 ? rows + 4 : rows;
    static constexpr int shared_floats = skinny_float_shared_bytes / static_cast<int>(sizeof(float));
    /// The extent along k of the thin operand that shared memory holds at a time.
    static constexpr int staged = shared_floats / stride / depth * depth;
    static_assert(staged >= depth && warps * rows * cols <= shared_floats);
};

template <class Tile>
__global__ void __launch_bounds__(Tile::threads) skinny_by_rows(const __grid_constant__ skinny_product p) {
    extern __shared__ __align__(16) float shared[];
    const int thread = static_cast<int>(threadIdx.x), lane = thread % warp;
    const int first_row = static_cast<int>(blockIdx.y) * Tile::rows;
    const int line = thread / warp * Tile::lanes_down + lane / Tile::cols;
    const std::int64_t first_col = std::int64_t{blockIdx.x} * Tile::cols, col = first_col + lane % Tile::cols;
    const std::int64_t depth = col < p.wide.cols ? p.wide.rows : 0;
    const std::int64_t step = Tile::lines * p.wide.row_stride;
    const float* at = p.wide_data() + col * p.wide.col_stride + line * p.wide.row_stride;
    float next[Tile::ahead], sums[Tile::rows] = {};
    const auto read = [&](std::int64_t begin) {
        // With 16 rows the memory's rate is not the limit, and there are few registers.
        const bool stays = Tile::rows == 16 || begin + Tile::depth <= p.kept;
        if (stays && begin + Tile::depth <= depth) {
#pragma unroll
            for (int i = 0; i < Tile::ahead; ++i, at += step) next[i] = __ldg(at);
        } else if (begin + Tile::depth <= depth) {
#pragma unroll
            for (int i = 0; i < Tile::ahead; ++i, at += step) next[i] = __ldcs(at);
        } else {
#pragma unroll
            for (int i = 0; i < Tile::ahead; ++i, at += step)
                next[i] = begin + i * Tile::lines + line < depth ? __ldg(at) : 0;
        }
    };
    read(0);
    for (std::int64_t begin = 0; begin < p.wide.rows; begin += Tile::staged) {
        const int count = static_cast<int>(min(std::int64_t{Tile::staged}, p.wide.rows - begin));
        ptx::sync_threads();
        for (int k = thread; k < round_up(count, Tile::depth); k += Tile::threads)
#pragma unroll
            for (int row = 0; row < Tile::rows; ++row)
                shared[k * Tile::stride + row] = p.of_thin(first_row + row, begin + k);
        ptx::sync_threads();
        for (int first = 0; first < count; first += Tile::depth) {
            float now[Tile::ahead];
#pragma unroll
            for (int i = 0; i < Tile::ahead; ++i) now[i] = next[i];
            read(begin + first + Tile::depth);
#pragma unroll
            for (int i = 0; i < Tile::ahead; ++i) {
                const float* const thin = shared + (first + i * Tile::lines + line) * Tile::stride;
#pragma unroll
                for (int row = 0; row < Tile::rows; ++row) sums[row] = fmaf(thin[row], now[i], sums[row]);
            }
        }
    }

    // add up
    ptx::sync_threads();
#pragma unroll
    for (int row = 0; row < Tile::rows; ++row) {
#pragma unroll
        for (int offset = Tile::cols; offset < warp; offset *= 2)
            sums[row] += __shfl_xor_sync(~0u, sums[row], offset);
        if (lane < Tile::cols) shared[(thread / warp * Tile::rows + row) * Tile::cols + lane] = sums[row];
    }
    ptx::sync_threads();
    if (thread >= Tile::rows * Tile::cols) return;
    float sum = 0;
    for (int i = 0; i < Tile::warps; ++i) sum += shared[i * Tile::rows * Tile::cols + thread];
    p.store(first_row + thread / Tile::cols, first_col + thread % Tile::cols, sum);
}

template <int rows_>
struct by_columns {
    static constexpr int rows = rows_;                ///< of C
    static constexpr int cols = rows_ == 16 ? 8 : 4;  ///< of C
    static constexpr int warps = 8;
    static constexpr int threads = warps * warp;
    static constexpr int packet = 4;
    static constexpr int sums = rows * cols;
    static constexpr int sums_of_lane = std::max(1, sums / warp);  ///< after a warp has added up
    static constexpr int blocks_per_sm = rows == 1 ? 4 : 1;
};

/// Reads up to `count` of four neighbours along k.
__device__ float4 read_packet(const float* from, std::int64_t count, bool is_aligned) {
    if (is_aligned && count >= 4) return __ldg(reinterpret_cast<const float4*>(from));
    const auto element = [&](int i) { return i < count ? __ldg(from + i) : 0; };
    return {element(0), element(1), element(2), element(3)};
}

/// Adds up `left` values over the lanes. Each lane keeps left / 32 of the totals, or one; returns the first that it keeps.
template <int left, int offset = warp / 2, int count>
__device__ int reduce_scatter(float (&values)[count], int lane, int first = 0) {
    if constexpr (offset == 0) {
        return first;
    } else if constexpr (left == 1) {
        values[0] += __shfl_xor_sync(~0u, values[0], offset);
        return reduce_scatter<1, offset / 2>(values, lane, first);
    } else {
        constexpr int half = left / 2;
        const bool is_upper = (lane & offset) != 0;
#pragma unroll
        for (int i = 0; i < half; ++i) {
            const float given = is_upper ? values[i] : values[i + half];
            const float kept = is_upper ? values[i + half] : values[i];
            values[i] = kept + __shfl_xor_sync(~0u, given, offset);
        }
        return reduce_scatter<half, offset / 2>(values, lane, is_upper ? first + half : first);
    }
}

template <class Tile>
__global__ void __launch_bounds__(Tile::threads, Tile::blocks_per_sm)
    skinny_by_columns(const __grid_constant__ skinny_product p, bool wide_aligned, bool thin_aligned) {
    __shared__ float shared[Tile::warps][Tile::sums];
    const int thread = static_cast<int>(threadIdx.x), lane = thread % warp;
    const int first_row = static_cast<int>(blockIdx.y) * Tile::rows;
    const std::int64_t first_col = std::int64_t{blockIdx.x} * Tile::cols, depth = p.wide.rows;
    float sums[Tile::sums] = {};
    for (std::int64_t k = thread * Tile::packet; k < depth; k += Tile::threads * Tile::packet) {
        float4 wide[Tile::cols];
#pragma unroll
        for (int col = 0; col < Tile::cols; ++col) {
            const std::int64_t count = first_col + col < p.wide.cols ? depth - k : 0;
            wide[col] =
                read_packet(p.wide_data() + (first_col + col) * p.wide.col_stride + k, count, wide_aligned);
        }
#pragma unroll
        for (int row = 0; row < Tile::rows; ++row) {
            const int at = first_row + row;
            float4 thin;
            if (p.thin.col_stride == 1)
                thin = read_packet(p.thin_data() + at * p.thin.row_stride + k,
                                   at < p.thin.rows ? depth - k : 0, thin_aligned);
            else
                thin = {p.of_thin(at, k), p.of_thin(at, k + 1), p.of_thin(at, k + 2), p.of_thin(at, k + 3)};
#pragma unroll
            for (int col = 0; col < Tile::cols; ++col) {
                float& sum = sums[row * Tile::cols + col];
                sum = fmaf(thin.x, wide[col].x, sum);
                sum = fmaf(thin.y, wide[col].y, sum);
                sum = fmaf(thin.z, wide[col].z, sum);
                sum = fmaf(thin.w, wide[col].w, sum);
            }
        }
    }

    // add up
    const int first = reduce_scatter<Tile::sums>(sums, lane);
#pragma unroll
    for (int i = 0; i < Tile::sums_of_lane; ++i) shared[thread / warp][first + i] = sums[i];
    ptx::sync_threads();
    if (thread >= Tile::sums) return;
    float sum = 0;
    for (int i = 0; i < Tile::warps; ++i) sum += shared[i][thread];
    p.store(first_row + thread / Tile::cols, first_col + thread % Tile::cols, sum);
}

template <class Tile, class... Parameters>
void launch_grids(const plan& plan, const arguments& all, std::size_t shared_bytes, std::size_t shared_limit,
                  cudaStream_t stream, void (*kernel)(skinny_product, Parameters...),
                  const std::type_identity_t<Parameters>&... parameters) {
    const launch_extents grid{divide_up(all.c.cols, Tile::cols), divide_up(all.c.rows, Tile::rows)};
    for_each_grid(all, grid, [&](const launch_extents& blocks, const arguments& p) {
        kernels::launch({.blocks = blocks,
                         .threads = {Tile::threads},
                         .shared_bytes = shared_bytes,
                         .shared_limit = shared_limit,
                         .stream = stream},
                        kernel, {p.a, p.b, p.c, p.alpha, p.beta, p.epilogue, p.batch, plan.kept},
                        parameters...);
    });
}

template <class Tile>
void launch_by_rows(const plan& plan, const arguments& p, cudaStream_t stream) {
    const std::int64_t staged = std::min<std::int64_t>(Tile::staged, round_up(p.b.rows, Tile::depth));
    const std::int64_t sums = Tile::warps * Tile::rows * Tile::cols;
    launch_grids<Tile>(plan, p,
                       static_cast<std::size_t>(std::max(staged * Tile::stride, sums)) * sizeof(float),
                       skinny_float_shared_bytes, stream, skinny_by_rows<Tile>);
}

template <std::size_t row>
void launch_row(const plan& plan, const arguments& p, cudaStream_t stream) {
    constexpr int rows = skinny_float_kernels[row].rows;
    constexpr int line = 32, sector = 8;  // elements
    if (p.b.row_stride != 1) {
        if (plan.parts == 1)
            launch_by_rows<by_rows<rows, line>>(plan, p, stream);
        else
            launch_by_rows<by_rows<rows, sector>>(plan, p, stream);
    } else {
        using tile = by_columns<rows>;
        const auto is_aligned = [](const matrix_view<const float>& lines, std::int64_t batch_stride) {
            return has_tensor_rows(lines) && begins_at_boxes(batch_stride, sizeof(float));
        };
        launch_grids<tile>(plan, p, 0, 0, stream, skinny_by_columns<tile>,
                           is_aligned(transposed(p.b), p.batch.b), is_aligned(p.a, p.batch.a));
    }
}

}  // namespace

void launch_skinny_float(const plan& plan, const arguments& arguments, cudaStream_t stream) {
    frame::with_row<skinny_float_kernels>(
        plan.kernel, [&]<std::size_t row>() { launch_row<row>(plan, arguments, stream); });
}

}  // namespace heddle::kernels::matmul
