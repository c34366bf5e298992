// split_k: divides tiles along k that would leave multiprocessors idle.
//
//   one tile, of k = 65536:     | part 0: k 0 .. 511 | part 1: 512 .. 1023 | ... |  one block each, of pipelined's kernel
//   workspace:                  | sums of part 0     | sums of part 1     | ... |   added up by a second kernel
//
// In pipelined a partial last round of tiles takes as long as a full one. Here the tiles of that round are cut into as
// many parts along k as there is room for. Each part leaves its sums in the workspace. A second kernel adds them up on the
// whole device, always in the same order, so results are reproducible. It is launched when the parts have begun, so that
// its blocks are resident when the last part ends. The same kernel also serves tma_pipelined. What limits it: the sums are
// written and read once.

#include "kernels/device/early_launch.hpp"
#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/grid_dependency.cuh"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/matmul/tile_loader.cuh"
#include "kernels/matmul/tile_split.cuh"

#include <algorithm>
#include <bit>

namespace heddle::kernels::matmul {
namespace {

constexpr int threads = 256;

/// A block has blockDim.x packets of a tile, whose parts are divided among blockDim.y adders.
__global__ void __launch_bounds__(threads)
    add_up(arguments p, tile_split tiles, int tile_m, int tile_n, bool stores_packets) {
    __shared__ packet adder_sums[threads];
    const int packets = tile_m * tile_n / 4;
    const int index = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int shared_tile = index / packets, within = index % packets;
    const std::int64_t first_part = std::int64_t{blockIdx.z} * tiles.all_parts() + shared_tile * tiles.parts;
    const auto* const from = reinterpret_cast<const float4*>(tiles.sums) + first_part * packets + within;
    take_batch(p, blockIdx.z);

    ptx::wait_for_grids_before();
    packet sum{};
#pragma unroll 4
    for (int part = static_cast<int>(threadIdx.y); part < tiles.parts; part += static_cast<int>(blockDim.y)) {
        const float4 read = __ldcg(from + std::int64_t{part} * packets);
        sum = {sum[0] + read.x, sum[1] + read.y, sum[2] + read.z, sum[3] + read.w};
    }
    adder_sums[threadIdx.y * blockDim.x + threadIdx.x] = sum;
    ptx::sync_threads();
    if (threadIdx.y != 0) return;
    for (unsigned adder = 1; adder < blockDim.y; ++adder) {
        const packet& other = adder_sums[adder * blockDim.x + threadIdx.x];
#pragma unroll
        for (int e = 0; e < 4; ++e) sum[e] += other[e];
    }

    const tile_position at = grouped(tiles.whole + shared_tile, tiles.down, tiles.across);
    const std::int64_t row = at.row * tile_m + within * 4 / tile_n;
    const std::int64_t col = at.col * tile_n + within * 4 % tile_n;
    if (p.epilogue.is_identity)
        store_four(p, row, col, swapped(sum), read_four(p, row, col, stores_packets), stores_packets);
    else
        finish_four(p, row, col, {sum[1], sum[0], sum[3], sum[2]});
}

}  // namespace

void launch_add_up(const plan& plan, const arguments& arguments, const block_kernel& tile,
                   cudaStream_t stream) {
    const std::int64_t packets = plan.shared() * tile.m * tile.n / 4;
    const int adders = plan.adders;
    launch({.blocks = {packets / (threads / adders), 1, arguments.batch.count},
            .threads = {threads / adders, adders},
            .stream = stream,
            .begins_early = plan.begins_early},
           add_up, arguments, split_of(plan, arguments.workspace), tile.m, tile.n,
           has_packets(arguments.c, arguments.batch.c));
}

void launch_split_k(const plan& plan, const arguments& arguments, cudaStream_t stream) {
    launch_pipelined(plan, arguments, stream);
    if (plan.parts > 1) launch_add_up(plan, arguments, pipelined_kernels[plan.kernel].block(), stream);
}

}  // namespace heddle::kernels::matmul
