#pragma once

#include <cstdint>

namespace heddle::kernels::loss {

/// How label_hits shares out rows whose elements lie side by side.
struct hits_sharing {
    static constexpr std::int64_t most_bytes_of_warp = 8192;  ///< longest row of a warp; a block takes others
};

}  // namespace heddle::kernels::loss
