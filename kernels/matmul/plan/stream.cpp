#include "kernels/matmul/plan/planning.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace heddle::kernels::matmul {
namespace {

/// Blocks that go from tile to tile: `workers` of them share `moving` tiles.
struct march {
    std::int64_t workers;
    std::int64_t way;  ///< tiles that a multiprocessor's place goes through at most
};

/// As few waves of blocks as keep the longest way through the tiles short. `slots` blocks run at once.
march march_of(std::int64_t slots, std::int64_t staying, std::int64_t moving, std::int64_t grids) {
    constexpr std::int64_t most_waves = 4;
    march best{1, std::numeric_limits<std::int64_t>::max()};
    for (std::int64_t wave = 1; wave <= most_waves; ++wave) {
        const std::int64_t some = std::clamp<std::int64_t>(slots * wave / staying / grids, 1, moving);
        const std::int64_t way = divide_up(staying * some * grids, slots) * divide_up(moving, some);
        if (way < best.way) best = {some, way};
    }
    return best;
}

/// Whether elements of 16 bits are copied one by one.
bool reads_elements(const matrix_layout& m, std::int64_t batch_stride) {
    constexpr std::int64_t word = 4;
    const matrix_layout lines = lies_by_rows(m) ? m : transposed(m);
    if (m.element_bytes >= word) return false;
    const std::int64_t steps = ((lines.rows > 1 ? lines.row_stride : 0) | batch_stride) * m.element_bytes;
    return !has_contiguous_rows(lines) || lines.alignment() % word != 0 || steps % word != 0;
}

/// For stream_mma, also of tf32. With more tiles that stay in a block, the other operand is read less often, but fewer blocks
/// run at once.
plan plan_stream_mma(const product_facts& p, const device_traits& device, std::size_t kernel,
                     const row_cost& cost) {
    constexpr int reserved_bytes = 1024;  // of shared memory, by CUDA, for each block
    const planning x(p, device);
    const stream_mma_kernel& row = stream_mma_kernels[kernel];
    const bool across = row.goes_across;
    const bool shares = p.batches > 1 && (across ? p.a_stride : p.b_stride) == 0;
    const std::int64_t batches = shares ? p.batches : 1, grids = p.batches / batches;
    const std::int64_t moving = batches * divide_up(across ? x.n : x.m, row.moving()),
                       chunks = divide_up(across ? x.m : x.n, row.chunk());
    const auto k = static_cast<int>(x.k), element = static_cast<int>(p.a.element_bytes);
    const double moving_bytes = static_cast<double>(p.batches * (across ? x.n : x.m) * x.k * element);
    // Warps skip what a tile has beyond C along the side that stays, but some of the work is that of a whole tile.
    constexpr double of_tile = 0.3;
    const std::int64_t side = across ? x.m : x.n;
    const double filled = static_cast<double>(side) / static_cast<double>(chunks * row.chunk());
    const bool by_element = reads_elements(p.a, p.a_stride) || reads_elements(p.b, p.b_stride);
    // A block that has one tile waits for its operands, in all waves but one. A tile of single elements comes in parts, and
    // a block waits for each.
    constexpr double wait_us = 1, elements_at_once = 128 * 24;
    const double waits = by_element ? static_cast<double>(row.moving() * x.k) / elements_at_once : 0;
    plan best;
    for (std::int64_t some = 1, before = 0; some > before; before = some, some = std::min(2 * some, chunks)) {
        const auto shared = [&](int buffers) {
            return row.shared_bytes(k, element, static_cast<int>(some), buffers);
        };
        if (shared(2) > row.most_shared_bytes()) break;
        const std::int64_t groups = divide_up(chunks, some);
        for (const int buffers : {1, 2}) {
            const auto fitting =
                static_cast<std::int64_t>(device.shared_memory_per_sm) / (shared(buffers) + reserved_bytes);
            const std::int64_t blocks = std::clamp<std::int64_t>(fitting, 1, row.blocks_per_sm);
            const std::int64_t slots = std::max<std::int64_t>(1, device.sm_count * blocks);
            const march way = march_of(slots, groups, moving, grids);
            if (buffers == 1 && way.workers < moving) continue;
            const double again = static_cast<double>(groups - 1) * moving_bytes *
                                 x.costs.memory_bytes_per_us / x.costs.l2_bytes_per_us;
            const double us =
                x.us(cost, {.rounds = static_cast<double>(way.way * some),
                            .steps = static_cast<double>(stream_mma_kernel::depth_bytes(k, element) / 32),
                            .bytes = x.moved_bytes + again,
                            .slower = static_cast<double>(blocks) / row.blocks_per_sm *
                                      (of_tile + (1 - of_tile) * filled),
                            .around_us = wait_us * (waits + (way.workers < moving || way.way == 1 ? 0 : 1)) /
                                         static_cast<double>(some)});
            if (us >= best.us) continue;
            best = {
                .kernel = kernel,
                .batches = batches,
                .workers = static_cast<int>(std::min<std::int64_t>(groups * way.workers, max_tensor_extent)),
                .goes_across = across,
                .buffers = buffers,
                .chunks = static_cast<int>(some),
                .us = us};
        }
    }
    best.down = divide_up(x.m, row.m());
    best.across = divide_up(x.n, row.n());
    best.whole = best.down * best.across;
    return best;
}

}  // namespace

