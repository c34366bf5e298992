#pragma once

#include "src/validate.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

namespace heddle::detail {

/// Checks the vectors of a histogram, on the GPU or the CPU.
template <class T>
void validate_histogram(const char* operation, const vector_view<const T>& x,
                        const vector_view<std::int64_t>& counts, bool have_elements = true) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    validate(operation, "x", x, have_elements);
    validate(operation, "counts", counts, have_elements);
    if constexpr (sizeof(T) == 1)
        require(counts.size == 256, operation, {"counts", "size"}, counts.size, "256");
    else
        require(counts.size >= 1 && counts.size <= most, operation, {"counts", "size"}, counts.size,
                "1 to {}", most);
    require(counts.size == 1 || counts.stride == 1, operation, {"counts", "stride"}, counts.stride, "1");
    require(!have_elements || !overlap(footprint_of(x), footprint_of(counts)), operation, "counts",
            "a view that overlaps x", "memory apart from x");
}

/// bins / (upper - lower), the factor by which the device and the CPU find an element's bin. It is at least 2^-128,
/// as the width is a float. It is denormal, with 21 bits or more, only for up to three bins of the widest ranges.
inline float bin_scale(const char* operation, float lower, float upper, std::int64_t bins) {
    require(std::isfinite(lower), operation, "lower", lower, "a finite number");
    require(std::isfinite(upper), operation, "upper", upper, "a finite number");
    require(upper > lower, operation, "upper", upper, "more than lower ({})", lower);
    require(std::isfinite(upper - lower), operation, "upper", upper, "at most {} above lower ({})",
            std::numeric_limits<float>::max(), lower);
    const double scale = static_cast<double>(bins) / (double{upper} - double{lower});
    require(scale <= std::numeric_limits<float>::max(), operation, "upper", upper,
            "bins / (upper - lower) within float");
    return static_cast<float>(scale);
}

}  // namespace heddle::detail
