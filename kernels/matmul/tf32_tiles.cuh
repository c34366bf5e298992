// tf32: rounds float32 operands to the eleven bits of TF32, which the tensor cores multiply at half the rate of bfloat16.
//
//   For TF32, wgmma reads operands from shared memory only along k, but from registers in any order:
//   B, along k:       global --TMA--> shared ------------------------> wgmma
//   A, in any order:  global --TMA--> shared --> a warp's registers -> wgmma
//
//   producer    | load A and B of step 0 | of step 1 | ...
//   consumers   | multiply half 0 of a step, read A of half 1 | multiply half 1, read A of the next step | ...
//
// One of A and B must lie along k. If it is A, the kernel computes C^T = B^T A^T. If neither does, or rows are unaligned,
// copies.cu makes copies first. The tensor memory accelerator rounds to TF32; wgmma itself would truncate. Threads may have any
// rows of A. With A along m, a thread reads two neighbours at once, half a warp reads from all banks, and four threads fill a
// sector of C. With a workspace, tiles are divided along k. What limits it: power.

#pragma once

#include "kernels/frame/wgmma_mainloop.cuh"
#include "kernels/matmul/add_parts.cuh"
#include "kernels/matmul/launch.hpp"
#include "kernels/matmul/tf32_epilogue.cuh"

#include <cstddef>
#include <type_traits>

namespace heddle::kernels::matmul {

template <class Tile>
struct tf32_tile : Tile {
    static constexpr int k = tf32_k;
};

template <class Tile>
struct tf32_mainloop : frame::mainloop_defaults {
    using tile = Tile;
    template <bool k_major>
    using a_tile = warpgroup_tile<float, Tile::m, k_major>;
    using b_tile = warpgroup_tile<float, Tile::n, true>;
    static constexpr int a_bytes = a_tile<true>::bytes;
    static_assert(a_tile<false>::bytes == a_bytes);
    static_assert(a_tile<true>::depth == Tile::k && b_tile::depth == Tile::k);
    static constexpr int narrow = tf32_narrow;

    struct storage {
        unsigned char a[Tile::stages][a_bytes];
        unsigned char b[Tile::stages][b_tile::bytes];
    };

    int group, thread;

    __device__ tf32_mainloop(int group, int thread) : group(group), thread(thread) {}

    static __device__ void prefetch(const auto& p) {
        ptx::prefetch(p.a);
        ptx::prefetch(p.b);
    }

    static __device__ void load(storage& to, int stage, const auto& p, const frame::tile_place& from,
                                ptx::mbarrier* full) {
        ptx::arrive_and_expect(full, a_bytes + b_tile::bytes);
        const int k = from.load * Tile::k;
        in_order(p.a_k_major, [&]<bool a_k_major>() {
            a_tile<a_k_major>::template load<1>(to.a[stage], p.a, from.row, k, from.batch * p.a_batch_step, 0,
                                                full);
        });
        b_tile::template load<Tile::cluster>(to.b[stage], p.b, from.col, k, from.batch * p.b_batch_step,
                                             from.rank, full);
    }

    template <int n>
    __device__ void multiply(auto& kernel, const auto& p, int steps, float (&sums)[1][n / 2]) const {
        in_order(p.a_k_major, [&]<bool a_k_major>() {
            multiply_tf32<n, b_tile, true>(
                a_of_thread<Tile::m, a_k_major>(group, thread), kernel.shared.stages, kernel.at, steps,
                sums[0], [&] { kernel.wait(); }, [&](int stage) { kernel.release(stage); });
        });
    }

    static __device__ frame::thread_rows rows_of_thread(const auto& p) {
        using along_k = a_of_thread<Tile::m, true>;
        using across_k = a_of_thread<Tile::m, false>;
        const int thread = static_cast<int>(threadIdx.x) % warpgroup_threads;
        return p.a_k_major ? frame::thread_rows{along_k(0, thread).row(), along_k::apart}
                           : frame::thread_rows{across_k(0, thread).row(), across_k::apart};
    }

    __device__ void end() const {}
};

template <class Tile, class Activation = matmul_activation>
using tf32_kernel = frame::tile_kernel<
    tf32_mainloop<Tile>, tf32_epilogue<Tile, Activation>,
    frame::one_product<tensor_product<float, Activation>, Tile::streams || Tile::leaves_parts>>;

template <class Tile, class Activation>
void launch_tf32_tile(const plan& plan, const product<float, float, Activation>& p, cudaStream_t stream) {
    const frame::tile_schedule schedule = schedule_of(plan);
    const auto product = make_tf32_product(p, Tile::m, Tile::n, Tile::cluster);
    const frame::shared_sums sums = shared_sums_in(plan, p.workspace);
    frame::launch<tf32_kernel<Tile, Activation>>({product, schedule, sums}, schedule.workers, stream);
    add_parts_of<Tile>(plan, product, schedule, sums, stream);
}

using tf32_function_tile = tf32_tile<frame::wgmma_tile<tf32_with_function, 0>>;

template <class Activation>
void launch_tf32(const plan& plan, const product<float, float, Activation>& p, cudaStream_t stream) {
    if constexpr (std::is_same_v<Activation, matmul_activation>)
        frame::with_row<tf32_kernels>(plan.kernel, [&]<std::size_t row>() {
            launch_tf32_tile<tf32_tile<frame::parted_tile<tf32_kernels, row>>>(plan, p, stream);
        });
    else
        launch_tf32_tile<tf32_function_tile>(plan, p, stream);
}

/// Whether the kernel with a user's function is compiled for the current device.
template <class Activation>
bool has_tf32_kernel() {
    return frame::is_compiled<tf32_kernel<tf32_function_tile, Activation>>();
}

}  // namespace heddle::kernels::matmul
