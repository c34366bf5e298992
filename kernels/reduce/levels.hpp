#pragma once

#include "kernels/reduce/launch.hpp"

#include <algorithm>
#include <cstdint>

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

}  // namespace heddle::kernels::reduce
