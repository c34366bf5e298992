#pragma once

#include "benchmarks/cliffs/case.hpp"
#include "benchmarks/support/rows.hpp"
#include "tests/fuzz/draw.hpp"
#include <heddle/matmul.hpp>
#include <heddle/types.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

/// What fully connected layers and their gradients share.
namespace heddle::bench::cliffs {

// The two halves of the family `linear`.
drawn_case draw_layer(drawing& d);
drawn_case draw_layer_gradient(drawing& d);

/// cuBLAS takes no steps.
inline placement draw_layer_matrix(drawing& d) {
    constexpr std::int64_t never = std::int64_t{1} << 40;
    return d.one_in(2) ? placement{} : d.lie(true, never);
}

inline double product_of(std::initializer_list<std::int64_t> extents) {
    double result = 1;
    for (const std::int64_t extent : extents) result *= static_cast<double>(extent);
    return result;
}

inline double span_in_double(const placement& lie, std::int64_t rows, std::int64_t cols) {
    return static_cast<double>(span_of(lie, rows, cols));
}

/// The problem in words, without where its matrices lie.
template <class T>
std::string words_of_layer(std::string_view what, precision precision, const std::vector<std::int64_t>& e) {
    return fmt::format("{} {} of {} x {} to {}{}", dtype<T>, what, e[0], e[1], e[2],
                       std::is_same_v<T, float> ? fmt::format(", {}", to_string(precision)) : "");
}

/// Calls f.operator()<T>(precision) with one of float's two precisions, or another type.
template <class Function>
drawn_case draw_typed_layer(drawing& d, Function f) {
    const std::size_t type = d.type(4);
    if (type < 2) return f.template operator()<float>(type == 0 ? precision::fp32 : precision::tf32);
    return type == 2 ? f.template operator()<half>(precision::fp32)
                     : f.template operator()<bfloat16>(precision::fp32);
}

}  // namespace heddle::bench::cliffs
