#include "kernels/matmul/cost/cost.hpp"

#include "kernels/matmul/cost/a100.hpp"
#include "kernels/matmul/cost/generic.hpp"
#include "kernels/matmul/cost/h100.hpp"
#include "kernels/matmul/cost/h200.hpp"

#include <string>

namespace heddle::kernels::matmul {

const costs& costs_of(const device_traits& device) {
    const auto is = [&](int major, int minor) {
        return device.compute_capability_major == major && device.compute_capability_minor == minor;
    };
    if (is(9, 0)) return device.name.find("H200") != std::string::npos ? h200 : h100;
    return is(8, 0) ? a100 : generic;
}

}  // namespace heddle::kernels::matmul
