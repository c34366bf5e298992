#pragma once

#include "src/elementwise/validate.hpp"

#include <cstdint>

namespace heddle::detail {

/// Checks gamma or beta, which has one element per column or none at all.
template <class T>
void validate_parameter(const char* operation, const char* name, const vector_view<const T>& v,
                        const matrix_view<T>& y, bool have_elements) {
    if (v.size == 0) return;
    require(v.size == y.cols, operation, {name, "size"}, v.size, "0 or {} (y.cols)", y.cols);
    validate(operation, name, v, have_elements);
    require(!have_elements || !overlap(footprint_of(v), footprint_of(y)), operation, "y",
            "a view that overlaps a parameter", "memory apart from {}", name);
}

/// Checks the arguments of layer_norm() or rms_norm(), on the GPU or the CPU.
template <class T>
void validate_norm(const char* operation, const matrix_view<const T>& x, const vector_view<const T>& gamma,
                   const vector_view<const T>& beta, const matrix_view<T>& y, float epsilon,
                   bool have_elements = true) {
    require(epsilon >= 0, operation, {"options", "epsilon"}, epsilon, "zero or more");
    validate_unary(operation, x, y, have_elements);
    validate_parameter(operation, "gamma", gamma, y, have_elements);
    validate_parameter(operation, "beta", beta, y, have_elements);
}

}  // namespace heddle::detail
