// advance: *step += 1, by one thread.
//
// It is a launch of its own, so the kernels of a step only read the counter. All of them see the same value, and lists of
// parameters that share a step share the counter.

#include "kernels/device/launch.hpp"
#include "kernels/optimizer/launch.hpp"

namespace heddle::kernels::optimizer {
namespace {

__global__ void advance(std::int64_t* step) {
    ++*step;
}

}  // namespace

void launch_advance(std::int64_t* step, cudaStream_t stream) {
    launch({.blocks = {1}, .threads = {1}, .stream = stream}, advance, step);
}

}  // namespace heddle::kernels::optimizer
