#pragma once

#include "kernels/matmul/cost/h200.hpp"

namespace heddle::kernels::matmul {

/// A card of which nothing is measured. The kernels of FFMAs cost as on an H200 beside one another. Tensor cores multiply TF32 at
/// most twice as fast as FFMAs, by the datasheets of compute capability 8.6 and 8.9, so that three products take longer.
inline constexpr costs generic = [] {
    constexpr double slower = 2;
    costs card = h200;
    for (row_cost& row : card.rows)
        if (row.row == "tf32x3") {
            row.step_us *= slower;
            row.alone_us *= slower;
        }
    return card;
}();

}  // namespace heddle::kernels::matmul
