#include "src/histogram.hpp"

#include "kernels/histogram/launch.hpp"
#include "src/format.hpp"
#include <heddle/error.hpp>
#include <heddle/histogram.hpp>
#include <heddle/stream.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>

namespace heddle {
namespace {

namespace rungs = kernels::histogram;

constexpr std::array algorithms = {histogram_algorithm::naive, histogram_algorithm::shared_memory,
                                   histogram_algorithm::vectorized};

void require_runnable(histogram_algorithm algorithm, const histogram_problem& problem) {
    if (algorithm == histogram_algorithm::naive) return;
    if (problem.bins > histogram_max_shared_bins)
        throw unsupported(detail::format("histogram: {} takes at most {} bins, not {}", to_string(algorithm),
                                         histogram_max_shared_bins, problem.bins));
    if (algorithm == histogram_algorithm::vectorized && problem.stride != 1)
        throw unsupported(detail::format("histogram: vectorized needs x.stride 1, not {}", problem.stride));
}

template <class T>
void run(vector_view<const T> x, const rungs::range& range, vector_view<std::int64_t> counts,
         cuda::stream_ref stream, histogram_algorithm algorithm) {
    if (x.size <= 1) x.stride = 1;
    const histogram_problem problem{x.size, x.stride, counts.size};
    const detail::stream_device call_device(stream);
    const device_traits& device = call_device.traits();
    if (algorithm == histogram_algorithm::automatic) algorithm = select(problem, device);
    require_runnable(algorithm, problem);

    const std::size_t bytes = static_cast<std::size_t>(counts.size) * sizeof(std::int64_t);
    check(cudaMemsetAsync(counts.data, 0, bytes, stream.get()));
    if (x.size == 0) return;
    // Counts are never negative: they have the same bits in both types.
    const rungs::arguments<T> arguments{.x = x,
                                        .counts = reinterpret_cast<unsigned long long*>(counts.data),
                                        .bins = static_cast<int>(counts.size),
                                        .range = range};
    switch (algorithm) {
        case histogram_algorithm::automatic:
            break;  // select() never answers it
        case histogram_algorithm::naive:
            return rungs::launch_naive(arguments, device, stream.get());
        case histogram_algorithm::shared_memory:
            return rungs::launch_shared_memory(arguments, device, stream.get());
        case histogram_algorithm::vectorized:
            return rungs::launch_vectorized(arguments, device, stream.get());
    }
}

void require_known(histogram_algorithm algorithm) {
    const bool is_known = algorithm == histogram_algorithm::automatic ||
                          std::ranges::find(algorithms, algorithm) != algorithms.end();
    detail::require(is_known, "histogram", {"options", "algorithm"}, static_cast<int>(algorithm),
                    "an enumerator of histogram_algorithm");
}

}  // namespace

std::span<const histogram_algorithm> histogram_algorithms() {
    return algorithms;
}

std::string_view to_string(histogram_algorithm algorithm) {
    switch (algorithm) {
        case histogram_algorithm::automatic:
            return "automatic";
        case histogram_algorithm::naive:
            return "naive";
        case histogram_algorithm::shared_memory:
            return "shared_memory";
        case histogram_algorithm::vectorized:
            return "vectorized";
    }
    return "unknown";
}

histogram_algorithm select(const histogram_problem& problem, const device_traits& device) {
    detail::validate_device("select", device);
    detail::validate_extents("select", {{"size", problem.size}});
    detail::require(problem.bins >= 1, "select", {"problem", "bins"}, problem.bins, "one or more");
    if (problem.bins > histogram_max_shared_bins) return histogram_algorithm::naive;
    return problem.stride == 1 ? histogram_algorithm::vectorized : histogram_algorithm::shared_memory;
}

void histogram(vector_view<const std::uint8_t> x, vector_view<std::int64_t> counts, cuda::stream_ref stream,
               const histogram_options& options) {
    require_known(options.algorithm);
    detail::validate_histogram("histogram", x, counts);
    run(x, {}, counts, stream, options.algorithm);
}

void histogram(vector_view<const float> x, float lower, float upper, vector_view<std::int64_t> counts,
               cuda::stream_ref stream, const histogram_options& options) {
    require_known(options.algorithm);
    detail::validate_histogram("histogram", x, counts);
    const float scale = detail::bin_scale("histogram", lower, upper, counts.size);
    run(x, {lower, upper, scale}, counts, stream, options.algorithm);
}

}  // namespace heddle
