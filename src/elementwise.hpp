#pragma once

#include "src/validate.hpp"

namespace heddle::detail {

template <class T>
matrix_view<T> as_column(const vector_view<T>& v) {
    return {v.data, v.size, 1, v.stride};
}

template <class T>
const matrix_view<T>& as_matrix(const matrix_view<T>& m) {
    return m;
}
template <class T>
matrix_view<T> as_matrix(const vector_view<T>& v) {
    return as_column(v);
}

template <class T>
void require_same_shape(const char* operation, const char* name, const vector_view<const T>& input,
                        const char* output_name, const vector_view<T>& output) {
    require(input.size == output.size, operation, {name, "size"}, input.size, "{} ({}.size)", output.size,
            output_name);
}

template <class T>
void require_same_shape(const char* operation, const char* name, const matrix_view<const T>& input,
                        const char* output_name, const matrix_view<T>& output) {
    require(input.rows == output.rows, operation, {name, "rows"}, input.rows, "{} ({}.rows)", output.rows,
            output_name);
    require(input.cols == output.cols, operation, {name, "cols"}, input.cols, "{} ({}.cols)", output.cols,
            output_name);
}

/// The output may be exactly the input; a partial overlap would be read after it is written.
template <class T>
void require_no_partial_overlap(const char* operation, const char* name, const matrix_view<const T>& input,
                                const char* output_name, const matrix_view<T>& output) {
    const bool in_place = input.data == output.data &&
                          (input.rows <= 1 || input.row_stride == output.row_stride) &&
                          (input.cols <= 1 || input.col_stride == output.col_stride);
    require(in_place || !overlap(footprint_of(input), footprint_of(output)), operation, output_name,
            "a view that overlaps an input in part", "exactly {} or apart from it", name);
}

template <class Input, class Output>
void validate_operand(const char* operation, const char* name, const Input& input, const char* output_name,
                      const Output& output) {
    require_same_shape(operation, name, input, output_name, output);
    validate(operation, name, input);
    require_no_partial_overlap(operation, name, as_matrix(input), output_name, as_matrix(output));
}

/// What heddle::sigmoid and its CPU sibling ask of their arguments.
template <class Input, class Output>
void validate_unary(const char* operation, const Input& x, const Output& y) {
    validate(operation, "y", y);
    validate_operand(operation, "x", x, "y", y);
}

/// What heddle::add and its CPU sibling ask of their arguments.
template <class Input, class Output>
void validate_binary(const char* operation, const Input& x, const Input& y, const Output& z) {
    validate(operation, "z", z);
    validate_operand(operation, "x", x, "z", z);
    validate_operand(operation, "y", y, "z", z);
}

}  // namespace heddle::detail
