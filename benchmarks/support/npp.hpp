#pragma once

#if HEDDLE_HAS_NPP

#include "benchmarks/support/rows.hpp"
#include <heddle/view.hpp>

#include <nppdefs.h>

#include <cstdint>
#include <source_location>
#include <string>

namespace heddle::bench {

inline void check(NppStatus status, std::source_location where = std::source_location::current()) {
    if (status != NPP_SUCCESS) fail("NPP", "status " + std::to_string(static_cast<int>(status)), where);
}

/// For stream().
const NppStreamContext& npp_context();

std::string npp_version();

template <class T>
NppiSize npp_size(const image_view<T>& image) {
    return {static_cast<int>(image.width), static_cast<int>(image.height)};
}

template <class T>
int npp_step(const image_view<T>& image) {
    return static_cast<int>(image.row_stride * std::int64_t{sizeof(T)});
}

}  // namespace heddle::bench

#endif
