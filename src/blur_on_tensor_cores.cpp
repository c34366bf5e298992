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
        struct terms {
            int even;  ///< the radius along y where both take as long, whatever the tiles
            int gain;  ///< tiles for each multiprocessor, and row beyond, from which on warpgroups are faster
        };
        constexpr std::int64_t reach_of_one_product = 8, reach_of_two = 16;
        const std::int64_t reach = problem.radius.x * problem.channels;
        const auto terms_of = [reach](const terms& of_one, const terms& of_two, const terms& of_more) {
            return reach <= reach_of_one_product ? of_one : reach <= reach_of_two ? of_two : of_more;
        };
        const bool is_box = std::isinf(problem.sigma.y);
        const auto [even, gain] =
            is_box ? terms_of({3, 7}, {2, 7}, {2, 7}) : terms_of({6, 6}, {4, 15}, {4, 8});
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
