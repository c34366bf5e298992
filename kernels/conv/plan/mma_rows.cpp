#include "kernels/conv/plan/mma_rows.hpp"

#include "kernels/conv/plan/mma_sync.hpp"
#include "kernels/conv/plan/plan.hpp"
#include "kernels/conv/plan/predict.hpp"

#include <algorithm>
#include <cstdint>

namespace heddle::kernels::conv {

plan plan_mma_rows(const conv_problem& p, const device_traits& device) {
    const std::int64_t tiles = p.output.count * divide_up(p.output.height, rows_tile_height) *
                               divide_up(p.output.width, rows_tile_width);
    const auto across_of = [&](int outputs) { return divide_up(p.output.channels, outputs); };
    int outputs = rows_outputs(p.output.channels);
    // Blocks of fewer outputs load patches again but fewer filters, which are most of the work of a block with one tile.
    if (tiles * across_of(outputs) < device.sm_count) outputs = rows_fewest_outputs;
    const std::int64_t across = across_of(outputs);
    plan result{};
    result.rows_outputs = outputs;
    result.threads = {rows_threads};
    const std::int64_t workers =
        std::min(tiles, std::max<std::int64_t>(1, rows_blocks_per_sm * device.sm_count / across));
    result.blocks = {workers * across};
    result.stores_packets = lies_in(p.output, 16) && p.output.channels % 8 == 0;
    // A worker copies its filters once, and a patch for each of its tiles.
    const rows_layout layout(p);
    const std::int64_t patch = layout.patch_rows * layout.patch_width * layout.copies,
                       filters = outputs * layout.depth / 16;
    result.us = predicted_us("mma_sync rows", device,
                             {.bytes = tensor_bytes(p),
                              .rounds = rounds_of(tiles * across, device),
                              .steps = static_cast<double>(layout.depth / 16 * outputs / rows_fewest_outputs),
                              .staged = static_cast<double>(patch) +
                                        static_cast<double>(filters * workers) / static_cast<double>(tiles)});
    return result;
}

}  // namespace heddle::kernels::conv