/// Blocks go from tile to tile along the longer side of C, so that the tile of one operand stays in shared memory. If the
/// products of a batch share an operand, that one stays, and blocks go through the whole batch.
plan plan_stream(const product_facts& p, const device_traits& device, std::size_t kernel) {
    constexpr int reserved_bytes = 1024;  // of shared memory, by CUDA, for each block
    const planning x(p, device);
    const stream_kernel& row = stream_kernels[kernel];
    const std::int64_t down = divide_up(x.m, row.m()), across = divide_up(x.n, row.n());
    const bool share_b = p.batches > 1 && p.b_stride == 0, share_a = p.batches > 1 && p.a_stride == 0;
    const bool goes_across = share_a != share_b ? share_a : across > down;
    const std::int64_t batches = share_a || share_b ? p.batches : 1;
    const std::int64_t staying = goes_across ? down : across,
                       moving = batches * (goes_across ? across : down), grids = p.batches / batches;

    const int bytes = row.shared_bytes(static_cast<int>(x.k), 2, goes_across) + reserved_bytes;
    const auto fitting = static_cast<std::int64_t>(device.shared_memory_per_sm) / bytes;
    block_kernel tile = row.block();
    tile.blocks_per_sm = static_cast<int>(std::clamp<std::int64_t>(fitting, 1, tile.blocks_per_sm));
    plan result = x.blocks(tile, cost_of<stream_kernels>(x.costs, kernel),
                           {.slower = static_cast<double>(tile.blocks_per_sm) / row.blocks_per_sm}, false);

    const std::int64_t slots = std::max<std::int64_t>(1, std::int64_t{device.sm_count} * tile.blocks_per_sm);
    const std::int64_t workers = march_of(slots, staying, moving, grids).workers;
    result.kernel = kernel;
    result.batches = batches;
    result.workers = static_cast<int>(std::min<std::int64_t>(staying * workers, max_tensor_extent));
    result.goes_across = goes_across;
    result.buffers = moving > workers ? 2 : 1;
    return result;
}

plan plan_stream_mma(const product_facts& p, const device_traits& device, std::size_t kernel) {
    return plan_stream_mma(p, device, kernel, cost_of<stream_mma_kernels>(costs_of(device), kernel));
}

plan plan_stream_tf32(const product_facts& p, const device_traits& device, std::size_t kernel) {
    static constexpr std::array<cost_place<h200>, 2> places = {tf32_stream_names[0], tf32_stream_names[1]};
    static_assert(places.size() == tf32_stream_names.size());
    return plan_stream_mma(p, device, kernel, cost_of(costs_of(device), places[kernel]));
}

}  // namespace heddle::kernels::matmul
