// warp_shuffle: a bounded grid, and a tree through registers.
//
//   thread:  x[i] + x[i + grid] + x[i + 2 grid] + ...     in a register
//   warp:    five shuffles                                no shared memory, no barrier
//   block:   one value a warp, one barrier, five shuffles
//
// The tree is paid once per thread instead of once for every two elements. The grid is what the device holds, so
// two launches suffice for any size. A load instruction for every element is left, which a thread waits for
// before it issues the next, and the second launch. It takes any stride.

#include "kernels/device/block_reduce.cuh"
#include "kernels/device/launch.hpp"
#include "kernels/device/math.hpp"
#include "kernels/reduce/families.cuh"
#include "kernels/reduce/instantiate.hpp"
#include "kernels/reduce/levels.hpp"
#include "kernels/reduce/source.cuh"

namespace heddle::kernels::reduce {
namespace {

struct tile {
    static constexpr int threads = 256;
    static constexpr int blocks_per_sm = 8;
    static constexpr int registers_per_sm = 65536;
};

/// A lone block writes the result; others store their states.
template <class Operation, class Source, class State, class Result>
__global__ void __launch_bounds__(tile::threads,
                                  tile::registers_per_sm / (tile::threads * Operation::registers))
    warp_shuffle(Operation operation, Source x, State* partials, Result* result) {
    const std::int64_t first = std::int64_t{blockIdx.x} * tile::threads + threadIdx.x;
    const std::int64_t step = std::int64_t{gridDim.x} * tile::threads;

    State value = with_operation(operation, [&](auto asked) {
        State seen = asked.template identity<State>();
        for (std::int64_t i = first; i < x.packets(); i += step) {
            const typename Source::packet element[] = {x.load(i)};
            seen = asked(seen, asked.of(element, i));
        }
        return seen;
    });

    value = block_reduce(value, operation);
    if (threadIdx.x > 0) return;
    if (gridDim.x > 1)
        partials[blockIdx.x] = value;
    else
        *result = operation.template finish<Result>(value, x.size());
}

template <class Operation, class State, class Result>
__global__ void __launch_bounds__(tile::threads)
    combine_partials(Operation operation, const State* partials, int count, std::int64_t size,
                     Result* result) {
    State value = operation.template identity<State>();
    for (int i = static_cast<int>(threadIdx.x); i < count; i += tile::threads)
        value = operation(value, partials[i]);

    value = block_reduce(value, operation);
    if (threadIdx.x == 0) *result = operation.template finish<Result>(value, size);
}

}  // namespace

plan plan_warp_shuffle(const reduce_facts& problem, const device_traits& device) {
    const std::int64_t blocks = std::min<std::int64_t>(blocks_for(problem.size, tile::threads),
                                                       std::int64_t{device.sm_count} * tile::blocks_per_sm);
    const auto depth = [](std::int64_t size, std::int64_t threads) {
        return divide_up(size, threads) + block_reduce_depth;
    };
    plan result;
    result.blocks[0] = blocks;
    result.threads = tile::threads;
    result.depth = depth(problem.size, blocks * tile::threads);
    if (blocks > 1) {
        result.blocks[1] = 1;
        result.partials = blocks;
        result.depth += depth(blocks, tile::threads);
    }
    return result;
}

template <class Operation, class T>
void launch_warp_shuffle(const plan& plan, const arguments<Operation, T>& arguments, cudaStream_t stream) {
    const auto operation = in_family<Operation, T>();
    using family = std::remove_const_t<decltype(operation)>;
    using state = state_type<Operation, T>;
    using result = result_type<Operation, T>;
    const std::int64_t blocks = plan.blocks[0];
    auto* partials = static_cast<state*>(arguments.partials);
    with_elements(arguments, [&]<class Source>(const Source& x) {
        launch({.blocks = {blocks}, .threads = {plan.threads}, .stream = stream},
               warp_shuffle<family, Source, state, result>, operation, x, partials, arguments.result);
    });
    const auto combine = [&]<class Any>(Any any) {
        launch({.blocks = {plan.blocks[1]}, .threads = {plan.threads}, .stream = stream},
               combine_partials<Any, state, result>, any, partials, static_cast<int>(blocks),
               arguments.x.size, arguments.result);
    };
    if (blocks == 1) return;
    // Sums of products and counts are combined as sums of elements are.
    if constexpr (is_any_of<Operation, dot, count_nonzero>)
        combine(sums{});
    else
        combine(operation);
}

HEDDLE_REDUCTIONS(HEDDLE_REDUCE_LAUNCH, launch_warp_shuffle)

}  // namespace heddle::kernels::reduce
