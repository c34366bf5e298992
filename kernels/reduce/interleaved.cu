// interleaved: a tree in shared memory whose active threads are spread out.
//
//   step 1:  0<-1  2<-3  4<-5  6<-7     threads 0, 2, 4, 6
//   step 2:  0<-2        4<-6           threads 0, 4
//   step 4:  0<-4                       thread  0
//
// A block turns one tile of 256 elements into one partial result; the kernel is launched on the partials
// again until one is left. The tree's shape costs most. After one step half the threads of every warp idle, and
// after five steps whole warps run for one thread each. The modulo is slow too. It takes any stride.

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
    interleaved(Operation operation, vector_view<const T> x, Result* partials) {
    __shared__ Result values[tile::threads];
    const int thread = static_cast<int>(threadIdx.x);
    const std::int64_t i = std::int64_t{blockIdx.x} * tile::threads + thread;

    values[thread] =
        i < x.size ? static_cast<Result>(x.data[i * x.stride]) : operation.template identity<Result>();
    ptx::sync_threads();

    with_operation(operation, [&](auto asked) {
        for (int step = 1; step < tile::threads; step *= 2) {
            if (thread % (2 * step) == 0) values[thread] = asked(values[thread], values[thread + step]);
            ptx::sync_threads();
        }
    });

    if (thread == 0) partials[blockIdx.x] = values[0];
}

}  // namespace

plan plan_interleaved(const reduce_facts& problem, const device_traits&) {
    return plan_levels(problem.size, tile::threads, tile::threads, tile::depth);
}

template <class Operation, class T>
void launch_interleaved(const plan& plan, const arguments<Operation, T>& arguments, cudaStream_t stream) {
    launch_levels(plan, arguments, stream,
                  []<class Family, class From, class To>(level_types<Family, From, To>) {
                      return interleaved<Family, From, To>;
                  });
}

HEDDLE_REDUCTIONS_ON_ALL_RUNGS(HEDDLE_REDUCE_LAUNCH, launch_interleaved)

}  // namespace heddle::kernels::reduce
