#pragma once

#include "src/validate.hpp"
#include <heddle/batched_matmul.hpp>
#include <heddle/matmul.hpp>

#include <cstdint>

namespace heddle::detail {

/// Whether a rung may stand for a product of float with this many terms. Pure.
bool is_exact_enough(matmul_algorithm algorithm, precision precision, std::int64_t k);

/// Elements from the first of a valid matrix to behind its last.
template <class T>
constexpr std::int64_t span_of(const matrix_view<T>& m) {
    if (m.rows == 0 || m.cols == 0) return 0;
    return (m.rows > 1 ? (m.rows - 1) * m.row_stride : 0) + (m.cols > 1 ? (m.cols - 1) * m.col_stride : 0) +
           1;
}

/// A batch of none has no elements: then its matrices have a shape alone.
template <class T>
void validate(const char* operation, const char* name, const batch_view<T>& batch) {
    require(batch.count >= 0, operation, {name, "count"}, batch.count, "zero or more");
    require(batch.stride >= 0, operation, {name, "stride"}, batch.stride, "zero or more");
    validate_layout(operation, name, batch.first);
    validate_batch_bytes(operation, name, batch.count, batch.stride, span_of(batch.first), sizeof(T));
    if (batch.count > 0) validate(operation, name, batch.first);
}

/// What heddle::matmul and its CPU sibling ask of their arguments, which have elements unless they are of a batch of none.
template <class In, class Out>
void validate_matmul(const char* operation, const matrix_view<const In>& a, const matrix_view<const In>& b,
                     const matrix_view<Out>& c, bool have_elements = true) {
    const auto validate_view = [&](const char* name, const auto& m) {
        have_elements ? validate(operation, name, m) : validate_layout(operation, name, m);
    };
    validate_view("a", a);
    validate_view("b", b);
    validate_view("c", c);
    require(b.rows == a.cols, operation, {"b", "rows"}, b.rows, "{} (a.cols)", a.cols);
    require(c.rows == a.rows, operation, {"c", "rows"}, c.rows, "{} (a.rows)", a.rows);
    require(c.cols == b.cols, operation, {"c", "cols"}, c.cols, "{} (b.cols)", b.cols);
    if (!have_elements) return;
    require(!overlap(footprint_of(a), footprint_of(c)), operation, "c", "a view that overlaps a",
            "one apart from it");
    require(!overlap(footprint_of(b), footprint_of(c)), operation, "c", "a view that overlaps b",
            "one apart from it");
}

}  // namespace heddle::detail
