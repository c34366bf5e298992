// fused, variant chains, for large windows of one channel of float: chains of warps that lend rows to each other.
//
//   strip of 128 columns
//     warp 0    rows of its own: along x -> h -> sums of outputs, in registers, as in fused_strips.cuh
//               2r rows below: borrows h
//     warp 1    its first 2r rows: along x -> h, which it lends to warp 0, and begins sums
//               the others ...
//     the last  filters the rows below the block too, and has fewer of its own
//
// A warp that goes down a strip by itself filters 2r rows more than it has results: a quarter more at r = 15, 4096 x 4096.
// Here only one of a chain does; what it filtered first, each lends in shared memory to the warp above, which needs it last.
// A sum has the same terms in the same order as without, so that a region still gets to the bit what the whole has.
// In the first r rows and in the last r, the half of the sums that belongs to other warps is left out. That leaves, for a row of a
// lane's four values at r = 15, 248 FMAs and what else there is, 40 instructions:
// - Rows come by cp.async, straight to shared memory: as packets, and singly what is beyond a side or not a whole packet.
//   Warps at the sides take longer even so, and everyone waits for them.
// - Loops take one row, not all that were copied, whose 30 KB of instructions had to come from DRAM when called cold.
// - The first packets of the next row are loaded before the sums of this one.
// - The number of a warp comes from a shuffle, which says that it is the same for all lanes. Without it the compiler takes
//   loops for the lanes' own, and holds taps in registers instead of uniform ones: with spills and conflicts of their banks.

#include "kernels/device/border.cuh"
#include "kernels/device/early_launch.hpp"
#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/cp_async.cuh"
#include "kernels/device/ptx/grid_dependency.cuh"
#include "kernels/device/ptx/warpgroup.cuh"
#include "kernels/device/vector.cuh"
#include "kernels/separable_filter/batch_rows.hpp"
#include "kernels/separable_filter/column_sums.cuh"
#include "kernels/separable_filter/launch.hpp"
#include "kernels/separable_filter/packet.cuh"
#include "kernels/separable_filter/plan/compiled.hpp"
#include "kernels/separable_filter/plan/extents.hpp"
#include "kernels/separable_filter/plan/march.hpp"
#include "kernels/separable_filter/row_sums.cuh"
#include "kernels/separable_filter/tuning/tuning.hpp"

#include <algorithm>

namespace heddle::kernels::separable_filter {
namespace {

constexpr int lanes = 32;

template <int radius>
struct chain {
    static constexpr int values = 4;  ///< neighbours that a lane owns, a packet of 16 bytes
    using packet = separable_filter::packet<float, values>;
    static constexpr int columns = lanes * values;
    static constexpr int halo = radius;
    static constexpr int lead = round_up(halo, values);  ///< values of a window before a lane's own
    static constexpr int packets = 1 + 2 * lead / values;
    static constexpr int early = 3;  ///< packets of the next row's window, loaded before the sums of this one

    static constexpr int rows = 4;  ///< of a stage: copied at a time
    static constexpr int stages = 3;
    static constexpr int row_packets = lanes + packets - 1;
    static constexpr int stage_packets = rows * row_packets;
    /// Copies of a stage that a lane takes: of packets, and at most of values singly, which are those of halos beyond a side
    /// and of packets that are not whole.
    static constexpr int packet_copies = (stage_packets + lanes - 1) / lanes;
    static constexpr int single_copies = (rows * 2 * (halo + values - 1) + lanes - 1) / lanes;

