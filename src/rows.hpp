#pragma once

#include "src/facts.hpp"
#include "src/rungs.hpp"
#include "src/validate.hpp"
#include <heddle/stream.hpp>
#include <heddle/view.hpp>

#include <cuda/stream_ref>

#include <cstdint>
#include <initializer_list>

namespace heddle::detail {

/// The facts of operations on whole rows.
template <class Facts>
requires requires(const Facts& f) {
    f.unit_stride;
    f.in_packets;
}
void add_facts(facts& to, const Facts& f) {
    to.add({fact("rows", f.rows), fact("cols", f.cols), fact("unit_stride", f.unit_stride, true),
            fact("element_bytes", f.element_bytes), fact("in_packets", f.in_packets, true)});
    if constexpr (requires { f.x_in_columns; })
        to.add({fact("x_in_columns", f.x_in_columns, false), fact("y_in_columns", f.y_in_columns, false)});
    if constexpr (requires { f.has_column_sums; })
        to.add({fact("has_column_sums", f.has_column_sums, true), fact("has_scratch", f.has_scratch, true)});
}

/// Checks that matrices have one shape, vectors one element per column. Vectors and the last matrix may be left out.
inline void validate_rows(const char* operation, std::initializer_list<matrix_layout> matrices,
                          std::initializer_list<vector_layout> vectors = {}) {
    const matrix_layout& first = *matrices.begin();
    validate_extents(operation, {{"rows", first.rows}, {"cols", first.cols}});
    require(first.element_bytes == 2 || first.element_bytes == 4, operation, {"problem", "element_bytes"},
            first.element_bytes, "2 or 4");
    bool agree = true;
    for (const matrix_layout& m : matrices) {
        const bool is_left_out = m.rows == 0 && m.cols == 0 && &m == matrices.end() - 1;
        agree = agree && (is_left_out || (m.rows == first.rows && m.cols == first.cols &&
                                          m.element_bytes == first.element_bytes));
    }
    for (const vector_layout& v : vectors) agree = agree && (v.size == 0 || v.size == first.cols);
    require(agree, operation, "problem", "one of operands that disagree", "one that a _problem_of() makes");
}

/// Chooses and launches a rung for a problem of rows; does nothing where they have no elements.
template <class Rung, class Facts, class Arguments>
void choose_and_launch(const char* operation, const rung_table<Rung>& rungs, decltype(Rung::id) algorithm,
                       const Facts& problem, const Arguments& arguments, cuda::stream_ref stream) {
    if (problem.rows == 0 || problem.cols == 0) return;
    const stream_device device(stream);
    const auto [rung, plan] = rungs.choose(operation, algorithm, problem, device.traits());
    rung->launch(plan, arguments, stream.get());
}

}  // namespace heddle::detail
