#include "benchmarks/cliffs/reference.hpp"
#include "benchmarks/cliffs/reference_parts.cuh"
#include "benchmarks/support/rows.hpp"
#include <heddle/copy.hpp>
#include <heddle/error.hpp>
#include <heddle/types.hpp>

#include <type_traits>

namespace heddle::bench::cliffs {
namespace {

/// Where a border's pixel comes from; -1 where it is the constant.
__device__ std::int64_t source_of(std::int64_t i, std::int64_t size, border kind) {
    if (i >= 0 && i < size) return i;
    if (kind == border::constant) return -1;
    if (kind == border::replicate) return i < 0 ? 0 : size - 1;
    if (kind == border::reflect_101 && size == 1) return 0;
    const std::int64_t period = kind == border::wrap      ? size
                                : kind == border::reflect ? 2 * size
                                                          : 2 * size - 2;
    const std::int64_t at = (i % period + period) % period;
    if (at < size) return at;
    return kind == border::reflect ? 2 * size - 1 - at : 2 * size - 2 - at;
}

template <class T>
__global__ void window_kernel(image_view<const T> image, const pixel* centres, const double* taps_x,
                              std::int64_t width, const double* taps_y, std::int64_t height, border kind,
                              double outside, window_facts* parts) {
    const pixel centre = centres[blockIdx.x];
    window_facts own;
    for (std::int64_t i = threadIdx.x; i < width * height; i += threads) {
        const double weight = taps_x[i % width] * taps_y[i / width];
        const std::int64_t x = source_of(centre.x + i % width - width / 2, image.width, kind);
        const std::int64_t y = source_of(centre.y + i / width - height / 2, image.height, kind);
        const double value =
            x < 0 || y < 0 ? outside
                           : value_of(image.data[y * image.row_stride + x * image.channels + centre.channel]);
        own.sum += weight * value;
        own.magnitudes += fabs(weight * value);
    }
    store_total(own, parts);
}

template <class T>
__global__ void bin_kernel(vector_view<const T> x, double lower, double upper, std::int64_t bins,
                           looked_at_bins looked_at, bin_facts* result) {
    // In float x - lower is off by u of itself, and so are the factor and the product.
    const double margin = std::is_integral_v<T> ? 0 : 4 * 0x1p-24;
    const double scale = static_cast<double>(bins) / (upper - lower);
    bin_facts own;
    for (std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x; i < x.size;
         i += std::int64_t{gridDim.x} * threads) {
        const double value = value_of(x.data[i * x.stride]);
        if (!(value >= lower && value < upper)) continue;
        ++own.inside;
        const double at = (value - lower) * scale;
        const auto bin = [bins](double place) {
            const auto number = static_cast<std::int64_t>(place);
            return number < bins ? number : bins - 1;
        };
        const std::int64_t low = bin(at * (1 - margin)), high = bin(at * (1 + margin));
        for (int b = 0; b < 8; ++b) {
            const bool may_be = low == looked_at.number[b] || high == looked_at.number[b];
            own.possible[b] += may_be ? 1 : 0;
            own.sure[b] += may_be && low == high ? 1 : 0;
        }
    }
    const auto add = [](std::int64_t* to, std::int64_t count) {
        if (count != 0)
            atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(count));
    };
    for (int b = 0; b < 8; ++b) {
        add(&result->possible[b], own.possible[b]);
        add(&result->sure[b], own.sure[b]);
    }
    add(&result->inside, own.inside);
}

}  // namespace

template <class T>
std::vector<window_facts> windows_of(const image_view<const T>& image, const std::vector<pixel>& centres,
                                     const std::vector<double>& taps_x, const std::vector<double>& taps_y,
                                     border border, double border_value) {
    if (centres.empty()) return {};
    const auto where = on_device(centres);
    const auto x = on_device(taps_x), y = on_device(taps_y);
    return totals<window_facts>(centres.size(), 1, [&](dim3 grid, window_facts* to) {
        window_kernel<<<grid, threads, 0, stream().get()>>>(
            image, where.data(), x.data(), static_cast<std::int64_t>(taps_x.size()), y.data(),
            static_cast<std::int64_t>(taps_y.size()), border, border_value, to);
    });
}

template <class T>
bin_facts count_bins(const vector_view<const T>& x, double lower, double upper, std::int64_t bins,
                     const looked_at_bins& looked_at) {
    constexpr unsigned blocks = 1024;
    device_buffer<bin_facts> result(1, stream());
    fill_zero(result, stream());
    bin_kernel<<<blocks, threads, 0, stream().get()>>>(x, lower, upper, bins, looked_at, result.data());
    check(cudaGetLastError());
    std::vector<bin_facts> facts(1);
    copy_and_wait(result, facts, stream());
    return facts.front();
}

#define HEDDLE_CLIFFS_WINDOWS(T)                                                                          \
    template std::vector<window_facts> windows_of(const image_view<const T>&, const std::vector<pixel>&,  \
                                                  const std::vector<double>&, const std::vector<double>&, \
                                                  border, double)
HEDDLE_CLIFFS_WINDOWS(float);
HEDDLE_CLIFFS_WINDOWS(half);
HEDDLE_CLIFFS_WINDOWS(std::uint8_t);
HEDDLE_CLIFFS_WINDOWS(std::uint16_t);
#undef HEDDLE_CLIFFS_WINDOWS

template bin_facts count_bins(const vector_view<const float>&, double, double, std::int64_t,
                              const looked_at_bins&);
template bin_facts count_bins(const vector_view<const std::uint8_t>&, double, double, std::int64_t,
                              const looked_at_bins&);

}  // namespace heddle::bench::cliffs
