#pragma once

#include "kernels/conv/plan/copies.hpp"
#include "kernels/conv/plan/depthwise.hpp"
#include "kernels/conv/plan/grouped.hpp"
#include "kernels/device/launch.hpp"
#include "kernels/frame/tile_scheduler.hpp"
#include <heddle/conv.hpp>
#include <heddle/device.hpp>

#include <cstddef>
#include <cstdint>

namespace heddle::kernels::conv {

/// How a rung solves a problem.
struct plan {
    launch_extents blocks;
    launch_extents threads;
    depthwise_kernel depthwise{};
    conv::depthwise_tiling depthwise_tiling{};
    std::size_t kernel = 0;  ///< its number among the rung's kernels
    double us = 0;           ///< predicted
    frame::tile_schedule schedule{};
    bool stores_packets = false;
    bool in_packets = false;  ///< copies have 16 bytes
    grouped_layout grouped{};
    int rows_outputs = 0;     ///< of a block of `mma_sync rows`
    operand_copies copies{};  ///< made in scratch memory before the kernel: the input first, then the filters
    std::int64_t scratch = 0;  ///< bytes
    // im2col and kn2row
    std::int64_t images = 0;  ///< in a part; parts use the same scratch memory one after another
    bool lays_out = true;     ///< whether the windows of each group are copied
    std::int64_t window_stride =
        0;                  ///< elements from one window to the next, or of kn2row from one pixel's shares
    bool has_sums = false;  ///< in float, which a separate kernel stores with the epilogue
    std::int64_t sums =
        0;  ///< their offset in scratch memory; that of shares, or of sums that workers exchange
    heddle::precision precision = heddle::precision::fp32;
};

constexpr std::int64_t scratch_bytes(const plan& plan) {
    return plan.scratch;
}
/// Workers that share a tile draw tickets.
constexpr bool needs_tickets(const plan& plan) {
    return plan.schedule.streams > 0;
}

/// Adds copies, which are made before the rest of a plan: their scratch memory and their time.
void add_copies(const conv_problem& problem, const operand_copies& copies, const device_traits& device,
                plan& to);

/// Pure. These take any problem.
plan plan_naive(const conv_problem& problem, const device_traits& device);
plan plan_tiled(const conv_problem& problem, const device_traits& device);

/// Needs groups of one input channel and one output channel, and filters of at most depthwise_most_taps.
plan plan_depthwise(const conv_problem& problem, const device_traits& device);

/// Needs filters that are rows, and sizes that fit (plan/im2col.hpp).
plan plan_im2col(const conv_problem& problem, const device_traits& device);

/// Needs one group, pixels at one stride and taps at one stride, and shares that fit (plan/kn2row.hpp).
plan plan_kn2row(const conv_problem& problem, const device_traits& device);

/// src/conv/rungs.cpp states their needs (plan/mma_sync.hpp). The last parameter is the kernel's number among those of its
/// kind.
plan plan_register_words(const conv_problem& problem, const device_traits& device, std::size_t kernel);
plan plan_register_fours(const conv_problem& problem, const device_traits& device, std::size_t kernel);
plan plan_mma_sync(const conv_problem& problem, const device_traits& device, std::size_t kernel);
plan plan_mma_sync_words(const conv_problem& problem, const device_traits& device, std::size_t kernel);
plan plan_mma_sync_elements(const conv_problem& problem, const device_traits& device, std::size_t kernel);
plan plan_mma_rows(const conv_problem& problem, const device_traits& device);

/// Need slabs of whole groups (plan/grouped.hpp). The mma one needs a multiple of 4 input channels in each group.
plan plan_grouped_fma(const conv_problem& problem, const device_traits& device);
plan plan_grouped_mma(const conv_problem& problem, const device_traits& device);

/// Need windows and filters that tensor maps can describe (plan/windows.hpp).
plan plan_wgmma(const conv_problem& problem, const device_traits& device);
plan plan_persistent(const conv_problem& problem, const device_traits& device, std::size_t kernel);

}  // namespace heddle::kernels::conv
