// sequential: the same tree with the active threads side by side.
//
//   step 4:  0<-4  1<-5  2<-6  3<-7     threads 0..3
//   step 2:  0<-2  1<-3                 threads 0..1
//   step 1:  0<-1                       thread  0
//
// Warps now leave the tree whole instead of running on for a few threads, neighbours read neighbouring banks,
// and a comparison takes the modulo's place. Still half the threads do nothing but load one element, and the
// partials of every 256 elements go through memory to one more launch. Any stride.

#include "kernels/device/launch.hpp"
#include "kernels/reduce/levels.hpp"
#include "kernels/reduce/operations.cuh"

namespace heddle::kernels::reduce {
namespace {

struct tile {
    static constexpr int threads = 256;
    static constexpr int depth = 8;
    static_assert(threads == 1 << depth);
};

template <class Operation, class T, class Result>
__global__ void __launch_bounds__(tile::threads) sequential(vector_view<const T> x, Result* partials) {
    __shared__ Result values[tile::threads];
    const int thread = static_cast<int>(threadIdx.x);
    const std::int64_t i = std::int64_t{blockIdx.x} * tile::threads + thread;

    values[thread] =
        i < x.size ? static_cast<Result>(x.data[i * x.stride]) : Operation::template identity<Result>();
    __syncthreads();

    for (int step = tile::threads / 2; step > 0; step /= 2) {
        if (thread < step) values[thread] = Operation{}(values[thread], values[thread + step]);
        __syncthreads();
    }

    if (thread == 0) partials[blockIdx.x] = values[0];
}

}  // namespace

plan plan_sequential(const reduce_problem& problem, const device_traits&) {
    return plan_levels(problem.size, tile::threads, tile::depth);
}

template <class Operation, class T>
void launch_sequential(const arguments<Operation, T>& arguments, const device_traits&, cudaStream_t stream) {
    using result = result_type<Operation, T>;
    std::int64_t blocks = blocks_for(arguments.x.size, tile::threads);
    result* output = blocks == 1 ? arguments.result : static_cast<result*>(arguments.partials);
    launch({.blocks = {blocks}, .threads = {tile::threads}, .stream = stream},
           sequential<Operation, T, result>, arguments.x, output);
    while (blocks > 1) {
        const vector_view<const result> input{output, blocks};
        blocks = blocks_for(input.size, tile::threads);
        output = blocks == 1 ? arguments.result : output + input.size;
        launch({.blocks = {blocks}, .threads = {tile::threads}, .stream = stream},
               sequential<Operation, result, result>, input, output);
    }
}

template void launch_sequential(const arguments<sum, double>&, const device_traits&, cudaStream_t);
template void launch_sequential(const arguments<sum, float>&, const device_traits&, cudaStream_t);
template void launch_sequential(const arguments<sum, half>&, const device_traits&, cudaStream_t);
template void launch_sequential(const arguments<sum, bfloat16>&, const device_traits&, cudaStream_t);
template void launch_sequential(const arguments<sum, std::int32_t>&, const device_traits&, cudaStream_t);
template void launch_sequential(const arguments<sum, std::int64_t>&, const device_traits&, cudaStream_t);
template void launch_sequential(const arguments<min, double>&, const device_traits&, cudaStream_t);
template void launch_sequential(const arguments<min, float>&, const device_traits&, cudaStream_t);
template void launch_sequential(const arguments<min, half>&, const device_traits&, cudaStream_t);
template void launch_sequential(const arguments<min, bfloat16>&, const device_traits&, cudaStream_t);
template void launch_sequential(const arguments<min, std::int32_t>&, const device_traits&, cudaStream_t);
template void launch_sequential(const arguments<min, std::int64_t>&, const device_traits&, cudaStream_t);
template void launch_sequential(const arguments<max, double>&, const device_traits&, cudaStream_t);
template void launch_sequential(const arguments<max, float>&, const device_traits&, cudaStream_t);
template void launch_sequential(const arguments<max, half>&, const device_traits&, cudaStream_t);
template void launch_sequential(const arguments<max, bfloat16>&, const device_traits&, cudaStream_t);
template void launch_sequential(const arguments<max, std::int32_t>&, const device_traits&, cudaStream_t);
template void launch_sequential(const arguments<max, std::int64_t>&, const device_traits&, cudaStream_t);

}  // namespace heddle::kernels::reduce
