#pragma once

#include "tests/matmul/operands.hpp"
#include <heddle/matmul.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace heddle::test {

/// The operands that an epilogue adds to a product.
template <class Out>
struct epilogue_terms {
    std::vector<Out> across, down, added;
    guarded<Out> row_bias, column_bias, residual;

    explicit epilogue_terms(const shape& s)
        : across(random_elements<Out>(s.n)),
          down(random_elements<Out>(s.m)),
          added(random_elements<Out>(s.m * s.n)),
          row_bias(make(1, s.n, {false, 0, 1}, across)),
          column_bias(make(1, s.m, {false, 0, 0, 2}, down)),
          residual(make(s.m, s.n, {true, 3, 1}, added)) {}

    matmul_epilogue<Out> epilogue(matmul_activation activation, float scale) {
        return {activation, row_bias.vector(), column_bias.vector(), scale, residual.matrix()};
    }

    /// `function` takes a sum, its error bound, its row and its column. It gives a value and its error bound.
    template <class In, class Function>
    void expect_close(operands<Out, In>& p, const matmul_options& with, const matmul_epilogue<Out>& epilogue,
                      const Function& function) {
        const reference product = p.expected(with.alpha, with.beta);
        const std::vector<Out> actual = p.c.download();
        const double scale{epilogue.scale}, u = unit_roundoff<float>();
        const error_bound of_product = bound_of<float, In>(with.algorithm);  // the sums are float
        for (std::size_t i = 0; i < actual.size(); ++i) {
            const auto row = i / static_cast<std::size_t>(p.s.n), col = i % static_cast<std::size_t>(p.s.n);
            const double of_sum = of_product(p.s, product.value[i], product.magnitude[i]) +
                                  4 * u * (std::abs(product.value[i]) + 2);
            const auto [value, of_value] =
                function(product.value[i] + to_double(across[col]) + to_double(down[row]), of_sum, row, col);
            const double expected = scale * value + to_double(added[i]);
            const double of_result = scale * of_value + 4 * u * (std::abs(expected) + 2);
            ASSERT_TRUE(is_within(to_double(actual[i]), expected,
                                  of_result + unit_roundoff<Out>() * (std::abs(expected) + of_result)))
                << "element " << i;
        }
        p.expect_intact();
        EXPECT_TRUE(residual.untouched());
    }
};

}  // namespace heddle::test
