#pragma once

#include "kernels/device/ptx/wgmma.cuh"
#include "kernels/device/warpgroup_tile.cuh"
#include "kernels/frame/warp_specialized.cuh"
#include "kernels/frame/wgmma_kernel.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

/// What mainloops have in common whose operands are both read from shared memory by wgmma.
namespace heddle::kernels::frame {

/// A block's share of what a cluster has together.
template <class Tile>
struct share_of : Tile {
    static constexpr int n = Tile::n / Tile::cluster;
};

/// The tile of a row.
template <const auto& kernels, std::size_t row>
struct wgmma_tile : tile_defaults {
    static constexpr wgmma_kernel of = kernels[row];
    static constexpr int consumers = of.consumers;
    static constexpr bool take_turns = of.have == consumers_have::turns;
    static constexpr int halves = of.halves;
    static constexpr int m = of.m();
    static constexpr int n = of.n;
    static constexpr int stages = of.stages;
    static constexpr int cluster = of.cluster;
    static constexpr bool streams = of.streams();
    static constexpr bool has_epilogue = of.has_epilogue();
    static constexpr bool divides_k = of.divides_k;
    static_assert(!streams || !take_turns);
    /// What a block stores.
    using share = std::conditional_t<divides_k, share_of<wgmma_tile>, wgmma_tile>;
};

/// The stages and the products; a mainloop adds what fills a stage. How the operands lie is part of the instructions, so each of
/// four orders has a loop of its own.
template <class In, class Tile>
struct wgmma_mainloop : mainloop_defaults {
    using tile = Tile;
    template <bool k_major>
    using a_tile = warpgroup_tile<In, Tile::m, k_major>;
    template <bool k_major>
    using b_tile = warpgroup_tile<In, Tile::n, k_major>;
    static constexpr int depth = a_tile<true>::depth;  ///< of a step
    static constexpr bool warps_release = false;

    struct storage {
        unsigned char a[Tile::stages][std::max(a_tile<true>::bytes, a_tile<false>::bytes)];
        unsigned char b[Tile::stages][std::max(b_tile<true>::bytes, b_tile<false>::bytes)];
    };

    __device__ wgmma_mainloop(int /*group*/, int /*thread*/) {}

    template <int n, bool a_k_major, bool b_k_major>
    static __device__ void multiply_in_order(auto& kernel, int steps, float (&sums)[Tile::halves][n / 2]) {
        using of_a = a_tile<a_k_major>;
        using of_b = b_tile<b_k_major>;
        int stage_before = 0;
        // Zeros, and not the first product's own: with several loops ptxas would run products one by one.
#pragma unroll
        for (auto& of_half : sums)
#pragma unroll
            for (float& sum : of_half) sum = 0;
#pragma unroll 1
        for (int step = 0; step < steps; ++step) {
            const int stage = kernel.at.stage;
            kernel.wait();
            const std::uint64_t b = of_b::descriptor(kernel.shared.stages.b[stage], 0);
            ptx::wgmma_fence();
#pragma unroll
            for (int i = 0; i < depth / of_a::step; ++i)
#pragma unroll
                for (int half = 0; half < Tile::halves; ++half) {
                    const std::uint64_t a =
                        of_a::descriptor(kernel.shared.stages.a[stage], kernel.row_of_half(half));
                    ptx::wgmma<In, n, a_k_major, b_k_major>(sums[half], a + i * of_a::advance,
                                                            b + i * of_b::advance, true);
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
