// vectorized: 16 bytes a load, four loads in flight a thread.
//
//   x:       | e e | p p p p p p p p ... p p p | e |     p: a packet of 16 aligned bytes
//   thread:  packets i, i + grid, i + 2 grid, i + 3 grid: four loads, then a tree over their elements
//
// It has a quarter of the load instructions (an eighth for 2-byte types) and up to 128 KB under way in an SM. The
// grid's first threads take the few elements outside the packets, so any address runs at full speed. The loads
// are plain: past L1 (L1::no_allocate) they are slower. The second launch is left: small sizes wait longer for
// it than for the data. It needs stride 1.

#include "kernels/device/block_reduce.cuh"
#include "kernels/device/launch.hpp"
#include "kernels/reduce/families.cuh"
#include "kernels/reduce/instantiate.hpp"
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
    vectorized(Operation operation, contiguous<T> x, Result* partials) {
    const std::int64_t first = std::int64_t{blockIdx.x} * tile::threads + threadIdx.x;
    const int step = static_cast<int>(gridDim.x) * tile::threads;

    const Result value = with_operation(operation, [&](auto asked) {
        return block_reduce(accumulate<T, tile::unroll>(asked, x, first, step), asked);
    });
    if (threadIdx.x == 0) partials[blockIdx.x] = value;
}

}  // namespace

plan plan_vectorized(const reduce_facts& problem, const device_traits& device) {
    const auto width = static_cast<std::int64_t>(max_vector_bytes / problem.element_bytes);
    const std::int64_t blocks =
        std::min<std::int64_t>(blocks_for(problem.size, width * tile::threads * tile::unroll),
                               std::int64_t{device.sm_count} * tile::blocks_per_sm);
    const auto depth = [](std::int64_t packets, std::int64_t packet_width, std::int64_t threads) {
        return accumulate_depth(packets, packet_width, tile::unroll, threads) + block_reduce_depth;
    };
    plan result;
    result.blocks[0] = blocks;
    result.threads = tile::threads;
    result.depth = depth(problem.size / width, width, blocks * tile::threads);
    if (blocks > 1) {
        result.blocks[1] = 1;
        result.partials = blocks;
        result.depth += depth(blocks / 2, 8, tile::threads);  // a packet has 2 to 8, by operation and type
    }
    return result;
}

template <class Operation, class T>
void launch_vectorized(const plan& plan, const arguments<Operation, T>& arguments, cudaStream_t stream) {
    using result = result_type<Operation, T>;
    const auto operation = on_all_rungs<Operation>();
    using family = std::remove_const_t<decltype(operation)>;
    const std::int64_t blocks = plan.blocks[0];
    auto* partials = static_cast<result*>(arguments.partials);
    launch({.blocks = {blocks}, .threads = {plan.threads}, .stream = stream}, vectorized<family, T, result>,
           operation, contiguous(arguments.x), blocks == 1 ? arguments.result : partials);
    if (blocks > 1)
        launch({.blocks = {plan.blocks[1]}, .threads = {plan.threads}, .stream = stream},
               vectorized<family, result, result>, operation,
               contiguous(vector_view<const result>{partials, blocks}), arguments.result);
}

HEDDLE_REDUCTIONS_ON_ALL_RUNGS(HEDDLE_REDUCE_LAUNCH, launch_vectorized)

}  // namespace heddle::kernels::reduce
