// fused chains, for large windows of one channel of float: chains of warps that lend rows to each other.
//
//   strip of 128 columns
//     warp 0    rows of its own: along x -> h -> sums of outputs, in registers, as in fused_strips.cuh
//               2r rows below: borrows h
//     warp 1    its first 2r rows: along x -> h, which it lends to warp 0, and begins sums
//               the others ...
//     the last  filters the rows below the block too, and has fewer of its own
//
// A warp that goes down a strip by itself filters 2r rows more than it has results. In a chain only the last warp does so.
// In its first r rows and in its last r, a warp leaves out the half of the sums that belongs to other warps. A sum still
// has the same terms in the same order, so a region gets to the bit what the whole image has there. A warp's number comes
// from a shuffle, which tells the compiler that all lanes have the same. Without it taps would be in ordinary registers.
// What limits it: issue slots, which FMAs fill.

#include "kernels/device/early_launch.hpp"
#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/cp_async.cuh"
#include "kernels/device/ptx/grid_dependency.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/ptx/warpgroup.cuh"
#include "kernels/gaussian_blur/cost/cost.hpp"
#include "kernels/gaussian_blur/facts.hpp"
#include "kernels/gaussian_blur/fused_chains.cuh"
#include "kernels/gaussian_blur/launch.hpp"
#include "kernels/gaussian_blur/pixel.cuh"
#include "kernels/gaussian_blur/plan/grids.hpp"
#include "kernels/gaussian_blur/plan/window.hpp"

#include <algorithm>

