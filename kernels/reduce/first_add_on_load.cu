// first_add_on_load: every thread combines two elements before the tree begins.
//
//   a tile of 512:  | 0 1 2 ... 255 | 256 257 ... 511 |
//   thread i:         x[i]      +     x[i + 256]
//
// No thread is idle in the first step any more, two loads are in flight a thread, and half as many blocks and
// partials are needed for the same data. What limits it is the tree: eight steps with a barrier each for
// only two loads a thread. Any stride.

#include "kernels/device/launch.hpp"
#include "kernels/reduce/levels.hpp"
#include "kernels/reduce/operations.cuh"

namespace heddle::kernels::reduce {
namespace {

struct tile {
    static constexpr int threads = 256;
    static constexpr int elements = 2 * threads;
    static constexpr int depth = 9;
    static_assert(elements == 1 << depth);
};

template <class Operation, class T, class Result>
__global__ void __launch_bounds__(tile::threads) first_add_on_load(vector_view<const T> x, Result* partials) {
    __shared__ Result values[tile::threads];
    const int thread = static_cast<int>(threadIdx.x);
    const std::int64_t i = std::int64_t{blockIdx.x} * tile::elements + thread;
    const auto element = [&](std::int64_t index) {
        return index < x.size ? static_cast<Result>(x.data[index * x.stride])
                              : Operation::template identity<Result>();
    };

    values[thread] = Operation{}(element(i), element(i + tile::threads));
    __syncthreads();

    for (int step = tile::threads / 2; step > 0; step /= 2) {
        if (thread < step) values[thread] = Operation{}(values[thread], values[thread + step]);
        __syncthreads();
    }

    if (thread == 0) partials[blockIdx.x] = values[0];
}

}  // namespace

plan plan_first_add_on_load(const reduce_problem& problem, const device_traits&) {
    return plan_levels(problem.size, tile::elements, tile::depth);
}

template <class Operation, class T>
void launch_first_add_on_load(const arguments<Operation, T>& arguments, const device_traits&,
                              cudaStream_t stream) {
    using result = result_type<Operation, T>;
    std::int64_t blocks = blocks_for(arguments.x.size, tile::elements);
    result* output = blocks == 1 ? arguments.result : static_cast<result*>(arguments.partials);
    launch({.blocks = {blocks}, .threads = {tile::threads}, .stream = stream},
           first_add_on_load<Operation, T, result>, arguments.x, output);
    while (blocks > 1) {
        const vector_view<const result> input{output, blocks};
        blocks = blocks_for(input.size, tile::elements);
        output = blocks == 1 ? arguments.result : output + input.size;
        launch({.blocks = {blocks}, .threads = {tile::threads}, .stream = stream},
               first_add_on_load<Operation, result, result>, input, output);
    }
}

template void launch_first_add_on_load(const arguments<sum, double>&, const device_traits&, cudaStream_t);
template void launch_first_add_on_load(const arguments<sum, float>&, const device_traits&, cudaStream_t);
template void launch_first_add_on_load(const arguments<sum, half>&, const device_traits&, cudaStream_t);
template void launch_first_add_on_load(const arguments<sum, bfloat16>&, const device_traits&, cudaStream_t);
template void launch_first_add_on_load(const arguments<sum, std::int32_t>&, const device_traits&,
                                       cudaStream_t);
template void launch_first_add_on_load(const arguments<sum, std::int64_t>&, const device_traits&,
                                       cudaStream_t);
template void launch_first_add_on_load(const arguments<min, double>&, const device_traits&, cudaStream_t);
template void launch_first_add_on_load(const arguments<min, float>&, const device_traits&, cudaStream_t);
template void launch_first_add_on_load(const arguments<min, half>&, const device_traits&, cudaStream_t);
template void launch_first_add_on_load(const arguments<min, bfloat16>&, const device_traits&, cudaStream_t);
template void launch_first_add_on_load(const arguments<min, std::int32_t>&, const device_traits&,
                                       cudaStream_t);
template void launch_first_add_on_load(const arguments<min, std::int64_t>&, const device_traits&,
                                       cudaStream_t);
template void launch_first_add_on_load(const arguments<max, double>&, const device_traits&, cudaStream_t);
template void launch_first_add_on_load(const arguments<max, float>&, const device_traits&, cudaStream_t);
template void launch_first_add_on_load(const arguments<max, half>&, const device_traits&, cudaStream_t);
template void launch_first_add_on_load(const arguments<max, bfloat16>&, const device_traits&, cudaStream_t);
template void launch_first_add_on_load(const arguments<max, std::int32_t>&, const device_traits&,
                                       cudaStream_t);
template void launch_first_add_on_load(const arguments<max, std::int64_t>&, const device_traits&,
                                       cudaStream_t);

}  // namespace heddle::kernels::reduce
