#pragma once

#include "tests/support/guarded.hpp"
#include "tests/support/numeric.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace heddle::test {

struct shape {
    std::int64_t m, n, k;
};

inline std::string text(const shape& s) {
    return std::to_string(s.m) + "x" + std::to_string(s.n) + "x" + std::to_string(s.k);
}

/// How an operand lies in memory.
struct layout {
    bool is_transposed = false;
    std::int64_t padding = 0;
    std::int64_t offset = 0;
    std::int64_t step = 1;  ///< between neighbours along the contiguous dimension
};

template <class T>
guarded<T> make(std::int64_t rows, std::int64_t cols, const layout& how,
                typename guarded<T>::memory where = guarded<T>::memory::device) {
    const std::int64_t line = (how.is_transposed ? rows : cols) * how.step + how.padding;
    return how.is_transposed ? guarded<T>(rows, cols, how.step, how.offset, line, where)
                             : guarded<T>(rows, cols, line, how.offset, how.step, where);
}

/// float64 products, and for each the sum of magnitudes that error bounds are relative to.
struct reference {
    std::vector<double> value, magnitude;

    template <class In, class Out>
    reference(const shape& s, const std::vector<In>& a, const std::vector<In>& b, const std::vector<Out>& c,
              double alpha, double beta)
        : value(c.size()), magnitude(c.size()) {
        const auto at = [](std::int64_t row, std::int64_t cols, std::int64_t col) {
            return static_cast<std::size_t>(row * cols + col);
        };
        std::vector<double> sums(static_cast<std::size_t>(s.n)), sizes(static_cast<std::size_t>(s.n));
        for (std::int64_t i = 0; i < s.m; ++i) {
            std::fill(sums.begin(), sums.end(), 0);
            std::fill(sizes.begin(), sizes.end(), 0);
            for (std::int64_t k = 0; k < s.k; ++k)
                for (std::int64_t j = 0; j < s.n; ++j) {
                    const double product = to_double(a[at(i, s.k, k)]) * to_double(b[at(k, s.n, j)]);
                    sums[at(0, 0, j)] += product;
                    sizes[at(0, 0, j)] += std::abs(product);
                }
            for (std::int64_t j = 0; j < s.n; ++j) {
                const double old = beta == 0 ? 0 : beta * to_double(c[at(i, s.n, j)]);
                value[at(i, s.n, j)] = alpha * sums[at(0, 0, j)] + old;
                magnitude[at(i, s.n, j)] = std::abs(alpha) * sizes[at(0, 0, j)] + std::abs(old);
            }
        }
    }
};

}  // namespace heddle::test
