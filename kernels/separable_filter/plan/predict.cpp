#include "kernels/separable_filter/plan/predict.hpp"

namespace heddle::kernels::separable_filter {

double predicted_us(cost_place row, const device_traits& device, const work& of) {
    const row_cost& cost = costs_of(device).rows[row.at];
    return cost.start_us + of.bytes / cost.bytes_per_us + of.waits * cost.wait_us + of.units * cost.unit_us;
}

}  // namespace heddle::kernels::separable_filter
