// Copies of operands that the tensor memory accelerator cannot address, before the product. They are a part of a rung's plan.
//
//   A, 4097 x 4101:  | row 0, 8202 bytes | row 1 begins at 8202: 10 past a multiple of 16
//   the copy:        | row 0, 8202 bytes, 118 of nothing | row 1 begins at 8320
//
// The accelerator addresses rows at multiples of 16 bytes only, and nothing else feeds a tensor core as fast. A copy reads and
// writes an operand once, where a large product takes several times as long. Only what needs it is copied; C may have any
// rows. For TF32, of which one operand has to lie along k, a copy may also turn the operand. What limits them: memory.

#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/grid_dependency.cuh"
#include "kernels/device/vector.cuh"
#include "kernels/matmul/launch.hpp"
#include "kernels/matmul/warpgroup.cuh"
#include <heddle/types.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

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

/// A copy of A or B: `to` has rows of whole packets, at least as long as those of `from`; both have contiguous rows.
template <class T>
struct copy {
    matrix_view<const T> from;
    matrix_view<T> to;
    unsigned across = 0;  ///< blocks
    unsigned down = 0;

    __host__ __device__ unsigned blocks() const { return across * down; }
};

/// What block `block` of a copy does.
template <class T>
__device__ void pad_rows(const copy<T>& c, unsigned block) {
    constexpr int width = share<T>::width, count = share<T>::count;
    using packet = vector<T, width>;
    const std::int64_t col = std::int64_t{block % c.across} * share<T>::of_warp + threadIdx.x % warp * width;
    const std::int64_t step = std::int64_t{c.down} * rows_of_block;
    for (std::int64_t row = std::int64_t{block / c.across} * rows_of_block + threadIdx.x / warp;
         row < c.from.rows; row += step) {
        const T* const begin = c.from.data + row * c.from.row_stride + col;
        T* const to = c.to.data + row * c.to.row_stride + col;
        packet moved[count];
#pragma unroll
        for (int i = 0; i < count; ++i)
#pragma unroll
            for (int e = 0; e < width; ++e) {
                const int at = i * warp * width + e;
                moved[i][e] = col + at < c.from.cols ? begin[at] : T(0.0f);
            }
#pragma unroll
        for (int i = 0; i < count; ++i)
            if (col + i * warp * width < c.from.cols)
                *reinterpret_cast<packet*>(to + i * warp * width) = moved[i];
    }
}

/// The product that follows must not begin early: its blocks would wait beside these, take their room, and make both together
/// slower.
template <class T>
__global__ void __launch_bounds__(warp* rows_of_block)
    pad(const __grid_constant__ copy<T> first, const __grid_constant__ copy<T> second) {
    ptx::wait_for_grids_before();
    if (blockIdx.x < first.blocks())
        pad_rows(first, blockIdx.x);
    else
        pad_rows(second, blockIdx.x - first.blocks());
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
    const matrix_layout m{.rows = rows, .cols = cols, .element_bytes = sizeof(T)};
    T* const begin = reinterpret_cast<T*>(free);
    free += copied_bytes(m, copy_kind::rows);
    return {begin, rows, cols, copied(m, copy_kind::rows).row_stride};
}

/// The aligned copies of a product, which are made in one launch.
template <class T>
class aligned_copies {
  public:
    /// The copy to come of contiguous rows, at `free`, which then is moved behind it.
    matrix_view<const T> add(const matrix_view<const T>& rows, std::byte*& free) {
        copy<T>& added = copies_[count_++];
        added = {rows, rows_at<T>(free, rows.rows, rows.cols),
                 static_cast<unsigned>(divide_up(rows.cols, share<T>::of_warp)),
                 static_cast<unsigned>(std::min(divide_up(rows.rows, rows_of_block), max_blocks_down))};
        return added.to;
    }

    void launch(cudaStream_t stream) const {
        const auto& [first, second] = copies_;
        if (count_ > 0)
            kernels::launch({.blocks = {first.blocks() + second.blocks()},
                             .threads = {warp * rows_of_block},
                             .stream = stream,
                             .begins_early = true},
                            pad<T>, first, second);
    }

  private:
    std::array<copy<T>, 2> copies_{};
    std::size_t count_ = 0;
};

/// A copy with contiguous rows, of contiguous columns.
matrix_view<const float> launch_turn(const matrix_view<const float>& in, std::byte*& free,
                                     cudaStream_t stream) {
    const matrix_view<float> out = rows_at<float>(free, in.rows, in.cols);
    launch({.blocks = {divide_up(in.cols, warp), std::min(divide_up(in.rows, warp), max_blocks_down)},
            .threads = {warp, rows_of_block},
            .stream = stream},
           turn, in, out);
    return out;
}

}  // namespace

template <class In, class Out>
product<In, Out> launch_copies(const plan& plan, const product<In, Out>& arguments, cudaStream_t stream) {
    product<In, Out> result = arguments;
    std::byte* free = arguments.workspace.scratch + plan.scratch_bytes() - plan.copied_bytes;
    aligned_copies<In> aligned;
    for (const auto& [operand, kind] :
         {std::pair(&result.a, plan.copies.a), std::pair(&result.b, plan.copies.b)}) {
        if (kind == copy_kind::none) continue;
        const bool by_rows = kind == copy_kind::rows;
        matrix_view<const In> lines = by_rows ? *operand : transposed(*operand);
        if (has_contiguous_rows(lines))
            lines = aligned.add(lines, free);
        else if constexpr (std::is_same_v<In, float>)
            lines = launch_turn(lines, free, stream);
        *operand = by_rows ? lines : transposed(lines);
    }
    aligned.launch(stream);
    return result;
}

template product<float, float> launch_copies(const plan&, const product<float, float>&, cudaStream_t);
template product<half, half> launch_copies(const plan&, const product<half, half>&, cudaStream_t);
template product<half, float> launch_copies(const plan&, const product<half, float>&, cudaStream_t);
template product<bfloat16, bfloat16> launch_copies(const plan&, const product<bfloat16, bfloat16>&,
                                                   cudaStream_t);
template product<bfloat16, float> launch_copies(const plan&, const product<bfloat16, float>&, cudaStream_t);

}  // namespace heddle::kernels::matmul
