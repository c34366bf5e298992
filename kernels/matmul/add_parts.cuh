#pragma once

#include "kernels/frame/add_parts.cuh"
#include "kernels/frame/parts.cuh"
#include "kernels/matmul/plan/plan.hpp"

#include <cuda_runtime_api.h>

#include <type_traits>

/// Adds up the parts of tiles that rungs leave.
namespace heddle::kernels::matmul {

/// frame::launch_add_parts() with heddle's own activations, which is compiled once for all rungs.
template <class Out>
void launch_add_parts(const plan& plan, const frame::tensor_product<Out>& p,
                      const frame::tile_schedule& schedule, const frame::parts_left& left,
                      cudaStream_t stream);

/// Adds up what the kernel of a Tile left, if it left parts.
template <class Tile, class Out, class Activation>
void add_parts_of(const plan& plan, const frame::tensor_product<Out, Activation>& p,
                  const frame::tile_schedule& schedule, const frame::shared_sums& sums, cudaStream_t stream) {
    if constexpr (Tile::leaves_parts) {
        if (!plan.adds_apart) return;
        const frame::parts_left left{.sums = sums.slots,
                                     .tile_m = Tile::cluster * Tile::m,
                                     .tile_n = Tile::n,
                                     .by_columns = frame::lies_by_columns(p)};
        if constexpr (std::is_same_v<Activation, matmul_activation>)
            launch_add_parts(plan, p, schedule, left, stream);
        else
            frame::launch_add_parts(p, schedule, left, plan.adders, plan.begins_early, stream);
    }
}

}  // namespace heddle::kernels::matmul
