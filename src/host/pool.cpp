#include "src/pool/validate.hpp"
#include <heddle/host.hpp>
#include <heddle/pool.hpp>
#include <heddle/types.hpp>

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#pragma GCC visibility push(default)

namespace heddle::host {
namespace {

/// NaN if either is NaN.
double larger(double a, double b) {
    return a > b || std::isnan(a) ? a : b;
}

struct place {
    std::int64_t image, y, x;
};

/// Computes all channels of one output pixel. Sums are in double: in float, a large sum would lose small terms.
template <class T>
void compute_pixel(const tensor_view<const T>& input, const tensor_view<T>& output,
                   const pool_options& options, const place& at, std::vector<double>& results) {
    const pool_geometry& g = options.geometry;
    const bool is_max = options.mode == pool_mode::max;
    const std::int64_t y = at.y * g.stride.y - g.padding.top, x = at.x * g.stride.x - g.padding.left;
    const std::int64_t first_row = std::max<std::int64_t>(y, 0),
                       last_row = std::min(y + g.window.y, input.height),
                       first_col = std::max<std::int64_t>(x, 0),
                       last_col = std::min(x + g.window.x, input.width);
    std::ranges::fill(results, is_max ? -std::numeric_limits<double>::infinity() : 0.0);
    for (std::int64_t row = first_row; row < last_row; ++row)
        for (std::int64_t col = first_col; col < last_col; ++col) {
            const T* from =
                input.data + at.image * input.image_stride + row * input.row_stride + col * input.col_stride;
            for (double& result : results) {
                const double value{static_cast<float>(*from++)};
                result = is_max ? larger(result, value) : result + value;
            }
        }
    const std::int64_t pixels =
        std::max<std::int64_t>(last_row - first_row, 0) * std::max<std::int64_t>(last_col - first_col, 0);
    const std::int64_t count = options.mode == pool_mode::padded_average ? g.window.y * g.window.x : pixels;
    T* to =
        output.data + at.image * output.image_stride + at.y * output.row_stride + at.x * output.col_stride;
    for (const double result : results)
        *to++ = static_cast<T>(static_cast<float>(is_max ? result : result / static_cast<double>(count)));
}

}  // namespace

template <class T>
void pool(tensor_view<const std::type_identity_t<T>> input, tensor_view<T> output,
          const pool_options& options) {
    detail::validated_pool<T>("host::pool", input, output, options);
    if (output.count == 0 || output.channels == 0) return;
    const std::int64_t rows = output.count * output.height;
    // Allocated here because no exception may leave a parallel region.
    std::vector<std::vector<double>> results(
        static_cast<std::size_t>(std::min<std::int64_t>(omp_get_max_threads(), rows)),
        std::vector<double>(static_cast<std::size_t>(output.channels)));
#pragma omp parallel for schedule(dynamic) num_threads(static_cast <int>(results.size()))
    for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t x = 0; x < output.width; ++x)
            compute_pixel<T>(input, output, options, {row / output.height, row % output.height, x},
                             results[static_cast<std::size_t>(omp_get_thread_num())]);
}

#define INSTANTIATE(T) template void pool(tensor_view<const T>, tensor_view<T>, const pool_options&);
HEDDLE_ELEMENT_TYPES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace heddle::host

#pragma GCC visibility pop
