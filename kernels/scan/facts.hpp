#pragma once

#include "kernels/device/layout.hpp"
#include <heddle/scan.hpp>

#include <cstdint>

/// The facts of a problem that the tables of rungs, the plans and the messages read. Pure.
namespace heddle::kernels::scan {

struct scan_facts {
    explicit scan_facts(const scan_problem& p)
        : size(p.y.size),
          element_bytes(p.y.element_bytes),
          unit_stride(is_dense(p.y)),
          misalignment(elements_after_packet(p.y)),
          x_is_alike(is_dense(p.x) && elements_after_packet(p.x) == misalignment),
          has_scratch(p.has_scratch) {}

    std::int64_t size;
    std::int64_t element_bytes;
    bool unit_stride;  ///< the elements of y lie side by side
    int misalignment;  ///< elements from a packet boundary to the beginning of y
    bool x_is_alike;   ///< x lies like y: side by side, and with the same misalignment
    bool has_scratch;

  private:
    static bool is_dense(const vector_layout& v) { return v.size == 1 || v.stride == 1; }
};

}  // namespace heddle::kernels::scan
