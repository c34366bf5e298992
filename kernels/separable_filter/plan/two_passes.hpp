#pragma once

#include "kernels/separable_filter/facts.hpp"
#include "kernels/separable_filter/plan/grids.hpp"
#include "kernels/separable_filter/plan/intermediate_image.hpp"
#include "kernels/separable_filter/plan/window.hpp"

#include <cstdint>

namespace heddle::kernels::separable_filter {

inline intermediate_image intermediate_of(const filter_facts& p) {
    intermediate_image image = intermediate_rows(p.source_height, p.y, p.height, p.radius.y, p.border);
    image.stride = (p.row_values() + 3) / 4 * 4;  // rows start at multiples of 16 bytes
    return image;
}

struct two_pass_plan {
    intermediate_image between;
    std::int64_t scratch_bytes;  ///< what `between` takes at most, whatever the region and the border
    kernel_grid along_x;
    kernel_grid along_y;
};

inline std::int64_t scratch_bytes_between(const filter_facts& p) {
    return p.images * p.rows_between * intermediate_of(p).stride * std::int64_t{sizeof(float)};
}

}  // namespace heddle::kernels::separable_filter
