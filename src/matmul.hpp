#pragma once

#include "src/validate.hpp"
#include <heddle/matmul.hpp>

#include <cstdint>

namespace heddle::detail {

/// Whether a rung may stand for a product of float with this many terms. Pure.
bool is_exact_enough(matmul_algorithm algorithm, precision precision, std::int64_t k);

/// What heddle::matmul and its CPU sibling ask of their arguments.
template <class In, class Out>
void validate_matmul(const char* operation, const matrix_view<const In>& a, const matrix_view<const In>& b,
                     const matrix_view<Out>& c) {
    validate(operation, "a", a);
    validate(operation, "b", b);
    validate(operation, "c", c);
    require(b.rows == a.cols, operation, {"b", "rows"}, b.rows, "{} (a.cols)", a.cols);
    require(c.rows == a.rows, operation, {"c", "rows"}, c.rows, "{} (a.rows)", a.rows);
    require(c.cols == b.cols, operation, {"c", "cols"}, c.cols, "{} (b.cols)", b.cols);
    require(!overlap(footprint_of(a), footprint_of(c)), operation, "c", "a view that overlaps a",
            "one apart from it");
    require(!overlap(footprint_of(b), footprint_of(c)), operation, "c", "a view that overlaps b",
            "one apart from it");
}

}  // namespace heddle::detail
