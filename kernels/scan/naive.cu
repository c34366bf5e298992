// naive: one block walks the vector, 1024 elements at a time.
//
//   sums:  x0   x1      x2         x3            one element a thread
//          x0   x0..1   x1..2      x2..3         + the neighbour 1 to the left
//          x0   x0..1   x0..2      x0..3         + the neighbour 2 to the left; then 4, 8, ... 512
//   y = carry + sums; carry += the last of them
//
// Hillis and Steele's scan, in shared memory: log2(n) steps, each a barrier, and n log2(n) additions where
// n - 1 would do. Two copies of the sums take turns, so that one barrier a step is enough.
//
// It takes any stride. One SM does all the work and waits for memory and barriers; all others idle.

#include "kernels/device/launch.hpp"
#include "kernels/device/launchers.hpp"
#include "kernels/device/ptx/sync.cuh"
#include "kernels/scan/launch.hpp"
#include "kernels/scan/plus.cuh"

namespace heddle::kernels::scan {
namespace {

struct tile {
    static constexpr int threads = 1024;
    static constexpr int steps = 10;
    static_assert(threads == 1 << steps);
};

template <class T>
__global__ void __launch_bounds__(tile::threads)
    naive(vector_view<const T> x, vector_view<T> y, scan::kind kind) {
    __shared__ T sums[2][tile::threads];
    const int thread = static_cast<int>(threadIdx.x);
    T carry{};
    for (std::int64_t first = 0; first < x.size; first += tile::threads) {
        const std::int64_t i = first + thread;
        sums[0][thread] = i < x.size ? x.data[i * x.stride] : T{};
        ptx::sync_threads();

        int now = 0;
        for (int distance = 1; distance < tile::threads; distance *= 2) {
            T sum = sums[now][thread];
            if (thread >= distance) sum = plus{}(sums[now][thread - distance], sum);
            now = 1 - now;
            sums[now][thread] = sum;
            ptx::sync_threads();
        }

        const int last = kind == kind::inclusive ? thread : thread - 1;
        if (i < x.size) y.data[i * y.stride] = last < 0 ? carry : plus{}(carry, sums[now][last]);
        carry = plus{}(carry, sums[now][tile::threads - 1]);
        ptx::sync_threads();
    }
}

}  // namespace

plan plan_naive(const scan_facts& problem, const device_traits&) {
    return {.depth = tile::steps + problem.size / tile::threads + 1};
}

template <class T>
void launch_naive(const plan& plan, const arguments<T>& arguments, cudaStream_t stream) {
    launch({.blocks = {plan.blocks}, .threads = {tile::threads}, .stream = stream}, naive<T>, arguments.x,
           arguments.y, arguments.kind);
}

HEDDLE_WIDE_TYPES(HEDDLE_LAUNCH, launch_naive, plan, arguments)

}  // namespace heddle::kernels::scan
