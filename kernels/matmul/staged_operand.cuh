#pragma once

#include "kernels/device/ptx/cp_async.cuh"
#include <heddle/view.hpp>

#include <cstdint>

/// Tiles of float32 that threads copy to shared memory in turns, while they multiply, and transpose on the way where they lie
/// along k.
namespace heddle::kernels::matmul {

/// An operand's tile in shared memory: k rows of `extent` elements along m (n). The gap after each row keeps what is
/// transposed on its way free of bank conflicts.
template <class Tile, int extent>
struct staged_operand {
    static constexpr int row_stride = extent + 4;
    static constexpr int size = Tile::k * row_stride;

    /// A thread's part of the copies of one step after the other along k. What lies outside of the matrix becomes zero
    /// and is not read. k_major: it lies along k in global memory, and is copied element by element.
    template <bool k_major, int vector_width>
    class loader {
      public:
        /// `in` has rows along m (n). Starts at (first, k) of it.
        __device__ loader(const matrix_view<const float>& in, std::int64_t first, std::int64_t k) {
            const std::int64_t x = first + thread_x();
            source_ = in.data + x * in.row_stride + (k + thread_k()) * in.col_stride;
            pass_step_ = k_major ? threads_x * in.row_stride : threads_k * in.col_stride;
            step_ = k_major ? Tile::k - passes * pass_step_ : 0;
            x_left_ = static_cast<int>(min(std::int64_t{extent}, in.rows - x));
        }

        /// Starts the copies of a turn. Of the step, k_left are inside of the matrix.
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
                        all_inside ? width : (is_inside ? max(0, min(width, x_left_ - first_x - x)) : 0);
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

}  // namespace heddle::kernels::matmul
