#pragma once

#include "kernels/frame/wgmma_mainloop.cuh"
#include "kernels/matmul/launch.hpp"
#include "kernels/matmul/schedule.hpp"
#include "kernels/matmul/tf32_epilogue.cuh"

#include <cstddef>

/// The kernel of the rung `tf32` that goes from tile to tile.
namespace heddle::kernels::matmul {

template <const auto& kernels, std::size_t row>
struct tf32_tile : frame::wgmma_tile<kernels, row> {
    static constexpr int k = tf32_k;
};

template <class Tile, bool a_k_major>
struct tf32_mainloop : frame::mainloop_defaults {
    using tile = Tile;
    using a_tile = warpgroup_tile<float, Tile::m, a_k_major>;
    using b_tile = warpgroup_tile<float, Tile::n, true>;
    static_assert(a_tile::depth == Tile::k && b_tile::depth == Tile::k);
    static constexpr int narrow = tf32_narrow;

    struct storage {
        unsigned char a[Tile::stages][a_tile::bytes];
        unsigned char b[Tile::stages][b_tile::bytes];
    };

    a_of_thread<Tile::m, a_k_major> mine;

    __device__ tf32_mainloop(int group, int thread) : mine(group, thread) {}

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
    __device__ void multiply(auto& kernel, const auto& /*p*/, int steps, float (&sums)[1][n / 2]) const {
        multiply_tf32<n, b_tile>(
            mine, kernel.shared.stages, kernel.at, steps, sums[0], [&] { kernel.wait(); },
            [&](int stage) { kernel.release(stage); });
    }

    __device__ void end() const {}
};

template <class Tile, bool a_k_major, class Activation = matmul_activation>
using tf32_kernel =
    frame::tile_kernel<tf32_mainloop<Tile, a_k_major>, tf32_epilogue<Tile, a_k_major, Activation>,
                       frame::one_product<tensor_product<float, Activation>>>;

template <class Tile, class Activation>
void launch_tf32_tile(const plan& plan, const product<float, float, Activation>& p, cudaStream_t stream) {
    const frame::tile_schedule schedule = schedule_of(plan);
    const auto launch_order = [&]<bool a_k_major>() {
        using mainloop = tf32_mainloop<Tile, a_k_major>;
        frame::launch<tf32_kernel<Tile, a_k_major, Activation>>(
            {make_tf32_product<typename mainloop::a_tile, typename mainloop::b_tile, a_k_major>(
                 p, Tile::cluster),
             schedule, shared_sums_in(p.workspace)},
            schedule.workers, stream);
    };
    has_tensor_rows(p.a) ? launch_order.template operator()<true>()
                         : launch_order.template operator()<false>();
}

using tf32_function_tile = tf32_tile<tf32_with_function, 0>;

/// Whether it is compiled for the current device.
template <class Activation>
bool has_tf32_kernel() {
    return frame::is_compiled<tf32_kernel<tf32_function_tile, true, Activation>>();
}

template <class Activation>
void launch_tf32_kernel(const plan& plan, const product<float, float, Activation>& arguments,
                        cudaStream_t stream) {
    launch_tf32_tile<tf32_function_tile>(plan, arguments, stream);
}

}  // namespace heddle::kernels::matmul
