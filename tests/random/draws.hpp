#pragma once

#include "tests/bounds/random.hpp"
#include "tests/support/elementwise.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/numeric.hpp"
#include "tests/support/random.hpp"
#include "tests/support/rows.hpp"
#include <heddle/error.hpp>
#include <heddle/host.hpp>
#include <heddle/random.hpp>
#include <heddle/stream.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

namespace heddle::test {

inline std::vector<random_algorithm> every_algorithm() {
    std::vector<random_algorithm> all(random_algorithms().begin(), random_algorithms().end());
    all.push_back(random_algorithm::automatic);
    return all;
}

// What is drawn: calls of the GPU and of the CPU with the same arguments. x is read by dropout alone.

struct draw_uniform {
    double low = -1, high = 2.5;
    template <class T>
    void on_device(matrix_view<const T>, matrix_view<T> y, const philox& g, cuda::stream_ref s,
                   const random_options& options) const {
        random_uniform<T>(y, static_cast<compute_type<T>>(low), static_cast<compute_type<T>>(high), g, s,
                          options);
    }
    template <class T>
    void on_host(matrix_view<const T>, matrix_view<T> y, const philox& g) const {
        host::random_uniform<T>(y, static_cast<compute_type<T>>(low), static_cast<compute_type<T>>(high), g);
    }
};

struct draw_normal {
    double mean = 0.5, deviation = 1.5;
    template <class T>
    void on_device(matrix_view<const T>, matrix_view<T> y, const philox& g, cuda::stream_ref s,
                   const random_options& options) const {
        random_normal<T>(y, static_cast<compute_type<T>>(mean), static_cast<compute_type<T>>(deviation), g, s,
                         options);
    }
    template <class T>
    void on_host(matrix_view<const T>, matrix_view<T> y, const philox& g) const {
        host::random_normal<T>(y, static_cast<compute_type<T>>(mean), static_cast<compute_type<T>>(deviation),
                               g);
    }
};

struct draw_bernoulli {
    double p = 0.3;
    template <class T>
    void on_device(matrix_view<const T>, matrix_view<T> y, const philox& g, cuda::stream_ref s,
                   const random_options& options) const {
        random_bernoulli<T>(y, p, g, s, options);
    }
    template <class T>
    void on_host(matrix_view<const T>, matrix_view<T> y, const philox& g) const {
        host::random_bernoulli<T>(y, p, g);
    }
};

/// The matrix has one row.
struct draw_bits {
    void on_device(matrix_view<const std::uint32_t>, matrix_view<std::uint32_t> y, const philox& g,
                   cuda::stream_ref s, const random_options& options) const {
        random_bits({y.data, y.cols, y.col_stride}, g, s, options);
    }
    void on_host(matrix_view<const std::uint32_t>, matrix_view<std::uint32_t> y, const philox& g) const {
        host::random_bits({y.data, y.cols, y.col_stride}, g);
    }
};

struct draw_dropout {
    double p = 0.3;
    template <class T>
    void on_device(matrix_view<const T> x, matrix_view<T> y, const philox& g, cuda::stream_ref s,
                   const random_options& options) const {
        dropout<T>(x, y, p, g, s, options);
    }
    template <class T>
    void on_host(matrix_view<const T> x, matrix_view<T> y, const philox& g) const {
        host::dropout<T>(x, y, p, g);
    }
};

template <class T>
testing::AssertionResult have_same_bits(const std::vector<T>& actual, const std::vector<T>& expected) {
    if constexpr (std::is_integral_v<T>)
        return actual == expected ? testing::AssertionSuccess()
                                  : testing::AssertionFailure() << "integers differ";
    else
        return are_same(actual, expected);
}

/// Whether the GPU's numbers are the CPU's.
template <class T, class Draw>
testing::AssertionResult agree(const std::vector<T>& actual, const std::vector<T>& expected,
                               const Draw& draw) {
    if constexpr (std::is_same_v<Draw, draw_normal>) {
        std::vector<double> exact, bounds;
        for (const T each : expected) {
            exact.push_back(to_double(each));
            bounds.push_back(bounds::of_normal<T>(exact.back(), draw.mean, draw.deviation));
        }
        return are_within(actual, exact, bounds);
    } else {
        return have_same_bits(actual, expected);
    }
}

class random_test : public gpu_test {
  protected:
    void SetUp() override {
        gpu_test::SetUp();
        if (is_set_up()) stream.emplace();
    }

    /// Draws with every rung that can, each into an output of its own, and compares all bytes with the CPU's.
    template <class T, class Draw>
    void check(const Draw& draw, std::int64_t rows, std::int64_t cols, const row_layout& of_x,
               const row_layout& of_y, const philox& generator) {
        SCOPED_TRACE(testing::Message() << rows << " x " << cols << ", offset " << generator.offset);
        constexpr auto on_host = guarded<T>::memory::host;
        const auto xs = random_elements<T>(rows * cols, std::is_integral_v<T> ? 0 : -10, 10);
        guarded<T> x = make_rows<T>(rows, cols, of_x), host_x = make_rows<T>(rows, cols, of_x, on_host);
        x.upload(xs);
        host_x.upload(xs);
        guarded<T> host_y = make_rows<T>(rows, cols, of_y, on_host);
        draw.on_host(matrix_view<const T>(host_x.matrix()), host_y.matrix(), generator);
        const auto expected = host_y.download();
        ASSERT_TRUE(host_y.canaries_alive());
        std::optional<std::vector<T>> first;
        for (const random_algorithm algorithm : every_algorithm()) {
            SCOPED_TRACE(to_string(algorithm));
            guarded<T> y = make_rows<T>(rows, cols, of_y);
            try {
                draw.on_device(matrix_view<const T>(x.matrix()), y.matrix(), generator, *stream,
                               {.algorithm = algorithm});
            } catch (const unsupported&) {
                ASSERT_EQ(algorithm, random_algorithm::vectorized);
                ASSERT_TRUE(y.untouched());
                continue;
            }
            const auto [elements, canaries_alive] = y.inspect();
            ASSERT_TRUE(agree(elements, expected, draw));
            ASSERT_TRUE(canaries_alive);
            if (!first) first = elements;
            ASSERT_TRUE(have_same_bits(elements, *first)) << "rungs differ";
        }
        ASSERT_TRUE(x.untouched());
    }

    std::optional<heddle::stream> stream;
};

}  // namespace heddle::test
