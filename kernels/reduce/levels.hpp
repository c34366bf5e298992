#pragma once

#include "kernels/reduce/launch.hpp"

#include <algorithm>

namespace heddle::kernels::reduce {

/// Blocks that cover `size` elements, `elements` each; one for an empty problem, to write the identity.
inline std::int64_t blocks_for(std::int64_t size, std::int64_t elements) {
    return std::max<std::int64_t>(1, size / elements + (size % elements != 0 ? 1 : 0));
}

/// Of a rung that is launched until one value is left, each block turning `elements` values into one through
/// `depth` combinations.
inline plan plan_levels(std::int64_t size, std::int64_t elements, std::int64_t depth) {
    plan result{.partials = 0, .depth = depth};
    for (std::int64_t blocks = blocks_for(size, elements); blocks > 1;
         blocks = blocks_for(blocks, elements)) {
        result.partials += blocks;
        result.depth += depth;
    }
    return result;
}

}  // namespace heddle::kernels::reduce
