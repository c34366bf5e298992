#include "kernels/conv/plan/windows.hpp"

#include "kernels/conv/plan/plan.hpp"
#include "kernels/conv/plan/predict.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace heddle::kernels::conv {

/// The kernel of the copies reads an operand, and writes it with the zeros.
void add_copies(const conv_problem& p, const operand_copies& copies, const device_traits& device, plan& to) {
    to.copies = copies;
    if (to.copies == operand_copies{}) return;
    const conv_problem made = with_copies(p, to.copies);
    double moved = 0;
    const auto add = [&](const tensor_layout& from, const tensor_layout& copy) {
        const std::int64_t pixels = copy.count * copy.height * copy.width, bytes = dense_bytes(copy);
        moved += pixel_bytes(from, static_cast<double>(pixels)) + static_cast<double>(bytes);
        to.scratch += bytes;
    };
    if (to.copies.input) add(p.input, made.input);
    if (to.copies.filters) add(p.filters, made.filters);
    to.us += predicted_us("copies", device, {.bytes = moved});
}

namespace {

/// Lets workers share the tiles that fill no round, where this is predicted to take less time. Returns the bytes of their
/// sums.
std::int64_t share_tiles(const conv_problem& p, const device_traits& device, const work& whole, plan& to) {
    constexpr std::int64_t least_steps = 8;  // of a worker's share of a tile: fewer are not worth it
    const window_kernel& kernel = persistent_kernels[to.kernel];
    const tile_shape tile = kernel.tile();
    frame::tile_schedule& schedule = to.schedule;
    if (!kernel.streams() || !p.has_scratch) return 0;
    const std::int64_t workers = device.sm_count, full = schedule.whole / workers,
                       rest = schedule.whole % workers, steps = rest * schedule.steps,
                       streams = std::min(
                           {workers, steps / least_steps, (max_tickets / kernel.consumers - rest) / 2});
    if (streams <= rest) return 0;
    const auto sharers = static_cast<int>(divide_up(streams, rest)) + 1;
    const int at_once = frame::added_at_once(sharers);
    const std::int64_t added = at_once + (at_once < sharers ? divide_up(sharers, at_once) : 0);
    const auto rounds = static_cast<double>(full + 1);
    const double us = predicted_us(cost_places<persistent_kernels>[to.kernel], device, {
        .bytes = whole.bytes, .rounds = rounds,
        .steps = static_cast<double>(full * schedule.steps + divide_up(steps, streams)) / rounds,
        .staged = static_cast<double>(1 + added) / rounds
    });
    if (us >= to.us) return 0;
    to.us = us;
    schedule.workers = static_cast<int>(full > 0 ? workers : streams);
    schedule.whole = static_cast<int>(full * workers);
    schedule.streams = static_cast<int>(streams);
    return 2 * streams * tile.m * tile.n * std::int64_t{sizeof(float)};
}

}  // namespace

plan plan_wgmma(const conv_problem& p, const device_traits& device) {
    constexpr int warpgroup = 128;
    plan result{.blocks = {window_tiles_of(p, wgmma_tile)}, .threads = {warpgroup}};
    add_copies(p, copies_for_maps(p), device, result);
    return result;
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
    const work whole{.bytes = tensor_bytes(p),
                     .rounds = static_cast<double>(divide_up(tiles, workers)),
                     .steps = static_cast<double>(divide_up(steps, tile.blocks))};
    result.us = predicted_us(cost_places<persistent_kernels>[kernel], device, whole);
    const std::int64_t sums = share_tiles(p, device, whole, result);
    add_copies(p, copies_for_maps(p), device, result);
    result.sums = result.scratch;
    result.scratch += sums;
    return result;
}

}  // namespace heddle::kernels::conv
