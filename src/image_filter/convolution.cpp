#include "kernels/gaussian_blur/launch.hpp"
#include "src/blur_on_tensor_cores.hpp"
#include "src/image_filter/rungs.hpp"
#include "src/images.hpp"
#include "src/workspace.hpp"
#include <heddle/buffer.hpp>
#include <heddle/error.hpp>
#include <heddle/stream.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <type_traits>

namespace heddle {
namespace {

namespace blur = kernels::gaussian_blur;

gaussian_blur_problem blur_problem(const image_filter_problem& problem) {
    return {.width = problem.width,
            .height = problem.height,
            .channels = problem.channels,
            .radius = problem.radius,
            .type = problem.type,
            .images = problem.images};
}

/// The fastest of the blur's rungs that takes any taps, symmetric or not.
gaussian_blur_algorithm rung_of(const gaussian_blur_problem& problem, std::int64_t source_width,
                                const device_traits& device) {
    const bool has_long_rows = source_width > blur::max_row_values / problem.channels;
    if (has_long_rows) return gaussian_blur_algorithm::separable;
    if (blur::fused_blocks_per_sm(problem, device) >= 2) return gaussian_blur_algorithm::fused;
    if (blur::shared_memory_fits(problem, device)) return gaussian_blur_algorithm::shared_memory;
    return gaussian_blur_algorithm::separable;
}

std::int64_t workspace_bytes(const gaussian_blur_problem& problem, std::int64_t source_height,
                             gaussian_blur_algorithm rung) {
    const bool is_empty = problem.width == 0 || problem.height == 0 || problem.images == 0;
    if (is_empty || rung == gaussian_blur_algorithm::fused) return 0;
    return detail::workspace_ticket_bytes + blur::intermediate_bytes(problem, source_height);
}

template <class T>
void launch(const blur::arguments<T>& arguments, const device_traits& device, cudaStream_t stream,
            gaussian_blur_algorithm rung) {
    if (rung == gaussian_blur_algorithm::fused) return blur::launch_fused(arguments, device, stream);
    if (rung == gaussian_blur_algorithm::shared_memory)
        return blur::launch_shared_memory(arguments, device, stream);
    blur::launch_separable(arguments, device, stream);
}

/// The larger radius from which on tensor_core_warpgroups is faster than `fused`, measured on an H200; of images of few
/// tiles where that keeps no sums in registers.
constexpr std::int64_t min_radius_on_warpgroups = 3;
constexpr std::int64_t min_radius_on_warpgroups_of_few_tiles = 9;

/// The rung for a box of bytes where that is faster. (tensor_core's weights are not all one.)
std::optional<gaussian_blur_algorithm> tensor_core_rung_of(const gaussian_blur_problem& problem,
                                                           const device_traits& device) {
    const std::int64_t radius = std::max(problem.radius.x, problem.radius.y);
    const auto rung = detail::fastest_on_tensor_cores(problem, 0, device);
    if (rung == gaussian_blur_algorithm::tensor_core_registers)
        return radius >= detail::min_radius_of_small_windows(problem.radius) ? rung : std::nullopt;
    const bool has_many_tiles = rung == gaussian_blur_algorithm::tensor_core_warpgroups;
    constexpr auto warpgroups = gaussian_blur_algorithm::tensor_core_warpgroups;
    if (radius < (has_many_tiles ? min_radius_on_warpgroups : min_radius_on_warpgroups_of_few_tiles) ||
        !detail::fits_tensor_cores(problem, warpgroups, device))
        return std::nullopt;
    return warpgroups;
}

/// A rung of the blur for a convolution, and the workspace that it needs.
struct convolution_plan {
    gaussian_blur_algorithm rung;
    bool is_on_tensor_cores;
    std::int64_t workspace_bytes;
};

/// Takes valid arguments, and images that are not empty.
template <class T>
convolution_plan plan_convolution(const char* operation, const image_batch_view<const T>& source,
                                  const image_batch_view<T>& destination, const window_radius& radius,
                                  const image_filter_options& options, const device_traits& device) {
    const gaussian_blur_problem problem{
        .width = destination.first.width,
        .height = destination.first.height,
        .channels = destination.first.channels,
        .radius = radius,
        // A box's sigma. It counts for bytes alone, whose convolutions are boxes.
        .sigma = std::numeric_limits<double>::infinity(),
        .type = pixel_type_of<T>,
        .images = destination.count,
        .in_vectors = detail::alignment_of_rows(source) == 16,
        .border = options.border};
    detail::validate_intermediate(operation, problem);
    if constexpr (std::is_same_v<T, std::uint8_t>)
        if (const auto rung = tensor_core_rung_of(problem, device);
            rung && detail::excess_of(source, *rung).empty())
            return {*rung, true, 0};
    const gaussian_blur_algorithm rung = rung_of(problem, source.first.width, device);
    return {rung, false, workspace_bytes(problem, source.first.height, rung)};
}

/// Takes valid arguments.
template <class T>
void convolve(const char* operation, const image_batch_view<const T>& source,
              const image_batch_view<T>& destination, const blur::taps& taps_x, const blur::taps& taps_y,
              cuda::stream_ref stream, const image_filter_options& options) {
    if (detail::is_empty(destination)) return;
    const detail::stream_device call_device(stream);
    const device_traits& device = call_device.traits();
    const convolution_plan plan =
        plan_convolution(operation, source, destination, {taps_x.radius, taps_y.radius}, options, device);
    detail::validate_workspace_size(operation, options.workspace, plan.workspace_bytes);

    const image_region region = options.region.value_or(image_region{});
    blur::arguments<T> arguments{.source = source,
                                 .destination = destination,
                                 .x = region.x,
                                 .y = region.y,
                                 .taps_x = taps_x,
                                 .taps_y = taps_y,
                                 .border = options.border,
                                 .border_value = detail::border_value_of<T>(options)};
    if constexpr (std::is_same_v<T, std::uint8_t>)
        if (plan.is_on_tensor_cores)
            return detail::launch_on_tensor_cores(arguments, device, stream.get(), plan.rung);
    device_buffer<std::byte> own(options.workspace.empty() ? plan.workspace_bytes : 0, stream);
    if (plan.workspace_bytes > 0) {
        std::byte* data = options.workspace.empty() ? own.data() : options.workspace.data();
        arguments.intermediate = reinterpret_cast<float*>(data + detail::workspace_ticket_bytes);
    }
    launch(arguments, device, stream.get(), plan.rung);
}

blur::taps taps_of(std::span<const float> weights) {
    blur::taps taps;
    taps.radius = static_cast<int>(weights.size() / 2);
    std::ranges::copy(weights, taps.table);
    taps.sum = static_cast<float>(std::accumulate(weights.begin(), weights.end(), 0.0));
    return taps;
}

/// Equal weights: a Gaussian's whose sigma is infinite, for radii of which there is no table.
blur::taps box_taps(std::int64_t radius) {
    blur::taps taps;
    taps.radius = static_cast<int>(radius);
    taps.sigma = std::numeric_limits<double>::infinity();
    taps.scale = 1 / static_cast<double>(2 * radius + 1);
    if (taps.has_table()) std::fill_n(taps.table, 2 * radius + 1, static_cast<float>(taps.scale));
    return taps;
}

}  // namespace

std::int64_t image_filter_workspace_bytes(const image_filter_problem& problem, const device_traits& device) {
    const gaussian_blur_problem described = blur_problem(problem);
    constexpr const char* operation = "image_filter_workspace_bytes";
    detail::validate_problem(operation, described, device);
    constexpr std::int64_t any_height = std::numeric_limits<std::int64_t>::max();
    return workspace_bytes(described, any_height, rung_of(described, problem.width, device));
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
    return plan_convolution<float>(operation, source, destination, radius, options,
                                   traits_of(device_of(stream)))
        .workspace_bytes;
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
    return plan_convolution<T>(operation, source, destination, radius, options, traits_of(device_of(stream)))
        .workspace_bytes;
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
