// Copies operands that the tensor memory accelerator cannot address, before the product. They are a part of a rung's plan.
//
//   A, 4097 x 4101:  | row 0, 8202 bytes | row 1 begins at 8202: 10 past a multiple of 16
//   the copy:        | row 0, 8202 bytes, 118 unused | row 1 begins at 8320
//
// The accelerator addresses rows only at multiples of 16 bytes, and nothing else feeds a tensor core as fast. A copy reads
// and writes an operand once, and a large product takes several times as long. Only operands that need it are copied; the
// rows of C may lie anywhere. All matrices of a batch are copied, one after another, or the one that serves all. TF32
// needs one operand along k, so its copies may also transpose. What limits them: memory.

#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/grid_dependency.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/vector.cuh"
#include "kernels/matmul/launch.hpp"
#include "kernels/matmul/warpgroup.cuh"
#include <heddle/types.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

namespace heddle::kernels::matmul {
namespace {

constexpr int warp = 32;
constexpr int warps = 8;  ///< of a block
constexpr std::int64_t max_blocks_down = 65535;
constexpr std::int64_t max_blocks = std::int64_t{1} << 29;  ///< of each copy; a grid has those of two copies

/// How many elements a thread moves at once: packets of neighbours, as far apart as a row has threads. Floats are moved
/// singly, so that a warp reads whole lines.
template <class T>
struct share {
    static constexpr int width =
        sizeof(T) < sizeof(float) ? max_vector_bytes / static_cast<int>(sizeof(T)) : 1;
    static constexpr int count = sizeof(T) < sizeof(float) ? 1 : 8;
    static constexpr int per_thread = width * count;
};

/// The matrices of a batch.
template <class T>
struct matrices {
    matrix_view<T> first;
    std::int64_t step;  ///< elements from one matrix to the next
};

/// A copy of A or B, or of all of them in a batch. Both sides have contiguous rows. Those of `to` consist of whole packets
/// and are at least as long as those of `from`. A warp copies a row, or a part of a warp that is long enough.
template <class T>
struct copy {
    matrices<const T> from{};
    matrices<T> to{};
    std::int64_t rows = 0;  ///< of all matrices
    int lanes_log2 = 0;     ///< threads of a row
    unsigned across = 0;    ///< blocks along a row
    unsigned down = 0;

    copy() = default;
    copy(const matrices<const T>& from, const matrices<T>& to, std::int64_t count)
        : from(from),
          to(to),
          rows(count * from.first.rows),
          lanes_log2(std::bit_width(static_cast<std::uint64_t>(
              std::min<std::int64_t>(divide_up(from.first.cols, share<T>::width), warp) - 1))),
          across(static_cast<unsigned>(divide_up(from.first.cols, lanes() * share<T>::per_thread))),
          down(static_cast<unsigned>(
              std::min({divide_up(rows, rows_of_block()), max_blocks_down, max_blocks / across}))) {}

