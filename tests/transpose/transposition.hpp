#pragma once

#include "tests/support/gpu.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/random.hpp"
#include "tests/support/rows.hpp"
#include <heddle/stream.hpp>
#include <heddle/transpose.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

namespace heddle::test {

inline std::vector<transpose_algorithm> every_algorithm() {
    std::vector<transpose_algorithm> all(transpose_algorithms().begin(), transpose_algorithms().end());
    all.push_back(transpose_algorithm::automatic);
    return all;
}

/// Any bits at all: NaNs with payloads, infinities and denormals among them.
template <class T>
std::vector<T> random_bits(std::int64_t size) {
    static std::mt19937_64 generator(seed());
    std::vector<T> elements(static_cast<std::size_t>(size));
    for (T& element : elements) {
        const std::uint64_t bits = generator();
        std::memcpy(static_cast<void*>(&element), &bits, sizeof(T));
    }
    return elements;
}

template <class T>
std::vector<T> expected_transpose(const std::vector<T>& source, std::int64_t rows, std::int64_t cols) {
    std::vector<T> destination(source.size());
    for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t col = 0; col < cols; ++col)
            destination[static_cast<std::size_t>(col * rows + row)] =
                source[static_cast<std::size_t>(row * cols + col)];
    return destination;
}

/// Nothing is computed: every bit must be the source's.
template <class T>
testing::AssertionResult are_same_bits(const std::vector<T>& actual, const std::vector<T>& expected) {
    if (actual.size() != expected.size()) return testing::AssertionFailure() << actual.size() << " elements";
    for (std::size_t i = 0; i < actual.size(); ++i)
        if (std::memcmp(&actual[i], &expected[i], sizeof(T)) != 0)
            return testing::AssertionFailure() << "element " << i << " differs";
    return testing::AssertionSuccess();
}

using transposed_types =
    testing::Types<std::uint8_t, half, bfloat16, std::int32_t, float, double, std::int64_t>;

/// A type for each size.
using words = testing::Types<std::uint8_t, half, float, double>;

template <class T>
class transposition : public gpu_test {
  protected:
    void SetUp() override {
        gpu_test::SetUp();
        if (!IsSkipped()) stream = std::make_unique<heddle::stream>();
    }

    /// Transposes with every algorithm of `algorithms`, each into an output of its own, and checks all bytes.
    void check(std::int64_t rows, std::int64_t cols, const row_layout& from = {}, const row_layout& to = {},
               const std::vector<transpose_algorithm>& algorithms = every_algorithm()) {
        const auto elements = random_bits<T>(rows * cols);
        const auto expected = expected_transpose(elements, rows, cols);
        guarded<T> source = make_rows<T>(rows, cols, from);
        source.upload(elements);
        for (const transpose_algorithm algorithm : algorithms) {
            SCOPED_TRACE(testing::Message() << rows << " x " << cols << ' ' << to_string(algorithm));
            guarded<T> destination = make_rows<T>(cols, rows, to);
            transpose<T>(source.matrix(), destination.matrix(), *stream, {.algorithm = algorithm});
            stream->synchronize();
            ASSERT_TRUE(are_same_bits(destination.download(), expected));
            ASSERT_TRUE(destination.canaries_alive());
        }
        ASSERT_TRUE(source.untouched());
    }

    std::unique_ptr<heddle::stream> stream;
};

}  // namespace heddle::test
