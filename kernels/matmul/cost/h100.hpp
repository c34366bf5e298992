#pragma once

#include "kernels/matmul/cost/h200.hpp"

namespace heddle::kernels::matmul {

/// An H100 has the multiprocessors of an H200. The memory's rate is scaled by the ratio of measured rates.
inline constexpr costs h100 = [] {
    constexpr double slower = 0.73;
    costs card = h200;
    card.memory_bytes_per_us *= slower;
    card.copied_bytes_per_us *= slower;
    return card;
}();

}  // namespace heddle::kernels::matmul
