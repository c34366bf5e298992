// vectorized_batch: `vectorized` for many matrices in one launch, such as the planes of many images.
//
//   matrix 0   matrix 1   matrix 2 ...      a block takes a tile, or a strip, of one matrix; also the same one of others
//   | t . |    | t . |    | t . |           where there are more matrices than a grid has room for
//   | . . |    | . . |    | . . |
//
// Tiles and strips are those of one matrix (tiles.cuh, strips.cuh). It needs unit stride on both sides. The limit is DRAM.

#include "kernels/device/grid.hpp"
#include "kernels/device/launch.hpp"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/device/quick_division.cuh"
#include "kernels/transpose/launch.hpp"
#include "kernels/transpose/strips.cuh"
#include "kernels/transpose/tiles.cuh"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace heddle::kernels::transpose {
namespace {

/// `layers` is the number of blocks along z per matrix.
template <class Word, int packet_bytes, aspect shape>
__global__ void __launch_bounds__(tile<Word, packet_bytes, shape>::threads)
    tiles_of_batch(matrix_view<const Word> source, matrix_view<Word> destination, block_order order,
                   batch matrices, unsigned layers) {
    using tile = transpose::tile<Word, packet_bytes, shape>;
    __shared__ shared_storage<tile> shared;
    const unsigned first = blockIdx.z / layers, z = blockIdx.z % layers;
    const std::int64_t row = (blockIdx.x + z * order.tiles_down_a_z) * tile::rows;
    const std::int64_t col = (blockIdx.y + z * order.tiles_across_a_z) * tile::cols;
    for (std::int64_t i = first; i < matrices.count; i += gridDim.z / layers) {
        matrix_view<const Word> from = source;
        matrix_view<Word> to = destination;
        from.data += i * matrices.source_stride;
        to.data += i * matrices.destination_stride;
        move_tile<tile, packet_bytes>(from, to, row, col, shared);
        ptx::sync_threads();  // the next tile overwrites this one
    }
}

template <class Word, bool is_tall>
__global__ void __launch_bounds__(strip_tile::threads)
    strips_of_batch(matrix_view<const Word> source, matrix_view<Word> destination, batch matrices,
                    quick_division by_short, quick_division by_long, unsigned pitch) {
    extern __shared__ std::uint64_t shared[];
    const std::int64_t length = is_tall ? source.rows : source.cols;
    for (std::int64_t i = blockIdx.y; i < matrices.count; i += gridDim.y) {
        move_strip<Word, is_tall>(source.data + i * matrices.source_stride, source.row_stride,
                                  destination.data + i * matrices.destination_stride, destination.row_stride,
                                  length, by_short, by_long, pitch, reinterpret_cast<Word*>(shared));
        ptx::sync_threads();  // the next strip overwrites this one
    }
}

template <class Word>
struct kernels {
    template <int packet_bytes, aspect shape>
    auto operator()() const {
        return tiles_of_batch<Word, packet_bytes, shape>;
    }
};

}  // namespace

plan plan_batch(const transpose_facts& problem, std::int64_t count, const device_traits& device) {
    constexpr std::int64_t max_grid_z = 65535;
    if (is_strip(problem)) {
        plan strips_plan = plan_strips(problem);
        strips_plan.blocks.y = std::min(count, max_grid_y);
        return strips_plan;
    }
    plan tiles_plan = plan_tiles(problem, device, count);
    tiles_plan.layers = tiles_plan.blocks.z;
    tiles_plan.blocks.z *= std::min(count, max_grid_z / tiles_plan.layers);
    return tiles_plan;
}

template <class Word>
void launch_batch(const plan& plan, const arguments<Word>& a, const batch& batch, cudaStream_t stream) {
    launch_config config{.blocks = plan.blocks, .threads = plan.threads, .stream = stream};
    if (plan.run == 0)
        return launch(config, kernel_of<Word>(plan, kernels<Word>{}), a.source, a.destination, plan.order,
                      batch, static_cast<unsigned>(plan.layers));
    const bool is_tall = plan.shape == aspect::tall;
    const std::int64_t width = is_tall ? a.source.cols : a.source.rows;
    config.shared_bytes = static_cast<std::size_t>(width * plan.pitch) * sizeof(Word);
    launch(config, is_tall ? strips_of_batch<Word, true> : strips_of_batch<Word, false>, a.source,
           a.destination, batch, quick_division(static_cast<unsigned>(width)),
           quick_division(static_cast<unsigned>(plan.run)), static_cast<unsigned>(plan.pitch));
}

template void launch_batch(const plan&, const arguments<std::uint16_t>&, const batch&, cudaStream_t);
template void launch_batch(const plan&, const arguments<std::uint32_t>&, const batch&, cudaStream_t);

}  // namespace heddle::kernels::transpose
