#pragma once

#include "kernels/device/ptx/wgmma.cuh"
#include "kernels/device/warpgroup_tile.cuh"
#include "kernels/frame/warp_specialized.cuh"

#include <cstdint>

/// What mainloops have in common whose operands are both read from shared memory by wgmma.
namespace heddle::kernels::frame {

/// What a kernel can do besides multiplying whole tiles and storing the sums as they are. It needs code, so a kernel has no more
/// of it than its rung uses.
enum class extra { nothing, streams, epilogue, both };

/// Whether the consumers have 64 rows of one tile each, or take turns, with a tile each: then one multiplies while the other
/// stores.
enum class consumers_have { one_tile, turns };

/// `consumers` warpgroups multiply `halves` x 64 rows of n columns, each its own or in turns.
template <int consumers_, int n_, int stages_, int cluster_, extra extra_ = extra::nothing,
          consumers_have have = consumers_have::one_tile, int halves_ = have == consumers_have::turns ? 2 : 1>
struct wgmma_tile : tile_defaults {
    static constexpr int consumers = consumers_;
    static constexpr bool take_turns = have == consumers_have::turns;
    static constexpr int halves = halves_;
    static constexpr int m = (take_turns ? 1 : consumers) * halves * warpgroup_m;
    static constexpr int n = n_;
    static constexpr int stages = stages_;
    static constexpr int cluster = cluster_;
    static constexpr bool streams = extra_ == extra::streams || extra_ == extra::both;
    static constexpr bool has_epilogue = extra_ == extra::epilogue || extra_ == extra::both;
    static_assert(!streams || !take_turns);
    using share = wgmma_tile;  ///< what a block stores
};

/// The same of `blocks` that divide the steps of a tile among them.
template <class Tile, int blocks>
struct divided_tile : Tile {
    static constexpr int cluster = blocks;
    static constexpr bool divides_k = true;
    struct share : Tile {
        static constexpr int n = Tile::n / blocks;
    };
};

/// The stages and the products; a mainloop adds what fills a stage.
template <class In, class Tile, bool a_k_major, bool b_k_major>
struct wgmma_mainloop : mainloop_defaults {
    using tile = Tile;
    using a_tile = warpgroup_tile<In, Tile::m, a_k_major>;
    using b_tile = warpgroup_tile<In, Tile::n, b_k_major>;
    static_assert(a_tile::depth == b_tile::depth);
    static constexpr bool warps_release = false;

    struct storage {
        unsigned char a[Tile::stages][a_tile::bytes];
        unsigned char b[Tile::stages][b_tile::bytes];
    };

    __device__ wgmma_mainloop(int /*group*/, int /*thread*/) {}

    template <int n>
    __device__ void multiply(auto& kernel, int steps, float (&sums)[Tile::halves][n / 2]) const {
        int stage_before = 0;
        for (int step = 0; step < steps; ++step) {
            const int stage = kernel.at.stage;
            kernel.wait();
            const std::uint64_t b = b_tile::descriptor(kernel.shared.stages.b[stage], 0);
            ptx::wgmma_fence();
#pragma unroll
            for (int i = 0; i < a_tile::depth / a_tile::step; ++i)
#pragma unroll
                for (int half = 0; half < Tile::halves; ++half) {
                    const std::uint64_t a =
                        a_tile::descriptor(kernel.shared.stages.a[stage], kernel.row_of_half(half));
                    ptx::wgmma<In, n, a_k_major, b_k_major>(sums[half], a + i * a_tile::advance,
                                                            b + i * b_tile::advance, step > 0 || i > 0);
                }
            ptx::wgmma_commit();
            if (step > 0) {  // the products of the step before are done, those of this one run
                ptx::wgmma_wait<1>();
                kernel.release(stage_before);
            }
            stage_before = stage;
            kernel.at.advance();
        }
        kernel.pass_turn();
        ptx::wgmma_wait<0>();
#pragma unroll
        for (auto& of_half : sums) ptx::wgmma_results(of_half);
        kernel.release(stage_before);
    }

    __device__ void end() const {}
};

}  // namespace heddle::kernels::frame