    __host__ __device__ int lanes() const { return 1 << lanes_log2; }
    __host__ __device__ int rows_of_block() const { return warps * warp >> lanes_log2; }
    __host__ __device__ unsigned blocks() const { return across * down; }
};

/// Does the work of block `block` of a copy.
template <class T>
__device__ void pad_rows(const copy<T>& c, unsigned block) {
    constexpr int width = share<T>::width, count = share<T>::count;
    using packet = vector<T, width>;
    const matrix_view<const T>& from = c.from.first;
    const int thread = static_cast<int>(threadIdx.x), lane = thread & (c.lanes() - 1);
    const int apart = c.lanes() * width;
    const std::int64_t col = std::int64_t{block % c.across} * (apart * count) + lane * width;
    const std::int64_t step = std::int64_t{c.down} * c.rows_of_block();
    for (std::int64_t at = std::int64_t{block / c.across} * c.rows_of_block() + (thread >> c.lanes_log2);
         at < c.rows; at += step) {
        const std::int64_t matrix = at / from.rows, row = at - matrix * from.rows;
        const T* const begin = from.data + matrix * c.from.step + row * from.row_stride + col;
        T* const to = c.to.first.data + matrix * c.to.step + row * c.to.first.row_stride + col;
        packet moved[count];
#pragma unroll
        for (int i = 0; i < count; ++i)
#pragma unroll
            for (int e = 0; e < width; ++e) {
                const int ahead = i * apart + e;
                moved[i][e] = col + ahead < from.cols ? begin[ahead] : T(0.0f);
            }
#pragma unroll
        for (int i = 0; i < count; ++i)
            if (col + i * apart < from.cols) *reinterpret_cast<packet*>(to + i * apart) = moved[i];
    }
}

/// The product that follows must not begin early. Its blocks would wait beside these blocks, take their room, and slow both
/// down.
template <class T>
__global__ void __launch_bounds__(warp* warps)
    pad(const __grid_constant__ copy<T> first, const __grid_constant__ copy<T> second) {
    ptx::wait_for_grids_before();
    if (blockIdx.x < first.blocks())
        pad_rows(first, blockIdx.x);
    else
        pad_rows(second, blockIdx.x - first.blocks());
}

/// out = in for `count` matrices. Columns of `in` are contiguous, and so are rows of `out`.
__global__ void __launch_bounds__(warp* warps)
    turn(matrices<const float> all_in, matrices<float> all_out, std::int64_t count) {
    __shared__ float tile[warp][warp + 1];  // a row and a column are in different banks
    const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
    const std::int64_t first_col = std::int64_t{blockIdx.x} * warp;
    for (std::int64_t matrix = blockIdx.z; matrix < count; matrix += gridDim.z) {
        matrix_view<const float> in = all_in.first;
        matrix_view<float> out = all_out.first;
        in.data += matrix * all_in.step;
        out.data += matrix * all_out.step;
        for (std::int64_t first_row = std::int64_t{blockIdx.y} * warp; first_row < in.rows;
             first_row += std::int64_t{gridDim.y} * warp) {
            for (int i = y; i < warp; i += warps)
                if (first_row + x < in.rows && first_col + i < in.cols)
                    tile[i][x] = in.data[first_row + x + (first_col + i) * in.col_stride];
            ptx::sync_threads();
            for (int i = y; i < warp; i += warps)
                if (first_row + i < in.rows && first_col + x < in.cols)
                    out.data[(first_row + i) * out.row_stride + first_col + x] = tile[x][i];
            ptx::sync_threads();
        }
    }
}

/// Space for `count` matrices with aligned rows at `free`, which is moved past them.
template <class T>
matrices<T> rows_at(std::byte*& free, std::int64_t rows, std::int64_t cols, std::int64_t count) {
    constexpr auto kind = copy_kind::rows;
    const matrix_layout m{.rows = rows, .cols = cols, .element_bytes = sizeof(T)};
    T* const begin = reinterpret_cast<T*>(free);
    free += copied_bytes(m, kind, count);
    return {{begin, rows, cols, copied(m, kind).row_stride}, copied_step(m, kind)};
}

/// The aligned copies of a product, which are made by one launch.
template <class T>
class aligned_copies {
  public:
    /// Adds a copy of matrices with contiguous rows. The copy begins at `free`, which is moved past it.
    matrices<T> add(const matrices<const T>& rows, std::int64_t count, std::byte*& free) {
        copy<T>& added = copies_[count_++];
        added = {rows, rows_at<T>(free, rows.first.rows, rows.first.cols, count), count};
        return added.to;
    }

    void launch(cudaStream_t stream) const {
        const auto& [first, second] = copies_;
        if (count_ > 0)
            kernels::launch({.blocks = {first.blocks() + second.blocks()},
                             .threads = {warp * warps},
                             .stream = stream,
                             .begins_early = true},
                            pad<T>, first, second);
    }

  private:
    std::array<copy<T>, 2> copies_{};
    std::size_t count_ = 0;
};

/// Copies matrices with contiguous columns to matrices with contiguous rows.
matrices<float> launch_turn(const matrices<const float>& in, std::int64_t count, std::byte*& free,
                            cudaStream_t stream) {
    const std::int64_t rows = in.first.rows, cols = in.first.cols;
    const matrices<float> out = rows_at<float>(free, rows, cols, count);
    launch({.blocks = {divide_up(cols, warp), std::min(divide_up(rows, warp), max_blocks_down),
                       std::min(count, max_blocks_down)},
            .threads = {warp, warps},
            .stream = stream},
           turn, in, out, count);
    return out;
}

}  // namespace

template <class In, class Out>
product<In, Out> launch_copies(const plan& plan, const product<In, Out>& arguments, cudaStream_t stream) {
    product<In, Out> result = arguments;
    std::byte* free = arguments.workspace.scratch + plan.scratch_bytes() - plan.copied_bytes;
    free += -reinterpret_cast<std::uintptr_t>(free) % copy_alignment;
    aligned_copies<In> aligned;
    for (const auto& [operand, stride, kind] : {std::tuple(&result.a, &result.batch.a, plan.copies.a),
                                                std::tuple(&result.b, &result.batch.b, plan.copies.b)}) {
        if (kind == copy_kind::none) continue;
        const bool by_rows = kind == copy_kind::rows;
        const std::int64_t count = count_stored(result.batch.count, *stride);
        const matrices<const In> lines{by_rows ? *operand : transposed(*operand), *stride};
        matrices<In> made{};
        if (has_contiguous_rows(lines.first))
            made = aligned.add(lines, count, free);
        else if constexpr (std::is_same_v<In, float>)
            made = launch_turn(lines, count, free, stream);
        *operand = by_rows ? made.first : transposed(made.first);
        if (*stride != 0) *stride = made.step;
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
