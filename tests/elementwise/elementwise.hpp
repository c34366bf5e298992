#pragma once

#include "tests/support/elementwise.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/rows.hpp"
#include <heddle/elementwise.hpp>
#include <heddle/stream.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace heddle::test {

inline std::vector<elementwise_algorithm> every_algorithm() {
    std::vector<elementwise_algorithm> all(elementwise_algorithms().begin(), elementwise_algorithms().end());
    all.push_back(elementwise_algorithm::automatic);
    return all;
}

/// What a block of the `vectorized` rung takes of a row: 256 threads, each with a packet of 16 bytes.
template <class T>
constexpr std::int64_t tile_elements = std::int64_t{256} * 16 / std::int64_t{sizeof(T)};

template <class T>
std::vector<std::int64_t> sizes() {
    constexpr std::int64_t tile = tile_elements<T>;
    return {0,   1,    2,        3,    7,        31,           32,       33,           255,   256,
            257, 1009, tile - 1, tile, tile + 1, 2 * tile - 1, 2 * tile, 2 * tile + 1, 65537, 300007};
}

template <class T>
std::vector<T> sums(const std::vector<T>& x, const std::vector<T>& y) {
    std::vector<T> z(x.size());
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = rounded_sum(x[i], y[i]);
    return z;
}

/// The 16-bit types are computed with the fast functions.
template <class T>
constexpr sigmoid_accuracy accuracy_of = sizeof(T) == 2 ? fast_functions : accurate_functions;

template <class T>
class elementwise : public gpu_test {
  protected:
    void SetUp() override {
        gpu_test::SetUp();
        if (is_set_up()) stream = std::make_unique<heddle::stream>();
    }

    /// Adds with every algorithm of `algorithms`, each into an output of its own, and checks all bytes.
    void check_add(std::int64_t rows, std::int64_t cols, const row_layout& lx, const row_layout& ly,
                   const row_layout& lz,
                   const std::vector<elementwise_algorithm>& algorithms = every_algorithm()) {
        const auto xs = random_elements<T>(rows * cols), ys = random_elements<T>(rows * cols);
        const auto expected = sums(xs, ys);
        guarded<T> x = make_rows<T>(rows, cols, lx), y = make_rows<T>(rows, cols, ly);
        x.upload(xs);
        y.upload(ys);
        for (const elementwise_algorithm algorithm : algorithms) {
            SCOPED_TRACE(to_string(algorithm));
            guarded<T> z = make_rows<T>(rows, cols, lz);
            add<T>(x.matrix(), y.matrix(), z.matrix(), *stream, {.algorithm = algorithm});
            stream->synchronize();
            ASSERT_TRUE(are_same(z.download(), expected));
            ASSERT_TRUE(z.canaries_alive());
        }
        ASSERT_TRUE(x.untouched());
        ASSERT_TRUE(y.untouched());
    }

    void check_sigmoid(std::int64_t rows, std::int64_t cols, const row_layout& lx, const row_layout& ly,
                       const std::vector<elementwise_algorithm>& algorithms = every_algorithm()) {
        const auto xs = random_elements<T>(rows * cols, -10, 10);
        guarded<T> x = make_rows<T>(rows, cols, lx);
        x.upload(xs);
        for (const elementwise_algorithm algorithm : algorithms) {
            SCOPED_TRACE(to_string(algorithm));
            guarded<T> y = make_rows<T>(rows, cols, ly);
            sigmoid<T>(x.matrix(), y.matrix(), *stream, {.algorithm = algorithm});
            stream->synchronize();
            ASSERT_TRUE(are_sigmoids(y.download(), xs, accuracy_of<T>));
            ASSERT_TRUE(y.canaries_alive());
        }
        ASSERT_TRUE(x.untouched());
    }

    std::unique_ptr<heddle::stream> stream;
};

}  // namespace heddle::test
