#pragma once

#include "kernels/device/pipeline.cuh"
#include "kernels/device/ptx/wgmma.cuh"
#include "kernels/device/warpgroup_tile.cuh"
#include "kernels/matmul/warpgroup.cuh"

#include <cstdint>

/// Common parts of rungs that multiply float as TF32: A comes from registers in any order, B from shared memory along k.
namespace heddle::kernels::matmul {

/// The product with its maps. The tensor memory accelerator rounds to TF32; wgmma itself would truncate. `b_parts` blocks
/// each load a part of a tile of B.
template <class Activation>
tensor_product<float, Activation> make_tf32_product(const product<float, float, Activation>& p, int m, int n,
                                                    int b_parts = 1) {
    tensor_product<float, Activation> result = make_product(p);
    result.b_k_major = true;  // even if B could be read the other way too
    add_operand_maps(result, p, m, n, b_parts, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32);
    return result;
}

/// The elements of A's tile that a thread has, and their place in shared memory.
template <int m, bool k_major>
class a_of_thread {
  public:
    static constexpr int apart = k_major ? 8 : 1;  ///< from a thread's first row to its second

    __device__ a_of_thread(int consumer, int thread) {
        const int warp = thread / 32, group = thread % 32 / 4, k = thread % 4;
        const int in_box = group % 2 * 2 + group / 4 * 4 + warp % 2 * 8 + group / 2 % 2 * 16;
        row_ = k_major ? warp * 16 + group : warp / 2 * row_floats + in_box;
        const int tile_row = consumer * warpgroup_m + row_;
        offset_ = k_major ? tile_row * swizzle_bytes + tile_row % 8 * 16 + k * 4
                          : tile_row / row_floats * box_bytes + k * swizzle_bytes + (in_box / 4 ^ k) * 16 +
                                in_box % 4 * 4;
    }

    /// The thread's first row in the consumer's part.
    __device__ int row() const { return row_; }

    /// Reads the elements for instruction i of a step (wgmma.cuh).
    __device__ void read(const unsigned char* tile, int i, unsigned (&to)[4]) const {
#pragma unroll
        for (int half = 0; half < 2; ++half) {  // the halves are four apart along k
            if constexpr (k_major) {
                const unsigned char* const at = tile + (offset_ ^ (2 * i + half) * 16);
                to[2 * half] = *reinterpret_cast<const unsigned*>(at);
                to[2 * half + 1] = *reinterpret_cast<const unsigned*>(at + apart * swizzle_bytes);
            } else {
                const uint2 both = *reinterpret_cast<const uint2*>(tile + (offset_ ^ half * 64) +
                                                                   (8 * i + 4 * half) * swizzle_bytes);
                to[2 * half] = both.x;
                to[2 * half + 1] = both.y;
            }
        }
    }

  private:
    using tile = warpgroup_tile<float, m, k_major>;
    static constexpr int row_floats = tile::row;
    static constexpr int box_bytes = tile::box_bytes;
    int row_;
    int offset_;
};

/// Multiplies `steps` stages, at least one, by the first n columns of B's tiles. While the tensor cores multiply one half
/// of a step, the registers of the other half are free. Of the functions, wait() waits for the current stage, and release()
/// tells that this warp has read one. With from_zeros, the first product adds to zeros and does not overwrite the sums.
/// Kernels with several of these loops need that, and those with one must not: else ptxas serialises products (C7515).
template <int n, class B, bool from_zeros, int tile_m, bool k_major, class Storage, int stages, class Wait,
          class Release>
__device__ void multiply_tf32(const a_of_thread<tile_m, k_major>& mine, const Storage& shared,
                              stage_position<stages>& at, int steps, float (&sums)[n / 2], Wait wait,
                              Release release) {
    constexpr int halves = 2, instructions = B::depth / B::step / halves;
    unsigned a[halves][instructions][4];
    const auto read = [&](int half) {
#pragma unroll
        for (int i = 0; i < instructions; ++i)
            mine.read(shared.a[at.stage], half * instructions + i, a[half][i]);
    };
    if constexpr (from_zeros)
#pragma unroll
        for (float& sum : sums) sum = 0;
    wait();
    read(0);
    int stage_before = 0;
    for (int step = 0; step < steps; ++step) {
        const std::uint64_t b = B::descriptor(shared.b[at.stage], 0);
        const auto multiply_half = [&](int half) {
            ptx::wgmma_fence();
#pragma unroll
            for (int i = 0; i < instructions; ++i)
                ptx::wgmma_tf32<n>(sums, a[half][i], b + (half * instructions + i) * B::advance,
                                   from_zeros || step > 0 || half > 0 || i > 0);
            ptx::wgmma_commit();
            ptx::wgmma_wait<1>();
        };
        multiply_half(0);
        if (step > 0) release(stage_before);
        read(1);
        multiply_half(1);
        stage_before = at.stage;
        at.advance();
        if (step + 1 == steps) break;
        wait();
        read(0);
    }
    ptx::wgmma_wait<0>();
    ptx::wgmma_results(sums);
    release(stage_before);
}

}  // namespace heddle::kernels::matmul
