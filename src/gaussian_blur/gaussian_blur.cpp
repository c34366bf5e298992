#include "kernels/separable_filter/launch.hpp"
#include "src/gaussian_blur/call.hpp"
#include "src/gaussian_blur/rungs.hpp"
#include "src/gaussian_blur/taps.hpp"
#include "src/gaussian_blur/validate.hpp"
#include "src/images.hpp"
#include "src/workspace.hpp"
#include <heddle/gaussian_blur.hpp>
#include <heddle/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace heddle {
namespace {

using kernels::separable_filter::problem;
using kernels::separable_filter::taps;

constexpr const char* operation = "gaussian_blur";

/// Checks all but what depends on the device, and describes the problem.
template <class T>
problem checked(const image_batch_view<const T>& source, const image_batch_view<T>& destination,
                const blur_sigma& sigma, const gaussian_blur_options& options) {
    detail::validate_blur(operation, source, destination, sigma, options);
    const auto rungs = detail::blur_rungs<T>();
    rungs.require_known(operation, {"options", "algorithm"}, options.algorithm);
    rungs.require_kernel(operation, {"options", "kernel"}, options.algorithm, options.kernel);
    detail::validate_workspace(
        operation, options.workspace,
        {{"source", detail::footprint_of(source)}, {"destination", detail::footprint_of(destination)}});
    problem p = detail::describe(source, destination, options.region,
                                 {.radius = detail::blur_radius(sigma, options),
                                  .sigma = sigma,
                                  .exact = options.exact,
                                  .border = options.border});
    p.is_asked_for = options.algorithm != gaussian_blur_algorithm::automatic || !options.kernel.empty();
    detail::validate_intermediate(operation, p);
    return p;
}

taps taps_of(double sigma, std::int64_t radius) {
    taps taps;
    taps.radius = static_cast<int>(radius);
    taps.sigma = sigma;
    taps.scale = detail::blur_scale(sigma, radius);
    if (taps.has_table())
        for (std::int64_t i = 0; i <= radius; ++i)
            taps.table[radius - i] = taps.table[radius + i] =
                static_cast<float>(taps.scale * detail::blur_weight(sigma, i));
    return taps;
}

}  // namespace

template <class T>
std::int64_t gaussian_blur_workspace_bytes(image_batch_view<const std::type_identity_t<T>> source,
                                           image_batch_view<T> destination, blur_sigma sigma,
                                           cuda::stream_ref stream, const gaussian_blur_options& options) {
    gaussian_blur_options without = options;
    without.workspace = {};
    const problem problem = checked<T>(source, destination, sigma, without);
    if (detail::is_empty(destination)) return 0;
    return detail::workspace_bytes_for(scratch_bytes(
        detail::blur_rungs<T>()
            .choose(operation, options.algorithm, problem, traits_of(device_of(stream)), options.kernel)
            .plan));
}

template <class T>
void gaussian_blur(image_batch_view<const std::type_identity_t<T>> source, image_batch_view<T> destination,
                   blur_sigma sigma, cuda::stream_ref stream, const gaussian_blur_options& options) {
    const problem problem = checked<T>(source, destination, sigma, options);
    if (detail::is_empty(destination)) return;
    kernels::separable_filter::arguments<T> arguments{.source = source,
                                                      .destination = destination,
                                                      .x = problem.x,
                                                      .y = problem.y,
                                                      .taps_x = taps_of(sigma.x, problem.radius.x),
                                                      .taps_y = taps_of(sigma.y, problem.radius.y),
                                                      .border = options.border,
                                                      .border_value = detail::border_value_of<T>(options)};
    detail::run(operation, options.algorithm, options.kernel, problem, arguments, stream, options);
}

template void gaussian_blur(image_batch_view<const float>, image_batch_view<float>, blur_sigma,
                            cuda::stream_ref, const gaussian_blur_options&);
template void gaussian_blur(image_batch_view<const half>, image_batch_view<half>, blur_sigma,
                            cuda::stream_ref, const gaussian_blur_options&);
template void gaussian_blur(image_batch_view<const std::uint16_t>, image_batch_view<std::uint16_t>,
                            blur_sigma, cuda::stream_ref, const gaussian_blur_options&);
template void gaussian_blur(image_batch_view<const std::uint8_t>, image_batch_view<std::uint8_t>, blur_sigma,
                            cuda::stream_ref, const gaussian_blur_options&);

template std::int64_t gaussian_blur_workspace_bytes(image_batch_view<const float>, image_batch_view<float>,
                                                    blur_sigma, cuda::stream_ref,
                                                    const gaussian_blur_options&);
template std::int64_t gaussian_blur_workspace_bytes(image_batch_view<const half>, image_batch_view<half>,
                                                    blur_sigma, cuda::stream_ref,
                                                    const gaussian_blur_options&);
template std::int64_t gaussian_blur_workspace_bytes(image_batch_view<const std::uint16_t>,
                                                    image_batch_view<std::uint16_t>, blur_sigma,
                                                    cuda::stream_ref, const gaussian_blur_options&);
template std::int64_t gaussian_blur_workspace_bytes(image_batch_view<const std::uint8_t>,
                                                    image_batch_view<std::uint8_t>, blur_sigma,
                                                    cuda::stream_ref, const gaussian_blur_options&);

}  // namespace heddle
