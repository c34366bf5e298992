#include "kernels/device/math.hpp"
#include "src/scan/validate.hpp"
#include <heddle/host.hpp>
#include <heddle/types.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#pragma GCC visibility push(default)

namespace heddle::host {
namespace {

/// How many elements a thread scans at a time. It is fixed so that the result does not depend on the thread count.
constexpr std::int64_t chunk = 1024;
/// Fewer chunks run on one thread: starting threads would take longer.
constexpr std::int64_t chunks_to_share = 64;

template <class T>
T plus(T a, T b) {
    if constexpr (std::is_integral_v<T>)  // wraps around: signed overflow would be undefined
        return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) +
                              static_cast<std::make_unsigned_t<T>>(b));
    else
        return a + b;
}

/// Sums each chunk, scans the sums, and scans each chunk from its start.
template <bool is_inclusive, class T>
void scan(const char* operation, const vector_view<const T>& x, const vector_view<T>& y) {
    detail::validate_scan(operation, x, y);
    const std::int64_t chunks = kernels::divide_up(x.size, chunk);
    const auto end_of = [&](std::int64_t c) { return std::min((c + 1) * chunk, x.size); };
    std::vector<T> starts(static_cast<std::size_t>(chunks));
    const auto start_of = [&](std::int64_t c) -> T& { return starts[static_cast<std::size_t>(c)]; };

#pragma omp parallel for schedule(static) if (chunks >= chunks_to_share)
    for (std::int64_t c = 0; c < chunks - 1; ++c) {
        T sum{};
        for (std::int64_t i = c * chunk; i < end_of(c); ++i) sum = plus(sum, x.data[i * x.stride]);
        start_of(c + 1) = sum;
    }
    for (std::int64_t c = 1; c < chunks; ++c) start_of(c) = plus(start_of(c - 1), start_of(c));

#pragma omp parallel for schedule(static) if (chunks >= chunks_to_share)
    for (std::int64_t c = 0; c < chunks; ++c) {
        T sum = start_of(c);
        for (std::int64_t i = c * chunk; i < end_of(c); ++i) {
            const T before = sum;
            sum = plus(sum, x.data[i * x.stride]);
            y.data[i * y.stride] = is_inclusive ? sum : before;
        }
    }
}

}  // namespace

template <class T>
void inclusive_scan(vector_view<const std::type_identity_t<T>> x, vector_view<T> y) {
    scan<true, T>("host::inclusive_scan", x, y);
}

template <class T>
void exclusive_scan(vector_view<const std::type_identity_t<T>> x, vector_view<T> y) {
    scan<false, T>("host::exclusive_scan", x, y);
}

#define INSTANTIATE(T)                                                     \
    template void inclusive_scan<T>(vector_view<const T>, vector_view<T>); \
    template void exclusive_scan<T>(vector_view<const T>, vector_view<T>);
HEDDLE_WIDE_TYPES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace heddle::host

#pragma GCC visibility pop
