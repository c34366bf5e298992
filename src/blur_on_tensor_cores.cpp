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
                                                               std::int64_t x, const device_traits& device) {
    // All as measured on an H200.
    if constexpr (HEDDLE_COMPILED_FOR_90 != 0) {
        if (!rungs::tensor_core_fits(problem, device)) return std::nullopt;
        const bool fits_registers = rungs::tensor_core_registers_fits(problem, device);
        const auto other = fits_registers ? gaussian_blur_algorithm::tensor_core_registers
                                          : gaussian_blur_algorithm::tensor_core;
        if (!rungs::tensor_core_warpgroups_fits(problem, device)) return other;
        const bool is_box = std::isinf(problem.sigma.y);
        // Each row of a window takes registers longer, and warpgroups not.
        if (!is_box && rungs::is_for_tensor_core_warps(problem, x)) {
            const std::int64_t even =
                problem.channels == 4 ? 4 : 5;  // the radius along y where both take as long
            const bool pays = !fits_registers || problem.radius.y >= even;
            return pays ? gaussian_blur_algorithm::tensor_core_warpgroups : other;
        }
        // Of wider windows, and of boxes, which have fewer products there, images need many tiles, too. Registers take longer the
        // more products a window needs along x.
        struct terms {
            int even;  ///< as above, whatever the tiles
            int gain;  ///< tiles for each multiprocessor, and row beyond, from which on warpgroups are faster
        };
        constexpr std::int64_t reach_of_one_product = 8, reach_of_two = 16;
        const std::int64_t reach = problem.radius.x * problem.channels;
        const terms of_box = reach <= reach_of_one_product ? terms{3, 7} : terms{2, 7};
        const terms of_gaussian = reach <= reach_of_two ? terms{4, 15} : terms{4, 8};
        const auto [even, gain] = is_box ? of_box : of_gaussian;
        const std::int64_t tiles = rungs::tensor_core_warpgroups_tiles(problem);
        const std::int64_t processors = device.sm_count;
        const bool pays = fits_registers ? tiles * (problem.radius.y - even) >= gain * processors
                                         : 2 * tiles >= 3 * processors;
        return pays ? gaussian_blur_algorithm::tensor_core_warpgroups : other;
    }
    return std::nullopt;
}

bool is_for_small_windows(const gaussian_blur_problem& problem, gaussian_blur_algorithm rung,
                          std::int64_t x) {
    if constexpr (HEDDLE_COMPILED_FOR_90 != 0)
        return rung == gaussian_blur_algorithm::tensor_core_registers ||
               (rung == gaussian_blur_algorithm::tensor_core_warpgroups &&
                rungs::is_for_tensor_core_warps(problem, x));
    return false;
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
