#pragma once

#include "tests/bounds/numbers.hpp"

#include <cmath>

namespace heddle::bounds {

/// docs/accuracy.md, Random numbers: the largest difference between a normal number of the GPU and the CPU's.
template <class T>
double of_normal(double expected, double mean, double deviation) {
    const double of_compute = unit_roundoff<compute_type<T>>(), value = std::abs(expected);
    const double spread = std::abs(expected - mean) + unit_roundoff<T>() * value;
    const double of_results = 2 * of_compute * value;
    if constexpr (sizeof(T) == 2)
        return deviation * 82 * of_compute + 4 * of_compute * spread + of_results +
               2 * unit_roundoff<T>() * value + smallest<T>();
    else
        return (sizeof(T) == 8 ? 14 : 7) * of_compute * spread + of_results + smallest<T>();
}

}  // namespace heddle::bounds
