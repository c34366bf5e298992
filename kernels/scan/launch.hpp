#pragma once

#include "kernels/device/launchers.hpp"
#include "kernels/scan/facts.hpp"
#include <heddle/device.hpp>
#include <heddle/scan.hpp>
#include <heddle/view.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace heddle::kernels::scan {

/// The last term of y[i] is x[i] if inclusive, and x[i - 1] if exclusive.
enum class kind { inclusive, exclusive };

/// x and y have one size, not 0. A stride is 1 where there is one element.
template <class T>
struct arguments {
    vector_view<const T> x;
    vector_view<T> y;
    scan::kind kind;
    unsigned* counters = nullptr;  ///< two, zero before and after
    std::byte* scratch = nullptr;  ///< scratch_bytes() of the plan, of any content; if 0, both are null
};

using facts_type = scan_facts;

/// How a rung computes a problem.
struct plan {
    std::int64_t blocks = 1;
    std::int64_t segment = 0;     ///< reduce_then_scan: elements per block
    int width = 1;                ///< look_back: elements per packet
    int shift = 0;                ///< look_back: places of the first packet that lie before y
    bool copies_packets = false;  ///< look_back: x is read in packets too
    bool is_small = false;        ///< look_back: tiles have a quarter of the rows

    // Upper bounds, the same at any strides and alignment:
    std::int64_t scratch_bytes = 0;
    std::int64_t depth = 0;  ///< additions from any one element to any sum
};

inline std::int64_t scratch_bytes(const plan& plan) {
    return plan.scratch_bytes;
}

/// Each rung has a plan and a launch. The plan is pure. It takes the problems that meet the needs in the rung's row.
/// The launch scans by the plan for these arguments.
HEDDLE_SCAN_RUNGS(HEDDLE_PLAN_AND_LAUNCH)

}  // namespace heddle::kernels::scan
