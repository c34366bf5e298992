#include "src/scan.hpp"

#include "kernels/scan/launch.hpp"
#include "src/workspace.hpp"
#include <heddle/error.hpp>
#include <heddle/scan.hpp>
#include <heddle/stream.hpp>
#include <heddle/workspace.hpp>

#include <algorithm>
#include <array>

namespace heddle {
namespace {

namespace rungs = kernels::scan;

constexpr std::array algorithms = {scan_algorithm::naive, scan_algorithm::reduce_then_scan,
                                   scan_algorithm::look_back};

void require_known(const char* operation, scan_algorithm algorithm) {
    const bool is_known = algorithm == scan_algorithm::automatic ||
                          std::ranges::find(algorithms, algorithm) != algorithms.end();
    detail::require(is_known, operation, {"options", "algorithm"}, static_cast<int>(algorithm),
                    "an enumerator of scan_algorithm");
}

void require_valid(const char* operation, const scan_problem& problem, const device_traits& device) {
    detail::validate_device(operation, device);
    detail::validate_extents(operation, {{"size", problem.size}});
    detail::require(problem.element_bytes == 4 || problem.element_bytes == 8, operation,
                    {"problem", "element_bytes"}, problem.element_bytes, "4 or 8");
}

rungs::plan plan_of(const scan_problem& problem, const device_traits& device, scan_algorithm algorithm) {
    switch (algorithm) {
        case scan_algorithm::automatic:
            return plan_of(problem, device, select(problem, device));
        case scan_algorithm::naive:
            return rungs::plan_naive(problem, device);
        case scan_algorithm::reduce_then_scan:
            return rungs::plan_reduce_then_scan(problem, device);
        case scan_algorithm::look_back:
            return rungs::plan_look_back(problem, device);
    }
    return {};
}

template <class T>
void launch(const rungs::arguments<T>& arguments, const device_traits& device, cudaStream_t stream,
            scan_algorithm algorithm) {
    switch (algorithm) {
        case scan_algorithm::automatic:
            break;  // select() never answers it
        case scan_algorithm::naive:
            return rungs::launch_naive(arguments, device, stream);
        case scan_algorithm::reduce_then_scan:
            return rungs::launch_reduce_then_scan(arguments, device, stream);
        case scan_algorithm::look_back:
            return rungs::launch_look_back(arguments, device, stream);
    }
}

template <class T>
void run(const char* operation, rungs::kind kind, vector_view<const T> x, vector_view<T> y,
         cuda::stream_ref stream, const scan_options& options) {
    require_known(operation, options.algorithm);
    detail::validate_scan(operation, x, y);
    const std::span<std::byte> given = options.workspace;
    detail::validate_workspace(
        operation, given, {{"x", detail::footprint_of_vector(x)}, {"y", detail::footprint_of_vector(y)}});
    if (x.size == 0) return;
    if (x.size == 1) x.stride = y.stride = 1;

    const scan_problem problem{x.size, sizeof(T)};
    const detail::stream_device call_device(stream);
    const device_traits& device = call_device.traits();
    const scan_algorithm algorithm =
        options.algorithm == scan_algorithm::automatic ? select(problem, device) : options.algorithm;
    const std::int64_t bytes = scan_workspace_bytes(problem, device, algorithm);
    detail::validate_workspace_size(operation, given, bytes);

    workspace own(given.empty() ? bytes : 0, stream);
    rungs::arguments<T> arguments{.x = x, .y = y, .kind = kind};
    if (bytes > 0) {
        std::byte* data = given.empty() ? own.data() : given.data();
        arguments.counters = reinterpret_cast<unsigned*>(data);
        arguments.scratch = data + detail::workspace_ticket_bytes;
    }
    launch(arguments, device, stream.get(), algorithm);
}

}  // namespace

std::span<const scan_algorithm> scan_algorithms() {
    return algorithms;
}

std::string_view to_string(scan_algorithm algorithm) {
    switch (algorithm) {
        case scan_algorithm::automatic:
            return "automatic";
        case scan_algorithm::naive:
            return "naive";
        case scan_algorithm::reduce_then_scan:
            return "reduce_then_scan";
        case scan_algorithm::look_back:
            return "look_back";
    }
    return "unknown";
}

/// One launch that moves every element once, of any stride; a small scan is one block of it.
scan_algorithm select(const scan_problem& problem, const device_traits& device) {
    require_valid("select", problem, device);
    return scan_algorithm::look_back;
}

std::int64_t scan_workspace_bytes(const scan_problem& problem, const device_traits& device,
                                  scan_algorithm algorithm) {
    require_known("scan_workspace_bytes", algorithm);
    require_valid("scan_workspace_bytes", problem, device);
    const std::int64_t scratch = plan_of(problem, device, algorithm).scratch_bytes;
    constexpr std::int64_t unit = detail::workspace_alignment;
    return scratch == 0 ? 0 : detail::workspace_ticket_bytes + (scratch + unit - 1) / unit * unit;
}

std::int64_t scan_depth(const scan_problem& problem, const device_traits& device, scan_algorithm algorithm) {
    require_known("scan_depth", algorithm);
    require_valid("scan_depth", problem, device);
    return plan_of(problem, device, algorithm).depth;
}

template <class T>
void inclusive_scan(vector_view<const std::type_identity_t<T>> x, vector_view<T> y, cuda::stream_ref stream,
                    const scan_options& options) {
    run<T>("inclusive_scan", rungs::kind::inclusive, x, y, stream, options);
}

template <class T>
void exclusive_scan(vector_view<const std::type_identity_t<T>> x, vector_view<T> y, cuda::stream_ref stream,
                    const scan_options& options) {
    run<T>("exclusive_scan", rungs::kind::exclusive, x, y, stream, options);
}

template void inclusive_scan<double>(vector_view<const double>, vector_view<double>, cuda::stream_ref,
                                     const scan_options&);
template void exclusive_scan<double>(vector_view<const double>, vector_view<double>, cuda::stream_ref,
                                     const scan_options&);
template void inclusive_scan<float>(vector_view<const float>, vector_view<float>, cuda::stream_ref,
                                    const scan_options&);
template void exclusive_scan<float>(vector_view<const float>, vector_view<float>, cuda::stream_ref,
                                    const scan_options&);
template void inclusive_scan<std::int32_t>(vector_view<const std::int32_t>, vector_view<std::int32_t>,
                                           cuda::stream_ref, const scan_options&);
template void exclusive_scan<std::int32_t>(vector_view<const std::int32_t>, vector_view<std::int32_t>,
                                           cuda::stream_ref, const scan_options&);
template void inclusive_scan<std::int64_t>(vector_view<const std::int64_t>, vector_view<std::int64_t>,
                                           cuda::stream_ref, const scan_options&);
template void exclusive_scan<std::int64_t>(vector_view<const std::int64_t>, vector_view<std::int64_t>,
                                           cuda::stream_ref, const scan_options&);

}  // namespace heddle
