#include "src/blur_on_tensor_cores.hpp"

#include <cmath>

namespace heddle::detail {

namespace rungs = kernels::gaussian_blur;

bool fits_tensor_cores(const gaussian_blur_problem& problem, gaussian_blur_algorithm rung,
                       const device_traits& device) {
    if constexpr (HEDDLE_COMPILED_FOR_90 != 0) {
        if (rung == gaussian_blur_algorithm::tensor_core_registers)
            return rungs::tensor_core_registers_fits(problem, device);
        if (rung == gaussian_blur_algorithm::tensor_core_warpgroups)
            return rungs::tensor_core_warpgroups_fits(problem, device);
        return rungs::tensor_core_fits(problem, device);
    }
    return false;
}

std::optional<gaussian_blur_algorithm> fastest_on_tensor_cores(const gaussian_blur_problem& problem,
                                                               const device_traits& device) {
    // All as measured on an H200.
    if constexpr (HEDDLE_COMPILED_FOR_90 != 0) {
        if (!rungs::tensor_core_fits(problem, device)) return std::nullopt;
        const bool fits_registers = rungs::tensor_core_registers_fits(problem, device);
        const auto other = fits_registers ? gaussian_blur_algorithm::tensor_core_registers
                                          : gaussian_blur_algorithm::tensor_core;
        if (!rungs::tensor_core_warpgroups_fits(problem, device)) return other;
        const std::int64_t tiles = rungs::tensor_core_warpgroups_tiles(problem);
        const std::int64_t processors = device.sm_count;
        // Each row of a window takes registers longer, and warpgroups not, whose boxes have fewer products. Registers take
        // longer, too, the more products a window needs along x.
        const std::int64_t reach = problem.radius.x * problem.channels;
        const bool is_box = std::isinf(problem.sigma.y), is_narrow = reach <= 8;
        const int even = is_box ? (is_narrow ? 3 : 2) : is_narrow ? 6 : 4;
        const int gain = is_box ? 7 : is_narrow ? 6 : reach <= 16 ? 15 : 8;
        const bool pays = fits_registers ? tiles * (problem.radius.y - even) >= gain * processors
                                         : 2 * tiles >= 3 * processors;
        return pays ? gaussian_blur_algorithm::tensor_core_warpgroups : other;
    }
    return std::nullopt;
}

void launch_on_tensor_cores(const rungs::arguments<std::uint8_t>& arguments, const device_traits& device,
                            cudaStream_t stream, gaussian_blur_algorithm rung) {
    if constexpr (HEDDLE_COMPILED_FOR_90 != 0) {
        if (rung == gaussian_blur_algorithm::tensor_core_registers)
            return rungs::launch_tensor_core_registers(arguments, device, stream);
        if (rung == gaussian_blur_algorithm::tensor_core_warpgroups)
            return rungs::launch_tensor_core_warpgroups(arguments, device, stream);
        rungs::launch_tensor_core(arguments, device, stream);
    }
}

}  // namespace heddle::detail
