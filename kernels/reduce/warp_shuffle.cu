// warp_shuffle: a bounded grid, and a tree through registers.
//
//   thread:  x[i] + x[i + grid] + x[i + 2 grid] + ...     in a register
//   warp:    five shuffles                                no shared memory, no barrier
//   block:   one value a warp, one barrier, five shuffles
//
// The tree is paid once a thread instead of once for every two elements, and the grid is what the device
// holds: two launches do for any size. What is left is a load instruction for every element, for which a thread
// waits before it issues the next, and the second launch. Any stride.

#include "kernels/device/block_reduce.cuh"
#include "kernels/device/launch.hpp"
#include "kernels/reduce/levels.hpp"
#include "kernels/reduce/source.cuh"

namespace heddle::kernels::reduce {
namespace {

struct tile {
    static constexpr int threads = 256;
    static constexpr int blocks_per_sm = 8;
    static constexpr int registers_per_sm = 65536;
};

/// A lone block writes the result, others their states.
template <class Operation, class T, class Source, class State, class Result>
__global__ void __launch_bounds__(tile::threads,
                                  tile::registers_per_sm / (tile::threads * Operation::registers))
    warp_shuffle(Source x, State* partials, Result* result) {
    const std::int64_t first = std::int64_t{blockIdx.x} * tile::threads + threadIdx.x;
    const std::int64_t step = std::int64_t{gridDim.x} * tile::threads;

    State value = Operation::template identity<State>();
    for (std::int64_t i = first; i < x.packets(); i += step) {
        const typename Source::packet element[] = {x.load(i)};
        value = Operation{}(value, Operation::of(element, i));
    }

    value = block_reduce(value, Operation{});
    if (threadIdx.x > 0) return;
    if (gridDim.x > 1)
        partials[blockIdx.x] = value;
    else
        *result = Operation::template finish<T>(value, x.size());
}

template <class Operation, class T, class State, class Result>
__global__ void __launch_bounds__(tile::threads)
    combine_partials(const State* partials, int count, std::int64_t size, Result* result) {
    State value = Operation::template identity<State>();
    for (int i = static_cast<int>(threadIdx.x); i < count; i += tile::threads)
        value = Operation{}(value, partials[i]);

    value = block_reduce(value, Operation{});
    if (threadIdx.x == 0) *result = Operation::template finish<T>(value, size);
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
    using state = state_type<Operation, T>;
    using result = result_type<Operation, T>;
    const std::int64_t size = arguments.x.size;
    const std::int64_t blocks = grid_of(size, device);
    auto* partials = static_cast<state*>(arguments.partials);
    with_elements(arguments, [&]<class Source>(const Source& x) {
        launch({.blocks = {blocks}, .threads = {tile::threads}, .stream = stream},
               warp_shuffle<Operation, T, Source, state, result>, x, partials, arguments.result);
    });
    if (blocks > 1)
        launch({.blocks = {1}, .threads = {tile::threads}, .stream = stream},
               combine_partials<Operation, T, state, result>, partials, static_cast<int>(blocks), size,
               arguments.result);
}

template void launch_warp_shuffle(const arguments<sum, double>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<sum, float>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<sum, half>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<sum, bfloat16>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<sum, std::int32_t>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<sum, std::int64_t>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<mean, double>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<mean, float>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<mean, half>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<mean, bfloat16>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<mean, std::int32_t>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<mean, std::int64_t>&, const device_traits&, cudaStream_t);
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
template void launch_warp_shuffle(const arguments<argmin, double>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<argmin, float>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<argmin, half>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<argmin, bfloat16>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<argmin, std::int32_t>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<argmin, std::int64_t>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<argmax, double>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<argmax, float>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<argmax, half>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<argmax, bfloat16>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<argmax, std::int32_t>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<argmax, std::int64_t>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<dot, double>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<dot, float>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<dot, half>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<dot, bfloat16>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<dot, std::int32_t>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<dot, std::int64_t>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<norm1, double>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<norm1, float>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<norm1, half>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<norm1, bfloat16>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<norm1, std::int32_t>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<norm1, std::int64_t>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<norm2, double>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<norm2, float>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<norm2, half>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<norm2, bfloat16>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<count_nonzero, double>&, const device_traits&,
                                  cudaStream_t);
template void launch_warp_shuffle(const arguments<count_nonzero, float>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<count_nonzero, half>&, const device_traits&, cudaStream_t);
template void launch_warp_shuffle(const arguments<count_nonzero, bfloat16>&, const device_traits&,
                                  cudaStream_t);
template void launch_warp_shuffle(const arguments<count_nonzero, std::int32_t>&, const device_traits&,
                                  cudaStream_t);
template void launch_warp_shuffle(const arguments<count_nonzero, std::int64_t>&, const device_traits&,
                                  cudaStream_t);

}  // namespace heddle::kernels::reduce
