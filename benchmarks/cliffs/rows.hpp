#pragma once

#include "benchmarks/cliffs/case.hpp"

namespace heddle::bench::cliffs {

// The two halves of the family `rows`.
drawn_case draw_row_reduction(drawing& d);
drawn_case draw_row_normalisation(drawing& d);

}  // namespace heddle::bench::cliffs
