#pragma once

#include "src/validate.hpp"

#include <utility>

namespace heddle::detail {

/// Checks dy or dx, which must have the shape of x.
template <class Element, class T>
void validate_gradient_matrix(const char* operation, const char* name, const matrix_view<Element>& m,
                              const matrix_view<const T>& x, bool have_elements) {
    require(m.rows == x.rows, operation, {name, "rows"}, m.rows, "{} (x.rows)", x.rows);
    require(m.cols == x.cols, operation, {name, "cols"}, m.cols, "{} (x.cols)", x.cols);
    validate(operation, name, m, have_elements);
}

/// Checks gamma, dgamma or dbeta, which has one element per column or none at all.
template <class Element, class T>
void validate_gradient_parameter(const char* operation, const char* name, const vector_view<Element>& v,
                                 const matrix_view<const T>& x, bool have_elements) {
    require(v.size == 0 || v.size == x.cols, operation, {name, "size"}, v.size, "0 or {} (x.cols)", x.cols);
    validate(operation, name, v, have_elements);
}

template <class T>
bool is_same(const matrix_view<T>& a, const matrix_view<const T>& b) {
    return a.data == b.data && (a.rows <= 1 || a.row_stride == b.row_stride) &&
           (a.cols <= 1 || a.col_stride == b.col_stride);
}

/// Checks the arguments of a norm's gradient, on the GPU or the CPU. Outputs without elements are not wanted.
template <class T>
void validate_norm_gradient(const char* operation, const matrix_view<const T>& x,
                            const vector_view<const T>& gamma, const matrix_view<const T>& dy,
                            const matrix_view<T>& dx, const vector_view<T>& dgamma,
                            const vector_view<T>& dbeta, float epsilon, bool have_elements = true) {
    require(epsilon >= 0, operation, {"options", "epsilon"}, epsilon, "zero or more");
    validate(operation, "x", x, have_elements);
    validate_gradient_matrix(operation, "dy", dy, x, have_elements);
    const bool wants_dx = dx.rows != 0 && dx.cols != 0;
    if (wants_dx) validate_gradient_matrix(operation, "dx", dx, x, have_elements);
    validate_gradient_parameter(operation, "gamma", gamma, x, have_elements);
    validate_gradient_parameter(operation, "dgamma", dgamma, x, have_elements);
    validate_gradient_parameter(operation, "dbeta", dbeta, x, have_elements);
    if (!have_elements) return;

    const auto require_apart = [&](const char* output, const auto& y, const char* name, const auto& other) {
        require(!overlap(footprint_of(y), footprint_of(other)), operation, output,
                "a view that overlaps another", "memory apart from {}", name);
    };
    if (wants_dx) {
        for (const auto& [name, input] : {std::pair{"x", x}, {"dy", dy}})
            require(is_same(dx, input) || !overlap(footprint_of(dx), footprint_of(input)), operation, "dx",
                    "a view that overlaps an input in part", "exactly {} or apart from it", name);
        require_apart("dx", dx, "gamma", gamma);
    }
    for (const auto& [name, output] : {std::pair{"dgamma", dgamma}, {"dbeta", dbeta}}) {
        require_apart(name, output, "x", x);
        require_apart(name, output, "dy", dy);
        require_apart(name, output, "gamma", gamma);
        if (wants_dx) require_apart(name, output, "dx", dx);
    }
    require_apart("dbeta", dbeta, "dgamma", dgamma);
}

}  // namespace heddle::detail
