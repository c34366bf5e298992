#pragma once

#include "kernels/device/launch.hpp"
#include "kernels/reduce/launch.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <source_location>

namespace heddle::kernels::reduce {

/// Blocks that cover `size` elements, with `elements` each. An empty problem has one, which writes the identity.
inline std::int64_t blocks_for(std::int64_t size, std::int64_t elements) {
    return std::max<std::int64_t>(1, size / elements + (size % elements != 0 ? 1 : 0));
}

/// The plan of a rung that is launched until one value is left. Each block turns `elements` values into one
/// through `depth` combinations.
inline plan plan_levels(std::int64_t size, std::int64_t elements, std::int64_t threads, std::int64_t depth) {
    plan result;
    result.threads = threads;
    std::int64_t left = size;
    for (std::int64_t& blocks : result.blocks) {
        blocks = left = blocks_for(left, elements);
        result.depth += depth;
        if (left == 1) break;
        result.partials += left;
    }
    return result;
}

/// Launches a plan of plan_levels(): `first` on x, and `next` on the values that the launch before stored.
template <class Operation, class T, class Result>
void launch_levels(const plan& plan, Operation operation,
                   void (*first)(Operation, vector_view<const T>, Result*),
                   void (*next)(Operation, vector_view<const Result>, Result*), vector_view<const T> x,
                   Result* partials, Result* result, cudaStream_t stream,
                   std::source_location where = std::source_location::current()) {
    const auto launch_level = [&](std::int64_t blocks, auto kernel, const auto& input) {
        launch({.blocks = {blocks}, .threads = {plan.threads}, .stream = stream, .where = where}, kernel,
               operation, input, blocks == 1 ? result : partials);
    };
    launch_level(plan.blocks[0], first, x);
    for (std::size_t i = 1; plan.blocks[i - 1] > 1; ++i) {
        const vector_view<const Result> left{partials, plan.blocks[i - 1]};
        partials += left.size;
        launch_level(plan.blocks[i], next, left);
    }
}

}  // namespace heddle::kernels::reduce
