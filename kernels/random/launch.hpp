#pragma once

#include "kernels/device/launch.hpp"
#include "kernels/random/facts.hpp"
#include <heddle/device.hpp>
#include <heddle/random.hpp>
#include <heddle/view.hpp>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace heddle::kernels::random {

/// Numbers that follow from a call's scalars. Each operation uses its own.
struct scalars {
    // uniform: low + u * width, kept within [least, most]. normal: low is the mean, width the deviation.
    double low = 0;
    double width = 1;
    double least = 0;
    double most = 1;
    /// bernoulli gives 1, and dropout 0, where the word is below this threshold of 0 to 2^32.
    std::uint64_t threshold = 0;
    double scale = 1;  ///< factor of the elements that dropout keeps
};

/// The operands are matrices, and none is empty. x is the input where there is one, and y the output.
struct arguments {
    detail::random_operation operation;
    detail::random_type type;
    matrix_view<const void> x;
    matrix_view<void> y;
    philox generator;
    random::scalars scalars;
};

/// How a rung computes a problem.
struct plan {
    launch_extents blocks{1};
    launch_extents threads{1};
    bool is_down = false;  ///< counter_per_thread: a warp's lanes take different rows
    int packets = 1;       ///< vectorized: packets of 16 bytes per thread
};

/// Each rung has a plan and a launch. The plan is pure. It takes the problems that meet the needs in the rung's row.
/// The launch draws the numbers of the arguments, by the plan for them.
#define DECLARE(rung, ...)                                                      \
    plan plan_##rung(const random_facts& problem, const device_traits& device); \
    void launch_##rung(const plan& plan, const arguments& arguments, cudaStream_t stream);
HEDDLE_RANDOM_RUNGS(DECLARE)
#undef DECLARE

/// y has 1 to 2^31 elements.
void launch_permutation(vector_view<std::int32_t> y, const philox& generator, cudaStream_t stream);

}  // namespace heddle::kernels::random
