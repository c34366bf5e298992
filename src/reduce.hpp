#pragma once

#include "src/validate.hpp"

#include <cstddef>
#include <cstdint>

namespace heddle::detail {

/// Whether `bytes` bytes share one with an element of `v`; they may lie between two.
template <class T>
bool overlap(const vector_view<T>& v, const void* data, std::size_t bytes) {
    const footprint elements = footprint_of(matrix_view<T>{v.data, v.size, 1, v.stride});
    // What is longer than a step from element to element cannot lie between two.
    const std::uintptr_t stride = bytes <= elements.stride ? elements.stride : 0;
    return overlap(elements, {reinterpret_cast<std::uintptr_t>(data), bytes, 1, stride});
}

/// Memory that a reduction of x writes.
template <class T>
void validate_written(const char* operation, const argument_name& name, const void* data, std::size_t bytes,
                      std::size_t alignment, const vector_view<const T>& x) {
    const auto address = reinterpret_cast<std::uintptr_t>(data);
    require(address % alignment == 0, operation, name, address, "a multiple of {} bytes", alignment);
    require(!overlap(x, data, bytes), operation, name, address, "memory apart from x");
}

}  // namespace heddle::detail
