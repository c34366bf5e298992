#pragma once

#include "tests/bounds/products.hpp"
#include "tests/matmul/problems.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/numeric.hpp"
#include "tests/support/random.hpp"
#include "tests/support/watchdog.hpp"
#include <heddle/device.hpp>
#include <heddle/matmul.hpp>
#include <heddle/stream.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace heddle::test {

struct shape {
    std::int64_t m, n, k;
};

inline std::string text(const shape& s) {
    return std::to_string(s.m) + "x" + std::to_string(s.n) + "x" + std::to_string(s.k);
}

/// The layout of an operand in memory.
struct layout {
    bool is_transposed = false;
    std::int64_t padding = 0;
    std::int64_t offset = 0;
    std::int64_t step = 1;  ///< between neighbours along the contiguous dimension
};

struct layouts {
    layout a, b, c;
};

/// Bits 0, 1 and 2 say whether A, B and C are column-major.
inline layouts transposed_by(int bits, std::int64_t padding = 0) {
    return {{(bits & 1) != 0, padding}, {(bits & 2) != 0, padding}, {(bits & 4) != 0, padding}};
}

/// Lines begin at multiples of a packet: with 8 elements of 16 bits, as the rungs of wgmma need.
inline layout in_packets(std::int64_t rows, std::int64_t cols, bool is_transposed = false,
                         std::int64_t packet = 8) {
    const std::int64_t line = is_transposed ? rows : cols;
    return {is_transposed, (packet - line % packet) % packet};
}
inline layouts in_packets(const shape& s, int bits = 0, std::int64_t packet = 8) {
    return {in_packets(s.m, s.k, (bits & 1) != 0, packet), in_packets(s.k, s.n, (bits & 2) != 0, packet),
            in_packets(s.m, s.n, (bits & 4) != 0, packet)};
}

template <class T>
guarded<T> make(std::int64_t rows, std::int64_t cols, const layout& how,
                const std::vector<T>& elements = {}) {
    constexpr auto where = guarded<T>::memory::device;
    const std::int64_t line = (how.is_transposed ? rows : cols) * how.step + how.padding;
    return how.is_transposed ? guarded<T>(rows, cols, how.step, how.offset, line, where, elements)
                             : guarded<T>(rows, cols, line, how.offset, how.step, where, elements);
}

/// float64 products, and for each the sum of magnitudes for error bounds.
struct reference {
    std::vector<double> value, magnitude;

    template <class In, class Out>
    reference(const shape& s, const std::vector<In>& a, const std::vector<In>& b, const std::vector<Out>& c,
              double alpha, double beta) {
        const bounds::sums all = bounds::products_of(a, b, s.m, s.n, s.k);
        for (std::size_t i = 0; i < c.size(); ++i) {
            const double old = beta == 0 ? 0 : beta * to_double(c[i]);
            value.push_back(alpha * all.values[i] + old);
            magnitude.push_back(std::abs(alpha) * all.magnitudes[i] + std::abs(old));
        }
    }
};

/// The operands of a product in guarded memory, and their values: random elements, or the given ones of A and B.
template <class Out, class In = Out>
struct operands {
    shape s;
    std::vector<In> as, bs;
    std::vector<Out> cs;
    guarded<In> a, b;
    guarded<Out> c;

    operands(const shape& size, std::vector<In> of_a, std::vector<In> of_b, const layouts& lie = {})
        : s(size),
          as(std::move(of_a)),
          bs(std::move(of_b)),
          cs(random_elements<Out>(s.m * s.n)),
          a(make(s.m, s.k, lie.a, as)),
          b(make(s.k, s.n, lie.b, bs)),
          c(make<Out>(s.m, s.n, lie.c)) {}
    explicit operands(const shape& size, const layouts& lie = {})
        : operands(size, random_elements<In>(size.m * size.k), random_elements<In>(size.k * size.n), lie) {}

    /// Where beta is 0, C holds NaN, which must not reach the result.
    void prepare_c(float beta) {
        c.upload(beta != 0 ? cs : std::vector<Out>(cs.size(), Out(std::numeric_limits<float>::quiet_NaN())));
    }

