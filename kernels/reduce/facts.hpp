#pragma once

#include "kernels/device/layout.hpp"
#include <heddle/reduce.hpp>

#include <algorithm>
#include <cstdint>

/// The facts of a problem that the tables of rungs, the plans and the messages read. Pure.
namespace heddle::kernels::reduce {

struct reduce_facts {
    explicit reduce_facts(const reduce_problem& p)
        : size(p.x.size),
          stride(size <= 1 ? 1 : std::max(p.x.stride, p.y.stride)),
          element_bytes(p.x.element_bytes),
          has_y(p.y.size > 0),
          y_is_alike(p.y.size == 0 || (p.x.offset - p.y.offset) % packet_bytes == 0),
          has_scratch(p.has_scratch) {}

    std::int64_t size;
    std::int64_t stride;  ///< the larger of x's and y's; 1 means that all elements lie side by side
    std::int64_t element_bytes;
    bool has_y;       ///< two vectors are read, as dot does
    bool y_is_alike;  ///< dot's y begins as far after a packet boundary as x
    bool has_scratch;
};

}  // namespace heddle::kernels::reduce
