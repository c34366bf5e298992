#include "src/gaussian_blur.hpp"

#include "kernels/gaussian_blur/launch.hpp"
#include "src/format.hpp"
#include "src/workspace.hpp"
#include <heddle/buffer.hpp>
#include <heddle/error.hpp>
#include <heddle/gaussian_blur.hpp>

#include <algorithm>
#include <array>
#include <iterator>

namespace heddle {
namespace {

namespace rungs = kernels::gaussian_blur;

constexpr std::array algorithms = {gaussian_blur_algorithm::naive, gaussian_blur_algorithm::separable,
                                   gaussian_blur_algorithm::shared_memory, gaussian_blur_algorithm::fused};

bool needs_intermediate(gaussian_blur_algorithm algorithm) {
    return algorithm == gaussian_blur_algorithm::separable ||
           algorithm == gaussian_blur_algorithm::shared_memory;
}

std::int64_t intermediate_stride(std::int64_t row_values) {
    return (row_values + 3) / 4 * 4;
}

std::int64_t workspace_bytes(const gaussian_blur_problem& problem, gaussian_blur_algorithm algorithm) {
    if (!needs_intermediate(algorithm) || problem.width == 0 || problem.height == 0) return 0;
    const std::int64_t stride = intermediate_stride(problem.width * problem.channels);
    return detail::workspace_ticket_bytes + problem.height * stride * std::int64_t{sizeof(float)};
}

void require_known(const char* operation, gaussian_blur_algorithm algorithm) {
    const bool is_known = algorithm == gaussian_blur_algorithm::automatic ||
                          std::ranges::find(algorithms, algorithm) != algorithms.end();
    detail::require(is_known, operation, {"options", "algorithm"}, static_cast<int>(algorithm),
                    "an enumerator of gaussian_blur_algorithm");
}

void require_valid(const char* operation, const gaussian_blur_problem& problem) {
    const auto& [width, height, channels, radius] = problem;
    detail::require(width >= 0, operation, {"problem", "width"}, width, "zero or more");
    detail::require(height >= 0, operation, {"problem", "height"}, height, "zero or more");
    detail::require(channels == 1 || channels == 3 || channels == 4, operation, {"problem", "channels"},
                    channels, "1, 3 or 4");
    detail::require(radius >= 0, operation, {"problem", "radius"}, radius, "zero or more");
}

void require_supported(const gaussian_blur_problem& problem, gaussian_blur_algorithm algorithm,
                       const device_traits& device) {
    const auto require_fit = [&](bool fits) {
        if (fits) return;
        throw unsupported(detail::format(
            "gaussian_blur: {} cannot hold radius {} of {} channels in {} bytes of shared memory, "
            "or a row of {} pixels is too long for it",
            to_string(algorithm), problem.radius, problem.channels, device.shared_memory_per_block_optin,
            problem.width));
    };
    switch (algorithm) {
        case gaussian_blur_algorithm::naive:
            if (problem.radius <= rungs::taps::table_radius) return;
            throw unsupported(detail::format("gaussian_blur: naive takes a radius of at most {}, not {}",
                                             rungs::taps::table_radius, problem.radius));
        case gaussian_blur_algorithm::shared_memory:
            return require_fit(rungs::shared_memory_fits(problem, device));
        case gaussian_blur_algorithm::fused:
            return require_fit(rungs::fused_blocks_per_sm(problem, device) > 0);
        case gaussian_blur_algorithm::separable:
        case gaussian_blur_algorithm::automatic:
            return;
    }
}

rungs::taps taps_of(double sigma, std::int64_t radius) {
    rungs::taps taps;
    taps.radius = static_cast<int>(radius);
    taps.sigma = sigma;
    taps.scale = detail::blur_scale(sigma, radius);
    if (taps.has_table())
        for (std::int64_t i = 0; i <= radius; ++i)
            taps.table[i] = static_cast<float>(taps.scale * detail::blur_weight(sigma, i));
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
        case gaussian_blur_algorithm::fused:
            return rungs::launch_fused(arguments, device, stream);
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
        case gaussian_blur_algorithm::fused:
            return "fused";
    }
    return "unknown";
}

/// `fused` hides its latencies only where an SM holds two of its blocks.
gaussian_blur_algorithm select(const gaussian_blur_problem& problem, const device_traits& device) {
    require_valid("select", problem);
    if (rungs::fused_blocks_per_sm(problem, device) >= 2) return gaussian_blur_algorithm::fused;
    if (rungs::shared_memory_fits(problem, device)) return gaussian_blur_algorithm::shared_memory;
    return gaussian_blur_algorithm::separable;
}

std::int64_t gaussian_blur_workspace_bytes(const gaussian_blur_problem& problem, const device_traits& device,
                                           gaussian_blur_algorithm algorithm) {
    require_known("gaussian_blur_workspace_bytes", algorithm);
    require_valid("gaussian_blur_workspace_bytes", problem);
    const bool is_automatic = algorithm == gaussian_blur_algorithm::automatic;
    return workspace_bytes(problem, is_automatic ? select(problem, device) : algorithm);
}

std::int64_t gaussian_radius(double sigma) {
    detail::validate_sigma("gaussian_radius", sigma, true);
    return static_cast<std::int64_t>(std::ceil(4 * sigma));
}

template <class T>
void gaussian_blur(image_view<const std::type_identity_t<T>> source, image_view<T> destination, double sigma,
                   cuda::stream_ref stream, const gaussian_blur_options& options) {
    detail::validate_blur("gaussian_blur", source, destination, sigma, options);
    require_known("gaussian_blur", options.algorithm);
    detail::validate_workspace(
        "gaussian_blur", options.workspace,
        {{"source", detail::footprint_of(source)}, {"destination", detail::footprint_of(destination)}});
    const gaussian_blur_problem problem{source.width, source.height, source.channels,
                                        detail::blur_radius(sigma, options)};
    const bool is_automatic = options.algorithm == gaussian_blur_algorithm::automatic;
    if (!is_automatic)
        detail::validate_workspace_size("gaussian_blur", options.workspace,
                                        workspace_bytes(problem, options.algorithm));
    if (source.width == 0 || source.height == 0) return;

    const device_traits& device = traits_of(current_device());
    const gaussian_blur_algorithm algorithm = is_automatic ? select(problem, device) : options.algorithm;
    require_supported(problem, algorithm, device);
    const std::int64_t bytes = workspace_bytes(problem, algorithm);
    detail::validate_workspace_size("gaussian_blur", options.workspace, bytes);

    rungs::arguments<T> arguments{
        .source = source,
        .destination = destination,
        .taps = taps_of(sigma, problem.radius),
        .border = options.border,
        .border_value = options.border == border::constant ? static_cast<T>(options.border_value) : T{}};
    device_buffer<std::byte> own(options.workspace.empty() ? bytes : 0, stream);
    if (bytes > 0) {
        std::byte* data = options.workspace.empty() ? own.data() : options.workspace.data();
        arguments.intermediate = reinterpret_cast<float*>(data + detail::workspace_ticket_bytes);
        arguments.intermediate_stride = intermediate_stride(source.width * source.channels);
    }
    launch(arguments, device, stream.get(), algorithm);
}

template void gaussian_blur<float>(image_view<const float>, image_view<float>, double, cuda::stream_ref,
                                   const gaussian_blur_options&);
template void gaussian_blur<std::uint8_t>(image_view<const std::uint8_t>, image_view<std::uint8_t>, double,
                                          cuda::stream_ref, const gaussian_blur_options&);

}  // namespace heddle
