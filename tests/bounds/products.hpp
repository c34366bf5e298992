#pragma once

#include "tests/bounds/activations.hpp"
#include "tests/bounds/approximate.hpp"
#include <heddle/conv.hpp>
#include <heddle/matmul.hpp>
#include <heddle/types.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

/// docs/accuracy.md, matmul and conv: errors of sums of k products in float, as shares of the sums S of their
/// magnitudes. They include alpha, beta and the terms of u^2.
namespace heddle::bounds {

/// In any order (Higham, Accuracy and Stability of Numerical Algorithms, 3.1).
inline double of_fmas(double k) {
    return (k + 4) * u;
}

/// `automatic` takes bf16x6 only where this is less than of_fmas().
inline double of_bf16x6(double k) {
    return (2.1 * (std::min(k, 64.0) + 4) + 2 * std::ceil(k / 64) + 6) * u;
}

inline double of_tf32x3(double k) {
    return (std::ceil(k / 16) + 49) * u;
}

/// Without the part that is relative to norms.
inline double of_fp16x3(double k) {
    return (6.3 * (std::min(k, 64.0) + 4) + std::ceil(k / 64) + 6) * u + 0x1p-21;
}

/// Tensor cores truncate, so each addition is within 2 u of S. Each group of terms adds once more.
inline double of_16_bits(double k, double groups) {
    return 2 * (k + groups + 20) * u;
}
inline double of_16_bits(double k) {
    return of_16_bits(k, std::floor(k / 16));
}

/// An element's magnitude in S. Tensor cores align by stored exponents: a half below 2^-14 counts as 2^-14.
template <class In>
double counted_magnitude(In x) {
    const double magnitude = std::abs(to_double(x));
    return std::is_same_v<In, half> && magnitude > 0 ? std::max(magnitude, 0x1p-14) : magnitude;
}

/// TF32 elements have as many digits as half.
inline double of_tf32(double k, double groups) {
    return 0x1p-10 * (1 + 0x1p-11) + of_16_bits(k, groups);
}
inline double of_tf32(double k) {
    return of_tf32(k, std::floor(k / 8));
}

/// For a rung of the GPU; fp16x3 also has a term of norms.
template <class In>
double of_matmul(matmul_algorithm rung, double k) {
    if (!std::is_same_v<In, float>) return of_16_bits(k);
    if (rung == matmul_algorithm::bf16x6) return of_bf16x6(k);
    if (rung == matmul_algorithm::fp16x3) return of_fp16x3(k);
    if (rung == matmul_algorithm::tf32x3) return of_tf32x3(k);
    return rung == matmul_algorithm::tf32 ? of_tf32(k) : of_fmas(k);
}

/// For a rung of the GPU, with filters of height x width taps and as many channels as a group has.
template <class In>
double of_conv(conv_algorithm rung, precision wanted, std::int64_t height, std::int64_t width,
               std::int64_t channels) {
    using enum conv_algorithm;
    const bool is_tf32 = std::is_same_v<In, float> && wanted == precision::tf32;
    const std::int64_t depth = height * width * channels, together = is_tf32 ? 8 : 16;
    const auto k = static_cast<double>(depth);
    const bool is_of_fmas = rung == naive || rung == tiled || rung == register_tiled || rung == depthwise;
    if (is_of_fmas || (std::is_same_v<In, float> && !is_tf32)) return of_fmas(k);
    // A row of taps may begin at a multiple of 8 terms, or each tap a group; `automatic` may do either.
    std::int64_t groups = depth / together;
    if (rung == mma_sync && !is_tf32) groups = (height * ((width * channels + 7) / 8) + 1) / 2;
    if (rung == kn2row || rung == wgmma || rung == persistent || rung == automatic)
        groups = height * width * ((channels + together - 1) / together);
    const auto n = static_cast<double>(groups);
    return is_tf32 ? of_tf32(k, n) : of_16_bits(k, n);
}

/// The slope of an activation is at most 1.13. It adds at most 10 roundings to its result, or to 1 where that is
/// larger. `unit` is one rounding: in 16 bits on the device 2^-16.
inline approximate activated(matmul_activation activation, const approximate& x, double unit = u) {
    const double value = activated(activation, x.value);
    if (activation == matmul_activation::none) return x;
    if (activation == matmul_activation::relu)
        return {value, x.value < 0 ? std::max(x.value + x.bound, 0.0) : x.bound};
    return {value, 1.13 * x.bound + 10 * unit * std::max(std::abs(value), 1.0)};
}

/// The result of conv's epilogue for a sum; activate(approximate) is the activation. Absent factors are 1 and absent
/// terms 0, which round nothing.
template <class Activate>
approximate conv_result(approximate x, double scale, double bias, double residual,
                        bool residual_before_activation, Activate activate) {
    const auto add = [&](double term) {
        if (term != 0) x = rounded(x + term);
    };
    if (scale != 1) x = rounded(x * scale);
    add(bias);
    add(residual_before_activation ? residual : 0);
    x = activate(x);
    add(residual_before_activation ? 0 : residual);
    return x;
}

/// Sums of products, and of their magnitudes.
struct sums {
    std::vector<double> values, magnitudes;
};

/// The sums of a (m x k) times b (k x n), both by rows, in float64.
template <class In>
sums products_of(const std::vector<In>& a, const std::vector<In>& b, std::int64_t m, std::int64_t n,
                 std::int64_t k) {
    // Few rows of b at a time stay in the cache for all rows of a. Adding four at once accesses the sums less often.
    constexpr std::int64_t depth = 64, together = 4;
    sums s{std::vector<double>(static_cast<std::size_t>(m * n)), {}};
    s.magnitudes = s.values;
    std::vector<double> rows(static_cast<std::size_t>(depth * n)), sizes = rows;
    for (std::int64_t first = 0; first < k; first += depth) {
        const std::int64_t last = std::min(first + depth, k);
        std::ranges::fill(rows, 0);
        std::ranges::fill(sizes, 0);
        std::transform(b.begin() + first * n, b.begin() + last * n, rows.begin(), to_double<In>);
        std::transform(b.begin() + first * n, b.begin() + last * n, sizes.begin(), counted_magnitude<In>);
        for (std::int64_t i = 0; i < m; ++i)
            for (std::int64_t l = first; l < last; l += together) {
                double factor[together] = {}, size[together] = {};
                for (std::int64_t each = 0; each < std::min(together, last - l); ++each) {
                    const In element = a[static_cast<std::size_t>(i * k + l + each)];
                    factor[each] = to_double(element), size[each] = counted_magnitude(element);
                }
                const double *const row = rows.data() + (l - first) * n, *const row_sizes =
                                                                             sizes.data() + (l - first) * n;
                for (std::int64_t j = 0; j < n; ++j) {
                    double value = 0, magnitude = 0;
                    for (std::int64_t each = 0; each < together; ++each) {
                        value += factor[each] * row[each * n + j];
                        magnitude += size[each] * row_sizes[each * n + j];
                    }
                    s.values[static_cast<std::size_t>(i * n + j)] += value;
                    s.magnitudes[static_cast<std::size_t>(i * n + j)] += magnitude;
                }
            }
    }
    return s;
}

}  // namespace heddle::bounds
