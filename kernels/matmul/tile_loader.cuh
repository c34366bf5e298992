#pragma once

#include "kernels/device/ptx/cp_async.cuh"
#include "kernels/device/vector.cuh"
#include "kernels/matmul/layout.hpp"
#include <heddle/view.hpp>

#include <cstdint>

/// Tiles of float32 that threads copy to shared memory, from rows at any address. They keep their order, or all get rows
/// along m or n.
namespace heddle::kernels::matmul {

/// A thread's share of the copies of consecutive tiles along k. A tile has `rows` rows of `cols` contiguous elements, which
/// lie `row_stride` apart in shared memory. If k-major, rows run along k. `width` elements are copied at once.
template <int rows, int cols, int row_stride, bool k_major, int width, int threads>
class tile_loader {
  public:
    /// Starts at (row, col) of `in`, in the order of the tile. The rows of `in` are contiguous. Elements outside of it become
    /// zero and are not read.
    __device__ tile_loader(const matrix_view<const float>& in, std::int64_t row, std::int64_t col) {
        row += first_row();
        col += first_col();
        source_ = in.data + row * in.row_stride + col;
        pass_step_ = rows_per_pass * in.row_stride;
        tile_step_ = k_major ? cols : rows * in.row_stride;
        rows_left_ = in.rows - row;
        cols_left_ = in.cols - col;
    }

    /// Starts the copy of the next tile.
    __device__ void copy_async(float* tile) {
        float* const target = tile + first_row() * row_stride + first_col();
        const int valid = static_cast<int>(::max(std::int64_t{0}, ::min(std::int64_t{width}, cols_left_)));
#pragma unroll
        for (int pass = 0; pass < rows / rows_per_pass; ++pass)
            ptx::cp_async<width * sizeof(float)>(
                target + pass * rows_per_pass * row_stride, source_ + pass * pass_step_,
                pass * rows_per_pass < rows_left_ ? valid * static_cast<int>(sizeof(float)) : 0);
        source_ += tile_step_;
        (k_major ? cols_left_ : rows_left_) -= k_major ? cols : rows;
    }

  private:
    static constexpr int threads_across = cols / width;
    static constexpr int rows_per_pass = threads / threads_across;
    static_assert(threads % threads_across == 0 && rows % rows_per_pass == 0);

    static __device__ int first_row() {
        return threadIdx.x / threads_across;
    }
    static __device__ int first_col() {
        return threadIdx.x % threads_across * width;
    }

    const float* source_;
    std::int64_t pass_step_, tile_step_;
    std::int64_t rows_left_, cols_left_;
};

/// An operand's tile in shared memory: k rows of `extent` elements along m (or n). The gap after each row avoids bank
/// conflicts when copies transpose.
template <class Tile, int extent>
struct staged_operand {
    static constexpr int row_stride = extent + 4;
    static constexpr int size = Tile::k * row_stride;

    /// A thread's part of the copies of consecutive steps along k. Elements outside of the matrix become zero and are not read.
    /// If k_major, the matrix lies along k in global memory, and is copied by single elements.
    template <bool k_major, int vector_width>
    class loader {
      public:
        /// `in` has rows along m (or n). Starts at (first, k) of it.
        __device__ loader(const matrix_view<const float>& in, std::int64_t first, std::int64_t k) {
            const std::int64_t x = first + thread_x();
            source_ = in.data + x * in.row_stride + (k + thread_k()) * in.col_stride;
            pass_step_ = k_major ? threads_x * in.row_stride : threads_k * in.col_stride;
            step_ = k_major ? Tile::k - passes * pass_step_ : 0;
            x_left_ = static_cast<int>(::min(std::int64_t{extent}, in.rows - x));
        }

        /// Starts the copies of one turn. Of the step, k_left rows lie inside of the matrix.
        template <bool all_inside>
        __device__ void copy_async(float* tile, int turn, int k_left) {
            const int first_x = k_major ? turn * passes_of_turn * threads_x : 0;
            const int first_k = k_major ? 0 : turn * passes_of_turn * threads_k;
            float* const target = tile + (first_k + thread_k()) * row_stride + first_x + thread_x();
#pragma unroll
            for (int pass = 0; pass < passes_of_turn; ++pass)
#pragma unroll
                for (int along = 0; along < (k_major ? Tile::k : threads_k); along += threads_k) {
                    const int x = k_major ? pass * threads_x : 0;
                    const int k = k_major ? along : pass * threads_k;
                    const bool is_inside = first_k + thread_k() + k < k_left;
                    const int valid =
                        all_inside ? width : (is_inside ? ::max(0, ::min(width, x_left_ - first_x - x)) : 0);
                    ptx::cp_async<width * sizeof(float)>(target + k * row_stride + x,
                                                         source_ + pass * pass_step_ + along,
                                                         valid * static_cast<int>(sizeof(float)));
                }
            source_ += passes_of_turn * pass_step_;
            if (turn + 1 == Tile::turns) source_ += step_;
        }

      private:
        static constexpr int width = k_major ? 1 : vector_width;
        static constexpr int threads_k = k_major ? 8 : Tile::threads / (extent / width);
        static constexpr int threads_x = Tile::threads / threads_k;
        static constexpr int passes = k_major ? extent / threads_x : Tile::k / threads_k;
        static constexpr int passes_of_turn = passes / Tile::turns;
        static_assert(Tile::k % threads_k == 0 && extent % threads_x == 0 && passes % Tile::turns == 0);

        static __device__ int thread_k() {
            return static_cast<int>(k_major ? threadIdx.x % threads_k : threadIdx.x / threads_x);
        }
        static __device__ int thread_x() {
            return static_cast<int>(k_major ? threadIdx.x / threads_k : threadIdx.x % threads_x * width);
        }

        const float* source_;
        std::int64_t pass_step_, step_;
        int x_left_;
    };
};

/// Whether rows that begin `row_stride` floats apart can be copied 16 bytes at once, in each matrix of a batch.
inline bool is_vector_aligned(const void* data, std::int64_t rows, std::int64_t row_stride,
                              std::int64_t batch_stride = 0) {
    const std::int64_t steps = (rows > 1 ? row_stride : 0) | batch_stride;
    return common_alignment(reinterpret_cast<std::uintptr_t>(data), steps * std::int64_t{sizeof(float)}) ==
           max_vector_bytes;
}

/// Whether four neighbours of a row can be read or stored at once, in each matrix of a batch.
template <class T>
bool has_packets(const matrix_view<T>& m, std::int64_t batch_stride = 0) {
    return has_contiguous_rows(m) && is_vector_aligned(m.data, m.rows, m.row_stride, batch_stride);
}

}  // namespace heddle::kernels::matmul
