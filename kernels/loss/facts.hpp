#pragma once

#include "kernels/device/layout.hpp"
#include <heddle/loss.hpp>

/// The facts of a problem that the tables of rungs, the plans and the messages read. Pure.
namespace heddle::kernels::loss {

struct loss_facts : row_facts {
    explicit loss_facts(const loss_problem& p) : row_facts(facts_of_rows({p.x, p.target, p.gradient})) {}
};

}  // namespace heddle::kernels::loss
