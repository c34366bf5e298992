#include "src/blur_on_tensor_cores.hpp"

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
        const std::int64_t tiles = rungs::tensor_core_warpgroups_fits(problem, device)
                                       ? rungs::tensor_core_warpgroups_tiles(problem)
                                       : 0;
        if (rungs::tensor_core_registers_fits(problem, device)) {
            // Each row of a window takes registers longer, and warpgroups not.
            constexpr int even = 4, gain = 8;
            const bool pays = tiles * (problem.radius.y - even) >= std::int64_t{gain} * device.sm_count;
            return pays ? gaussian_blur_algorithm::tensor_core_warpgroups
                        : gaussian_blur_algorithm::tensor_core_registers;
        }
        return 2 * tiles >= std::int64_t{3} * device.sm_count
                   ? gaussian_blur_algorithm::tensor_core_warpgroups
                   : gaussian_blur_algorithm::tensor_core;
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
