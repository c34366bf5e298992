// first_add_on_load: every thread combines two elements before the tree begins.
//
//   a tile of 512:  | 0 1 2 ... 255 | 256 257 ... 511 |
//   thread i:         x[i]      +     x[i + 256]
//
// No thread is idle in the first step any more. A thread has two loads in flight, and the same data needs half as
// many blocks and partials. The tree limits it: eight steps, each with a barrier, for only two loads per
// thread. It takes any stride.

#include "kernels/device/ptx/sync.cuh"
#include "kernels/reduce/instantiate.hpp"
#include "kernels/reduce/levels.cuh"

namespace heddle::kernels::reduce {
namespace {

struct tile {
    static constexpr int threads = 256;
    static constexpr int elements = 2 * threads;
    static constexpr int depth = 9;
    static_assert(elements == 1 << depth);
};

template <class Operation, class T, class Result>
__global__ void __launch_bounds__(tile::threads)
    first_add_on_load(Operation operation, vector_view<const T> x, Result* partials) {
    __shared__ Result values[tile::threads];
    const int thread = static_cast<int>(threadIdx.x);
    const std::int64_t i = std::int64_t{blockIdx.x} * tile::elements + thread;
    const auto element = [&](std::int64_t index) {
        return index < x.size ? static_cast<Result>(x.data[index * x.stride])
                              : operation.template identity<Result>();
    };

    with_operation(operation, [&](auto asked) {
        values[thread] = asked(element(i), element(i + tile::threads));
        ptx::sync_threads();

        for (int step = tile::threads / 2; step > 0; step /= 2) {
            if (thread < step) values[thread] = asked(values[thread], values[thread + step]);
            ptx::sync_threads();
        }
    });

    if (thread == 0) partials[blockIdx.x] = values[0];
}

}  // namespace

plan plan_first_add_on_load(const reduce_facts& problem, const device_traits&) {
    return plan_levels(problem.size, tile::elements, tile::threads, tile::depth);
}

template <class Operation, class T>
void launch_first_add_on_load(const plan& plan, const arguments<Operation, T>& arguments,
                              cudaStream_t stream) {
    launch_levels(plan, arguments, stream,
                  []<class Family, class From, class To>(level_types<Family, From, To>) {
                      return first_add_on_load<Family, From, To>;
                  });
}

HEDDLE_REDUCTIONS_ON_ALL_RUNGS(HEDDLE_REDUCE_LAUNCH, launch_first_add_on_load)

}  // namespace heddle::kernels::reduce
