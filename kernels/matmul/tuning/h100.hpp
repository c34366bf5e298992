#pragma once

#include "kernels/matmul/tuning/h200.hpp"

namespace heddle::kernels::matmul {

/// An H100 has an H200's multiprocessors and a slower memory. What differs is measured.
inline constexpr tuning h100 = [] {
    tuning card = h200;
    card.memory_bytes_per_us = 3.1e6;
    card.copied_bytes_per_us = 1.5e6;
    card.split_bytes_per_us = 2.5e6;
    return card;
}();

}  // namespace heddle::kernels::matmul
