#pragma once

#include "src/validate.hpp"
#include <heddle/batched_matmul.hpp>
#include <heddle/matmul.hpp>

#include <cstdint>
#include <utility>

namespace heddle::detail {

inline void validate_activation(const char* operation, const argument_name& name,
                                matmul_activation activation) {
    require(matmul_activation::none <= activation && activation <= matmul_activation::tanh, operation, name,
            static_cast<int>(activation), "an enumerator of matmul_activation");
}

inline void validate_precision(const char* operation, const argument_name& name, precision precision) {
    require(to_string(precision) != "unknown", operation, name, static_cast<int>(precision),
            "an enumerator of precision");
}

/// Checks the element types of a product's or a convolution's problem.
template <class Problem>
void validate_types(const char* operation, const Problem& p) {
    require(p.operands == element_type::f32 || p.operands == element_type::f16 ||
                p.operands == element_type::bf16,
            operation, {"problem", "operands"}, static_cast<int>(p.operands), "f32, f16 or bf16");
    require(p.result == p.operands || p.result == element_type::f32, operation, {"problem", "result"},
            static_cast<int>(p.result), "the type of the operands, or f32");
    validate_precision(operation, {"problem", "precision"}, p.precision);
}

/// Elements from the first to the last of a valid matrix, with the gaps between them.
template <class T>
constexpr std::int64_t span_of(const matrix_view<T>& m) {
    if (m.rows == 0 || m.cols == 0) return 0;
    return (m.rows > 1 ? (m.rows - 1) * m.row_stride : 0) + (m.cols > 1 ? (m.cols - 1) * m.col_stride : 0) +
           1;
}

/// Checks a batch. Without matrices it needs no pointer.
template <class T>
void validate(const char* operation, const char* name, const batch_view<T>& batch) {
    require(batch.count >= 0, operation, {name, "count"}, batch.count, "zero or more");
    require(batch.stride >= 0, operation, {name, "stride"}, batch.stride, "zero or more");
    validate_layout(operation, name, batch.first);
    validate_batch_bytes(operation, name, batch.count, batch.stride, span_of(batch.first), sizeof(T));
    if (batch.count > 0) validate(operation, name, batch.first);
}

/// Checks the operands of matmul() on the GPU or the CPU. Those of an empty batch have no elements.
template <class In, class Out>
void validate_matmul(const char* operation, const matrix_view<const In>& a, const matrix_view<const In>& b,
                     const matrix_view<Out>& c, bool have_elements = true) {
    validate(operation, "a", a, have_elements);
    validate(operation, "b", b, have_elements);
    validate(operation, "c", c, have_elements);
    require(b.rows == a.cols, operation, {"b", "rows"}, b.rows, "{} (a.cols)", a.cols);
    require(c.rows == a.rows, operation, {"c", "rows"}, c.rows, "{} (a.rows)", a.rows);
    require(c.cols == b.cols, operation, {"c", "cols"}, c.cols, "{} (b.cols)", b.cols);
    if (!have_elements) return;
    require(!overlap(footprint_of(a), footprint_of(c)), operation, "c", "a view that overlaps a",
            "one apart from it");
    require(!overlap(footprint_of(b), footprint_of(c)), operation, "c", "a view that overlaps b",
            "one apart from it");
}

/// Checks a bias. An empty one was not given.
template <class T>
void validate_bias(const char* name, const vector_view<const T>& bias, std::int64_t size,
                   const footprint& c) {
    if (bias.size == 0) return;
    validate("matmul", name, bias);
    require(bias.size == size, "matmul", {name, "size"}, bias.size, "{}, or 0", size);
    require(!overlap(footprint_of(bias), c), "matmul", name, "a view that overlaps c", "one apart from it");
}

template <class Out>
void validate_epilogue(const matmul_epilogue<Out>& e, const matrix_view<Out>& c) {
    const footprint of_c = footprint_of(c);
    validate_bias("epilogue.row_bias", e.row_bias, c.cols, of_c);
    validate_bias("epilogue.column_bias", e.column_bias, c.rows, of_c);
    validate_activation("matmul", {"epilogue", "activation"}, e.activation);
    const matrix_view<const Out>& r = e.residual;
    if (!is_given(r)) return;
    validate("matmul", "epilogue.residual", r);
    require(r.rows == c.rows, "matmul", {"epilogue.residual", "rows"}, r.rows, "{} (c.rows)", c.rows);
    require(r.cols == c.cols, "matmul", {"epilogue.residual", "cols"}, r.cols, "{} (c.cols)", c.cols);
    const bool is_c = r.data == c.data && r.row_stride == c.row_stride && r.col_stride == c.col_stride;
    require(is_c || !overlap(footprint_of(r), of_c), "matmul", "epilogue.residual", "a view that overlaps c",
            "c itself, or one apart from it");
}

template <class T>
footprint footprint_of_batch(const matrix_view<T>& first, std::int64_t stride, std::int64_t count) {
    return footprint_of(first.data, 1,
                        {{first.rows, first.row_stride}, {first.cols, first.col_stride}, {count, stride}});
}

template <class In, class Out>
void validate_batch(const batch_view<const In>& a, const batch_view<const In>& b, const batch_view<Out>& c) {
    validate("batched_matmul", "c", c);
    for (const auto& [name, operand] : {std::pair("a", &a), std::pair("b", &b)}) {
        validate("batched_matmul", name, *operand);
        require(operand->count == c.count, "batched_matmul", {name, "count"}, operand->count, "{} (c.count)",
                c.count);
    }
    const std::int64_t span = span_of(c.first);
    require(c.count <= 1 || c.stride >= span, "batched_matmul", {"c", "stride"}, c.stride,
            "at least {}: what one matrix spans", span);
    const footprint of_c = footprint_of_batch(c.first, c.stride, c.count);
    for (const auto& [name, operand] : {std::pair("a", &a), std::pair("b", &b)})
        if (overlap(footprint_of_batch(operand->first, operand->stride, operand->count), of_c))
            throw invalid_argument("batched_matmul", "c", detail::format("a batch that overlaps {}", name),
                                   "one apart from it");
}

}  // namespace heddle::detail
