#pragma once

#include "kernels/frame/boxed_epilogue.cuh"
#include "kernels/frame/warp_specialized.cuh"
#include "kernels/frame/wgmma_mainloop.cuh"
#include "kernels/matmul/schedule.hpp"
#include "kernels/matmul/warpgroup.cuh"

#include <cstddef>
#include <cstdint>

/// The kernel of the rungs `persistent`, `cluster_multicast`, `stream_k`, `fused` and `grouped`: operands of 16 bits, both of
/// which wgmma reads from shared memory.
namespace heddle::kernels::matmul {

/// Boxes of the operands.
template <class In, class Tile>
struct product_mainloop : frame::wgmma_mainloop<In, Tile> {
    using base = frame::wgmma_mainloop<In, Tile>;
    using base::base, base::depth;
    using typename base::storage;
    template <bool k_major>
    using a_tile = base::template a_tile<k_major>;
    template <bool k_major>
    using b_tile = base::template b_tile<k_major>;

    static __device__ void prefetch(const auto& p) {
        ptx::prefetch(p.a);
        ptx::prefetch(p.b);
    }

    static __device__ void load(storage& to, int stage, const auto& p, const frame::tile_place& from,
                                ptx::mbarrier* full) {
        const int k = from.load * depth;
        ptx::arrive_and_expect(full, (p.a_k_major ? a_tile<true>::bytes : a_tile<false>::bytes) +
                                         (p.b_k_major ? b_tile<true>::bytes : b_tile<false>::bytes));
        in_order(p.a_k_major, [&]<bool k_major>() {
            a_tile<k_major>::template load<1>(to.a[stage], p.a, from.row, k, from.batch * p.a_batch_step, 0,
                                              full);
        });
        in_order(p.b_k_major, [&]<bool k_major>() {
            b_tile<k_major>::template load<Tile::cluster>(to.b[stage], p.b, from.col, k,
                                                          from.batch * p.b_batch_step, from.rank, full);
        });
    }

    template <int n>
    __device__ void multiply(auto& kernel, const auto& p, int steps,
                             float (&sums)[Tile::halves][n / 2]) const {
        in_order_of(p, [&]<bool a_k_major, bool b_k_major>() {
            base::template multiply_in_order<n, a_k_major, b_k_major>(kernel, steps, sums);
        });
    }
};

template <class In, class Out, class Tile, class Activation = matmul_activation>
using persistent_kernel = frame::tile_kernel<
    product_mainloop<In, Tile>, frame::boxed_epilogue<Out, Activation, Tile>,
    frame::one_product<typename frame::boxed_epilogue<Out, Activation, Tile>::product, Tile::streams>>;

/// The product, with the residual's map where it can have one.
template <class Tile, class In, class Out, class Activation>
auto product_for(const product<In, Out, Activation>& arguments) {
    using mainloop = product_mainloop<In, Tile>;
    using epilogue = frame::boxed_epilogue<Out, Activation, Tile>;
    typename epilogue::product result{make_product(arguments)};
    with_orders(result.a_k_major, result.b_k_major, [&]<bool a_k_major, bool b_k_major>() {
        add_tensor_maps<typename mainloop::template a_tile<a_k_major>,
                        typename mainloop::template b_tile<b_k_major>>(result, arguments, Tile::cluster,
                                                                       epilogue::out_cols);
    });
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

/// The plan's row of these kernels.
template <const auto& kernels, class In, class Out, class Activation>
void launch_row_of(const plan& plan, const product<In, Out, Activation>& arguments, cudaStream_t stream) {
    const frame::tile_schedule schedule = schedule_of(plan);
    frame::with_row<kernels>(plan.kernel, [&]<std::size_t row>() {
        using tile = frame::wgmma_tile<kernels, row>;
        frame::launch<persistent_kernel<In, Out, tile, Activation>>(
            {product_for<tile>(arguments), schedule, shared_sums_in(arguments.workspace)}, schedule.workers,
            stream);
    });
}

}  // namespace heddle::kernels::matmul
