#pragma once

#include "kernels/matmul/cost/h200.hpp"

namespace heddle::kernels::matmul {

/// The costs of a card that was not measured. FFMA kernels compare with one another as on an H200. By the datasheets of 8.6
/// and 8.9, tensor cores multiply TF32 at most twice as fast as FFMAs. So three products take longer.
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
