// naive: one kernel per parameter, one thread per element.
//
//   launch 0:  | 0 1 2 3 ... |       launch 1:  | 0 1 |       launch 2:  | 0 1 2 ...        one after another
//
// The formulas as they stand. It takes any sizes and alignments. But a network has a hundred parameters or more, most of
// them small. Each costs a launch, and its few blocks have the device to themselves.

#include "kernels/device/grid.hpp"
#include "kernels/device/launch.hpp"
#include "kernels/device/math.hpp"
#include "kernels/optimizer/instantiate.hpp"
#include "kernels/optimizer/update.cuh"

#include <algorithm>
#include <cstdint>

namespace heddle::kernels::optimizer {
namespace {

struct tile {
    static constexpr int threads = 256;
};

template <class Rule, class T, class Gradient>
__global__ void __launch_bounds__(tile::threads) naive(entry<T, Gradient> p, settings s) {
    const Rule rule(s);
    const std::int64_t step = std::int64_t{gridDim.x} * tile::threads;
    for (std::int64_t i = std::int64_t{blockIdx.x} * tile::threads + threadIdx.x; i < p.count; i += step)
        update<1>(p, i, rule);
}

}  // namespace

plan plan_naive(const optimizer_problem&, const device_traits&) {
    return {.threads = tile::threads, .most_blocks = max_grid_x};
}

template <class Rule, class T, class Gradient>
void launch_naive(const plan& plan, const arguments<Rule, T, Gradient>& arguments, cudaStream_t stream) {
    for (const auto& p : arguments.parameters) {
        if (p.count == 0) continue;
        const std::int64_t blocks = std::min(divide_up(p.count, plan.threads), plan.most_blocks);
        launch({.blocks = {blocks}, .threads = {plan.threads}, .stream = stream}, naive<Rule, T, Gradient>,
               entry_of(p), arguments.settings);
    }
}

HEDDLE_OPTIMIZER_LAUNCHES(launch_naive)

}  // namespace heddle::kernels::optimizer
