#pragma once

#include "kernels/device/math.hpp"
#include "kernels/device/warp.hpp"
#include "kernels/loss/facts.hpp"
#include "kernels/loss/tuning/generic.hpp"

#include <cstdint>

namespace heddle::kernels::loss {

/// How label_hits computes a problem.
struct label_hits_plan {
    enum class kernel {
        hits,          ///< needs elements side by side
        hits_of_warps  ///< takes any strides
    };
    static constexpr int threads = 256;  ///< per block
    static constexpr int packet_bytes = 16;

    kernel kind = kernel::hits_of_warps;
    int lanes = warp_size;    ///< threads that share a row
    int width = 1;            ///< elements per load
    std::int64_t blocks = 1;  ///< each has threads / lanes rows
};

/// Pure. `problem` has at least one element.
inline label_hits_plan plan_label_hits(const loss_facts& problem) {
    label_hits_plan plan;
    const auto element_bytes = static_cast<int>(problem.element_bytes);
    if (problem.unit_stride) {
        plan.kind = label_hits_plan::kernel::hits;
        if (problem.cols > hits_sharing::most_bytes_of_warp / element_bytes)
            plan.lanes = label_hits_plan::threads;
        if (problem.in_packets) plan.width = label_hits_plan::packet_bytes / element_bytes;
    }
    plan.blocks = divide_up(problem.rows, label_hits_plan::threads / plan.lanes);
    return plan;
}

}  // namespace heddle::kernels::loss
