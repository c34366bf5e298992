#pragma once

#include "kernels/gaussian_blur/round_up.cuh"

#include <cstdint>

namespace heddle::kernels::gaussian_blur {

constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

/// The values from the start of a window to its first column, at place x of a row: those that it reaches, and as many more as
/// make it start at a multiple of `multiple`.
constexpr int values_before(int reach, int x, int multiple) {
    return reach + (x + round_up(reach, multiple) - reach) % multiple;
}

}  // namespace heddle::kernels::gaussian_blur
