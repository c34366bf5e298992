#pragma once

#include "kernels/device/launch.hpp"
#include "kernels/reduce/families.cuh"
#include "kernels/reduce/levels.hpp"

#include <cstddef>
#include <cstdint>
#include <source_location>

namespace heddle::kernels::reduce {

/// Types of a kernel that combines vectors of From to partials of To.
template <class Operation, class From, class To>
struct level_types {};

/// Launches a plan of plan_levels(): first on x, then on the values that the launch before stored. The rung's kernel is
/// kernel_of(level_types).
template <class Operation, class T, class KernelOf>
void launch_levels(const plan& plan, const arguments<Operation, T>& arguments, cudaStream_t stream,
                   KernelOf kernel_of, std::source_location where = std::source_location::current()) {
    using result = result_type<Operation, T>;
    const auto operation = on_all_rungs<Operation>();
    using family = std::remove_const_t<decltype(operation)>;
    auto* partials = static_cast<result*>(arguments.partials);
    const auto launch_level = [&](std::int64_t blocks, auto kernel, const auto& input) {
        launch({.blocks = {blocks}, .threads = {plan.threads}, .stream = stream, .where = where}, kernel,
               operation, input, blocks == 1 ? arguments.result : partials);
    };
    launch_level(plan.blocks[0], kernel_of(level_types<family, T, result>{}), arguments.x);
    for (std::size_t i = 1; plan.blocks[i - 1] > 1; ++i) {
        const vector_view<const result> left{partials, plan.blocks[i - 1]};
        partials += left.size;
        launch_level(plan.blocks[i], kernel_of(level_types<family, result, result>{}), left);
    }
}

}  // namespace heddle::kernels::reduce
