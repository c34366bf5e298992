#pragma once

#include "kernels/device/layout.hpp"
#include <heddle/softmax.hpp>

/// The facts of a problem that the tables of rungs, the plans and the messages read. Pure.
namespace heddle::kernels::softmax {

struct softmax_facts : row_facts {
    explicit softmax_facts(const softmax_problem& p)
        : row_facts(facts_of_rows({p.y, p.x})),
          x_in_columns(is_in_columns(p.x)),
          y_in_columns(is_in_columns(p.y)) {}

    bool x_in_columns, y_in_columns;
};

struct gradient_facts : row_facts {
    explicit gradient_facts(const softmax_gradient_problem& p)
        : row_facts(facts_of_rows({p.dx, p.y, p.dy})) {}
};

}  // namespace heddle::kernels::softmax
