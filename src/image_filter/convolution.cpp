#include "kernels/gaussian_blur/facts.hpp"
#include "kernels/gaussian_blur/launch.hpp"
#include "src/gaussian_blur/call.hpp"
#include "src/gaussian_blur/rungs.hpp"
#include "src/gaussian_blur/validate.hpp"
#include "src/image_filter/rungs.hpp"
#include "src/image_filter/validate.hpp"
#include "src/images.hpp"
#include <heddle/image_filter.hpp>
#include <heddle/stream.hpp>
#include <heddle/tensor.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <span>
#include <type_traits>

// separable_convolution and box_blur run on the blur's rungs.

#pragma GCC visibility push(default)

namespace heddle {
namespace {

namespace blur = kernels::gaussian_blur;
constexpr auto automatic = gaussian_blur_algorithm::automatic;

/// The arguments must be valid, and the images not empty.
template <class T>
blur::filter_facts facts_of(const char* operation, const image_batch_view<const T>& source,
                            const image_batch_view<T>& destination, const window_radius& radius,
                            blur::window window, const image_filter_options& options) {
    const auto problem = detail::problem_of(source, destination, radius, options);
    detail::validate_intermediate(operation, problem);
    return blur::filter_facts(problem, window);
}

template <class T>
std::int64_t workspace_bytes(const char* operation, blur::filter_facts facts, cuda::stream_ref stream) {
    const device_traits& device = traits_of(device_of(stream));
    facts.has_scratch = true;
    return detail::workspace_bytes_for(
        scratch_bytes(detail::blur_rungs<T>().choose(operation, automatic, facts, device).plan));
}

/// The arguments must be valid.
template <class T>
void convolve(const char* operation, const image_batch_view<const T>& source,
              const image_batch_view<T>& destination, const blur::taps& taps_x, const blur::taps& taps_y,
              cuda::stream_ref stream, const image_filter_options& options) {
    if (detail::is_empty(destination)) return;
    const blur::filter_facts facts =
        facts_of(operation, source, destination, {taps_x.radius, taps_y.radius}, taps_x.window, options);
    blur::arguments<T> arguments{.source = source,
                                 .destination = destination,
                                 .x = facts.x,
                                 .y = facts.y,
                                 .taps_x = taps_x,
                                 .taps_y = taps_y,
                                 .border = options.border,
                                 .border_value = detail::border_value_of<T>(options)};
    detail::run(operation, automatic, {}, facts, arguments, stream, options);
}

blur::taps taps_of(std::span<const float> weights) {
    blur::taps taps;
    taps.window = blur::window::taps;
    taps.radius = static_cast<int>(weights.size() / 2);
    std::ranges::copy(weights, taps.table);
    taps.sum = static_cast<float>(std::accumulate(weights.begin(), weights.end(), 0.0));
    return taps;
}

/// The taps of a box. Radii that are too large for a table have none.
blur::taps box_taps(std::int64_t radius) {
    blur::taps taps;
    taps.radius = static_cast<int>(radius);
    taps.window = blur::window::box;
    taps.scale = 1 / static_cast<double>(2 * radius + 1);
    if (taps.has_table()) std::fill_n(taps.table, 2 * radius + 1, static_cast<float>(taps.scale));
    return taps;
}

}  // namespace

std::int64_t image_filter_workspace_bytes(const image_filter_problem& problem, const device_traits& device) {
    constexpr const char* operation = "image_filter_workspace_bytes";
    // Every rung that needs a workspace keeps the image between two passes in it. Its size depends on no stride.
    const tensor_layout images{.count = problem.images,
                               .height = problem.height,
                               .width = problem.width,
                               .channels = problem.channels,
                               .col_stride = 0,
                               .row_stride = 0,
                               .image_stride = 0};
    gaussian_blur_problem described{
        .source = images, .destination = images, .type = problem.type, .radius = problem.radius};
    detail::validate_window(operation, described, device);
    if (detail::is_empty(described)) return 0;
    described.source.height = problem.height + 2 * problem.radius.y;
    return detail::workspace_bytes(blur::filter_facts(described, blur::window::box), device,
                                   gaussian_blur_algorithm::separable);
}

void separable_convolution(image_batch_view<const float> source, image_batch_view<float> destination,
                           std::span<const float> taps_x, std::span<const float> taps_y,
                           cuda::stream_ref stream, const image_filter_options& options) {
    constexpr const char* operation = "separable_convolution";
    detail::validate_call(operation, source, destination, options);
    detail::validate_taps(operation, "taps_x", taps_x);
    detail::validate_taps(operation, "taps_y", taps_y);
    convolve(operation, source, destination, taps_of(taps_x), taps_of(taps_y), stream, options);
}

std::int64_t separable_convolution_workspace_bytes(image_batch_view<const float> source,
                                                   image_batch_view<float> destination,
                                                   std::span<const float> taps_x,
                                                   std::span<const float> taps_y, cuda::stream_ref stream,
                                                   image_filter_options options) {
    constexpr const char* operation = "separable_convolution";
    options.workspace = {};
    detail::validate_call(operation, source, destination, options);
    detail::validate_taps(operation, "taps_x", taps_x);
    detail::validate_taps(operation, "taps_y", taps_y);
    if (detail::is_empty(destination)) return 0;
    const window_radius radius(std::ssize(taps_x) / 2, std::ssize(taps_y) / 2);
    return workspace_bytes<float>(
        operation, facts_of(operation, source, destination, radius, blur::window::taps, options), stream);
}

template <class T>
std::int64_t box_blur_workspace_bytes(image_batch_view<const std::type_identity_t<T>> source,
                                      image_batch_view<T> destination, window_radius radius,
                                      cuda::stream_ref stream, image_filter_options options) {
    constexpr const char* operation = "box_blur";
    options.workspace = {};
    detail::validate_call(operation, source, destination, options);
    detail::validate_radius(operation, "radius", radius);
    if (detail::is_empty(destination)) return 0;
    return workspace_bytes<T>(
        operation, facts_of<T>(operation, source, destination, radius, blur::window::box, options), stream);
}

template <class T>
void box_blur(image_batch_view<const std::type_identity_t<T>> source, image_batch_view<T> destination,
              window_radius radius, cuda::stream_ref stream, const image_filter_options& options) {
    constexpr const char* operation = "box_blur";
    detail::validate_call(operation, source, destination, options);
    detail::validate_radius(operation, "radius", radius);
    convolve<T>(operation, source, destination, box_taps(radius.x), box_taps(radius.y), stream, options);
}

template std::int64_t box_blur_workspace_bytes(image_batch_view<const float>, image_batch_view<float>,
                                               window_radius, cuda::stream_ref, image_filter_options);
template std::int64_t box_blur_workspace_bytes(image_batch_view<const half>, image_batch_view<half>,
                                               window_radius, cuda::stream_ref, image_filter_options);
template std::int64_t box_blur_workspace_bytes(image_batch_view<const std::uint16_t>,
                                               image_batch_view<std::uint16_t>, window_radius,
                                               cuda::stream_ref, image_filter_options);
template std::int64_t box_blur_workspace_bytes(image_batch_view<const std::uint8_t>,
                                               image_batch_view<std::uint8_t>, window_radius,
                                               cuda::stream_ref, image_filter_options);

template void box_blur(image_batch_view<const float>, image_batch_view<float>, window_radius,
                       cuda::stream_ref, const image_filter_options&);
template void box_blur(image_batch_view<const half>, image_batch_view<half>, window_radius, cuda::stream_ref,
                       const image_filter_options&);
template void box_blur(image_batch_view<const std::uint16_t>, image_batch_view<std::uint16_t>, window_radius,
                       cuda::stream_ref, const image_filter_options&);
template void box_blur(image_batch_view<const std::uint8_t>, image_batch_view<std::uint8_t>, window_radius,
                       cuda::stream_ref, const image_filter_options&);

}  // namespace heddle

#pragma GCC visibility pop