    /// Enqueues the product with the present C.
    void enqueue(const stream& on, const matmul_options& options) {
        matmul<Out, In>(a.matrix(), b.matrix(), c.matrix(), on, options);
    }
    void multiply(const stream& on, const matmul_options& options) {
        prepare_c(options.beta);
        enqueue(on, options);
        synchronize(on, std::string(to_string(options.algorithm)) + " " + text(s));
    }

    matmul_problem problem(const matmul_options& options, bool has_epilogue = false) {
        return problem_of(a.matrix(), b.matrix(), c.matrix(), options, has_epilogue);
    }
    /// The reason why the algorithm and the kernel of the options cannot run this product here; empty where they can.
    std::string why_not(const matmul_options& options, bool has_epilogue = false) {
        return heddle::why_not(options.algorithm, problem(options, has_epilogue), traits_of(current_device()),
                               options.kernel);
    }
    std::int64_t workspace_bytes(const stream& on, const matmul_options& options) {
        return matmul_workspace_bytes<Out, In>(a.matrix(), b.matrix(), c.matrix(), on, options);
    }

    reference expected(float alpha = 1, float beta = 0) const {
        return {s, as, bs, cs, double{alpha}, double{beta}};
    }
    /// Checks that nothing but the elements of C has changed.
    void expect_intact() {
        EXPECT_TRUE(c.canaries_alive());
        EXPECT_TRUE(a.untouched());
        EXPECT_TRUE(b.untouched());
    }
};

template <class T>
void expect_same(const std::vector<T>& actual, const std::vector<T>& expected) {
    for (std::size_t i = 0; i < actual.size(); ++i)
        ASSERT_EQ(to_double(actual[i]), to_double(expected[i])) << "element " << i;
}

// Error bounds of elements of C (docs/accuracy.md), from their values and the sums of magnitudes behind them.
using error_bound = double (*)(const shape& s, double value, double magnitude);

template <double (*share)(double)>
double bound_of_sum(const shape& s, double /*value*/, double magnitude) {
    return share(static_cast<double>(s.k)) * magnitude + smallest<float>();
}
inline constexpr error_bound fma_bound = bound_of_sum<bounds::of_fmas>;
inline constexpr error_bound bf16x6_bound = bound_of_sum<bounds::of_bf16x6>;
inline constexpr error_bound tf32x3_bound = bound_of_sum<bounds::of_tf32x3>;
inline constexpr error_bound tf32_bound = bound_of_sum<bounds::of_tf32>;

/// Assumes that no element is larger than 1.
inline double fp16x3_bound(const shape& s, double /*value*/, double magnitude) {
    const auto k = static_cast<double>(s.k);
    return bounds::of_fp16x3(k) * magnitude + k * 0x1p-38;
}

template <class Out>
double bound_of_16_bit(const shape& s, double value, double magnitude) {
    return bounds::stored_as<Out>(value, bounds::of_16_bits(static_cast<double>(s.k)) * magnitude);
}

template <class Out, class In = Out>
error_bound bound_of(matmul_algorithm algorithm) {
    using enum matmul_algorithm;
    if (!std::is_same_v<In, float>) return bound_of_16_bit<Out>;
    if (algorithm == bf16x6) return bf16x6_bound;
    if (algorithm == fp16x3) return fp16x3_bound;
    if (algorithm == tf32x3) return tf32x3_bound;
    return algorithm == tf32 ? tf32_bound : fma_bound;
}

template <class Out>
void expect_close(const shape& s, const std::vector<Out>& actual, const reference& expected,
                  error_bound bound) {
    for (std::size_t i = 0; i < actual.size(); ++i)
        ASSERT_TRUE(is_within(to_double(actual[i]), expected.value[i],
                              bound(s, expected.value[i], expected.magnitude[i])))
            << "element " << i;
}

/// Checks the result against the bound of the requested algorithm.
template <class Out, class In>
void expect_close(operands<Out, In>& p, const matmul_options& options) {
    expect_close(p.s, p.c.download(), p.expected(options.alpha, options.beta),
                 bound_of<Out, In>(options.algorithm));
}

}  // namespace heddle::test
