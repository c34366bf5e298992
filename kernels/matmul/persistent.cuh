#pragma once

#include "kernels/device/ptx/wgmma.cuh"
#include "kernels/frame/boxed_epilogue.cuh"
#include "kernels/frame/warp_specialized.cuh"
#include "kernels/matmul/schedule.hpp"
#include "kernels/matmul/warpgroup.cuh"

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

/// The kernel of the rungs `persistent`, `cluster_multicast`, `stream_k`, `fused` and `grouped`: operands of 16 bits, both of
/// which wgmma reads from shared memory.
namespace heddle::kernels::matmul {

/// What a kernel can do besides multiplying whole tiles and storing the sums as they are. It needs code, so a kernel has no more
/// of it than its rung uses.
enum class extra { nothing, streams, epilogue, both };

/// Whether the consumers have 64 rows of one tile each, or take turns, with a tile each: then one multiplies while the other
/// stores.
enum class consumers_have { one_tile, turns };

/// `consumers` warpgroups multiply `halves` x 64 rows of n columns.
template <int consumers_, int n_, int stages_, int cluster_, extra extra_ = extra::nothing,
          consumers_have have = consumers_have::one_tile>
struct persistent_tile : frame::tile_defaults {
    static constexpr int consumers = consumers_;
    static constexpr bool take_turns = have == consumers_have::turns;
    static constexpr int halves = take_turns ? 2 : 1;
    static constexpr int m = (take_turns ? halves : consumers) * warpgroup_m;
    static constexpr int n = n_;
    static constexpr int k = 64;
    static constexpr int stages = stages_;
    static constexpr int cluster = cluster_;
    static constexpr bool streams = extra_ == extra::streams || extra_ == extra::both;
    static constexpr bool has_epilogue = extra_ == extra::epilogue || extra_ == extra::both;
    static_assert(!streams || !take_turns);
};

template <class In, class Tile, bool a_k_major, bool b_k_major>
struct wgmma_mainloop : frame::mainloop_defaults {
    using tile = Tile;
    using a_tile = warpgroup_tile<In, Tile::m, a_k_major>;
    using b_tile = warpgroup_tile<In, Tile::n, b_k_major>;
    static_assert(a_tile::depth == Tile::k);
    static constexpr bool warps_release = false;

    struct storage {
        unsigned char a[Tile::stages][a_tile::bytes];
        unsigned char b[Tile::stages][b_tile::bytes];
    };

    __device__ wgmma_mainloop(int /*group*/, int /*thread*/) {}

    static __device__ void prefetch(const auto& p) {
        ptx::prefetch(p.a);
        ptx::prefetch(p.b);
    }

    static __device__ void load(storage& to, int stage, const auto& p, const frame::tile_place& from,
                                ptx::mbarrier* full) {
        ptx::arrive_and_expect(full, a_tile::bytes + b_tile::bytes);
        const int k = from.load * Tile::k;
        a_tile::template load<1>(to.a[stage], p.a, from.row, k, from.batch * p.a_batch_step, 0, full);
        b_tile::template load<Tile::cluster>(to.b[stage], p.b, from.col, k, from.batch * p.b_batch_step,
                                             from.rank, full);
    }

    template <int n>
    __device__ void multiply(auto& kernel, int steps, float (&sums)[Tile::halves][n / 2]) const {
        int stage_before = 0;
        for (int step = 0; step < steps; ++step) {
            const int stage = kernel.at.stage;
            kernel.wait();
            const std::uint64_t b = b_tile::descriptor(kernel.shared.stages.b[stage], 0);
            ptx::wgmma_fence();
#pragma unroll
            for (int i = 0; i < Tile::k / a_tile::step; ++i)
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

template <class In, class Out, class Tile, bool a_k_major, bool b_k_major,
          class Activation = matmul_activation>
using persistent_kernel =
    frame::tile_kernel<wgmma_mainloop<In, Tile, a_k_major, b_k_major>,
                       frame::boxed_epilogue<Out, Activation, Tile>,
                       frame::one_product<typename frame::boxed_epilogue<Out, Activation, Tile>::product>>;

/// The product, with the residual's map where it can have one.
template <class Tile, bool a_k_major, bool b_k_major, class In, class Out, class Activation>
auto product_for(const product<In, Out, Activation>& arguments) {
    using mainloop = wgmma_mainloop<In, Tile, a_k_major, b_k_major>;
    using epilogue = frame::boxed_epilogue<Out, Activation, Tile>;
    typename epilogue::product result{
        make_tensor_product<typename mainloop::a_tile, typename mainloop::b_tile, a_k_major, b_k_major>(
            arguments, Tile::cluster, epilogue::out_cols)};
    if constexpr (Tile::has_epilogue) {
        const auto& e = result.epilogue;
        const matrix_view<const Out> residual(e.residual, result.m, result.n, e.residual_row_stride,
                                              e.residual_col_stride);
        result.has_residual_map = e.residual != nullptr && has_tensor_rows(residual);
        if (result.has_residual_map)
            result.residual = make_tensor_map(residual, warpgroup_m, epilogue::out_cols);
    }
    return result;
}

/// With the plan's tile, of those that the rung has.
template <class... Tiles, std::size_t count, class In, class Out, class Activation>
void launch_tile_of(const std::array<matmul_tile, count>& shapes, const plan& plan,
                    const product<In, Out, Activation>& arguments, cudaStream_t stream) {
    static_assert(sizeof...(Tiles) == count);
    const frame::tile_schedule schedule = schedule_of(plan);
    std::size_t index = 0;
    const auto launch_if_chosen = [&]<class Tile>() {
        const matmul_tile& shape = shapes[index];
        if (index++ != plan.tile) return;
        require_tile_of<Tile>(shape);
        with_orders(arguments, [&]<bool a_k_major, bool b_k_major>() {
            frame::launch<persistent_kernel<In, Out, Tile, a_k_major, b_k_major, Activation>>(
                {product_for<Tile, a_k_major, b_k_major>(arguments), schedule,
                 shared_sums_in(arguments.workspace)},
                schedule.workers, stream);
        });
    };
    if (plan.tile >= count) throw std::logic_error("matmul: a plan has a tile that its rung lacks");
    (launch_if_chosen.template operator()<Tiles>(), ...);
}

}  // namespace heddle::kernels::matmul