namespace heddle::kernels::gaussian_blur {
namespace {

using namespace chains;

/// Filters a lane's values of a row along x. The first packets of the window are loaded already.
template <int radius>
__device__ __forceinline__ void filter_window(
    const typename chains::chain<radius>::packet (&early)[chains::chain<radius>::early],
    const typename chains::chain<radius>::packet* window, const float* taps,
    float (&h)[chains::chain<radius>::values]) {
    using chain = chains::chain<radius>;
#pragma unroll
    for (int k = 0; k < chain::packets; ++k) {
        const typename chain::packet loaded = k < chain::early ? early[k] : window[k];
#pragma unroll
        for (int e = 0; e < chain::values; ++e) {
            const int at = k * chain::values + e - chain::lead;
            if (at < -chain::halo || at >= chain::values + chain::halo) continue;
            filter_row_input<chain, 1, radius>(at, loaded.get(e), taps, h);
        }
    }
}

/// Stores a packet, or the first `ragged` values of one that is not whole.
template <int values>
__device__ __forceinline__ void store_values(float* out, const float (&complete)[values], bool is_whole,
                                             int ragged) {
    if (is_whole) store(out, packet<float, values>::from_floats(complete));
#pragma unroll
    for (int e = 0; e + 1 < values; ++e)
        if (e < ragged) out[e] = complete[e];
}

template <int radius>
__global__ void __launch_bounds__(lanes* chain<radius>::max_warps, 1)
    fused_chains(const __grid_constant__ chain_parameters<radius> p) {
    using chain = chains::chain<radius>;
    using packet = typename chain::packet;
    extern __shared__ packet shared[];
    ptx::let_next_grid_begin();

    const int lane = static_cast<int>(threadIdx.x % lanes);
    const int warp = __shfl_sync(~0U, static_cast<int>(threadIdx.x / lanes), 0);
    const int warps = static_cast<int>(blockDim.x / lanes);
    const std::int64_t image = blockIdx.x / p.strips / p.segments;
    const std::int64_t block_top = std::int64_t{blockIdx.x / p.strips % p.segments} * p.rows_per_block;
    const int block_outputs = static_cast<int>(min(std::int64_t{p.rows_per_block}, p.height - block_top));
    const int warp_top = warp * p.rows_per_warp;
    const int outputs = min(p.rows_per_warp, block_outputs - warp_top);
    if (outputs <= 0) return;
    const bool is_last = warp_top + outputs == block_outputs;
    const int inputs = is_last ? outputs + 2 * radius : outputs;  // rows that this warp filters along x
    const std::int64_t top = block_top + warp_top;
    const std::int64_t first_row = p.above + top - radius;
    const int begin = static_cast<int>(blockIdx.x % p.strips) * chain::columns;
    const int valid = min(p.width - begin, chain::columns);
    packet* const staged = shared + warp * chain::warp_packets;
    packet* const links = shared + warps * chain::warp_packets;
    row_copies<radius> copies(p, staged, lane, image, first_row, inputs, begin, valid);

    float h[chain::values], complete[chain::values];
    float sums[chain::values][2 * radius + 1] = {};
    const auto add_row = [&]<int first_sum, int last_sum>() {
#pragma unroll
        for (int e = 0; e < chain::values; ++e)
            complete[e] = filter_column<radius, first_sum, last_sum>(h[e], p.taps_y, sums[e]);
    };
    float* out = p.destination + image * p.destination_image + top * p.destination_stride + begin +
                 lane * chain::values;
    const bool is_whole = (lane + 1) * chain::values <= valid;
    const int ragged = is_whole ? 0 : valid - lane * chain::values;  // values of a packet that is not whole
    const auto store_row = [&] {
        store_values(out, complete, is_whole, ragged);
        out += p.destination_stride;
    };
    packet* lent = links + (warp - 1) * chain::lent_packets + lane;
    const bool lends = warp > 0;
    const auto lend_row = [&] {
        if (lends) *lent = packet::from_floats(h);
        lent += lanes;
    };

    ptx::wait_for_grids_before();
    for (int stage = 0; stage < chain::stages; ++stage) copies.copy(stage * chain::rows, stage);
    int stage = 0;
#pragma unroll 1
    for (int first = 0; first < inputs; first += chain::rows) {
        ptx::cp_async_wait_group<chain::stages - 1>();
        ptx::sync_warp();
        int input = first;
        const int end = min(first + chain::rows, inputs);
        const packet* window = staged + stage * chain::stage_packets + lane;
        packet early[chain::early];
        const auto load_early = [&] {
#pragma unroll
            for (int k = 0; k < chain::early; ++k) early[k] = window[k];
        };
        load_early();
        const auto filter_row = [&] {
            filter_window<radius>(early, window, p.taps_x, h);
            if (++input < end) window += chain::row_packets;
            load_early();
        };

        // The first rows add only to the sums from that of the first output on.
        const int start_end = min(end, radius);
        const int lent_end = min(end, 2 * radius);
#pragma unroll 1
        while (input < start_end) {
            filter_row();
            lend_row();
            add_row.template operator()<radius, 2 * radius>();
        }
#pragma unroll 1
        while (input < lent_end) {
            filter_row();
            lend_row();
            add_row.template operator()<0, 2 * radius>();
        }
#pragma unroll 1
        while (input < end) {
            filter_row();
            add_row.template operator()<0, 2 * radius>();
            store_row();
        }
        ptx::sync_warp();  // all lanes have read the stage, and lent their rows
        if (lends && first < 2 * radius && end >= 2 * radius) ptx::arrive_threads(warp, 2 * lanes);
        copies.copy(first + chain::stages * chain::rows, stage);
        if (++stage == chain::stages) stage = 0;
    }
    if (is_last) return;

    ptx::sync_threads(warp + 1, 2 * lanes);
    const packet* borrowed = links + warp * chain::lent_packets + lane;
    const auto borrow_row = [&] {
        const packet row = *borrowed;
#pragma unroll
        for (int e = 0; e < chain::values; ++e) h[e] = row.get(e);
        borrowed += lanes;
    };
#pragma unroll 3
    for (int i = 0; i < radius; ++i) {
        borrow_row();
        add_row.template operator()<0, 2 * radius>();
        store_row();
    }
    // The last rows add only to the sums up to that of the last output.
#pragma unroll 3
    for (int i = 0; i < radius; ++i) {
        borrow_row();
        add_row.template operator()<0, radius - 1>();
        store_row();
    }
}

template <int radius>
fused_chains_plan plan_of(const filter_facts& p, const device_traits& device) {
    using chain = chains::chain<radius>;
    const std::int64_t strips = divide_up(p.width, chain::columns);
    // A block has as many warps as shared memory holds, but fewer if multiprocessors would go without a block.
    const std::int64_t most_warps = divide_up(p.height, 2 * radius) * strips * p.images / device.sm_count;
    int warps = chain::max_warps;
    while (warps > 1 &&
           (warps > most_warps ||
            chain::bytes(warps) > static_cast<std::int64_t>(device.shared_memory_per_block_optin)))
        --warps;
    const std::int64_t fit = static_cast<std::int64_t>(device.shared_memory_per_sm) /
                             (chain::bytes(warps) + shared_bytes_reserved);
    const std::int64_t blocks_per_sm = std::clamp<std::int64_t>(fit, 1, chain::max_warps / warps);
    // A warp has at least as many rows as it filters to start.
    const march down = plan_march(p.height, strips, p.images, device.sm_count * blocks_per_sm,
                                  warps * 2 * radius, 1, costs_of(device).march);
    const std::int64_t rows_per_warp =
        warps == 1 ? down.rows_per_block : divide_up(down.rows_per_block + chain::less_in_last, warps);
    // The warps of a chain share the rows that a single warp filters to start.
    const auto rows = static_cast<double>(rows_per_warp + (warps == 1 ? 2 * radius : 0));
    constexpr int values = packet_bytes / sizeof(float);
    return {.grid = {.blocks = {strips * down.segments},
                     .threads = {lanes * warps},
                     .shared_bytes = static_cast<std::size_t>(
                         std::max(shared_bytes_of_one_of(blocks_per_sm, device), chain::bytes(warps))),
                     .shared_limit = device.shared_memory_per_block_optin,
                     .begins_early = waits_for_grids(device)},
            .strips = static_cast<unsigned>(strips),
            .march = down,
            .rows_per_warp = static_cast<int>(rows_per_warp),
            .us = predicted_us("fused chains", device,
                               marching(p, strips * down.segments * p.images, blocks_per_sm, rows,
                                        values * both_radii(p), lanes * warps * packet_bytes, device))};
}

template <int radius>
void launch(const fused_chains_plan& plan, const arguments<float>& a, cudaStream_t stream) {
    chain_parameters<radius> p{batch_rows<float>::of(a, a.y * a.source.first.row_stride + a.x),
                               static_cast<int>(a.destination.first.width),
                               static_cast<int>(a.x),
                               static_cast<int>(a.source.first.width),
                               plan.strips,
                               plan.march.segments,
                               plan.march.rows_per_block,
                               plan.rows_per_warp,
                               a.border,
                               a.border_value,
                               {},
                               {}};
    std::copy_n(a.taps_x.table, 2 * radius + 1, p.taps_x);
    std::copy_n(a.taps_y.table, 2 * radius + 1, p.taps_y);
    launch_batch(plan.grid, a.destination.count, fused_chains<radius>, p, stream);
}

/// Calls function<radius>().
template <class Function>
void with_chain(std::int64_t radius, Function function) {
    constexpr int first = max_tile_radius(pixel_type::f32, 1) + 1,
                  last = max_register_radius(pixel_type::f32, 1);
    with_radius<first, last>(static_cast<int>(radius), function);
}

}  // namespace

fused_chains_plan plan_fused_chains(const filter_facts& p, const device_traits& device) {
    fused_chains_plan plan{};
    with_chain(p.radius.x, [&]<int radius>() { plan = plan_of<radius>(p, device); });
    return plan;
}

void launch_fused_chains(const fused_chains_plan& plan, const arguments<float>& a, cudaStream_t stream) {
    with_chain(a.taps_x.radius, [&]<int radius>() { launch<radius>(plan, a, stream); });
}

}  // namespace heddle::kernels::gaussian_blur
