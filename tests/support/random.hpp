#pragma once

#include <heddle/types.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace heddle::test {

/// HEDDLE_TEST_SEED repeats a run. The log has the seed. The XML report has it as a property of each test that used it.
inline std::uint64_t seed() {
    static const std::uint64_t value = [] {
        const char* given = std::getenv("HEDDLE_TEST_SEED");
        const std::uint64_t chosen = given ? std::strtoull(given, nullptr, 10) : std::random_device{}();
        printf("HEDDLE_TEST_SEED=%llu\n", static_cast<unsigned long long>(chosen));
        return chosen;
    }();
    testing::Test::RecordProperty("HEDDLE_TEST_SEED", std::to_string(value));
    return value;
}

/// Draws integers that are uniform in [low, high], from the seed.
class drawing {
  public:
    drawing() = default;
    /// The draws of parts are independent.
    explicit drawing(std::uint64_t part) : generator_{seed() + part} {}

    std::int64_t operator()(std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(generator_);
    }

  private:
    std::mt19937_64 generator_{seed()};
};

/// SplitMix64 (Steele, Lea and Flood, 2014): tests draw so many elements that a slower engine would take too long.
class fast_generator {
  public:
    explicit fast_generator(std::uint64_t from) : state_(from) {}

    std::uint64_t operator()() {
        std::uint64_t bits = state_ += 0x9e3779b97f4a7c15u;
        bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
        bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
        return bits ^ (bits >> 31);
    }
    /// Uniform in [0, 1).
    double unit() { return static_cast<double>((*this)() >> 11) * 0x1p-53; }

  private:
    std::uint64_t state_;
};

/// Rounds towards zero, as the host is slow at rounding to nearest 16 bits.
template <class T>
T cut_to(float x) {
    constexpr std::uint32_t kept = std::is_same_v<T, half> ? 0xffffe000u : 0xffff0000u;
    return static_cast<T>(std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & kept));
}

/// Uniform in [low, high]; T may be any element type of heddle.
template <class T>
std::vector<T> random_elements(std::int64_t size, double low = -1, double high = 1) {
    const std::uint64_t started_from = seed();  // asked each time: it is a property of every test
    static fast_generator generator(started_from);
    std::vector<T> elements(static_cast<std::size_t>(size));
    if constexpr (std::is_integral_v<T>) {
        // Unsigned numbers wrap where the range is wider than half of all.
        const auto first = static_cast<std::uint64_t>(static_cast<std::int64_t>(low));
        const std::uint64_t count = static_cast<std::uint64_t>(static_cast<std::int64_t>(high)) - first + 1;
        for (T& element : elements) element = static_cast<T>(first + generator() % count);
    } else {
        for (T& element : elements) {
            const double drawn = low + (high - low) * generator.unit();
            if constexpr (std::is_same_v<T, double>)
                element = drawn;
            else if constexpr (std::is_same_v<T, float>)
                element = static_cast<float>(drawn);
            else
                element = cut_to<T>(static_cast<float>(drawn));
        }
    }
    return elements;
}

}  // namespace heddle::test
