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
template <class In, class Tile, bool a_k_major, bool b_k_major>
struct product_mainloop : frame::wgmma_mainloop<In, Tile, a_k_major, b_k_major> {
    using base = frame::wgmma_mainloop<In, Tile, a_k_major, b_k_major>;
    using base::base;
    using typename base::a_tile, typename base::b_tile, typename base::storage;

    static __device__ void prefetch(const auto& p) {
        ptx::prefetch(p.a);
        ptx::prefetch(p.b);
    }

    static __device__ void load(storage& to, int stage, const auto& p, const frame::tile_place& from,
                                ptx::mbarrier* full) {
        ptx::arrive_and_expect(full, a_tile::bytes + b_tile::bytes);
        const int k = from.load * a_tile::depth;
        a_tile::template load<1>(to.a[stage], p.a, from.row, k, from.batch * p.a_batch_step, 0, full);
        b_tile::template load<Tile::cluster>(to.b[stage], p.b, from.col, k, from.batch * p.b_batch_step,
                                             from.rank, full);
    }
};

template <class In, class Out, class Tile, bool a_k_major, bool b_k_major,
          class Activation = matmul_activation>
using persistent_kernel =
    frame::tile_kernel<product_mainloop<In, Tile, a_k_major, b_k_major>,
                       frame::boxed_epilogue<Out, Activation, Tile>,
                       frame::one_product<typename frame::boxed_epilogue<Out, Activation, Tile>::product>>;

/// The product, with the residual's map where it can have one.
template <class Tile, bool a_k_major, bool b_k_major, class In, class Out, class Activation>
auto product_for(const product<In, Out, Activation>& arguments) {
    using mainloop = product_mainloop<In, Tile, a_k_major, b_k_major>;
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

/// The plan's row of these kernels.
template <const auto& kernels, class In, class Out, class Activation>
void launch_row_of(const plan& plan, const product<In, Out, Activation>& arguments, cudaStream_t stream) {
    const frame::tile_schedule schedule = schedule_of(plan);
    frame::with_row<kernels>(plan.kernel, [&]<std::size_t row>() {
        using tile = frame::wgmma_tile<kernels, row>;
        with_orders(arguments, [&]<bool a_k_major, bool b_k_major>() {
            frame::launch<persistent_kernel<In, Out, tile, a_k_major, b_k_major, Activation>>(
                {product_for<tile, a_k_major, b_k_major>(arguments), schedule,
                 shared_sums_in(arguments.workspace)},
                schedule.workers, stream);
        });
    });
}

}  // namespace heddle::kernels::matmul
