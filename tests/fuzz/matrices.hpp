#pragma once

#include "tests/fuzz/operand.hpp"

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

/// Matrices with drawn layouts. The names of a matrix's fields begin with its own name.
namespace heddle::fuzz {

inline const std::vector<std::string_view> orders = {"rows", "columns"};

inline lattice matrix_of(const problem& p, const std::string& prefix, std::int64_t rows, std::int64_t cols) {
    const bool in_columns = p[prefix + "_order"] == 1;
    lattice lines = lie(in_columns ? std::vector{cols, rows} : std::vector{rows, cols}, p[prefix + "_offset"],
                        p[prefix + "_padding"], p[prefix + "_step"]);
    if (in_columns) {
        std::swap(lines.extents[0], lines.extents[1]);
        std::swap(lines.strides[0], lines.strides[1]);
    }
    return lines;
}

inline std::vector<field> fields_of(std::initializer_list<std::string> matrices, std::vector<field> fields) {
    for (const std::string& matrix : matrices) {
        fields.push_back({matrix + "_order", 0, orders});
        fields.push_back({matrix + "_offset", 0});
        fields.push_back({matrix + "_padding", 0});
        fields.push_back({matrix + "_step", 1});
    }
    return fields;
}

inline void set_matrix(problem& p, const std::string& matrix, const placement& at) {
    p.set({{matrix + "_order", at.column_major ? 1 : 0},
           {matrix + "_offset", at.offset},
           {matrix + "_padding", at.padding},
           {matrix + "_step", at.step}});
}

}  // namespace heddle::fuzz
