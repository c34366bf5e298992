// scale: C = epilogue(beta * C), which is all that is left if k is 0 or alpha is 0.
//
//   thread -> a packet of neighbours in one row, and in every row that is a multiple of the grid's height below
//
// A and B are not read. Rows may begin anywhere. Packets begin at multiples of their size, and a row's first and last
// elements outside of packets are stored singly (tile_lines.cuh). Rows that lie back to back are one row, unless the
// epilogue needs an element's place. If neighbours lie apart, a packet is one element. What limits it: memory.

#include "kernels/device/grid.hpp"
#include "kernels/device/launch.hpp"
#include "kernels/device/launchers.hpp"
#include "kernels/device/vector.cuh"
#include "kernels/matmul/element.cuh"
#include "kernels/matmul/plan/plan.hpp"
#include "kernels/matmul/tile_lines.cuh"
#include <heddle/types.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>

namespace heddle::kernels::matmul {
namespace {

constexpr int threads = 256;

template <class In, class Out, int width>
__global__ void __launch_bounds__(threads) scale(product<In, Out> p) {
    using packet = vector<Out, width>;
    take_batch(p, blockIdx.z);
    const std::int64_t piece = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::int64_t step = std::int64_t{gridDim.y} * blockDim.y;
    for (std::int64_t row = std::int64_t{blockIdx.y} * blockDim.y + threadIdx.y; row < p.c.rows;
         row += step) {
        // With a width of one, an element is found by its column, whatever the stride.
        Out* const begin = &element(p.c, row, width == 1 ? piece : 0);
        const cut_line<Out, width, std::int64_t> line{begin, p.c.cols};
        const std::int64_t at = width == 1 ? piece : line.begin_of(piece);
        if (at >= p.c.cols) continue;
        packet moved{};
        float x[width]{};
        if (p.beta != 0) {
            if constexpr (width == 1)
                moved[0] = *begin;
            else
                moved = line.load(at);
#pragma unroll
            for (int i = 0; i < width; ++i) x[i] = p.beta * static_cast<float>(moved[i]);
        }
        if (!p.epilogue.is_identity)
            apply_to_elements(p.epilogue, x, [&](int i) {
                return element_place{row, at + i, line.has(at, i)};
            });
#pragma unroll
        for (int i = 0; i < width; ++i) moved[i] = static_cast<Out>(x[i]);
        if constexpr (width == 1)
            *begin = moved[0];
        else
            line.store(at, moved);
    }
}

template <int width, class In, class Out>
void launch_with(const product<In, Out>& arguments, std::int64_t across, cudaStream_t stream) {
    const auto wide = static_cast<std::int64_t>(
        std::bit_ceil(static_cast<std::uint64_t>(std::min<std::int64_t>(across, threads))));
    const std::int64_t high = threads / wide;
    const launch_extents grid{divide_up(across, wide),
                              std::min(divide_up(arguments.c.rows, high), max_grid_y)};
    for_each_grid(arguments, grid, [&](const launch_extents& blocks, const product<In, Out>& p) {
        launch({.blocks = blocks, .threads = {wide, high}, .stream = stream}, scale<In, Out, width>, p);
    });
}

}  // namespace

template <class In, class Out>
void launch_scale(const plan& plan, const product<In, Out>& arguments, cudaStream_t stream) {
    if (arguments.beta == 1 && arguments.epilogue.is_identity) return;
    constexpr std::int64_t packet = max_vector_bytes / static_cast<int>(sizeof(Out));
    product<In, Out> p = arguments;
    if (plan.of_c == c_access::elements) return launch_with<1>(p, p.c.cols, stream);
    if (plan.of_c == c_access::line) p.c = {p.c.data, 1, p.c.rows * p.c.cols};
    // A row that begins anywhere may touch one packet more.
    const std::int64_t before = plan.of_c == c_access::packets ? 0 : packet - 1;
    launch_with<packet>(p, divide_up(p.c.cols + before, packet), stream);
}

HEDDLE_LAUNCHES_OF_PAIRS(launch_scale, plan, product)

}  // namespace heddle::kernels::matmul
