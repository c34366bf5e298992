#pragma once

#include <heddle_baselines.hpp>

#if HEDDLE_HAS_NPP

#include "benchmarks/support/loaded_library.hpp"
#include "benchmarks/support/rows.hpp"
#include <heddle/view.hpp>

#include <nppcore.h>
#include <nppi_filtering_functions.h>

#include <cstdint>
#include <source_location>
#include <string>

namespace heddle::bench {

const loaded_library& npp_library();

HEDDLE_LOADED(npp_library, nppGetLibVersion);
HEDDLE_LOADED(npp_library, nppiFilterBoxBorder_32f_C1R_Ctx);
HEDDLE_LOADED(npp_library, nppiFilterBoxBorder_32f_C3R_Ctx);
HEDDLE_LOADED(npp_library, nppiFilterBoxBorder_32f_C4R_Ctx);
HEDDLE_LOADED(npp_library, nppiFilterBoxBorder_8u_C1R_Ctx);
HEDDLE_LOADED(npp_library, nppiFilterBoxBorder_8u_C3R_Ctx);
HEDDLE_LOADED(npp_library, nppiFilterBoxBorder_8u_C4R_Ctx);
HEDDLE_LOADED(npp_library, nppiFilterGaussAdvancedBorder_16u_C1R_Ctx);
HEDDLE_LOADED(npp_library, nppiFilterGaussAdvancedBorder_16u_C3R_Ctx);
HEDDLE_LOADED(npp_library, nppiFilterGaussAdvancedBorder_16u_C4R_Ctx);
HEDDLE_LOADED(npp_library, nppiFilterGaussAdvancedBorder_32f_C1R_Ctx);
HEDDLE_LOADED(npp_library, nppiFilterGaussAdvancedBorder_32f_C3R_Ctx);
HEDDLE_LOADED(npp_library, nppiFilterGaussAdvancedBorder_32f_C4R_Ctx);
HEDDLE_LOADED(npp_library, nppiFilterGaussAdvancedBorder_8u_C1R_Ctx);
HEDDLE_LOADED(npp_library, nppiFilterGaussAdvancedBorder_8u_C3R_Ctx);
HEDDLE_LOADED(npp_library, nppiFilterGaussAdvancedBorder_8u_C4R_Ctx);
HEDDLE_LOADED(npp_library, nppiFilterGaussBorder_16u_C1R_Ctx);
HEDDLE_LOADED(npp_library, nppiFilterGaussBorder_16u_C3R_Ctx);
HEDDLE_LOADED(npp_library, nppiFilterGaussBorder_16u_C4R_Ctx);
HEDDLE_LOADED(npp_library, nppiFilterGaussBorder_32f_C1R_Ctx);
HEDDLE_LOADED(npp_library, nppiFilterGaussBorder_32f_C3R_Ctx);
HEDDLE_LOADED(npp_library, nppiFilterGaussBorder_32f_C4R_Ctx);
HEDDLE_LOADED(npp_library, nppiFilterGaussBorder_8u_C1R_Ctx);
HEDDLE_LOADED(npp_library, nppiFilterGaussBorder_8u_C3R_Ctx);
HEDDLE_LOADED(npp_library, nppiFilterGaussBorder_8u_C4R_Ctx);
HEDDLE_LOADED(npp_library, nppiFilterLaplaceBorder_32f_C1R_Ctx);
HEDDLE_LOADED(npp_library, nppiFilterLaplaceBorder_8u16s_C1R_Ctx);
HEDDLE_LOADED(npp_library, nppiFilterSobelHorizBorder_32f_C1R_Ctx);
HEDDLE_LOADED(npp_library, nppiFilterSobelHorizBorder_8u16s_C1R_Ctx);
HEDDLE_LOADED(npp_library, nppiFilterSobelVertBorder_32f_C1R_Ctx);
HEDDLE_LOADED(npp_library, nppiFilterSobelVertBorder_8u16s_C1R_Ctx);

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
