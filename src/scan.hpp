#pragma once

#include "src/validate.hpp"

namespace heddle::detail {

template <class T>
footprint footprint_of_vector(const vector_view<T>& v) {
    return footprint_of(matrix_view<T>{v.data, v.size, 1, v.stride});
}

/// What the scans and their CPU siblings ask of their arguments.
template <class T>
void validate_scan(const char* operation, const vector_view<const T>& x, const vector_view<T>& y) {
    validate(operation, "y", y);
    require(x.size == y.size, operation, {"x", "size"}, x.size, "{} (y.size)", y.size);
    validate(operation, "x", x);
    const bool in_place = x.data == y.data && (x.size <= 1 || x.stride == y.stride);
    require(in_place || !overlap(footprint_of_vector(x), footprint_of_vector(y)), operation, "y",
            "a view that overlaps x in part", "exactly x or apart from it");
}

}  // namespace heddle::detail
