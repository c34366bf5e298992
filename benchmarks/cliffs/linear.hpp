#pragma once

#include "benchmarks/cliffs/family.hpp"

/// Fully connected layers and their gradients share how matrices and types are drawn.
namespace heddle::bench::cliffs {

/// Draws a matrix without a step, as cuBLAS has none.
inline placement draw_layer_matrix(drawing& d) {
    return d.one_in(2) ? placement{} : d.lie(true, never);
}

inline double span_in_double(const placement& lie, std::int64_t rows, std::int64_t cols) {
    return static_cast<double>(span_of(lie, rows, cols));
}

/// The problem in words, without the layouts of its matrices.
template <class T>
std::string words_of_layer(std::string_view what, precision precision, const std::vector<std::int64_t>& e) {
    return fmt::format("{} {} of {} x {} to {}{}", dtype<T>, what, e[0], e[1], e[2],
                       std::is_same_v<T, float> ? fmt::format(", {}", to_string(precision)) : "");
}

/// Calls f.operator()<T>(precision) with float and one of its two precisions, or with a 16-bit type.
template <class Function>
drawn_case draw_typed_layer(drawing& d, Function f) {
    const std::size_t type = d.type(4);
    if (type < 2) return f.template operator()<float>(type == 0 ? precision::fp32 : precision::tf32);
    return type == 2 ? f.template operator()<half>(precision::fp32)
                     : f.template operator()<bfloat16>(precision::fp32);
}

}  // namespace heddle::bench::cliffs
