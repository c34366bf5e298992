#pragma once

#if HEDDLE_HAS_NPP

#include "benchmarks/support/rows.hpp"

#include <nppdefs.h>

#include <source_location>
#include <string>

namespace heddle::bench {

inline void check(NppStatus status, std::source_location where = std::source_location::current()) {
    if (status != NPP_SUCCESS) fail("NPP", "status " + std::to_string(static_cast<int>(status)), where);
}

/// For stream().
const NppStreamContext& npp_context();

std::string npp_version();

}  // namespace heddle::bench

#endif
