#pragma once

#include "src/validate.hpp"
#include <heddle/elementwise.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace heddle::detail {

inline matrix_layout layout_of(const operand& o, std::size_t element_bytes) {
    const auto& [data, rows, cols, row_stride, col_stride] = o.view;
    return {rows, cols, row_stride, col_stride, static_cast<std::int64_t>(element_bytes), offset_of(data)};
}

/// Whether inputs may have strides of 0, which repeat one row, column or element.
enum class zero_strides { refused, allowed };

/// Checks the operands of an elementwise operation on the GPU or the CPU; without elements, only shapes and strides.
void validate_elementwise(const char* operation, std::span<const operand> operands, std::size_t element_bytes,
                          zero_strides of_inputs = zero_strides::refused, bool have_elements = true);

/// Checks that y has the shape of x, and is exactly x or apart from it.
template <class Input, class Output>
void validate_unary(const char* operation, const Input& x, const Output& y, bool have_elements = true) {
    const operand operands[] = {operand_of("x", x), operand_of("y", y)};
    validate_elementwise(operation, operands, sizeof(*y.data), zero_strides::refused, have_elements);
}

void validate_scalars(const char* operation, const elementwise_call& call);

std::size_t size_of(element_type type);
/// @throws invalid_argument  `operation` is not an enumerator
const char* name_of(elementwise_operation operation);
const char* host_name(elementwise_operation operation);

}  // namespace heddle::detail
