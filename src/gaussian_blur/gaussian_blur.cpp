#include "kernels/gaussian_blur/facts.hpp"
#include "kernels/gaussian_blur/launch.hpp"
#include "src/gaussian_blur/call.hpp"
#include "src/gaussian_blur/rungs.hpp"
#include "src/gaussian_blur/taps.hpp"
#include "src/gaussian_blur/validate.hpp"
#include "src/images.hpp"
#include "src/workspace.hpp"
#include <heddle/gaussian_blur.hpp>
#include <heddle/stream.hpp>

#include <cstdint>
#include <type_traits>

#pragma GCC visibility push(default)

namespace heddle {
namespace {

using kernels::gaussian_blur::filter_facts;
using kernels::gaussian_blur::taps;

constexpr const char* operation = "gaussian_blur";

/// The problem of a call, after all checks that need no device.
template <class T>
gaussian_blur_problem validated(const char* name, const image_batch_view<const T>& source,
                                const image_batch_view<T>& destination, const blur_sigma& sigma,
                                const gaussian_blur_options& options, bool have_elements = true) {
    detail::validate_blur(name, source, destination, sigma, options, have_elements);
    const auto rungs = detail::blur_rungs<T>();
    rungs.require_known(name, {"options", "algorithm"}, options.algorithm);
    rungs.require_kernel(name, {"options", "kernel"}, options.algorithm, options.kernel);
    auto problem = detail::problem_of(source, destination, detail::blur_radius(sigma, options), options);
    problem.sigma = sigma;
    problem.exact = options.exact;
    detail::validate_intermediate(name, problem);
    return problem;
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
gaussian_blur_problem gaussian_blur_problem_of(image_batch_view<const std::type_identity_t<T>> source,
                                               image_batch_view<T> destination, blur_sigma sigma,
                                               const gaussian_blur_options& options) {
    constexpr bool have_elements = false;
    return validated<T>("gaussian_blur_problem_of", source, destination, sigma, options, have_elements);
}

template <class T>
std::int64_t gaussian_blur_workspace_bytes(image_batch_view<const std::type_identity_t<T>> source,
                                           image_batch_view<T> destination, blur_sigma sigma,
                                           cuda::stream_ref stream, const gaussian_blur_options& options) {
    gaussian_blur_problem problem = validated<T>(operation, source, destination, sigma, options);
    if (detail::is_empty(problem)) return 0;
    problem.has_scratch = true;
    return detail::workspace_bytes_for(
        scratch_bytes(detail::blur_rungs<T>()
                          .choose(operation, options.algorithm, filter_facts(problem),
                                  traits_of(device_of(stream)), options.kernel)
                          .plan));
}

template <class T>
void gaussian_blur(image_batch_view<const std::type_identity_t<T>> source, image_batch_view<T> destination,
                   blur_sigma sigma, cuda::stream_ref stream, const gaussian_blur_options& options) {
    const gaussian_blur_problem problem = validated<T>(operation, source, destination, sigma, options);
    detail::validate_workspace(
        operation, options.workspace,
        {{"source", detail::footprint_of(source)}, {"destination", detail::footprint_of(destination)}});
    if (detail::is_empty(problem)) return;
    const filter_facts facts = filter_facts(problem);
    kernels::gaussian_blur::arguments<T> arguments{.source = source,
                                                   .destination = destination,
                                                   .x = facts.x,
                                                   .y = facts.y,
                                                   .taps_x = taps_of(sigma.x, facts.radius.x),
                                                   .taps_y = taps_of(sigma.y, facts.radius.y),
                                                   .border = options.border,
                                                   .border_value = detail::border_value_of<T>(options)};
    detail::run(operation, options.algorithm, options.kernel, facts, arguments, stream, options);
}

#define INSTANTIATE(T)                                                                                      \
    template gaussian_blur_problem gaussian_blur_problem_of(image_batch_view<const T>, image_batch_view<T>, \
                                                            blur_sigma, const gaussian_blur_options&);      \
    template std::int64_t gaussian_blur_workspace_bytes(image_batch_view<const T>, image_batch_view<T>,     \
                                                        blur_sigma, cuda::stream_ref,                       \
                                                        const gaussian_blur_options&);                      \
    template void gaussian_blur(image_batch_view<const T>, image_batch_view<T>, blur_sigma,                 \
                                cuda::stream_ref, const gaussian_blur_options&);
INSTANTIATE(float)
INSTANTIATE(half)
INSTANTIATE(std::uint16_t)
INSTANTIATE(std::uint8_t)
#undef INSTANTIATE

}  // namespace heddle

#pragma GCC visibility pop
