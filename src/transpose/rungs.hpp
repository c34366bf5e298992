#pragma once

#include "kernels/transpose/launch.hpp"
#include "src/rungs.hpp"
#include <heddle/transpose.hpp>

namespace heddle::detail {

template <class Word>
using transpose_rung = rung<transpose_algorithm, transpose_problem, kernels::transpose::plan,
                            kernels::transpose::arguments<Word>>;

template <class Word>
rung_table<transpose_rung<Word>> transpose_rungs();

}  // namespace heddle::detail
