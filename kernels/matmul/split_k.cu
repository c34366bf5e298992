// split_k: divides tiles along k that would leave multiprocessors idle.
//
//   one tile, of k = 65536:     | part 0: k 0 .. 511 | part 1: 512 .. 1023 | ... |  one block each, of pipelined's kernel
//   workspace:                  | sums of part 0     | sums of part 1     | ... |   added up by a second kernel
//
// In pipelined a partial last round of tiles takes as long as a full one. Here the tiles of that round are cut into as
// many parts along k as there is room for. Each part leaves its sums in the workspace. A second kernel (add_parts.cu) adds
// them up on the whole device, always in the same order, so results are reproducible. It is launched when the parts have
// begun, so that its blocks are resident when the last part ends. It also serves tma_pipelined, and rungs on the tensor
// cores. What limits it: the sums are written and read once.

#include "kernels/matmul/add_parts.cuh"
#include "kernels/matmul/tile_split.cuh"
#include "kernels/matmul/warpgroup.cuh"

namespace heddle::kernels::matmul {

void launch_add_up(const plan& plan, const arguments& arguments, const block_kernel& tile,
                   cudaStream_t stream) {
    const tile_split tiles = split_of(plan, arguments.workspace);
    frame::tile_schedule schedule = schedule_of(plan);  // in the order of grouped()
    schedule.batches = static_cast<int>(arguments.batch.count);
    schedule.streams = schedule.batches * tiles.all_parts();
    launch_add_parts(
        plan, make_product(arguments), schedule,
        {.sums = tiles.sums, .tile_m = tile.m, .tile_n = tile.n, .by_columns = false, .are_swapped = true},
        stream);
}

void launch_split_k(const plan& plan, const arguments& arguments, cudaStream_t stream) {
    launch_pipelined(plan, arguments, stream);
    if (plan.parts > 1) launch_add_up(plan, arguments, pipelined_kernels[plan.kernel].block(), stream);
}

}  // namespace heddle::kernels::matmul
