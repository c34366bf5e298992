// single_pass: one launch for any size. Blocks tell each other what they have by the quickest way there is.
//
//   up to 64 KB:   one block             packets -> registers -> shuffles -> shared memory -> result
//   up to 512 KB:  a cluster of 8        every warp sends its share into the first block's shared memory
//   up to 8 MB:    16 clusters           then 15 send theirs to the one that read its share last, which waits
//   more:          many blocks           partials[block], then a ticket: whoever draws the last combines them
//   over 17 MB:    two blocks an SM      the same; x comes through rings in shared memory
//
// What clusters send is data and signal at once: a store that counts at a barrier in the receiver's shared memory, or
// 16 bytes of which the second half is not zero. So there is no fence and no reload. A ring is filled by bulk copies,
// which one thread starts: 192 KB are under way in an SM, at no cost in registers or instructions. Where there are no
// clusters or bulk copies, data is spread over more blocks (README.md), whose loads are those of `vectorized`. Who is
// last to come varies, but partials are combined in the order of their blocks, so the same call gives the same bits.
// Tickets and messages are zero again after it. Any stride; 16-byte loads for stride 1. What limits it is the launch
// up to about 1 MB, then L2 or DRAM.

#include "kernels/device/block_reduce.cuh"
#include "kernels/reduce/single_pass.cuh"

#include <algorithm>

namespace heddle::kernels::reduce {
namespace {

plan plan_of(std::int64_t packets, std::int64_t width, const device_traits& device, bool may_ring) {
    const auto [blocks, threads, cluster, is_ring] = plan_single_pass_grid(packets, device, may_ring);
    // Of the grid's partials: they are taken four at a time.
    const std::int64_t last = 2 + blocks_for(blocks, tile::unroll * threads) + block_reduce_depth;
    if (is_ring) {
        const std::int64_t rounds = blocks_for(packets, ring_tile::packets * blocks);
        const std::int64_t share = round_depth(width, ring_tile::unroll) +
                                   std::min<std::int64_t>(rounds, ring_tile::rounds_to_cut) +
                                   blocks_for(rounds, ring_tile::rounds_to_cut) + 2;
        return {.partials = blocks, .depth = share + block_reduce_depth + last};
    }
    const std::int64_t share = accumulate_depth(packets, width, tile::unroll, blocks * threads);
    if (cluster > 1) {
        // Two warp_reduce; a lane of the second takes as many warps as there are blocks.
        const std::int64_t depth = share + 2 * warp_reduce_depth + tile::cluster;
        if (blocks == cluster) return {.partials = 0, .depth = depth};
        return {.partials = blocks / cluster, .depth = depth + warp_reduce_depth};
    }
    const std::int64_t depth = share + block_reduce_depth;
    if (blocks == 1) return {.partials = 0, .depth = depth};
    return {.partials = blocks, .depth = depth + last};
}

}  // namespace

plan plan_single_pass(const reduce_problem& problem, const device_traits& device) {
    const std::int64_t width =
        problem.stride == 1 ? static_cast<std::int64_t>(max_vector_bytes / problem.element_bytes) : 1;
    const std::int64_t packets = problem.size / width;
    const plan without = plan_of(packets, width, device, false);
    if (problem.stride != 1) return without;
    const plan ring = plan_of(packets, width, device, true);  // not of dot
    return {.partials = std::max(without.partials, ring.partials),
            .depth = std::max(without.depth, ring.depth)};
}

}  // namespace heddle::kernels::reduce
