#include "src/histogram/validate.hpp"
#include <heddle/host.hpp>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <vector>

namespace heddle::host {
namespace {

/// Fewer elements are counted on one thread: starting threads would take longer.
constexpr std::int64_t elements_to_share = 65536;

/// Each thread counts into bins of its own, which are then added. `bin_of` returns -1 for an element outside all bins.
template <class T, class BinOf>
void count(const vector_view<const T>& x, const vector_view<std::int64_t>& counts, BinOf bin_of) {
    std::fill_n(counts.data, counts.size, 0);
    std::mutex adding;
#pragma omp parallel if (x.size >= elements_to_share)
    {
        std::vector<std::int64_t> own(static_cast<std::size_t>(counts.size));
#pragma omp for schedule(static)
        for (std::int64_t i = 0; i < x.size; ++i) {
            const std::int64_t bin = bin_of(x.data[i * x.stride]);
            if (bin >= 0) ++own[static_cast<std::size_t>(bin)];
        }
        const std::lock_guard lock(adding);
        for (std::int64_t bin = 0; bin < counts.size; ++bin)
            counts.data[bin] += own[static_cast<std::size_t>(bin)];
    }
}

}  // namespace

void histogram(vector_view<const std::uint8_t> x, vector_view<std::int64_t> counts) {
    detail::validate_histogram("host::histogram", x, counts);
    count(x, counts, [](std::uint8_t element) { return std::int64_t{element}; });
}

void histogram(vector_view<const float> x, float lower, float upper, vector_view<std::int64_t> counts) {
    detail::validate_histogram("host::histogram", x, counts);
    const float scale = detail::bin_scale("host::histogram", lower, upper, counts.size);
    count(x, counts, [=, bins = counts.size](float element) -> std::int64_t {
        if (!(element >= lower && element < upper)) return -1;
        return std::min(static_cast<std::int64_t>((element - lower) * scale), bins - 1);
    });
}

}  // namespace heddle::host
