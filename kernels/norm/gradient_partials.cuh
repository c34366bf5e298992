#pragma once

#include "kernels/device/launch.hpp"
#include "kernels/device/math.hpp"
#include "kernels/device/ptx/grid_dependency.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/warp_reduce.cuh"
#include "kernels/norm/gradient.cuh"

#include <cstdint>

/// Partial sums of columns in scratch memory: each part has a row of sums for dbeta, then one for dgamma.
namespace heddle::kernels::norm {

__device__ inline std::int64_t partial_at(std::int64_t part, bool is_of_gamma, std::int64_t col,
                                          std::int64_t cols) {
    return (part * 2 + (is_of_gamma ? 1 : 0)) * cols + col;
}

/// A block adds up 32 columns: warp w adds parts w, w + 32, ..., one after another, then one warp adds the warps' sums.
template <class T>
__global__ void __launch_bounds__(warp_size* warp_size)
    gradient_sums(gradient_arguments<T> a, const float* partials, std::int64_t parts) {
    __shared__ sum_pair of_warps[warp_size][warp_size];
    const int lane = static_cast<int>(threadIdx.x), warp = static_cast<int>(threadIdx.y);
    const std::int64_t col = std::int64_t{blockIdx.x} * warp_size + lane, cols = a.x.cols;
    ptx::wait_for_grids_before();

    sum_pair sums{0, 0};
    if (col < cols)
        for (std::int64_t part = warp; part < parts; part += warp_size)
            sums = sums + sum_pair{partials[partial_at(part, false, col, cols)],
                                   partials[partial_at(part, true, col, cols)]};
    of_warps[warp][lane] = sums;
    ptx::sync_threads();
    if (warp > 0 || col >= cols) return;
    for (int w = 1; w < warp_size; ++w) sums = sums + of_warps[w][lane];
    store_column(a, col, sums);
}

template <class T>
void launch_gradient_sums(const gradient_plan& plan, const gradient_arguments<T>& arguments,
                          const float* partials, cudaStream_t stream) {
    launch({.blocks = {divide_up(plan.cols, warp_size)},
            .threads = {warp_size, warp_size},
            .stream = stream,
            .begins_early = plan.begins_early},
           gradient_sums<T>, arguments, partials, plan.partials);
}

}  // namespace heddle::kernels::norm
