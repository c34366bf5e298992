#pragma once

#include "src/validate.hpp"

namespace heddle::detail {

/// Checks the operands of a dot product.
template <class T>
void validate_pair(const char* operation, const vector_view<const T>& x, const vector_view<const T>& y,
                   bool have_elements = true) {
    validate(operation, "x", x, have_elements);
    validate(operation, "y", y, have_elements);
    require(y.size == x.size, operation, {"y", "size"}, y.size, "{} (x.size)", x.size);
}

/// Checks the scalar that a reduction of x writes. It may lie between two elements of x. `name` is x's name in errors.
template <class Result, class T>
void validate_result(const char* operation, const Result* result, const char* name,
                     const vector_view<const T>& x) {
    require(result != nullptr, operation, "result", "null", "a pointer to device memory");
    const void* const address = address_of(result);
    require(is_aligned(result, alignof(Result)), operation, "result", address, "a multiple of {} bytes",
            alignof(Result));
    const footprint scalar = footprint_of(result, 1, {});
    require(!overlap(footprint_of(x), scalar), operation, "result", address, "memory apart from {}", name);
}

}  // namespace heddle::detail
