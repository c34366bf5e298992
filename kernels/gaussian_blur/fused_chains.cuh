#pragma once

#include "kernels/device/border.cuh"
#include "kernels/device/ptx/cp_async.cuh"
#include "kernels/device/vector.cuh"
#include "kernels/gaussian_blur/launch.hpp"
#include "kernels/gaussian_blur/pixel.cuh"
#include "kernels/gaussian_blur/plan/window.hpp"
#include <heddle/image.hpp>

#include <cstdint>

/// The shape of a chain's warps, and the copies of the rows that a warp filters.
namespace heddle::kernels::gaussian_blur::chains {

inline constexpr int lanes = 32;

template <int radius>
struct chain {
    static constexpr int values = 4;  ///< neighbours that a lane owns, a packet of 16 bytes
    using packet = gaussian_blur::packet<float, values>;
    static constexpr int columns = lanes * values;
    static constexpr int halo = radius;
    static constexpr int lead = round_up(halo, values);  ///< values of a window before a lane's own
    static constexpr int packets = 1 + 2 * lead / values;
    static constexpr int early = 3;  ///< packets of the next row's window, loaded before this row's sums

    static constexpr int rows = 4;  ///< of a stage, which are copied together
    static constexpr int stages = 3;
    static constexpr int row_packets = lanes + packets - 1;
    static constexpr int stage_packets = rows * row_packets;
    /// A lane's copies for one stage: of packets, and at most of single values. Single values are those of a halo beyond a
    /// side, and of packets that are not whole.
    static constexpr int packet_copies = (stage_packets + lanes - 1) / lanes;
    static constexpr int single_copies = (rows * 2 * (halo + values - 1) + lanes - 1) / lanes;

    /// Registers of a thread: the sums, and what the compiler needs besides.
    static constexpr int registers = 2 * radius * values + 72;
    static constexpr int max_warps = 65536 / lanes / registers / 4 * 4 < 12 ? 8 : 12;
    static constexpr int warp_packets = stages * stage_packets;
    static constexpr int lent_packets = 2 * radius * lanes;
    static constexpr std::int64_t bytes(int warps) {
        return max_vector_bytes * (std::int64_t{warps} * warp_packets + (warps - 1) * lent_packets);
    }
    /// The last warp has so many rows fewer, as it filters 2 * radius more. A borrowed row costs a third of a filtered one.
    static constexpr int less_in_last = 2 * radius * 2 / 3;
};

/// `source` points to the place of the destination's pixel (0, 0).
template <int radius>
struct chain_parameters : batch_rows<float> {
    int width;  ///< of the destination
    int left;   ///< pixels of the source's row before that place
    int source_width;
    unsigned strips;
    unsigned segments;
    int rows_per_block;
    int rows_per_warp;  ///< the last warp of a block has those that are left
    heddle::border border;
    float border_value;
    float taps_x[2 * radius + 1];
    float taps_y[2 * radius + 1];
};

/// Copies rows to shared memory by cp.async: in packets, and value by value beyond a side and where a packet is not whole.
/// Copy k of a lane takes packet lane + lanes * k of a stage, whose rows lie one behind the other.
template <int radius>
struct row_copies {
    using chain = chains::chain<radius>;
    using packet = typename chain::packet;

    const chain_parameters<radius>& p;
    packet* staged;
    int lane;
    std::int64_t first_row;
    int inputs;
    const float* packet_from[chain::packet_copies];
    unsigned whole_packets = 0;  ///< a bit for each copy
    const float* single_from[chain::single_copies];
    int single_to[chain::single_copies];
    int row_singles;
    int inside_begin;  ///< the first of the warp's rows that the source has
    int inside_end;    ///< one past the last such row, or up to a stage behind the inputs

    __device__ static int row_of_packet(int lane, int k) { return (lane + k * lanes) / chain::row_packets; }

    __device__ row_copies(const chain_parameters<radius>& of, packet* to, int own_lane, std::int64_t image,
                          std::int64_t first, int count, int begin, int valid)
        : p(of), staged(to), lane(own_lane), first_row(first), inputs(count) {
        // These are places in a row, counted from the start of the first lane's window.
        const int row_begin = chain::lead - p.left - begin;
        const int row_end = row_begin + p.source_width;
        const int whole_begin = round_up(max(row_begin, 0), chain::values);
        const int whole_end =
            max(whole_begin, min(row_end, chain::columns + 2 * chain::lead) / chain::values * chain::values);
        const float* first_window =
            p.source + image * p.source_image + (first_row - p.above) * p.source_stride + begin - chain::lead;

#pragma unroll
        for (int k = 0; k < chain::packet_copies; ++k) {
            const int row = row_of_packet(lane, k);
            const int place = (lane + k * lanes) % chain::row_packets * chain::values;
            if (row < chain::rows && place >= whole_begin && place < whole_end) whole_packets |= 1U << k;
            packet_from[k] = first_window + row * p.source_stride + place;
        }
        // All other values of rows are copied singly: in each row first those at the left, if there are any.
        const int left_singles = max(whole_begin - (chain::lead - chain::halo), 0);
        row_singles = left_singles + max(chain::lead + valid + chain::halo - whole_end, 0);
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
        inside_begin = first_row < 0 ? static_cast<int>(-first_row) : 0;
        inside_end = static_cast<int>(min(p.source_height - first_row, std::int64_t{inputs} + chain::rows));
    }

    __device__ void copy(int first, int stage) {
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
            // Each lane looks up, for one row, which row of the source stands for it, and how far below that lies.
            const std::int64_t y = first_row + first + lane % chain::rows;
            const std::int64_t shown = nearby_source_index(y, p.source_height, p.border);
            const std::int64_t below = (shown - y) * p.source_stride;
            const unsigned is_constant = __ballot_sync(~0U, shown < 0);
#pragma unroll
            for (int k = 0; k < chain::packet_copies; ++k) {
                const int row = row_of_packet(lane, k);
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
    }
};

}  // namespace heddle::kernels::gaussian_blur::chains
