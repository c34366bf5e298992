// persistent: one block per multiprocessor goes from tile to tile.
//
//   block b: tiles b, b + blocks, b + 2 blocks, ... in groups of 8 rows, column by column
//   producer   | load tile 0 | load tile 1 ...      |
//   consumers        | multiply 0 | store 0 | multiply 1 ...
//
// In warp_specialized each tile begins with an empty ring and ends with stores that nothing hides. Here the producer fills
// the ring with the next tile while the tensor memory accelerator stores the last one, in whole rows. Concurrent tiles
// form a near-square, so that A and B are read from L2. The kernel sets up while the previous kernel in the stream still
// runs.
//
// stream_k is this kernel with another schedule. The steps along k of the last round's tiles form one sequence, which is
// cut into equal lengths (Osama, Merrill, Cecka, Garland, Owens: Stream-K, 2023). If the workers are a multiple of the tiles,
// each has a part of one tile, and all tiles are read at the same place along k. The sums that workers leave in the
// workspace are added up in a fixed order, by a tile's last worker or by a further kernel (kernels/frame/add_parts.cuh).
// The latter reads them at the rate of all multiprocessors. So do cluster_multicast and fused, but for tiles in turns.
// What limits it: the rate of L2, and without stream_k the last round.

#pragma once

#include "kernels/frame/boxed_epilogue.cuh"
#include "kernels/frame/warp_specialized.cuh"
#include "kernels/frame/wgmma_mainloop.cuh"
#include "kernels/matmul/add_parts.cuh"
#include "kernels/matmul/warpgroup.cuh"

#include <cstddef>
#include <cstdint>

/// The kernel of the rungs `persistent`, `cluster_multicast`, `stream_k`, `fused` and `grouped`. Its operands have 16 bits,
/// and wgmma reads both from shared memory.
namespace heddle::kernels::matmul {

/// The mainloop that loads boxes of both operands.
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
using persistent_kernel =
    frame::tile_kernel<product_mainloop<In, Tile>, frame::boxed_epilogue<Out, Activation, Tile>,
                       frame::one_product<typename frame::boxed_epilogue<Out, Activation, Tile>::product,
                                          Tile::streams || Tile::leaves_parts>>;

/// The product in the form of the kernel, with the residual's map if possible.
template <class Tile, class In, class Out, class Activation>
auto product_for(const product<In, Out, Activation>& arguments) {
    using epilogue = frame::boxed_epilogue<Out, Activation, Tile>;
    typename epilogue::product result{make_product(arguments)};
    add_operand_maps(result, arguments, Tile::m, Tile::n, Tile::cluster);
    add_c_map(result, arguments, epilogue::out_cols);
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

/// Launches the plan's row of these kernels.
template <const auto& kernels, class In, class Out, class Activation>
void launch_row_of(const plan& plan, const product<In, Out, Activation>& arguments, cudaStream_t stream) {
    const frame::tile_schedule schedule = schedule_of(plan);
    frame::with_row<kernels>(plan.kernel, [&]<std::size_t row>() {
        using tile = frame::parted_tile<kernels, row>;
        const auto product = product_for<tile>(arguments);
        const frame::shared_sums sums = shared_sums_in(plan, arguments.workspace);
        frame::launch<persistent_kernel<In, Out, tile, Activation>>({product, schedule, sums},
                                                                    schedule.workers, stream);
        add_parts_of<tile, Out, Activation>(plan, product, schedule, sums, stream);
    });
}

template <class In, class Out>
void launch_persistent(const plan& plan, const product<In, Out>& arguments, cudaStream_t stream) {
    launch_row_of<persistent_kernels>(plan, arguments, stream);
}

// cluster_multicast: two blocks, one below the other, share their tile of B.
//
//   block 0: A0, upper half of B -> both      block 1: A1, lower half of B -> both
//
// At full rate a 128 x 256 tile reads 48 KB from L2 in every 1024 clocks. All multiprocessors together so read about as
// much as L2 can give. Two blocks that need the same B each load half of it for both: 32 KB. A stage is refilled when both
// blocks have multiplied with it. Needs compute capability 9.0. What limits it: power.

template <class In, class Out>
void launch_cluster_multicast(const plan& plan, const product<In, Out>& arguments, cudaStream_t stream) {
    launch_row_of<multicast_kernels>(plan, arguments, stream);
}

// fused: applies the epilogue to the sums of a product before they are stored.
//
//   separate:  C = A B, stored, 2 bytes an element | read, + bias, activation, stored
//   fused:     C = activation(A B + bias), stored
//
// A separate activation reads and writes C once more, and its input is rounded to 16 bits. Here it is applied to the
// float32 sums in registers. In tiles of 128 x 256, for large products, the epilogue is short beside the steps along k.
// Tiles of 64 columns are for a narrow C. With tiles of 128 x 128 two consumers take turns at the tensor cores:
//
//   warpgroup 0: | multiply tile 0 | epilogue, store | multiply tile 2 | ...
//   warpgroup 1:                   | multiply tile 1 | epilogue, store | ...
//
// What limits it: the epilogue's instructions. Where consumers take turns, L2: tiles of 128 x 128 load A and B more often.

template <class In, class Out, class Activation>
void launch_fused(const plan& plan, const product<In, Out, Activation>& arguments, cudaStream_t stream) {
    launch_row_of<fused_kernels>(plan, arguments, stream);
}

/// Whether the fused kernel is compiled for the current device.
template <class In, class Out, class Activation>
bool has_fused_kernel() {
    return frame::is_compiled<persistent_kernel<In, Out, frame::parted_tile<fused_kernels, 0>, Activation>>();
}

}  // namespace heddle::kernels::matmul
