#pragma once

#include "kernels/device/layout.hpp"
#include <heddle/histogram.hpp>

#include <cstdint>

/// The facts of a problem that the tables of rungs, the plans and the messages read. Pure.
namespace heddle::kernels::histogram {

struct histogram_facts {
    explicit histogram_facts(const histogram_problem& p)
        : size(p.x.size),
          stride(size <= 1 ? 1 : p.x.stride),
          bins(p.bins),
          element_bytes(p.x.element_bytes),
          head((packet_bytes - p.x.offset % packet_bytes) % packet_bytes / element_bytes) {}

    std::int64_t size;
    std::int64_t stride;
    std::int64_t bins;
    std::int64_t element_bytes;
    std::int64_t head;  ///< elements before the first packet
};

}  // namespace heddle::kernels::histogram
