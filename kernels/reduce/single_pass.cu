// single_pass: the last block to finish combines the partials, so one launch does for any size.
//
//   block 0 .. n-1:  packets -> registers -> shuffles -> partials[block]; then draws a ticket
//   the last ticket: partials[0 .. n-1], in this order -> result; the ticket is back at 0
//
// Which block is last varies, what it computes does not: the same call gives the same bits. Up to 64 KB one
// block does everything and there is no ticket. Then data is spread over the SMs, one block each, until every
// block has a whole tile; then over more blocks, until the device is full. Large data gets several blocks for
// each place on the device, so that an SM that runs ahead takes more of them. Loads are those of
// `vectorized`.
//
// Any stride; 16-byte loads for stride 1. What limits it is the launch up to about 1 MB, then L2 or DRAM.
//
// 2^28 floats on an H200: 4.3 TB/s, as much as CUB; 2^20: 7.8 us, where CUB takes 9.2.

#include "kernels/device/block_reduce.cuh"
#include "kernels/device/ptx/atomic_increment.cuh"
#include "kernels/reduce/levels.hpp"
#include "kernels/reduce/source.cuh"
#include <heddle/error.hpp>

#include <algorithm>

namespace heddle::kernels::reduce {
namespace {

struct tile {
    static constexpr int unroll = 4;
    static constexpr int threads = 512;  ///< of one block among several
    static constexpr int blocks_per_sm = 4;
    static constexpr int lone_threads = 1024;  ///< at most, of a lone block
    static constexpr int lone_packets = lone_threads * unroll;
    static constexpr int packets = threads * unroll;
    /// Blocks for each place on the device, and the tiles that each must have for more than one to pay.
    static constexpr int waves = 4;
    static constexpr int tiles_to_share = 8;
};

/// One launch, from the packets (elements, where they are strided) that there are at most.
struct grid {
    std::int64_t blocks;
    std::int64_t threads;
};

grid grid_of(std::int64_t packets, const device_traits& device) {
    if (packets <= tile::lone_packets) {
        const std::int64_t warps = blocks_for(packets, warp_size);
        return {1, std::min<std::int64_t>(warps * warp_size, tile::lone_threads)};
    }
    const std::int64_t tiles = blocks_for(packets, tile::packets);
    const std::int64_t places = std::int64_t{device.sm_count} * tile::blocks_per_sm;
    if (tiles > places)
        return {std::clamp(tiles / tile::tiles_to_share, places, places * tile::waves), tile::threads};
    const std::int64_t one_per_sm =
        std::min<std::int64_t>(blocks_for(packets, tile::threads), device.sm_count);
    return {std::max(tiles, one_per_sm), tile::threads};
}

/// `ticket` is zero before and after.
template <class Operation, class T, class Source, class Result>
__global__ void __launch_bounds__(tile::lone_threads, tile::blocks_per_sm* tile::threads / tile::lone_threads)
    single_pass(Source x, Result* result, Result* partials, unsigned* ticket) {
    const std::int64_t first = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int step = static_cast<int>(gridDim.x * blockDim.x);

    Result value = accumulate<Operation, T, tile::unroll>(x, first, step);
    value = block_reduce(value, Operation{});
    if (gridDim.x > 1) {
        __shared__ bool is_last;
        if (threadIdx.x == 0) {
            partials[blockIdx.x] = value;
            is_last = ptx::atomic_increment(ticket, gridDim.x - 1) == gridDim.x - 1;
        }
        __syncthreads();
        if (!is_last) return;

        value = Operation::template identity<Result>();
#pragma unroll 4
        for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x)
            value = Operation{}(value, __ldcg(&partials[i]));
        value = block_reduce(value, Operation{});
    }

    if (threadIdx.x == 0) *result = value;
}

}  // namespace

plan plan_single_pass(const reduce_problem& problem, const device_traits& device) {
    const std::int64_t width =
        problem.stride == 1 ? static_cast<std::int64_t>(max_vector_bytes / problem.element_bytes) : 1;
    const std::int64_t packets = problem.size / width;
    const auto [blocks, threads] = grid_of(packets, device);
    const std::int64_t first =
        accumulate_depth(packets, width, tile::unroll, blocks * threads) + block_reduce_depth;
    if (blocks == 1) return {.partials = 0, .depth = first};
    const std::int64_t last = (blocks + threads - 1) / threads + block_reduce_depth;
    return {.partials = blocks, .depth = first + last};
}

template <class Operation, class T>
void launch_single_pass(const arguments<Operation, T>& arguments, const device_traits& device,
                        cudaStream_t stream) {
    const auto launch = [&]<class Source>(const Source& x) {
        const auto [blocks, threads] = grid_of(arguments.x.size / Source::width, device);
        single_pass<Operation, T>
            <<<static_cast<unsigned>(blocks), static_cast<unsigned>(threads), 0, stream>>>(
                x, arguments.result, arguments.partials, arguments.ticket);
    };
    if (arguments.x.stride == 1)
        launch(contiguous<T>(arguments.x));
    else
        launch(strided<T>(arguments.x));
    check(cudaGetLastError());
}

template void launch_single_pass(const arguments<sum, double>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<sum, float>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<sum, half>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<sum, bfloat16>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<sum, std::int32_t>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<sum, std::int64_t>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<min, double>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<min, float>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<min, half>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<min, bfloat16>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<min, std::int32_t>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<min, std::int64_t>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<max, double>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<max, float>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<max, half>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<max, bfloat16>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<max, std::int32_t>&, const device_traits&, cudaStream_t);
template void launch_single_pass(const arguments<max, std::int64_t>&, const device_traits&, cudaStream_t);

}  // namespace heddle::kernels::reduce
