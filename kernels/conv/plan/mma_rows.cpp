#include "kernels/conv/plan/mma_rows.hpp"

#include "kernels/conv/plan/mma_sync.hpp"
#include "kernels/conv/plan/plan.hpp"
#include "kernels/conv/tuning/tuning.hpp"

#include <algorithm>
#include <cstdint>

namespace heddle::kernels::conv {

plan plan_mma_rows(const conv_problem& p, const device_traits& device) {
    const std::int64_t across = divide_up(p.output.channels, rows_outputs(p.output.channels));
    const std::int64_t tiles = p.output.count * divide_up(p.output.height, rows_tile_height) *
                               divide_up(p.output.width, rows_tile_width);
    plan result{};
    result.threads = {rows_threads};
    result.blocks = {
        std::min(tiles, std::max<std::int64_t>(1, rows_blocks_per_sm * device.sm_count / across)) * across};
    result.stores_packets = lies_in(p.output, 16) && p.output.channels % 8 == 0;
    return result;
}

}  // namespace heddle::kernels::conv
