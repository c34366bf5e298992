#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace heddle::test {

/// HEDDLE_TEST_SEED repeats a run. The log has the seed, and the XML report has it as a property of each test
/// that used it.
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
    std::int64_t operator()(std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(generator_);
    }

  private:
    std::mt19937_64 generator_{seed()};
};

/// Uniform in [low, high]; T may be any element type of heddle.
template <class T>
std::vector<T> random_elements(std::int64_t size, double low = -1, double high = 1) {
    const std::uint64_t started_from = seed();  // asked each time: it is a property of every test
    static std::mt19937_64 generator(started_from);
    std::vector<T> elements(static_cast<std::size_t>(size));
    if constexpr (std::is_integral_v<T>) {
        std::uniform_int_distribution<std::int64_t> distribution(static_cast<std::int64_t>(low),
                                                                 static_cast<std::int64_t>(high));
        for (T& element : elements) element = static_cast<T>(distribution(generator));
    } else {
        std::uniform_real_distribution<double> distribution(low, high);
        for (T& element : elements) {
            if constexpr (std::is_same_v<T, double>)
                element = distribution(generator);
            else
                element = static_cast<T>(static_cast<float>(distribution(generator)));
        }
    }
    return elements;
}

}  // namespace heddle::test
