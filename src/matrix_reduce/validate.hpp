#pragma once

#include "src/validate.hpp"

namespace heddle::detail {

/// Checks the arguments of a reduction of rows or columns, on the GPU or the CPU. `x` is the matrix whose rows are
/// reduced: `given` or its transpose.
template <class Result, class T>
void validate_matrix_reduction(const char* operation, const matrix_view<const T>& given,
                               const matrix_view<const T>& x, const vector_view<Result>& y) {
    validate(operation, "x", given);
    const bool is_of_rows = x.rows == given.rows && x.row_stride == given.row_stride;
    require(y.size == x.rows, operation, {"y", "size"}, y.size, "{} ({})", x.rows,
            is_of_rows ? "x.rows" : "x.cols");
    validate(operation, "y", y);
    require(!overlap(footprint_of(x), footprint_of(y)), operation, {"y", "data"}, address_of(y.data),
            "memory apart from x");
}

}  // namespace heddle::detail
