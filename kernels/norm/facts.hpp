#pragma once

#include "kernels/device/layout.hpp"
#include <heddle/norm.hpp>

/// The facts of a problem that the tables of rungs, the plans and the messages read. Pure.
namespace heddle::kernels::norm {

struct norm_facts : row_facts {
    explicit norm_facts(const norm_problem& p)
        : row_facts(facts_of_rows({p.y, p.x}, {p.gamma, p.beta})),
          x_in_columns(is_in_columns(p.x)),
          y_in_columns(is_in_columns(p.y)) {}

    bool x_in_columns, y_in_columns;
};

struct gradient_facts : row_facts {
    explicit gradient_facts(const norm_gradient_problem& p)
        : row_facts(facts_of_rows({p.x, p.dy, p.dx}, {p.gamma})),
          has_column_sums(p.dgamma.size > 0 || p.dbeta.size > 0),
          has_scratch(p.has_scratch) {}

    bool has_column_sums, has_scratch;
};

}  // namespace heddle::kernels::norm
