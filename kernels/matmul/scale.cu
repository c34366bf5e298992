// scale: C = epilogue(beta * C), all that is left where k is 0 or alpha is 0.
//
//   thread -> a packet of neighbours in a row, of every row that is a multiple of the grid's height further down
//
// A and B are not read. Where rows do not begin at multiples of a packet, a packet is one element. What limits it: memory.

#include "kernels/device/launch.hpp"
#include "kernels/device/vector.cuh"
#include "kernels/matmul/element.cuh"
#include "kernels/matmul/plan/layout.hpp"
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
    const std::int64_t col = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) * width;
    if (col >= p.c.cols) return;
    const std::int64_t step = std::int64_t{gridDim.y} * blockDim.y;
    for (std::int64_t row = std::int64_t{blockIdx.y} * blockDim.y + threadIdx.y; row < p.c.rows;
         row += step) {
        Out* const to = &element(p.c, row, col);
        packet moved{};
        float x[width]{};
        if (p.beta != 0) {
            moved = *reinterpret_cast<const packet*>(to);
#pragma unroll
            for (int i = 0; i < width; ++i) x[i] = p.beta * static_cast<float>(moved[i]);
        }
        if (!p.epilogue.is_identity)
            apply_to_elements(p.epilogue, x, [&](int i) { return element_place{row, col + i, true}; });
#pragma unroll
        for (int i = 0; i < width; ++i) moved[i] = static_cast<Out>(x[i]);
        *reinterpret_cast<packet*>(to) = moved;
    }
}

/// Whether C consists of whole packets.
template <class In, class Out>
bool has_packets(const product<In, Out>& p) {
    constexpr std::int64_t bytes = max_vector_bytes;
    const matrix_layout c = layout_of(p.c);
    return c.col_stride == 1 && c.alignment >= bytes && c.cols * c.element_bytes % bytes == 0 &&
           (c.rows <= 1 || c.row_stride * c.element_bytes % bytes == 0) &&
           p.batch.c * c.element_bytes % bytes == 0;
}

template <int width, class In, class Out>
void launch_with(const product<In, Out>& arguments, cudaStream_t stream) {
    constexpr std::int64_t most_down = 65535;
    const std::int64_t across = divide_up(arguments.c.cols, width);
    const auto wide = static_cast<std::int64_t>(
        std::bit_ceil(static_cast<std::uint64_t>(std::min<std::int64_t>(across, threads))));
    const std::int64_t high = threads / wide;
    const launch_extents grid{divide_up(across, wide),
                              std::min(divide_up(arguments.c.rows, high), most_down)};
    for_each_grid(arguments, grid, [&](const launch_extents& blocks, const product<In, Out>& p) {
        launch({.blocks = blocks, .threads = {wide, high}, .stream = stream}, scale<In, Out, width>, p);
    });
}

}  // namespace

template <class In, class Out>
void launch_scale(const plan&, const product<In, Out>& arguments, cudaStream_t stream) {
    if (arguments.beta == 1 && arguments.epilogue.is_identity) return;
    constexpr int packet = max_vector_bytes / static_cast<int>(sizeof(Out));
    if (has_packets(arguments))
        launch_with<packet>(arguments, stream);
    else
        launch_with<1>(arguments, stream);
}

template void launch_scale(const plan&, const product<float, float>&, cudaStream_t);
template void launch_scale(const plan&, const product<half, half>&, cudaStream_t);
template void launch_scale(const plan&, const product<half, float>&, cudaStream_t);
template void launch_scale(const plan&, const product<bfloat16, bfloat16>&, cudaStream_t);
template void launch_scale(const plan&, const product<bfloat16, float>&, cudaStream_t);

}  // namespace heddle::kernels::matmul
