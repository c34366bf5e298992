#pragma once

#include "kernels/device/ptx/cp_async.cuh"
#include "kernels/device/vector.cuh"
#include <heddle/view.hpp>

#include <cstdint>

/// Tiles of float32 that threads copy to shared memory themselves, from rows at any address.
namespace heddle::kernels::matmul {

/// A thread's share of the copies of one tile after the other along k: `rows` rows of `cols` contiguous elements, in
/// shared memory `row_stride` apart. k-major: the rows run along k. `width` elements are copied at once.
template <int rows, int cols, int row_stride, bool k_major, int width, int threads>
class tile_loader {
  public:
    /// Starts at (row, col) of `in`, whose rows are contiguous, in the order of the tile; what lies outside of it becomes
    /// zero and is not read.
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
        const int valid = static_cast<int>(max(std::int64_t{0}, min(std::int64_t{width}, cols_left_)));
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

/// Whether copies of 16 bytes may be used on rows that begin `row_stride` floats apart, in each matrix of a batch.
inline bool is_vector_aligned(const void* data, std::int64_t rows, std::int64_t row_stride,
                              std::int64_t batch_stride = 0) {
    const std::int64_t steps = (rows > 1 ? row_stride : 0) | batch_stride;
    return common_alignment(reinterpret_cast<std::uintptr_t>(data), steps * std::int64_t{sizeof(float)}) ==
           max_vector_bytes;
}

}  // namespace heddle::kernels::matmul
