#include "benchmarks/cliffs/rows.hpp"

namespace heddle::bench::cliffs {

drawn_case draw_rows(drawing& d) {
    return d.one_in(2) ? draw_row_reduction(d) : draw_row_normalisation(d);
}

}  // namespace heddle::bench::cliffs
