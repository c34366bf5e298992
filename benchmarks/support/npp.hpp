#pragma once

#include "benchmarks/support/headers.hpp"

#if HEDDLE_HAS_NPP

#include "benchmarks/support/loaded_library.hpp"

#include <nppcore.h>
#include <nppi_filtering_functions.h>

namespace heddle::bench {

const loaded_library& npp_library();

HEDDLE_LOADED(npp_library, nppGetLibVersion, nppiFilterLaplaceBorder_8u16s_C1R_Ctx,
              nppiFilterSobelHorizBorder_8u16s_C1R_Ctx, nppiFilterSobelVertBorder_8u16s_C1R_Ctx);

/// NPP's function for a number of channels.
/// @throws unsupported  NPP has none for it
template <class Function>
Function* npp_function(std::int64_t channels, const loaded_function<Function>& one,
                       const loaded_function<Function>& three, const loaded_function<Function>& four) {
    if (channels == 2) throw unsupported("two channels");
    return channels == 1 ? one : channels == 3 ? three : four;
}

/// Loads NPP's functions of this name for one, three and four channels. <name>_of(channels) returns the one for so many.
#define HEDDLE_NPP_LOADED(name)                                                        \
    HEDDLE_LOADED(npp_library, name##_C1R_Ctx);                                        \
    HEDDLE_LOADED(npp_library, name##_C3R_Ctx);                                        \
    HEDDLE_LOADED(npp_library, name##_C4R_Ctx);                                        \
    inline auto* name##_of(std::int64_t channels) {                                    \
        return npp_function(channels, name##_C1R_Ctx, name##_C3R_Ctx, name##_C4R_Ctx); \
    }

/// Loads NPP's functions of these names. function<T>(channels) returns the one for T, which is uint8_t, uint16_t or float.
#define HEDDLE_NPP_FILTER(function, of_8_bit, of_16_bit, of_float) \
    HEDDLE_NPP_LOADED(of_8_bit)                                    \
    HEDDLE_NPP_LOADED(of_16_bit)                                   \
    HEDDLE_NPP_LOADED(of_float)                                    \
    template <class T>                                             \
    auto* function(std::int64_t channels) {                        \
        if constexpr (std::is_same_v<T, float>)                    \
            return of_float##_of(channels);                        \
        else if constexpr (std::is_same_v<T, std::uint16_t>)       \
            return of_16_bit##_of(channels);                       \
        else                                                       \
            return of_8_bit##_of(channels);                        \
    }

HEDDLE_NPP_FILTER(npp_box_function, nppiFilterBoxBorder_8u, nppiFilterBoxBorder_16u, nppiFilterBoxBorder_32f)
HEDDLE_NPP_FILTER(npp_mask_function, nppiFilterGaussBorder_8u, nppiFilterGaussBorder_16u,
                  nppiFilterGaussBorder_32f)
HEDDLE_NPP_FILTER(npp_gauss_function, nppiFilterGaussAdvancedBorder_8u, nppiFilterGaussAdvancedBorder_16u,
                  nppiFilterGaussAdvancedBorder_32f)
HEDDLE_NPP_LOADED(nppiFilterLaplaceBorder_32f)
HEDDLE_NPP_LOADED(nppiFilterSobelHorizBorder_32f)
HEDDLE_NPP_LOADED(nppiFilterSobelVertBorder_32f)

inline void check(NppStatus status, std::source_location where = std::source_location::current()) {
    if (status != NPP_SUCCESS) fail("NPP", "status " + std::to_string(static_cast<int>(status)), where);
}

/// For stream().
const NppStreamContext& npp_context();

template <class T>
NppiSize npp_size(const image_view<T>& image) {
    return {static_cast<int>(image.width), static_cast<int>(image.height)};
}

template <class T>
int npp_step(const image_view<T>& image) {
    return static_cast<int>(image.row_stride * std::int64_t{sizeof(T)});
}

/// Calls a filter of NPP's on one image with its borders replicated. `window` are the arguments between sizes and border.
template <class From, class To>
void npp_filter(const auto& function, const image_view<From>& from, const image_view<To>& to,
                auto... window) {
    check(function(from.data, npp_step(from), npp_size(from), {0, 0}, to.data, npp_step(to), npp_size(to),
                   window..., NPP_BORDER_REPLICATE, npp_context()));
}

}  // namespace heddle::bench

#endif
