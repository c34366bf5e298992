#pragma once

#include "kernels/device/fragment.cuh"
#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/grid_dependency.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/vector.cuh"
#include "kernels/frame/epilogue.cuh"
#include "kernels/frame/tensor_product.hpp"
#include "kernels/frame/tile_scheduler.hpp"

#include <cstddef>
#include <cstdint>

/// The kernel that adds up the parts of tiles, applies the epilogue and stores C. It takes every type and order of C.
namespace heddle::kernels::frame {

inline constexpr int adding_threads = 256;

/// The parts of a kernel's tiles. Those of a tile lie one after another, in the order of k.
struct parts_left {
    const float* sums;
    int tile_m;
    int tile_n;
    bool by_columns;           ///< whether columns of a part are contiguous, else rows
    bool are_swapped = false;  ///< neighbours have swapped places (kernels/device/fragment.cuh)
};

/// The same for the kernel that adds them up.
struct parts_to_add : parts_left {
    int parts;            ///< of a tile
    bool stores_packets;  ///< four neighbours of C are aligned as one, wherever a tile has four
};

/// A block has blockDim.x packets of four sums of a tile, whose parts are divided among blockDim.y adders. The order of all
/// sums is fixed. The grid may begin early: its blocks are resident when the last part ends.
template <class Out, class Activation>
__global__ void __launch_bounds__(adding_threads)
    add_parts(const __grid_constant__ tensor_product<Out, Activation> p,
              const __grid_constant__ tile_schedule schedule, const parts_to_add all) {
    constexpr int width = 4;
    using four = vector<float, width>;
    using packet = vector<Out, width>;
    __shared__ four adder_sums[adding_threads];
    const int packets = all.tile_m * all.tile_n / width;
    const auto index = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int tile = index / packets, within = index % packets;
    const int per_line = (all.by_columns ? all.tile_m : all.tile_n) / width;
    const int line = within / per_line, at = within % per_line * width;
    const tile_work place = schedule.place(schedule.whole + tile);
    const int row = place.row * all.tile_m + (all.by_columns ? at : line);
    const int col = place.col * all.tile_n + (all.by_columns ? line : at);
    const bool is_inside = row < p.m && col < p.n;  // a part may lack sums of places outside of C
    const auto* const from =
        reinterpret_cast<const float4*>(all.sums) + std::int64_t{tile} * all.parts * packets + within;

    ptx::wait_for_grids_before();
    four sum{};
    if (is_inside)
#pragma unroll 4
        for (auto part = static_cast<int>(threadIdx.y); part < all.parts;
             part += static_cast<int>(blockDim.y)) {
            const float4 read = __ldcg(from + std::int64_t{part} * packets);
            sum = {sum[0] + read.x, sum[1] + read.y, sum[2] + read.z, sum[3] + read.w};
        }
    adder_sums[threadIdx.y * blockDim.x + threadIdx.x] = sum;
    ptx::sync_threads();
    if (threadIdx.y != 0 || !is_inside) return;
    for (unsigned adder = 1; adder < blockDim.y; ++adder) {
        const four& other = adder_sums[adder * blockDim.x + threadIdx.x];
#pragma unroll
        for (int e = 0; e < width; ++e) sum[e] += other[e];
    }

    if (all.are_swapped) sum = swapped(sum);

    const int count = ::min(width, all.by_columns ? p.m - row : p.n - col);
    const bool as_packet = all.stores_packets && count == width;
    const std::int64_t next = all.by_columns ? p.c_row_stride : p.c_col_stride;
    Out* const to = p.c_data + place.batch * p.c_batch_stride + row * p.c_row_stride + col * p.c_col_stride;
#pragma unroll
    for (float& value : sum.elements) value *= p.alpha;
    if (p.beta != 0) {
        packet old{};
        if (as_packet)
            old = *reinterpret_cast<const packet*>(to);
        else
#pragma unroll
            for (int e = 0; e < width; ++e)
                if (e < count) old[e] = to[e * next];
#pragma unroll
        for (int e = 0; e < width; ++e) sum[e] = fmaf(p.beta, static_cast<float>(old[e]), sum[e]);
    }
    if (!p.epilogue.is_identity)
        apply_to_elements(p.epilogue, sum.elements, [&](int e) {
            return element_place{row + (all.by_columns ? e : 0), col + (all.by_columns ? 0 : e), e < count};
        });
    packet stored;
#pragma unroll
    for (int e = 0; e < width; ++e) stored[e] = static_cast<Out>(sum[e]);
    if (as_packet)
        *reinterpret_cast<packet*>(to) = stored;
    else
#pragma unroll
        for (int e = 0; e < width; ++e)
            if (e < count) to[e * next] = stored[e];
}

/// Launches it after the kernel that leaves the parts. `adders` is a power of two, at most 32.
template <class Out, class Activation>
void launch_add_parts(const tensor_product<Out, Activation>& p, const tile_schedule& schedule,
                      const parts_left& left, int adders, bool begins_early, cudaStream_t stream) {
    const int tiles = schedule.tiles() - schedule.whole;
    const std::int64_t next = left.by_columns ? p.c_row_stride : p.c_col_stride,
                       line = left.by_columns ? p.c_col_stride : p.c_row_stride;
    const bool stores_packets = next == 1 && (line | p.c_batch_stride) % 4 == 0 &&
                                reinterpret_cast<std::uintptr_t>(p.c_data) % (4 * sizeof(Out)) == 0;
    const std::int64_t packets = std::int64_t{tiles} * left.tile_m * left.tile_n / 4;
    kernels::launch({.blocks = {packets / (adding_threads / adders)},
                     .threads = {adding_threads / adders, adders},
                     .stream = stream,
                     .begins_early = begins_early},
                    add_parts<Out, Activation>, p, schedule,
                    parts_to_add{left, schedule.streams / tiles, stores_packets});
}

}  // namespace heddle::kernels::frame
