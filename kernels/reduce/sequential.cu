// sequential: the same tree with the active threads side by side.
//
//   step 4:  0<-4  1<-5  2<-6  3<-7     threads 0..3
//   step 2:  0<-2  1<-3                 threads 0..1
//   step 1:  0<-1                       thread  0
//
// Whole warps now leave the tree instead of running on for a few threads. Neighbours read neighbouring banks,
// and a comparison replaces the modulo. Still half the threads only load one element, and the partials of every
// 256 elements go through memory to one more launch. It takes any stride.

#include "kernels/device/ptx/sync.cuh"
#include "kernels/reduce/instantiate.hpp"
#include "kernels/reduce/levels.cuh"

namespace heddle::kernels::reduce {
namespace {

struct tile {
    static constexpr int threads = 256;
    static constexpr int depth = 8;
    static_assert(threads == 1 << depth);
};

template <class Operation, class T, class Result>
__global__ void __launch_bounds__(tile::threads)
    sequential(Operation operation, vector_view<const T> x, Result* partials) {
    __shared__ Result values[tile::threads];
    const int thread = static_cast<int>(threadIdx.x);
    const std::int64_t i = std::int64_t{blockIdx.x} * tile::threads + thread;

    values[thread] =
        i < x.size ? static_cast<Result>(x.data[i * x.stride]) : operation.template identity<Result>();
    ptx::sync_threads();

    with_operation(operation, [&](auto asked) {
        for (int step = tile::threads / 2; step > 0; step /= 2) {
            if (thread < step) values[thread] = asked(values[thread], values[thread + step]);
            ptx::sync_threads();
        }
    });

    if (thread == 0) partials[blockIdx.x] = values[0];
}

}  // namespace

plan plan_sequential(const reduce_facts& problem, const device_traits&) {
    return plan_levels(problem.size, tile::threads, tile::threads, tile::depth);
}

template <class Operation, class T>
void launch_sequential(const plan& plan, const arguments<Operation, T>& arguments, cudaStream_t stream) {
    launch_levels(plan, arguments, stream,
                  []<class Family, class From, class To>(level_types<Family, From, To>) {
                      return sequential<Family, From, To>;
                  });
}

HEDDLE_REDUCTIONS_ON_ALL_RUNGS(HEDDLE_REDUCE_LAUNCH, launch_sequential)

}  // namespace heddle::kernels::reduce
