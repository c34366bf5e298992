#include "src/transpose/validate_planes.hpp"
#include <heddle/host.hpp>
#include <heddle/planes.hpp>
#include <heddle/types.hpp>

#include <cstdint>
#include <type_traits>

#pragma GCC visibility push(default)

namespace heddle::host {
namespace {

/// Calls function(offset in planes, offset in the tensor) for each element. Rows of all images run in parallel.
template <class P, class T, class Function>
void for_each_element(const P& planes, const T& pixels, const Function& function) {
    const std::int64_t rows = pixels.count * pixels.height;
#pragma omp parallel for
    for (std::int64_t i = 0; i < rows; ++i) {
        const std::int64_t n = i / pixels.height, y = i % pixels.height;
        const std::int64_t of_planes = n * planes.image_stride + y * planes.row_stride,
                           of_pixels = n * pixels.image_stride + y * pixels.row_stride;
        for (std::int64_t x = 0; x < pixels.width; ++x)
            for (std::int64_t c = 0; c < pixels.channels; ++c)
                function(of_planes + c * planes.channel_stride + x, of_pixels + x * pixels.col_stride + c);
    }
}

}  // namespace

template <class T>
void to_nhwc(planes_view<const std::type_identity_t<T>> source, tensor_view<T> destination) {
    detail::validate_to_nhwc<T>("host::to_nhwc", source, destination);
    for_each_element(source, destination, [&](std::int64_t of_planes, std::int64_t of_pixels) {
        destination.data[of_pixels] = source.data[of_planes];
    });
}

template <class T>
void to_nchw(tensor_view<const std::type_identity_t<T>> source, planes_view<T> destination) {
    detail::validate_to_nchw<T>("host::to_nchw", source, destination);
    for_each_element(destination, source, [&](std::int64_t of_planes, std::int64_t of_pixels) {
        destination.data[of_planes] = source.data[of_pixels];
    });
}

#define INSTANTIATE(T)                                              \
    template void to_nhwc<T>(planes_view<const T>, tensor_view<T>); \
    template void to_nchw<T>(tensor_view<const T>, planes_view<T>);
HEDDLE_ELEMENT_TYPES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace heddle::host

#pragma GCC visibility pop
