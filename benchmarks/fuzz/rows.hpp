#pragma once

#include "benchmarks/fuzz/operand.hpp"
#include "tests/bounds/numbers.hpp"

/// What operations on the rows of matrices share.
namespace heddle::bench::fuzz {

using bounds::u;

inline std::vector<field> matrix_fields(std::vector<field> fields) {
    const std::vector<field> more = {{"rows"},       {"cols"},    {"offset", 0},
                                     {"padding", 0}, {"step", 1}, {"seed", 0}};
    fields.insert(fields.end(), more.begin(), more.end());
    return fields;
}

inline void draw_matrix(drawing& d, problem& p) {
    const auto shape = draw_shape(d, 2, 1 << 17);
    p.set("rows", shape[0]);
    p.set("cols", shape[1]);
    const cliffs::placement at = d.lie(false, 8);
    p.set("offset", at.offset);
    p.set("padding", at.padding);
    p.set("step", at.step);
    p.set("seed", d.integer(0, 1 << 30));
    p.draw_words(d);
}

inline lattice matrix_of(const problem& p) {
    return lie({p["rows"], p["cols"]}, p["offset"], p["padding"], p["step"]);
}
/// Its lines are the matrix's rows, or its columns.
inline lattice ordered_matrix(const problem& p) {
    if (p.word("order") == "row_major") return matrix_of(p);
    const lattice turned = lie({p["cols"], p["rows"]}, p["offset"], p["padding"], p["step"]);
    return {{p["rows"], p["cols"]}, {turned.strides[1], turned.strides[0]}, turned.offset};
}
inline lattice dense(std::int64_t rows, std::int64_t cols) {
    return lie({rows, cols}, 0, 0, 1);
}
inline lattice vector_of(std::int64_t size) {
    return lie({size}, 0, 0, 1);
}

/// A row of elements in double.
template <class T>
std::vector<double> row_of(const std::vector<T>& elements, std::int64_t row, std::int64_t cols) {
    std::vector<double> result(static_cast<std::size_t>(cols));
    for (std::size_t j = 0; j < result.size(); ++j)
        result[j] = as_double(elements[static_cast<std::size_t>(row * cols) + j]);
    return result;
}

/// What a result and its bound are in each place of a matrix.
struct expectation {
    std::vector<double> values, bounds;

    void add(double value, double bound) {
        values.push_back(value);
        bounds.push_back(bound);
    }
    template <class T>
    [[nodiscard]] std::string mismatch(std::string_view name, const std::vector<T>& actual) const {
        return fuzz::mismatch(
            name, actual, [&](std::size_t i) { return values[i]; }, [&](std::size_t i) { return bounds[i]; });
    }
};

}  // namespace heddle::bench::fuzz
