#pragma once

#include "src/validate.hpp"
#include <heddle/elementwise.hpp>

#include <cstddef>
#include <span>

namespace heddle::detail {

/// What heddle's elementwise operations and their CPU siblings ask of their arguments.
void validate_elementwise(const char* operation, std::span<const operand> operands,
                          std::size_t element_bytes);

void validate_scalars(const char* operation, const elementwise_call& call);

std::size_t size_of(element_type type);
const char* host_name(elementwise_operation operation);

}  // namespace heddle::detail
