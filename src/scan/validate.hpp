#pragma once

#include "src/validate.hpp"

namespace heddle::detail {

/// Checks the arguments of a scan, on the GPU or the CPU.
template <class T>
void validate_scan(const char* operation, const vector_view<const T>& x, const vector_view<T>& y,
                   bool have_elements = true) {
    validate(operation, "y", y, have_elements);
    require(x.size == y.size, operation, {"x", "size"}, x.size, "{} (y.size)", y.size);
    validate(operation, "x", x, have_elements);
    const bool in_place = x.data == y.data && (x.size <= 1 || x.stride == y.stride);
    require(in_place || !have_elements || !overlap(footprint_of(x), footprint_of(y)), operation, "y",
            "a view that overlaps x in part", "exactly x or apart from it");
}

}  // namespace heddle::detail
