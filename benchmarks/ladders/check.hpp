#pragma once

#include "benchmarks/ladders/ladder.hpp"
#include "benchmarks/support/random.hpp"
#include "benchmarks/support/rows.hpp"
#include <heddle/buffer.hpp>
#include <heddle/copy.hpp>
#include <heddle/types.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/// What the checks of all operations need.
namespace heddle::bench {

/// The unit roundoff of float, and of a type.
inline constexpr double float_unit = 0x1p-24;
template <class T>
inline constexpr double unit_of = 0;
template <>
inline constexpr double unit_of<double> = 0x1p-53;
template <>
inline constexpr double unit_of<float> = float_unit;
template <>
inline constexpr double unit_of<half> = 0x1p-11;
template <>
inline constexpr double unit_of<bfloat16> = 0x1p-8;

template <class T>
std::vector<T> on_host(const device_buffer<T>& buffer) {
    std::vector<T> values(buffer.size());
    copy_and_wait(buffer, values, stream());
    return values;
}

/// The algorithm of this name.
template <class Algorithm>
Algorithm algorithm_of(std::string_view rung, std::span<const Algorithm> all) {
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

template <class T>
double at(const std::vector<T>& values, std::int64_t index) {
    return static_cast<double>(values[static_cast<std::size_t>(index)]);
}

}  // namespace heddle::bench
