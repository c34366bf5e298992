#pragma once

#include "kernels/device/ptx/bfloat16.cuh"
#include "kernels/device/ptx/mbarrier.cuh"
#include "kernels/device/warpgroup_tile.cuh"
#include "kernels/frame/tile_scheduler.hpp"
#include "kernels/matmul/float_tile.cuh"
#include "kernels/matmul/kernels.hpp"
#include "kernels/matmul/warpgroup_sums.cuh"
#include <heddle/types.hpp>

/// What the producer and the consumers of bf16x6 have between them: pieces of elements, stages, and what is known of each step.
namespace heddle::kernels::matmul::bf16x6 {

constexpr int pieces = 3;  ///< of an element

/// An infinite element has two finite pieces and an infinite last one.
__device__ inline void split(float2 x, unsigned (&to)[pieces]) {
    const auto subtract = [&](unsigned piece) {
        x.x -= __uint_as_float(piece << 16);
        x.y -= __uint_as_float(piece & 0xffff0000);
    };
    to[0] = ptx::to_finite_bfloat16(x);
    subtract(to[0]);
    to[1] = ptx::to_finite_bfloat16(x);
    subtract(to[1]);
    to[2] = ptx::to_bfloat16(x);
}

struct tile {
    static constexpr int m = bf16x6_kernels[0].tile.m;
    static constexpr int n = bf16x6_kernels[0].tile.n;
    static constexpr int k = 64;
    static constexpr int consumers = m / warpgroup_m;
    static constexpr int sums = n / 2;  ///< of a thread
    static constexpr int instruction_k = 16;
    static constexpr int instructions = k / instruction_k;
};

constexpr int stages = 2;
constexpr int steps_known = 2 * stages;  ///< those that are multiplied, and those that are loaded

struct float_product {
    operand a;
    operand b;
    result<float> c;
};

/// What the producer knows of a step. The consumers read it: they have no registers to go through the tiles themselves.
struct step_info {
    int row;  ///< of the tile, in tiles
    int col;
    int k;  ///< in steps
    int batch;
    int shared_tile;  ///< -1: no other worker has a part of the tile
    bool is_last_of_tile;
    bool exists;  ///< else the step before was the last
};

/// A block splits a share of B for all blocks of its cluster.
template <bool a_k_major, bool b_k_major, int cluster>
struct split_storage {
    static_assert(cluster <= 2, "a block has one other to send to");
    static constexpr int share_n = tile::n / cluster;
    using a_tile = float_tile<tile::m, tile::k, a_k_major>;
    using b_tile = float_tile<share_n, tile::k, b_k_major>;
    using piece_tile = warpgroup_tile<bfloat16, tile::n, b_k_major>;
    using piece_share = warpgroup_tile<bfloat16, share_n, b_k_major>;
    unsigned char a[stages][a_tile::bytes];
    unsigned char b[stages][b_tile::bytes];
    unsigned char b_pieces[stages][pieces][piece_tile::bytes];
    ptx::mbarrier a_full[stages];
    ptx::mbarrier a_empty[stages];
    ptx::mbarrier b_full[stages];
    ptx::mbarrier pieces_full[stages];
    ptx::mbarrier pieces_empty[stages];
    step_info steps[steps_known];
    bool flags[tile::consumers];
};

__device__ inline int stage_of(int step) {
    return step % stages;
}
/// The parity of the phase that ends when what `step` needs has come. A stage is free when the phase before it has ended.
__device__ inline unsigned parity_of(int step) {
    return static_cast<unsigned>(step / stages % 2);
}

/// Goes through the steps of a worker, of all its tiles.
class step_walker {
  public:
    __device__ step_walker(const frame::tile_schedule& schedule, int worker) : tiles_(schedule, worker) {
        next_tile();
    }

    __device__ step_info step() const {
        return {work_.row, work_.col, k_step_, work_.batch, work_.tile, k_step_ + 1 == work_.last, exists_};
    }
    __device__ void advance() {
        if (++k_step_ == work_.last) next_tile();
    }

  private:
    __device__ void next_tile() {
        exists_ = tiles_.next(work_);
        k_step_ = work_.first;
    }

    frame::tile_worker<> tiles_;
    frame::tile_work work_{};
    int k_step_ = 0;
    bool exists_ = true;
};

}  // namespace heddle::kernels::matmul::bf16x6
