#pragma once

#include "kernels/conv/windows.cuh"
#include "kernels/frame/boxed_epilogue.cuh"
#include "kernels/frame/wgmma_mainloop.cuh"

/// The convolution in the frame of products.
namespace heddle::kernels::conv {

template <class Out>
struct window_product : frame::product_with_residual<Out, channel_activation<Out>> {
    window_steps steps;
};

/// Windows are rows of A, filters columns of B.
template <class In, class Tile>
struct window_mainloop : frame::wgmma_mainloop<In, Tile, true, true> {
    using base = frame::wgmma_mainloop<In, Tile, true, true>;
    using base::base;
    static constexpr int producer_registers = Tile::take_turns ? 40 : 56;  // where windows lie
    using typename base::a_tile, typename base::b_tile, typename base::storage;

    static __device__ void prefetch(const auto& p) {
        ptx::prefetch(p.steps.windows);
        ptx::prefetch(p.steps.filters);
    }

    static __device__ void load(storage& to, int stage, const auto& p, const frame::tile_place& from,
                                ptx::mbarrier* full) {
        ptx::arrive_and_expect(full, a_tile::bytes + b_tile::bytes);
        p.steps.template load_windows<a_tile>(to.a[stage], from.row, from.col, from.load, full);
        p.steps.template load_filters<b_tile>(to.b[stage], from.col, from.load, full);
    }
};

template <class In, class Out, class Tile>
using window_kernel =
    frame::tile_kernel<window_mainloop<In, Tile>,
                       frame::boxed_epilogue<Out, channel_activation<Out>, typename Tile::share>,
                       frame::one_product<window_product<Out>>>;

}  // namespace heddle::kernels::conv
