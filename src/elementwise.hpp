#pragma once

#include "src/validate.hpp"
#include <heddle/elementwise.hpp>

#include <cstddef>
#include <span>

namespace heddle::detail {

/// What heddle's elementwise operations and their CPU siblings ask of their arguments.
void validate_elementwise(const char* operation, std::span<const operand> operands,
                          std::size_t element_bytes);

/// y has the shape of x, and is exactly x or apart from it.
template <class Input, class Output>
void validate_unary(const char* operation, const Input& x, const Output& y) {
    const operand operands[] = {operand_of("x", x), operand_of("y", y)};
    validate_elementwise(operation, operands, sizeof(*y.data));
}

void validate_scalars(const char* operation, const elementwise_call& call);

std::size_t size_of(element_type type);
const char* host_name(elementwise_operation operation);

}  // namespace heddle::detail
