#pragma once

#include "kernels/gaussian_blur/facts.hpp"
#include "kernels/gaussian_blur/plan/grids.hpp"
#include "kernels/gaussian_blur/plan/intermediate_image.hpp"
#include "kernels/gaussian_blur/plan/predict.hpp"
#include "kernels/gaussian_blur/plan/window.hpp"

#include <cstdint>

namespace heddle::kernels::gaussian_blur {

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
    double us;  ///< predicted
};

inline std::int64_t scratch_bytes_between(const filter_facts& p) {
    return p.images * p.rows_between * intermediate_of(p).stride * std::int64_t{sizeof(float)};
}

/// The values of a row that a block of launch_along_x() takes.
inline constexpr int columns_along_x = 128;

/// The work of both passes. A block takes along_x_columns values of a row in the first one, and then along_y_columns.
inline work work_of_two_passes(const filter_facts& p, const intermediate_image& between,
                               std::int64_t along_x_columns, std::int64_t along_y_columns,
                               const device_traits& device) {
    const auto row = [&p](std::int64_t columns) {
        return static_cast<double>(round_up(p.row_values(), columns) * p.images);
    };
    const double first = row(along_x_columns) * static_cast<double>(between.rows),
                 second = row(along_y_columns) * static_cast<double>(p.height);
    // The more channels, the more values a thread loads along a row for as many products.
    const double products_along_x = static_cast<double>(p.radius.x) + 0.5 * static_cast<double>(p.reach());
    const double products = first * products_along_x + second * static_cast<double>(p.radius.y);
    return {.bytes = (first + second) * (p.value_bytes() + static_cast<double>(sizeof(float))),
            .waits = both_radii(p),
            .units = products / device.sm_count};
}

}  // namespace heddle::kernels::gaussian_blur
