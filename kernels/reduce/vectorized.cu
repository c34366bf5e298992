// vectorized: 16 bytes a load, four loads in flight a thread.
//
//   x:       | e e | p p p p p p p p ... p p p | e |     p: a packet of 16 aligned bytes
//   thread:  packets i, i + grid, i + 2 grid, i + 3 grid: four loads, then a tree over their elements
//
// A quarter of the load instructions, an eighth for 2-byte types, and up to 128 KB under way in an SM. The
// few elements outside the 16-byte boundaries go to the grid's first threads, so any address runs at full
// speed. The loads are plain: past L1 (L1::no_allocate) they are slower. What is left is the second
// launch, which small sizes wait for longer than for the data. Needs stride 1.

#include "kernels/device/block_reduce.cuh"
#include "kernels/device/launch.hpp"
#include "kernels/reduce/levels.hpp"
#include "kernels/reduce/source.cuh"

namespace heddle::kernels::reduce {
namespace {

struct tile {
    static constexpr int threads = 256;
    static constexpr int blocks_per_sm = 8;
    static constexpr int unroll = 4;
};

template <class Operation, class T, class Result>
__global__ void __launch_bounds__(tile::threads, tile::blocks_per_sm)
    vectorized(contiguous<T> x, Result* partials) {
    const std::int64_t first = std::int64_t{blockIdx.x} * tile::threads + threadIdx.x;
    const int step = static_cast<int>(gridDim.x) * tile::threads;

    Result value = accumulate<Operation, T, tile::unroll>(x, first, step);
    value = block_reduce(value, Operation{});
    if (threadIdx.x == 0) partials[blockIdx.x] = value;
}

std::int64_t grid_of(std::int64_t size, std::int64_t width, const device_traits& device) {
    return std::min<std::int64_t>(blocks_for(size, width * tile::threads * tile::unroll),
                                  std::int64_t{device.sm_count} * tile::blocks_per_sm);
}

}  // namespace

plan plan_vectorized(const reduce_problem& problem, const device_traits& device) {
    const auto width = static_cast<std::int64_t>(max_vector_bytes / problem.element_bytes);
    const std::int64_t blocks = grid_of(problem.size, width, device);
    const auto depth = [](std::int64_t packets, std::int64_t packet_width, std::int64_t threads) {
        return accumulate_depth(packets, packet_width, tile::unroll, threads) + block_reduce_depth;
    };
    const std::int64_t first = depth(problem.size / width, width, blocks * tile::threads);
    if (blocks == 1) return {.partials = 0, .depth = first};
    // How many partials make a packet, 2 to 8, depends on the operation.
    return {.partials = blocks, .depth = first + depth(blocks / 2, 8, tile::threads)};
}

template <class Operation, class T>
void launch_vectorized(const arguments<Operation, T>& arguments, const device_traits& device,
                       cudaStream_t stream) {
    using result = result_type<Operation, T>;
    const std::int64_t blocks = grid_of(arguments.x.size, contiguous<T>::width, device);
    auto* output = static_cast<result*>(arguments.partials);
    launch({.blocks = {blocks}, .threads = {tile::threads}, .stream = stream},
           vectorized<Operation, T, result>, contiguous(arguments.x),
           blocks == 1 ? arguments.result : output);
    if (blocks > 1) {
        const contiguous partials(vector_view<const result>{output, blocks});
        launch({.blocks = {1}, .threads = {tile::threads}, .stream = stream},
               vectorized<Operation, result, result>, partials, arguments.result);
    }
}

template void launch_vectorized(const arguments<sum, double>&, const device_traits&, cudaStream_t);
template void launch_vectorized(const arguments<sum, float>&, const device_traits&, cudaStream_t);
template void launch_vectorized(const arguments<sum, half>&, const device_traits&, cudaStream_t);
template void launch_vectorized(const arguments<sum, bfloat16>&, const device_traits&, cudaStream_t);
template void launch_vectorized(const arguments<sum, std::int32_t>&, const device_traits&, cudaStream_t);
template void launch_vectorized(const arguments<sum, std::int64_t>&, const device_traits&, cudaStream_t);
template void launch_vectorized(const arguments<min, double>&, const device_traits&, cudaStream_t);
template void launch_vectorized(const arguments<min, float>&, const device_traits&, cudaStream_t);
template void launch_vectorized(const arguments<min, half>&, const device_traits&, cudaStream_t);
template void launch_vectorized(const arguments<min, bfloat16>&, const device_traits&, cudaStream_t);
template void launch_vectorized(const arguments<min, std::int32_t>&, const device_traits&, cudaStream_t);
template void launch_vectorized(const arguments<min, std::int64_t>&, const device_traits&, cudaStream_t);
template void launch_vectorized(const arguments<max, double>&, const device_traits&, cudaStream_t);
template void launch_vectorized(const arguments<max, float>&, const device_traits&, cudaStream_t);
template void launch_vectorized(const arguments<max, half>&, const device_traits&, cudaStream_t);
template void launch_vectorized(const arguments<max, bfloat16>&, const device_traits&, cudaStream_t);
template void launch_vectorized(const arguments<max, std::int32_t>&, const device_traits&, cudaStream_t);
template void launch_vectorized(const arguments<max, std::int64_t>&, const device_traits&, cudaStream_t);

}  // namespace heddle::kernels::reduce
