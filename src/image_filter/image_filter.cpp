#include "src/image_filter/rungs.hpp"
#include "src/image_filter/validate.hpp"
#include "src/images.hpp"
#include <heddle/image_filter.hpp>
#include <heddle/stream.hpp>
#include <heddle/tensor.hpp>

#include <type_traits>

#pragma GCC visibility push(default)

namespace heddle {
namespace {

using kernels::image_filter::stencil;

template <class T>
kernels::image_filter::problem describe(const kernels::image_filter::arguments<T>& a) {
    return {.width = a.destination.first.width,
            .height = a.destination.first.height,
            .channels = a.destination.first.channels,
            .images = a.destination.count,
            .source_width = a.source.first.width,
            .has_source_quads =
                kernels::image_filter::has_quads(layout_of(a.source), a.x * a.source.first.channels),
            .has_destination_quads = kernels::image_filter::has_quads(layout_of(a.destination), 0)};
}

template <class T>
void filter(const char* operation, stencil stencil, const image_batch_view<const T>& source,
            const image_batch_view<float>& destination, cuda::stream_ref stream,
            const image_filter_options& options) {
    detail::validate_call(operation, source, destination, options);
    if (detail::is_empty(destination)) return;
    const image_region region = options.region.value_or(image_region{});
    const kernels::image_filter::arguments<T> arguments{.stencil = stencil,
                                                        .source = source,
                                                        .destination = destination,
                                                        .x = region.x,
                                                        .y = region.y,
                                                        .border = options.border,
                                                        .border_value = detail::border_value_of<T>(options)};
    const detail::stream_device device(stream);
    const auto [rung, plan] =
        detail::stencil_rungs<T>().choose(operation, options.algorithm, describe(arguments), device.traits());
    rung->launch(plan, arguments, stream.get());
}

}  // namespace

template <class T>
void sobel(image_batch_view<const std::type_identity_t<T>> source, image_batch_view<float> destination,
           heddle::gradient gradient, cuda::stream_ref stream, const image_filter_options& options) {
    filter<T>("sobel", detail::stencil_of("sobel", gradient), source, destination, stream, options);
}

template <class T>
void laplacian(image_batch_view<const std::type_identity_t<T>> source, image_batch_view<float> destination,
               cuda::stream_ref stream, const image_filter_options& options) {
    filter<T>("laplacian", stencil::laplacian, source, destination, stream, options);
}

template void sobel<float>(image_batch_view<const float>, image_batch_view<float>, gradient, cuda::stream_ref,
                           const image_filter_options&);
template void sobel<half>(image_batch_view<const half>, image_batch_view<float>, gradient, cuda::stream_ref,
                          const image_filter_options&);
template void sobel<std::uint16_t>(image_batch_view<const std::uint16_t>, image_batch_view<float>, gradient,
                                   cuda::stream_ref, const image_filter_options&);
template void sobel<std::uint8_t>(image_batch_view<const std::uint8_t>, image_batch_view<float>, gradient,
                                  cuda::stream_ref, const image_filter_options&);

template void laplacian<float>(image_batch_view<const float>, image_batch_view<float>, cuda::stream_ref,
                               const image_filter_options&);
template void laplacian<half>(image_batch_view<const half>, image_batch_view<float>, cuda::stream_ref,
                              const image_filter_options&);
template void laplacian<std::uint16_t>(image_batch_view<const std::uint16_t>, image_batch_view<float>,
                                       cuda::stream_ref, const image_filter_options&);
template void laplacian<std::uint8_t>(image_batch_view<const std::uint8_t>, image_batch_view<float>,
                                      cuda::stream_ref, const image_filter_options&);

}  // namespace heddle

#pragma GCC visibility pop
