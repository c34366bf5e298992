// vectorized: 16-byte packets on both sides, square patches transposed in registers.
//
//   source, W = 4                 registers            shared: a row for each row of the destination
//   | p p p p | p p p p | ...     row r  ->  col r     col 0:  | patch 0 | patch 1 | ...  xor 0
//   | p p p p | p p p p | ...                          col 4:  | patch 0 | patch 1 | ...  xor 1
//
// A thread takes a patch of W x W elements, W = 16 / element size: W packets from W rows, all in flight together. It
// transposes the patch in registers, so packets go through shared memory too. Elements of 4 and 8 bytes only change
// names, and smaller ones take half a byte permutation each. The place of a packet in its row is xored with the number
// of the column's patch. So both the packets that a warp stores, down a column of the tile, and those that it loads,
// along a row, lie in all 32 banks. Blocks are numbered in bands, so that the lines that two blocks share are still in
// L2. Where pointers or row strides are not multiples of 16 bytes, packets are narrower. Elements outside the patches at
// the edge of the matrix go one by one, as do matrices of few rows or columns (strips.cuh). Views that make the call a
// copy of rows are copied without shared memory. It needs unit stride on both sides. The limit is DRAM.

#include "kernels/device/launch.hpp"
#include "kernels/device/launchers.hpp"
#include "kernels/transpose/copy_rows.cuh"
#include "kernels/transpose/launch.hpp"
#include "kernels/transpose/strips.cuh"
#include "kernels/transpose/tiles.cuh"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace heddle::kernels::transpose {
namespace {

template <class Word, int packet_bytes, aspect shape>
__global__ void __launch_bounds__(tile<Word, packet_bytes, shape>::threads)
    vectorized(matrix_view<const Word> source, matrix_view<Word> destination, block_order order) {
    using tile = transpose::tile<Word, packet_bytes, shape>;
    __shared__ shared_storage<tile> shared;
    const std::int64_t row = (blockIdx.x + blockIdx.z * order.tiles_down_a_z) * tile::rows;
    const std::int64_t col = (blockIdx.y + blockIdx.z * order.tiles_across_a_z) * tile::cols;
    move_tile<tile, packet_bytes>(source, destination, row, col, shared);
}

template <class Word>
struct kernels {
    template <int packet_bytes, aspect shape>
    auto operator()() const {
        return vectorized<Word, packet_bytes, shape>;
    }
};

}  // namespace

plan plan_vectorized(const transpose_facts& problem, const device_traits& device) {
    if (problem.is_copy) return plan_copy(problem);
    if (is_strip(problem)) return plan_strips(problem);
    return plan_tiles(problem, device);
}

template <class Word>
void launch_vectorized(const plan& plan, const arguments<Word>& arguments, cudaStream_t stream) {
    const launch_config config{.blocks = plan.blocks, .threads = plan.threads, .stream = stream};
    const auto& [source, destination] = arguments;
    if (plan.run > 0) return launch_strips(plan, arguments, stream);
    if (!plan.is_copy)
        return launch(config, kernel_of<Word>(plan, kernels<Word>{}), source, destination, plan.order);
    constexpr std::int64_t bytes = sizeof(Word);
    launch(config, copy_kernel_of(plan.packet_bytes), reinterpret_cast<const std::byte*>(source.data),
           source.row_stride * bytes, reinterpret_cast<std::byte*>(destination.data),
           destination.col_stride * bytes, source.rows, source.cols * bytes);
}

HEDDLE_WORD_TYPES(HEDDLE_LAUNCH, launch_vectorized, plan, arguments)

}  // namespace heddle::kernels::transpose
