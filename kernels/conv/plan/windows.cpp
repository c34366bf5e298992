#include "kernels/conv/plan/windows.hpp"

#include "kernels/conv/plan/plan.hpp"
#include "kernels/conv/plan/predict.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace heddle::kernels::conv {

plan plan_wgmma(const conv_problem& p, const device_traits&) {
    constexpr int warpgroup = 128;
    return {.blocks = {window_tiles_of(p, wgmma_tile)}, .threads = {warpgroup}};
}

plan plan_persistent(const conv_problem& p, const device_traits& device, std::size_t kernel) {
    constexpr int rows_together = 8;  // rows of tiles, which share filters and windows in L2
    const tile_shape tile = persistent_kernels[kernel].tile();
    const auto narrow = [](std::int64_t n) { return static_cast<int>(n); };
    const int tiles = narrow(window_tiles_of(p, tile)), steps = narrow(window_steps_of(p)),
              workers = persistent_kernels[kernel].divides_k ? tiles : std::min(device.sm_count, tiles);
    plan result{};
    result.kernel = kernel;
    result.schedule = {.batches = 1,
                       .down = narrow(divide_up(output_pixels(p), tile.m)),
                       .across = narrow(divide_up(p.output.channels, tile.n)),
                       .group = rows_together,
                       .steps = steps,
                       .workers = workers,
                       .whole = tiles,
                       .streams = 0};
    result.us = predicted_us(cost_places<persistent_kernels>[kernel], device, {
        .bytes = tensor_bytes(p), .rounds = static_cast<double>(divide_up(std::int64_t{tiles}, workers)),
        .steps = static_cast<double>(divide_up(std::int64_t{steps}, tile.blocks))
    });
    return result;
}

}  // namespace heddle::kernels::conv
