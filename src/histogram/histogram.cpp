#include "src/histogram/rungs.hpp"
#include "src/histogram/validate.hpp"
#include <heddle/error.hpp>
#include <heddle/histogram.hpp>
#include <heddle/stream.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace heddle {
namespace {

using kernels::histogram::arguments, kernels::histogram::range;

/// The problem of a call, after all checks of the vectors; without elements, after those of sizes and strides alone.
template <class T>
histogram_problem validated(const char* operation, const vector_view<const T>& x,
                            const vector_view<std::int64_t>& counts, bool have_elements = true) {
    detail::validate_histogram(operation, x, counts, have_elements);
    return {layout_of(x), counts.size};
}

template <class T>
void run(vector_view<const T> x, const range& range, const vector_view<std::int64_t>& counts,
         const histogram_problem& problem, cuda::stream_ref stream, const histogram_options& options) {
    if (x.size <= 1) x.stride = 1;
    // Counts are never negative, so they have the same bits in both types.
    const arguments<T> a{.x = x,
                         .counts = reinterpret_cast<unsigned long long*>(counts.data),
                         .bins = static_cast<int>(counts.size),
                         .range = range};
    const detail::stream_device device(stream);
    const auto [rung, plan] = detail::histogram_rungs<T>().choose(
        "histogram", options.algorithm, kernels::histogram::histogram_facts(problem), device.traits());
    const std::size_t bytes = static_cast<std::size_t>(counts.size) * sizeof(std::int64_t);
    check(cudaMemsetAsync(counts.data, 0, bytes, stream.get()));
    if (x.size > 0) rung->launch(plan, a, stream.get());
}

void require_known(histogram_algorithm algorithm) {
    detail::histogram_rungs<float>().require_known("histogram", {"options", "algorithm"}, algorithm);
}

constexpr bool have_elements = false;

}  // namespace

histogram_problem histogram_problem_of(vector_view<const std::uint8_t> x, vector_view<std::int64_t> counts) {
    return validated("histogram_problem_of", x, counts, have_elements);
}

histogram_problem histogram_problem_of(vector_view<const float> x, vector_view<std::int64_t> counts) {
    return validated("histogram_problem_of", x, counts, have_elements);
}

void histogram(vector_view<const std::uint8_t> x, vector_view<std::int64_t> counts, cuda::stream_ref stream,
               const histogram_options& options) {
    require_known(options.algorithm);
    run(x, {}, counts, validated("histogram", x, counts), stream, options);
}

void histogram(vector_view<const float> x, float lower, float upper, vector_view<std::int64_t> counts,
               cuda::stream_ref stream, const histogram_options& options) {
    require_known(options.algorithm);
    const histogram_problem problem = validated("histogram", x, counts);
    const float scale = detail::bin_scale("histogram", lower, upper, counts.size);
    run(x, {lower, upper, scale}, counts, problem, stream, options);
}

}  // namespace heddle
