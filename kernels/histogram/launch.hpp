#pragma once

#include "kernels/device/launch.hpp"
#include "kernels/device/launchers.hpp"
#include "kernels/histogram/facts.hpp"
#include <heddle/device.hpp>
#include <heddle/histogram.hpp>
#include <heddle/view.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace heddle::kernels::histogram {

/// Bins are equal parts of [lower, upper); scale is bins / (upper - lower). Byte elements do not use it.
struct range {
    float lower = 0;
    float upper = 0;
    float scale = 0;
};

/// x is not empty; its stride is 1 where it has one element. `counts` are zero.
template <class T>
struct arguments {
    vector_view<const T> x;
    unsigned long long* counts;
    int bins;
    histogram::range range;
};

using facts_type = histogram_facts;

/// How a rung computes a problem.
struct plan {
    launch_extents blocks{1};  ///< along y: parts of the bins
    launch_extents threads{1};
    std::size_t shared_bytes = 0;
    // Only vectorized uses these.
    std::size_t shared_limit = 0;
    int part_bins = 1;         ///< bins of a part
    int columns = 1;           ///< counters per bin
    int head = 0;              ///< elements before the first packet
    std::int64_t packets = 0;  ///< whole packets of 16 bytes
};

/// Each rung has a plan and a launch. The plan is pure. It takes the problems that meet the needs in the rung's row.
/// The launch counts by the plan for these arguments.
HEDDLE_HISTOGRAM_RUNGS(HEDDLE_PLAN_AND_LAUNCH)

}  // namespace heddle::kernels::histogram
