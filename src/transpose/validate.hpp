#pragma once

#include "src/validate.hpp"

namespace heddle::detail {

/// Checks the arguments of transpose() on the GPU or the CPU.
template <class T>
void validate_transpose(const char* operation, const matrix_view<const T>& source,
                        const matrix_view<T>& destination, bool have_elements = true) {
    validate(operation, "source", source, have_elements);
    require(destination.rows == source.cols, operation, {"destination", "rows"}, destination.rows,
            "{} (source.cols)", source.cols);
    require(destination.cols == source.rows, operation, {"destination", "cols"}, destination.cols,
            "{} (source.rows)", source.rows);
    validate(operation, "destination", destination, have_elements);
    require(!have_elements || !overlap(footprint_of(source), footprint_of(destination)), operation,
            "destination", "a view that overlaps source", "memory apart from it");
}

}  // namespace heddle::detail
