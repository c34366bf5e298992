// warp_shuffle: a bounded grid, and a tree through registers.
//
//   thread:  x[i] + x[i + grid] + x[i + 2 grid] + ...     in a register
//   warp:    five shuffles                                no shared memory, no barrier
//   block:   one value a warp, one barrier, five shuffles
//
// The tree is paid once a thread instead of once for every two elements, and the grid is what the device
// holds: two launches do for any size. That is most of the ladder: with 2048 threads an SM even loads of one
// element fill DRAM's pipe to within 4 % for 2^28 floats (H200). What is left is a load instruction for every
// element, and the second launch. Any stride.
//
// 2^28 floats on an H200: 4.1 TB/s; 2^20: 11 us.

#include "kernels/device/block_reduce.cuh"
#include "kernels/reduce/levels.hpp"
#include "kernels/reduce/operations.cuh"
#include <heddle/error.hpp>

namespace heddle::kernels::reduce {
namespace {

struct tile {
    static constexpr int threads = 256;
    static constexpr int blocks_per_sm = 8;
};

template <class Operation, class T, class Result>
__global__ void __launch_bounds__(tile::threads, tile::blocks_per_sm)
    warp_shuffle(vector_view<const T> x, Result* partials) {
    const std::int64_t first = std::int64_t{blockIdx.x} * tile::threads + threadIdx.x;
    const std::int64_t step = std::int64_t{gridDim.x} * tile::threads;

    Result value = Operation::template identity<Result>();
    for (std::int64_t i = first; i < x.size; i += step)
        value = Operation{}(value, static_cast<Result>(x.data[i * x.stride]));

    value = block_reduce(value, Operation{});
    if (threadIdx.x == 0) partials[blockIdx.x] = value;
}

std::int64_t grid_of(std::int64_t size, const device_traits& device) {
    return std::min<std::int64_t>(blocks_for(size, tile::threads),
                                  std::int64_t{device.sm_count} * tile::blocks_per_sm);
}

}  // namespace

plan plan_warp_shuffle(const reduce_problem& problem, const device_traits& device) {
    const std::int64_t blocks = grid_of(problem.size, device);
    const auto depth = [](std::int64_t size, std::int64_t threads) {
        return (size + threads - 1) / threads + block_reduce_depth;
    };
    const std::int64_t first = depth(problem.size, blocks * tile::threads);
    if (blocks == 1) return {.partials = 0, .depth = first};
    return {.partials = blocks, .depth = first + depth(blocks, tile::threads)};
}

template <class Operation, class T>
void launch_warp_shuffle(const arguments<Operation, T>& arguments, const device_traits& device,
                         cudaStream_t stream) {
    const std::int64_t blocks = grid_of(arguments.x.size, device);
    result_type<Operation, T>* output = blocks == 1 ? arguments.result : arguments.partials;
    warp_shuffle<Operation><<<static_cast<unsigned>(blocks), tile::threads, 0, stream>>>(arguments.x, output);
    if (blocks > 1) {
        const vector_view<const result_type<Operation, T>> partials{arguments.partials, blocks};
        warp_shuffle<Operation><<<1, tile::threads, 0, stream>>>(partials, arguments.result);
    }
    check(cudaGetLastError());
}

template void launch_warp_shuffle(const arguments<sum, double>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<sum, float>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<sum, half>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<sum, bfloat16>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<sum, std::int32_t>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<sum, std::int64_t>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<min, double>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<min, float>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<min, half>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<min, bfloat16>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<min, std::int32_t>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<min, std::int64_t>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<max, double>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<max, float>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<max, half>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<max, bfloat16>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<max, std::int32_t>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<max, std::int64_t>&, const device_traits&, cudaStream_t);

}  // namespace heddle::kernels::reduce
