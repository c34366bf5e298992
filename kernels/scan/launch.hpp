#pragma once

#include "kernels/scan/facts.hpp"
#include <heddle/device.hpp>
#include <heddle/scan.hpp>
#include <heddle/view.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace heddle::kernels::scan {

/// Inclusive: y[i] ends with x[i]; exclusive: with x[i - 1].
enum class kind { inclusive, exclusive };

/// x and y have one size, not 0. A stride is 1 where there is one element.
template <class T>
struct arguments {
    vector_view<const T> x;
    vector_view<T> y;
    scan::kind kind;
    unsigned* counters = nullptr;  ///< two, zero before and after
    std::byte* scratch = nullptr;  ///< as many bytes as the plan says, of any content; none: both are null
};

/// How a rung does a problem.
struct plan {
    std::int64_t blocks = 1;
    std::int64_t segment = 0;     ///< of reduce_then_scan: elements of a block
    int width = 1;                ///< of look_back: elements of a packet
    int shift = 0;                ///< of look_back: places of the first packet that lie before y
    bool copies_packets = false;  ///< of look_back: x is read in packets too
    bool is_small = false;        ///< of look_back: tiles have a quarter of the rows

    // At most, and the same at any strides and alignment:
    std::int64_t scratch_bytes = 0;
    std::int64_t depth = 0;  ///< additions on the way of any one element to any sum
};

inline std::int64_t scratch_bytes(const plan& plan) {
    return plan.scratch_bytes;
}

/// Each rung has a plan and a launch. The plan is pure. It takes the problems that meet the needs in the rung's row.
/// The launch scans by the plan for these arguments.
#define DECLARE(rung, ...)                                                    \
    plan plan_##rung(const scan_facts& problem, const device_traits& device); \
    template <class T>                                                        \
    void launch_##rung(const plan& plan, const arguments<T>& arguments, cudaStream_t stream);
HEDDLE_SCAN_RUNGS(DECLARE)
#undef DECLARE

}  // namespace heddle::kernels::scan
