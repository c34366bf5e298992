#include "src/histogram/rungs.hpp"
#include "src/histogram/validate.hpp"
#include "src/packets.hpp"
#include <heddle/error.hpp>
#include <heddle/histogram.hpp>
#include <heddle/stream.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace heddle {
namespace {

using kernels::histogram::arguments, kernels::histogram::range;

template <class T>
histogram_problem describe(const arguments<T>& a) {
    constexpr std::int64_t packet = detail::packet_bytes;
    const std::int64_t beyond_boundary = reinterpret_cast<std::intptr_t>(a.x.data) % packet;
    return {.size = a.x.size,
            .stride = a.x.stride,
            .bins = a.bins,
            .element_bytes = sizeof(T),
            .head = (packet - beyond_boundary) % packet / std::int64_t{sizeof(T)}};
}

template <class T>
void run(vector_view<const T> x, const range& range, vector_view<std::int64_t> counts,
         cuda::stream_ref stream, histogram_algorithm algorithm) {
    if (x.size <= 1) x.stride = 1;
    // Counts are never negative: they have the same bits in both types.
    const arguments<T> a{.x = x,
                         .counts = reinterpret_cast<unsigned long long*>(counts.data),
                         .bins = static_cast<int>(counts.size),
                         .range = range};
    const detail::stream_device device(stream);
    const auto [rung, plan] =
        detail::histogram_rungs<T>().choose("histogram", algorithm, describe(a), device.traits());
    const std::size_t bytes = static_cast<std::size_t>(counts.size) * sizeof(std::int64_t);
    check(cudaMemsetAsync(counts.data, 0, bytes, stream.get()));
    if (x.size > 0) rung->launch(plan, a, stream.get());
}

template <class T>
void require_valid(const vector_view<const T>& x, const vector_view<std::int64_t>& counts,
                   histogram_algorithm algorithm) {
    detail::histogram_rungs<T>().require_known("histogram", {"options", "algorithm"}, algorithm);
    detail::validate_histogram("histogram", x, counts);
}

}  // namespace

void histogram(vector_view<const std::uint8_t> x, vector_view<std::int64_t> counts, cuda::stream_ref stream,
               const histogram_options& options) {
    require_valid(x, counts, options.algorithm);
    run(x, {}, counts, stream, options.algorithm);
}

void histogram(vector_view<const float> x, float lower, float upper, vector_view<std::int64_t> counts,
               cuda::stream_ref stream, const histogram_options& options) {
    require_valid(x, counts, options.algorithm);
    const float scale = detail::bin_scale("histogram", lower, upper, counts.size);
    run(x, {lower, upper, scale}, counts, stream, options.algorithm);
}

}  // namespace heddle
