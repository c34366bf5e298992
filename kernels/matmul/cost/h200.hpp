#pragma once

#include "kernels/matmul/cost/h100.hpp"

namespace heddle::kernels::matmul {

/// An H200 has an H100's multiprocessors and a faster memory. What differs is measured.
inline constexpr costs h200 = [] {
    costs card = h100;
    card.memory_bytes_per_us = 4.4e6;
    card.copied_bytes_per_us = 2e6;
    card.split_bytes_per_us = 3.5e6;
    return card;
}();

}  // namespace heddle::kernels::matmul
