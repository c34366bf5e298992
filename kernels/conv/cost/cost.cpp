#include "kernels/conv/cost/cost.hpp"

#include "kernels/conv/cost/h200.hpp"

namespace heddle::kernels::conv {

/// Other cards are not measured. The costs of an H200 still compare their kernels.
const costs& costs_of(const device_traits&) {
    return h200;
}

}  // namespace heddle::kernels::conv
