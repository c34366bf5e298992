#pragma once

#include "kernels/device/ptx/wgmma.cuh"
#include "kernels/device/warpgroup_tile.cuh"
#include "kernels/frame/warp_specialized.cuh"
#include "kernels/frame/wgmma_kernel.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

/// Common parts of mainloops whose wgmma reads both operands from shared memory.
namespace heddle::kernels::frame {

/// A block's share of the tile of a cluster.
template <class Tile>
struct share_of : Tile {
    static constexpr int n = Tile::n / Tile::cluster;
};

/// The tile of a row of the table.
template <const auto& kernels, std::size_t row>
struct wgmma_tile : tile_defaults {
    static constexpr wgmma_kernel config = kernels[row];
    static constexpr int consumers = config.consumers;
    static constexpr bool take_turns = config.have == consumers_have::turns;
    static constexpr int halves = config.halves;
    static constexpr int m = config.m();
    static constexpr int n = config.n;
    static constexpr int stages = config.stages;
    static constexpr int cluster = config.cluster;
    static constexpr bool streams = config.streams();
    static constexpr bool has_epilogue = config.has_epilogue();
    static constexpr bool divides_k = config.divides_k;
    static_assert(!streams || !take_turns);
    /// The tile that a block stores.
    using share = std::conditional_t<divides_k, share_of<wgmma_tile>, wgmma_tile>;
};

/// The same, where workers may share a tile along k and leave its parts (parts.cuh).
template <const auto& kernels, std::size_t row>
struct parted_tile : wgmma_tile<kernels, row> {
    static constexpr bool leaves_parts = kernels[row].leaves_parts();
};

/// The stages and the products; a mainloop adds what fills a stage. The layouts of A and B are part of the instructions, so
/// each of the four combinations has its own loop.
template <class In, class Tile>
struct wgmma_mainloop : mainloop_defaults {
    using tile = Tile;
    template <bool k_major>
    using a_tile = warpgroup_tile<In, Tile::m, k_major>;
    template <bool k_major>
    using b_tile = warpgroup_tile<In, Tile::n, k_major>;
    static constexpr int depth = a_tile<true>::depth;  ///< steps have this extent along k
    static constexpr bool warps_release = false;

    struct storage {
        unsigned char a[Tile::stages][std::max(a_tile<true>::bytes, a_tile<false>::bytes)];
        unsigned char b[Tile::stages][std::max(b_tile<true>::bytes, b_tile<false>::bytes)];
    };

    __device__ wgmma_mainloop(int /*group*/, int /*thread*/) {}

    template <int n, bool a_k_major, bool b_k_major>
    static __device__ void multiply_in_order(auto& kernel, int steps, float (&sums)[Tile::halves][n / 2]) {
        using a_operand = a_tile<a_k_major>;
        using b_operand = b_tile<b_k_major>;
        int stage_before = 0;
        // The first product adds to zeros: if it overwrote the sums, ptxas would serialise products, as there are several
        // loops.
#pragma unroll
        for (auto& half_sums : sums)
#pragma unroll
            for (float& sum : half_sums) sum = 0;
#pragma unroll 1
        for (int step = 0; step < steps; ++step) {
            const int stage = kernel.at.stage;
            kernel.wait();
            const std::uint64_t b = b_operand::descriptor(kernel.shared.stages.b[stage], 0);
            ptx::wgmma_fence();
#pragma unroll
            for (int i = 0; i < depth / a_operand::step; ++i)
#pragma unroll
                for (int half = 0; half < Tile::halves; ++half) {
                    const std::uint64_t a =
                        a_operand::descriptor(kernel.shared.stages.a[stage], kernel.row_of_half(half));
                    ptx::wgmma<In, n, a_k_major, b_k_major>(sums[half], a + i * a_operand::advance,
                                                            b + i * b_operand::advance, true);
                }
            ptx::wgmma_commit();
            if (step > 0) {  // the products of the previous step are done, those of this step run
                ptx::wgmma_wait<1>();
                kernel.release(stage_before);
            }
            stage_before = stage;
            kernel.at.advance();
        }
        kernel.pass_turn();
        ptx::wgmma_wait<0>();
#pragma unroll
        for (auto& half_sums : sums) ptx::wgmma_results(half_sums);
        kernel.release(stage_before);
    }

    __device__ void end() const {}
};

}  // namespace heddle::kernels::frame