    /// What the registers allow: sums, and the rest as compiled.
    static constexpr int registers = 2 * radius * values + 72;
    static constexpr int max_warps = 65536 / lanes / registers / 4 * 4 < 12 ? 8 : 12;
    static constexpr int warp_packets = stages * stage_packets;
    static constexpr int lent_packets = 2 * radius * lanes;
    static constexpr std::int64_t bytes(int warps) {
        return max_vector_bytes * (std::int64_t{warps} * warp_packets + (warps - 1) * lent_packets);
    }
    /// Rows that the last warp has less, as it filters 2 * radius more: those that others only add up cost a third.
    static constexpr int less_in_last = 2 * radius * 2 / 3;
};

/// The source counts from where the destination's pixel (0, 0) stands.
template <int radius>
struct chain_parameters : batch_rows<float> {
    int width;  ///< of the destination
    int left;   ///< pixels of the source left of its place
    int source_width;
    unsigned strips;
    unsigned segments;
    int rows_per_block;
    int rows_per_warp;  ///< but the last's of a block, which has those that are left
    heddle::border border;
    float border_value;
    float taps_x[2 * radius + 1];
    float taps_y[2 * radius + 1];
};

template <int radius>
__global__ void __launch_bounds__(lanes* chain<radius>::max_warps, 1)
    fused_chains(const __grid_constant__ chain_parameters<radius> p) {
    using chain = chain<radius>;
    using packet = typename chain::packet;
    extern __shared__ packet shared[];
    ptx::let_next_grid_begin();

    const int lane = static_cast<int>(threadIdx.x % lanes);
    const int warp = __shfl_sync(~0U, static_cast<int>(threadIdx.x / lanes), 0);
    const int warps = static_cast<int>(blockDim.x / lanes);
    const int strip = static_cast<int>(blockIdx.x % p.strips);
    const std::int64_t image = blockIdx.x / p.strips / p.segments;
    const std::int64_t block_top = std::int64_t{blockIdx.x / p.strips % p.segments} * p.rows_per_block;
    const int block_outputs = static_cast<int>(min(std::int64_t{p.rows_per_block}, p.height - block_top));
    const int warp_top = warp * p.rows_per_warp;
    const int outputs = min(p.rows_per_warp, block_outputs - warp_top);
    if (outputs <= 0) return;
    const bool is_last = warp_top + outputs == block_outputs;
    const int inputs = is_last ? outputs + 2 * radius : outputs;  // that this warp filters along x
    const std::int64_t top = block_top + warp_top;
    const std::int64_t first_row = p.above + top - radius;
    const int begin = strip * chain::columns;
    const int valid = min(p.width - begin, chain::columns);
    packet* const staged = shared + warp * chain::warp_packets;
    packet* const links = shared + warps * chain::warp_packets;

    // Places in a row count from the first lane's window on: of the source's row, and of the whole packets in it.
    const int row_begin = chain::lead - p.left - begin;
    const int row_end = row_begin + p.source_width;
    const int whole_begin = round_up(max(row_begin, 0), chain::values);
    const int whole_end =
        max(whole_begin, min(row_end, chain::columns + 2 * chain::lead) / chain::values * chain::values);
    const float* first_window =
        p.source + image * p.source_image + (first_row - p.above) * p.source_stride + begin - chain::lead;

    // Copy k takes packet lane + lanes * k of a stage, whose rows lie one behind the other.
    const auto row_of_packet = [lane](int k) { return (lane + k * lanes) / chain::row_packets; };
    const float* packet_from[chain::packet_copies];
    unsigned whole_packets = 0;  ///< a bit for each copy
#pragma unroll
    for (int k = 0; k < chain::packet_copies; ++k) {
        const int row = row_of_packet(k);
        const int place = (lane + k * lanes) % chain::row_packets * chain::values;
        if (row < chain::rows && place >= whole_begin && place < whole_end) whole_packets |= 1U << k;
        packet_from[k] = first_window + row * p.source_stride + place;
    }
    // All other values of rows, if there are any, in each row those at the left first.
    const int left_singles = max(whole_begin - (chain::lead - chain::halo), 0);
    const int row_singles = left_singles + max(chain::lead + valid + chain::halo - whole_end, 0);
    const float* single_from[chain::single_copies];
    int single_to[chain::single_copies];
#pragma unroll
    for (int k = 0; k < chain::single_copies; ++k) {
        single_to[k] = -1;
        single_from[k] = first_window;
        if (lane + k * lanes >= chain::rows * row_singles) continue;
        const int row = (lane + k * lanes) / row_singles;
        const int i = (lane + k * lanes) % row_singles;
        const int place = i < left_singles ? chain::lead - chain::halo + i : whole_end + i - left_singles;
        const int to = row * chain::row_packets * chain::values + place;
        const int pixel = nearby_source_index(place - row_begin, p.source_width, p.border);
        if (pixel >= 0) {
            single_to[k] = to;
            single_from[k] += row * p.source_stride + row_begin + pixel;
        } else {  // the border's constant, which stays there
            for (int stage = 0; stage < chain::stages; ++stage)
                reinterpret_cast<float*>(staged + stage * chain::stage_packets)[to] = p.border_value;
        }
    }

    // Of the rows that this warp filters, and of those that a last stage would have beyond, the source has these.
    const int inside_begin = first_row < 0 ? static_cast<int>(-first_row) : 0;
    const int inside_end =
        static_cast<int>(min(p.source_height - first_row, std::int64_t{inputs} + chain::rows));
    const auto copy_rows = [&](int first, int stage) {
        packet* const packets_to = staged + stage * chain::stage_packets + lane;
        float* const singles_to = reinterpret_cast<float*>(packets_to - lane);
        const bool is_any = first < inputs;
        if (is_any && first >= inside_begin && first + chain::rows <= inside_end) {
#pragma unroll
            for (int k = 0; k < chain::packet_copies; ++k)
                if (whole_packets >> k & 1) ptx::cp_async<16>(packets_to + k * lanes, packet_from[k], 16);
            if (row_singles > 0) {
#pragma unroll
                for (int k = 0; k < chain::single_copies; ++k)
                    if (single_to[k] >= 0) ptx::cp_async<4>(singles_to + single_to[k], single_from[k], 4);
            }
        } else if (is_any) {
            // A lane knows of one row which one stands for it, and how far below that is.
            const std::int64_t y = first_row + first + lane % chain::rows;
            const std::int64_t shown = nearby_source_index(y, p.source_height, p.border);
            const std::int64_t below = (shown - y) * p.source_stride;
            const unsigned is_constant = __ballot_sync(~0U, shown < 0);
#pragma unroll
            for (int k = 0; k < chain::packet_copies; ++k) {
                const int row = row_of_packet(k);
                const float* from = packet_from[k] + __shfl_sync(~0U, below, row);
                if ((whole_packets >> k & 1) == 0) continue;
                if (is_constant >> row & 1)
                    packets_to[k * lanes].fill(p.border_value);
                else
                    ptx::cp_async<16>(packets_to + k * lanes, from, 16);
            }
#pragma unroll
            for (int k = 0; k < chain::single_copies; ++k) {
                const int row = max(single_to[k], 0) / (chain::row_packets * chain::values);
                const float* from = single_from[k] + __shfl_sync(~0U, below, row);
                if (single_to[k] < 0) continue;
                if (is_constant >> row & 1)
                    singles_to[single_to[k]] = p.border_value;
                else
                    ptx::cp_async<4>(singles_to + single_to[k], from, 4);
            }
        }
        ptx::cp_async_commit_group();
#pragma unroll
        for (const float*& from : packet_from) from += chain::rows * p.source_stride;
#pragma unroll
        for (const float*& from : single_from) from += chain::rows * p.source_stride;
    };

    float h[chain::values];
    float complete[chain::values];
    float sums[chain::values][2 * radius + 1] = {};
    const auto add_row = [&]<int first_sum, int last_sum>() {
#pragma unroll
        for (int e = 0; e < chain::values; ++e)
            complete[e] = filter_column<radius, first_sum, last_sum>(h[e], p.taps_y, sums[e]);
    };
    float* out = p.destination + image * p.destination_image + top * p.destination_stride + begin +
                 lane * chain::values;
    const bool is_whole = (lane + 1) * chain::values <= valid;
    const int ragged = is_whole ? 0 : valid - lane * chain::values;  // values of a packet that is not
    const auto store_row = [&] {
        if (is_whole) store(out, packet::from_floats(complete));
#pragma unroll
        for (int e = 0; e + 1 < chain::values; ++e)
            if (e < ragged) out[e] = complete[e];
        out += p.destination_stride;
    };
    packet* lent = links + (warp - 1) * chain::lent_packets + lane;
    const bool lends = warp > 0;
    const auto lend_row = [&] {
        if (lends) *lent = packet::from_floats(h);
        lent += lanes;
    };

    ptx::wait_for_grids_before();
    for (int stage = 0; stage < chain::stages; ++stage) copy_rows(stage * chain::rows, stage);
    int stage = 0;
#pragma unroll 1
    for (int first = 0; first < inputs; first += chain::rows) {
        ptx::cp_async_wait_group<chain::stages - 1>();
        __syncwarp();
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
#pragma unroll
            for (int k = 0; k < chain::packets; ++k) {
                const packet loaded = k < chain::early ? early[k] : window[k];
#pragma unroll
                for (int e = 0; e < chain::values; ++e) {
                    const int at = k * chain::values + e - chain::lead;
                    if (at < -chain::halo || at >= chain::values + chain::halo) continue;
                    filter_row_input<chain, 1, radius>(at, loaded.get(e), p.taps_x, h);
                }
            }
            if (++input < end) window += chain::row_packets;
            load_early();
        };

        // In the first rows, only the sums from that of the first output on.
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
        __syncwarp();  // all have read, and lent
        if (lends && first < 2 * radius && end >= 2 * radius) ptx::arrive_threads(warp, 2 * lanes);
        copy_rows(first + chain::stages * chain::rows, stage);
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
    // In the last rows, only the sums up to that of the last output.
#pragma unroll 3
    for (int i = 0; i < radius; ++i) {
        borrow_row();
        add_row.template operator()<0, radius - 1>();
        store_row();
    }
}

template <int radius>
fused_chains_plan plan_of(const problem& p, const device_traits& device) {
    using chain = chain<radius>;
    const std::int64_t strips = divide_up(p.width, chain::columns);
    // As many warps to a block as shared memory holds, but fewer where multiprocessors would go without.
    const std::int64_t most_warps = divide_up(p.height, 2 * radius) * strips * p.images / device.sm_count;
    int warps = chain::max_warps;
    while (warps > 1 &&
           (warps > most_warps ||
            chain::bytes(warps) > static_cast<std::int64_t>(device.shared_memory_per_block_optin)))
        --warps;
    const std::int64_t fit = static_cast<std::int64_t>(device.shared_memory_per_sm) /
                             (chain::bytes(warps) + shared_bytes_reserved);
    const std::int64_t blocks_per_sm = std::clamp<std::int64_t>(fit, 1, chain::max_warps / warps);
    // Each warp is to have as many rows as it filters to start.
    const march down = plan_march(p.height, strips, p.images, device.sm_count * blocks_per_sm,
                                  warps * 2 * radius, 1, tuning_of(device).march);
    const std::int64_t rows_per_warp =
        warps == 1 ? down.rows_per_block : divide_up(down.rows_per_block + chain::less_in_last, warps);
    return {.grid = {.blocks = {strips * down.segments},
                     .threads = {lanes * warps},
                     .shared_bytes = static_cast<std::size_t>(
                         std::max(shared_bytes_of_one_of(blocks_per_sm, device), chain::bytes(warps))),
                     .shared_limit = device.shared_memory_per_block_optin,
                     .begins_early = waits_for_grids(device)},
            .strips = static_cast<unsigned>(strips),
            .march = down,
            .rows_per_warp = static_cast<int>(rows_per_warp)};
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

/// function<radius>()
template <class Function>
void with_chain(std::int64_t radius, Function function) {
    with_radius<max_register_radius(pixel_type::f32, 1)>(static_cast<int>(radius), [&]<int each>() {
        if constexpr (each > max_tile_radius(pixel_type::f32, 1)) function.template operator()<each>();
    });
}

}  // namespace

fused_chains_plan plan_fused_chains(const problem& p, const device_traits& device) {
    fused_chains_plan plan{};
    with_chain(p.radius.x, [&]<int radius>() { plan = plan_of<radius>(p, device); });
    return plan;
}

void launch_fused_chains(const fused_chains_plan& plan, const arguments<float>& a, cudaStream_t stream) {
    with_chain(a.taps_x.radius, [&]<int radius>() { launch<radius>(plan, a, stream); });
}

}  // namespace heddle::kernels::separable_filter
