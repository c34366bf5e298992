#include "kernels/gaussian_blur/launch.hpp"
#include "src/blur_on_tensor_cores.hpp"
#include "src/format.hpp"
#include "src/gaussian_blur/validate.hpp"
#include "src/workspace.hpp"
#include <heddle/buffer.hpp>
#include <heddle/error.hpp>
#include <heddle/gaussian_blur.hpp>
#include <heddle/stream.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <type_traits>

namespace heddle {
namespace {

namespace rungs = kernels::gaussian_blur;

constexpr std::array algorithms = {gaussian_blur_algorithm::naive,
                                   gaussian_blur_algorithm::separable,
                                   gaussian_blur_algorithm::shared_memory,
                                   gaussian_blur_algorithm::register_window,
                                   gaussian_blur_algorithm::fused,
                                   gaussian_blur_algorithm::tensor_core,
                                   gaussian_blur_algorithm::tensor_core_registers,
                                   gaussian_blur_algorithm::tensor_core_warpgroups,
                                   gaussian_blur_algorithm::decimated};

bool is_empty(const gaussian_blur_problem& problem) {
    return problem.width == 0 || problem.height == 0 || problem.images == 0;
}

/// What a rung needs; 0 also where it cannot run the problem.
std::int64_t workspace_bytes(const gaussian_blur_problem& problem, std::int64_t source_height,
                             gaussian_blur_algorithm algorithm) {
    if (is_empty(problem)) return 0;
    const auto with_tickets = [](std::int64_t bytes) {
        return bytes > 0 ? detail::workspace_ticket_bytes + bytes : 0;
    };
    switch (algorithm) {
        case gaussian_blur_algorithm::separable:
        case gaussian_blur_algorithm::shared_memory:
        case gaussian_blur_algorithm::register_window:
            return with_tickets(rungs::intermediate_bytes(problem, source_height));
        case gaussian_blur_algorithm::decimated:
            return rungs::decimated_fits(problem) ? with_tickets(rungs::decimated_workspace_bytes(problem))
                                                  : 0;
        default:
            return 0;
    }
}

void require_known(const char* operation, gaussian_blur_algorithm algorithm) {
    const bool is_known = algorithm == gaussian_blur_algorithm::automatic ||
                          std::ranges::find(algorithms, algorithm) != algorithms.end();
    detail::require(is_known, operation, {"options", "algorithm"}, static_cast<int>(algorithm),
                    "an enumerator of gaussian_blur_algorithm");
}

std::string_view name_of(pixel_type type) {
    switch (type) {
        case pixel_type::u8:
            return "uint8";
        case pixel_type::u16:
            return "uint16";
        case pixel_type::f16:
            return "half";
        case pixel_type::f32:
            return "float";
    }
    return "unknown";
}

std::string_view name_of(border border) {
    switch (border) {
        case border::replicate:
            return "replicate";
        case border::reflect:
            return "reflect";
        case border::reflect_101:
            return "reflect_101";
        case border::wrap:
            return "wrap";
        case border::constant:
            return "constant";
    }
    return "unknown";
}

bool fits(const gaussian_blur_problem& problem, gaussian_blur_algorithm algorithm,
          const device_traits& device) {
    switch (algorithm) {
        case gaussian_blur_algorithm::naive:
            return std::max(problem.radius.x, problem.radius.y) <= rungs::taps::table_radius;
        case gaussian_blur_algorithm::shared_memory:
            return rungs::shared_memory_fits(problem, device);
        case gaussian_blur_algorithm::register_window:
            return rungs::register_window_fits(problem, device);
        case gaussian_blur_algorithm::fused:
            return rungs::fused_blocks_per_sm(problem, device) > 0;
        case gaussian_blur_algorithm::tensor_core:
        case gaussian_blur_algorithm::tensor_core_registers:
        case gaussian_blur_algorithm::tensor_core_warpgroups:
            return detail::fits_tensor_cores(problem, algorithm, device);
        case gaussian_blur_algorithm::decimated:
            return rungs::decimated_fits(problem, device);
        case gaussian_blur_algorithm::separable:
        case gaussian_blur_algorithm::automatic:
            return true;
    }
    return false;
}

/// From where on a rung is the fastest, measured on an H200.
constexpr double min_sigma_of_decimated = 12;
constexpr std::int64_t min_radius_of_tensor_core = 5;
constexpr std::int64_t min_unequal_radius_of_tensor_core = 3;

/// As gaussian_blur() describes it to select(): without the weights that are 0.
gaussian_blur_problem trimmed(gaussian_blur_problem problem) {
    problem.radius = detail::blur_radius(problem.sigma, problem.radius);
    return problem;
}

/// The larger radius from which on this rung is faster than `fused`, of a region from place x of the source's rows on: later where
/// both radii are the same, as the sums of `fused` then stay in registers, and beyond all that those hold where words of a row
/// are not words of memory; early where the rung is for small windows.
std::int64_t min_radius_of(gaussian_blur_algorithm on_tensor_cores, const gaussian_blur_problem& problem,
                           std::int64_t x) {
    if (!problem.in_words) return rungs::max_register_radius(problem.type, problem.channels) + 1;
    const bool is_equal = problem.radius.x == problem.radius.y;
    if (detail::is_for_small_windows(problem, on_tensor_cores, x))
        return detail::min_radius_of_small_windows(problem.radius);
    return is_equal ? min_radius_of_tensor_core : min_unequal_radius_of_tensor_core;
}

/// The rung that `automatic` stands for, of a region from place x of the source's rows on. Small windows of small images are
/// soonest done without tensor cores, whose warps begin with more rows. `fused` hides its latencies only where an SM holds two
/// of its blocks.
gaussian_blur_algorithm select(const gaussian_blur_problem& problem, std::int64_t x,
                               const device_traits& device) {
    const bool is_wide = std::min(problem.sigma.x, problem.sigma.y) >= min_sigma_of_decimated;
    if (is_wide && !problem.exact && rungs::decimated_fits(problem, device))
        return gaussian_blur_algorithm::decimated;
    const std::int64_t radius = std::max(problem.radius.x, problem.radius.y);
    const auto rung = detail::fastest_on_tensor_cores(problem, x, device);
    if (rung && radius >= min_radius_of(*rung, problem, x) && !rungs::is_one_wave_of_tiles(problem, device))
        return *rung;
    if (rungs::fused_blocks_per_sm(problem, device) >= 2) return gaussian_blur_algorithm::fused;
    if (rungs::shared_memory_fits(problem, device)) return gaussian_blur_algorithm::shared_memory;
    return gaussian_blur_algorithm::separable;
}

/// The same, of this source.
template <class T>
gaussian_blur_algorithm select(const gaussian_blur_problem& problem, const image_batch_view<const T>& source,
                               std::int64_t x, const device_traits& device) {
    if (!detail::excess_of(source, gaussian_blur_algorithm::fused).empty())
        return gaussian_blur_algorithm::separable;
    const gaussian_blur_algorithm rung = select(problem, x, device);
    return detail::excess_of(source, rung).empty() ? rung : gaussian_blur_algorithm::tensor_core;
}

template <class T>
void require_supported(const gaussian_blur_problem& problem, const image_batch_view<const T>& source,
                       gaussian_blur_algorithm algorithm, const device_traits& device) {
    if (const std::string_view excess = detail::excess_of(source, algorithm); !excess.empty())
        throw unsupported(
            detail::format("gaussian_blur: {} takes no source with {}", to_string(algorithm), excess));
    if (fits(problem, algorithm, device)) return;
    const bool wants_vectors = algorithm == gaussian_blur_algorithm::tensor_core_registers ||
                               algorithm == gaussian_blur_algorithm::tensor_core_warpgroups;
    throw unsupported(detail::format(
        "gaussian_blur: {} cannot blur {}{} x {} pixels of {} {} channels{} with radius {} x {}, sigma {} x "
        "{}, border {}, on compute capability {}.{} with {} bytes of shared memory a block",
        to_string(algorithm), problem.images > 1 ? detail::format("{} images of ", problem.images) : "",
        problem.width, problem.height, problem.channels, name_of(problem.type),
        wants_vectors && !problem.in_vectors ? ", source not at multiples of 16 bytes," : "",
        problem.radius.x, problem.radius.y, problem.sigma.x, problem.sigma.y, name_of(problem.border),
        device.compute_capability_major, device.compute_capability_minor,
        device.shared_memory_per_block_optin));
}

rungs::taps taps_of(double sigma, std::int64_t radius) {
    rungs::taps taps;
    taps.radius = static_cast<int>(radius);
    taps.sigma = sigma;
    taps.scale = detail::blur_scale(sigma, radius);
    if (taps.has_table())
        for (std::int64_t i = 0; i <= radius; ++i)
            taps.table[radius - i] = taps.table[radius + i] =
                static_cast<float>(taps.scale * detail::blur_weight(sigma, i));
    return taps;
}

template <class T>
void launch(const rungs::arguments<T>& arguments, const device_traits& device, cudaStream_t stream,
            gaussian_blur_algorithm algorithm) {
    switch (algorithm) {
        case gaussian_blur_algorithm::automatic:
            break;  // select() never answers it
        case gaussian_blur_algorithm::naive:
            return rungs::launch_naive(arguments, device, stream);
        case gaussian_blur_algorithm::separable:
            return rungs::launch_separable(arguments, device, stream);
        case gaussian_blur_algorithm::shared_memory:
            return rungs::launch_shared_memory(arguments, device, stream);
        case gaussian_blur_algorithm::register_window:
            return rungs::launch_register_window(arguments, device, stream);
        case gaussian_blur_algorithm::fused:
            return rungs::launch_fused(arguments, device, stream);
        case gaussian_blur_algorithm::tensor_core:
        case gaussian_blur_algorithm::tensor_core_registers:
        case gaussian_blur_algorithm::tensor_core_warpgroups:
            if constexpr (std::is_same_v<T, std::uint8_t>)
                return detail::launch_on_tensor_cores(arguments, device, stream, algorithm);
            break;  // does not fit
        case gaussian_blur_algorithm::decimated:
            return rungs::launch_decimated(arguments, device, stream);
    }
}

}  // namespace

std::span<const gaussian_blur_algorithm> gaussian_blur_algorithms() {
    return algorithms;
}

std::string_view to_string(gaussian_blur_algorithm algorithm) {
    switch (algorithm) {
        case gaussian_blur_algorithm::automatic:
            return "automatic";
        case gaussian_blur_algorithm::naive:
            return "naive";
        case gaussian_blur_algorithm::separable:
            return "separable";
        case gaussian_blur_algorithm::shared_memory:
            return "shared_memory";
        case gaussian_blur_algorithm::register_window:
            return "register_window";
        case gaussian_blur_algorithm::fused:
            return "fused";
        case gaussian_blur_algorithm::tensor_core:
            return "tensor_core";
        case gaussian_blur_algorithm::tensor_core_registers:
            return "tensor_core_registers";
        case gaussian_blur_algorithm::tensor_core_warpgroups:
            return "tensor_core_warpgroups";
        case gaussian_blur_algorithm::decimated:
            return "decimated";
    }
    return "unknown";
}

gaussian_blur_algorithm select(const gaussian_blur_problem& problem, const device_traits& device) {
    detail::validate_problem("select", problem, device);
    return select(trimmed(problem), 0, device);
}

std::int64_t gaussian_blur_workspace_bytes(const gaussian_blur_problem& asked, const device_traits& device,
                                           gaussian_blur_algorithm algorithm) {
    require_known("gaussian_blur_workspace_bytes", algorithm);
    detail::validate_problem("gaussian_blur_workspace_bytes", asked, device);
    const gaussian_blur_problem problem = trimmed(asked);
    const bool is_automatic = algorithm == gaussian_blur_algorithm::automatic;
    constexpr std::int64_t any_height = std::numeric_limits<std::int64_t>::max();
    return workspace_bytes(problem, any_height, is_automatic ? select(problem, 0, device) : algorithm);
}

namespace {

/// Checks all but what depends on the device, and describes the problem.
template <class T>
gaussian_blur_problem checked(const image_batch_view<const T>& source, const image_batch_view<T>& destination,
                              const blur_sigma& sigma, const gaussian_blur_options& options) {
    detail::validate_blur("gaussian_blur", source, destination, sigma, options);
    require_known("gaussian_blur", options.algorithm);
    detail::validate_workspace(
        "gaussian_blur", options.workspace,
        {{"source", detail::footprint_of(source)}, {"destination", detail::footprint_of(destination)}});
    const gaussian_blur_problem problem{
        .width = destination.first.width,
        .height = destination.first.height,
        .channels = destination.first.channels,
        .radius = detail::blur_radius(sigma, options),
        .sigma = sigma,
        .type = pixel_type_of<T>,
        .images = destination.count,
        .exact = options.exact,
        .in_words = detail::alignment_of_steps(source) >= 4 && detail::alignment_of_rows(destination) >= 4,
        .in_vectors = detail::alignment_of_rows(source) == 16,
        .border = options.border};
    detail::validate_intermediate("gaussian_blur", problem);
    return problem;
}

/// The rung that does it on this device.
template <class T>
gaussian_blur_algorithm rung_of(const gaussian_blur_problem& problem, const image_batch_view<const T>& source,
                                const gaussian_blur_options& options, const device_traits& device) {
    const bool is_automatic = options.algorithm == gaussian_blur_algorithm::automatic;
    const gaussian_blur_algorithm algorithm =
        is_automatic ? select(problem, source, options.region.value_or(image_region{}).x, device)
                     : options.algorithm;
    require_supported(problem, source, algorithm, device);
    return algorithm;
}

}  // namespace

template <class T>
std::int64_t gaussian_blur_workspace_bytes(image_batch_view<const std::type_identity_t<T>> source,
                                           image_batch_view<T> destination, blur_sigma sigma,
                                           cuda::stream_ref stream, const gaussian_blur_options& options) {
    gaussian_blur_options without = options;
    without.workspace = {};
    const gaussian_blur_problem problem = checked<T>(source, destination, sigma, without);
    if (is_empty(problem)) return 0;
    return workspace_bytes(problem, source.first.height,
                           rung_of<T>(problem, source, options, traits_of(device_of(stream))));
}

template <class T>
void gaussian_blur(image_batch_view<const std::type_identity_t<T>> source, image_batch_view<T> destination,
                   blur_sigma sigma, cuda::stream_ref stream, const gaussian_blur_options& options) {
    const gaussian_blur_problem problem = checked<T>(source, destination, sigma, options);
    const std::int64_t source_height = source.first.height;
    if (options.algorithm != gaussian_blur_algorithm::automatic)
        detail::validate_workspace_size("gaussian_blur", options.workspace,
                                        workspace_bytes(problem, source_height, options.algorithm));
    if (is_empty(problem)) return;

    const image_region region = options.region.value_or(image_region{});
    const detail::stream_device call_device(stream);
    const device_traits& device = call_device.traits();
    const gaussian_blur_algorithm algorithm = rung_of<T>(problem, source, options, device);
    const std::int64_t bytes = workspace_bytes(problem, source_height, algorithm);
    detail::validate_workspace_size("gaussian_blur", options.workspace, bytes);

    rungs::arguments<T> arguments{
        .source = source,
        .destination = destination,
        .x = region.x,
        .y = region.y,
        .taps_x = taps_of(sigma.x, problem.radius.x),
        .taps_y = taps_of(sigma.y, problem.radius.y),
        .border = options.border,
        .border_value = options.border == border::constant ? static_cast<T>(options.border_value) : T{}};
    device_buffer<std::byte> own(options.workspace.empty() ? bytes : 0, stream);
    if (bytes > 0) {
        std::byte* data = options.workspace.empty() ? own.data() : options.workspace.data();
        arguments.intermediate = reinterpret_cast<float*>(data + detail::workspace_ticket_bytes);
    }
    launch(arguments, device, stream.get(), algorithm);
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
