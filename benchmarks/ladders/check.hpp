#pragma once

#include "benchmarks/ladders/ladder.hpp"
#include "benchmarks/support/random.hpp"

/// The checks of all operations share these functions.
namespace heddle::bench {

/// The unit roundoff of float, and of a type.
inline constexpr double float_unit = 0x1p-24;
template <class T>
inline constexpr double unit_of = std::is_same_v<T, double>     ? 0x1p-53
                                  : std::is_same_v<T, float>    ? float_unit
                                  : std::is_same_v<T, half>     ? 0x1p-11
                                  : std::is_same_v<T, bfloat16> ? 0x1p-8
                                                                : 0;

template <class T>
std::vector<T> on_host(const device_buffer<T>& buffer) {
    std::vector<T> values(buffer.size());
    copy_and_wait(buffer, values, stream());
    return values;
}

/// Random elements in [-0.5, 1], or bytes. Their mean is not 0, so that a sum that lacks some of them is far off.
template <class T>
device_buffer<T> biased_on_device(std::int64_t size) {
    device_buffer<T> buffer = random_on_device<T>(size);
    if constexpr (!std::is_integral_v<T>) {
        std::vector<T> values = on_host(buffer);
        for (T& value : values) value = static_cast<T>(0.25 + 0.75 * static_cast<double>(value));
        copy_and_wait(values, buffer, stream());
    }
    return buffer;
}

/// A result filled with NaN or 255, so that elements that a rung does not write show.
template <class T>
device_buffer<T> poisoned_on_device(std::int64_t size) {
    device_buffer<T> buffer(size, stream());
    fill_bytes(buffer, std::byte{0xff}, stream());
    return buffer;
}

/// The algorithm of this name, or that of a kernel.
template <class Algorithm>
Algorithm algorithm_of(std::string_view kernel, std::span<const Algorithm> all) {
    const std::string_view rung = kernel.substr(0, kernel.find(' '));
    const auto found = std::ranges::find(all, rung, [](Algorithm algorithm) { return to_string(algorithm); });
    if (found == all.end()) throw std::invalid_argument("there is no rung " + std::string(rung));
    return *found;
}

/// Up to `most` indices below size, the first and the last among them.
inline std::vector<std::int64_t> sampled(std::int64_t size, std::int64_t most) {
    std::vector<std::int64_t> indices;
    const std::int64_t count = std::min(size, most);
    for (std::int64_t i = 0; i < count; ++i) indices.push_back(count == 1 ? 0 : (size - 1) * i / (count - 1));
    return indices;
}

/// The larger, and NaN once there was one.
inline double worse(double error, double than) {
    return std::isnan(error) || error > than ? error : than;
}

/// Where bounds differ: keeps the error that is the largest share of its bound, and NaN once there was one.
inline void keep_worst(accuracy& result, double error, double bound) {
    if (std::isnan(result.error)) return;
    if (result.bound == 0 || std::isnan(error) || error * result.bound > result.error * bound) {
        result.error = error;
        result.bound = bound;
    }
}

template <class T>
double at(const std::vector<T>& values, std::int64_t index) {
    return static_cast<double>(values[static_cast<std::size_t>(index)]);
}

}  // namespace heddle::bench
