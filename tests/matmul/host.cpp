#include "tests/matmul/epilogues.hpp"
#include "tests/matmul/operands.hpp"
#include <heddle/error.hpp>
#include <heddle/host.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace heddle {
namespace {

using test::operands;
using test::shape;

template <class Out, class In>
void check_on_host(const std::vector<shape>& shapes) {
    for (const shape& s : shapes)
        for (int bits = 0; bits < 8; ++bits)
            for (const float beta : {0.0f, -0.5f}) {
                SCOPED_TRACE(text(s) + ", transposed " + std::to_string(bits) + ", beta " +
                             std::to_string(beta));
                operands<Out, In> p(
                    s, {{(bits & 1) != 0, 3, 1}, {(bits & 2) != 0, 2, 0, 2}, {(bits & 4) != 0, 1, 3}}, true);
                p.prepare_c(beta);
                host::matmul<Out, In>(p.a.matrix(), p.b.matrix(), p.c.matrix(), 1.5f, beta);
                test::expect_close(p, {.alpha = 1.5f, .beta = beta});
                p.expect_intact();
            }
}

TEST(host_matmul, is_right_for_every_layout) {
    check_on_host<float, float>(
        {{1, 1, 1}, {5, 7, 3}, {6, 16, 256}, {97, 257, 300}, {100, 31, 513}, {3, 4, 0}});
}

TEST(host_matmul_16_bit, is_right_for_every_layout) {
    const std::vector<shape> shapes = {{1, 1, 1}, {5, 7, 3}, {97, 257, 300}, {3, 4, 0}};
    check_on_host<half, half>(shapes);
    check_on_host<float, half>(shapes);
    check_on_host<bfloat16, bfloat16>(shapes);
    check_on_host<float, bfloat16>(shapes);
}

TEST(host_matmul, scales_no_product_where_k_is_zero) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
    std::vector<float> c(20);
    const matrix_view<float> view{c.data(), 4, 5};
    for (const float alpha : {1.0f, infinity, not_a_number}) {
        SCOPED_TRACE(alpha);
        std::ranges::fill(c, 3.0f);
        host::matmul<float>({nullptr, 4, 0}, {nullptr, 0, 5}, view, alpha, 2);
        EXPECT_EQ(c, std::vector<float>(20, 6.0f));
        std::ranges::fill(c, not_a_number);
        host::matmul<float>({nullptr, 4, 0}, {nullptr, 0, 5}, view, alpha, 0);
        EXPECT_EQ(c, std::vector<float>(20, 0.0f));
    }
}

template <class Out, class In>
void check_epilogues_on_host() {
    const shape s{97, 41, 60};
    for (const matmul_activation activation : test::activations)
        for (const float beta : {0.0f, 0.5f}) {
            SCOPED_TRACE("activation " + std::to_string(static_cast<int>(activation)) + ", beta " +
                         std::to_string(beta));
            operands<Out, In> p(s, {{false, 3, 1}, {true, 2}, {false, 1, 3}}, true);
            test::epilogue_terms<Out> terms(s, true);
            const auto epilogue = terms.epilogue(activation, 1.5f, beta == 0);
            p.prepare_c(beta);
            host::matmul<Out, In>(p.a.matrix(), p.b.matrix(), p.c.matrix(), epilogue, 0.5f, beta);
            terms.expect_close(p, {.alpha = 0.5f, .beta = beta}, epilogue,
                               [&](double sum, double of_sum, std::size_t, std::size_t) {
                                   return bounds::activated(activation, bounds::approximate(sum, of_sum));
                               });
        }
}

TEST(host_matmul, applies_an_epilogue) {
    check_epilogues_on_host<float, float>();
    check_epilogues_on_host<half, half>();
    check_epilogues_on_host<float, bfloat16>();
}

TEST(host_matmul, multiplies_batches_and_lists) {
    const shape s{5, 7, 3};
    constexpr std::int64_t count = 4;
    const std::vector<float> a = test::random_elements<float>(s.m * s.k),
                             b = test::random_elements<float>(count * s.k * s.n);
    std::vector<float> batch(count * s.m * s.n), list = batch, one_by_one = batch;
    const auto c_of = [&](std::vector<float>& c, std::int64_t i) {
        return matrix_view<float>{c.data() + i * s.m * s.n, s.m, s.n};
    };
    const matrix_view<const float> one_a{a.data(), s.m, s.k};
    const auto b_of = [&](std::int64_t i) {
        return matrix_view<const float>{b.data() + i * s.k * s.n, s.k, s.n};
    };
    host::batched_matmul<float>({one_a, count, 0}, {b_of(0), count, s.k * s.n},
                                batch_view<float>{c_of(batch, 0), count, s.m * s.n}, 2);
    std::vector<matmul_operands<float>> products;
    for (std::int64_t i = 0; i < count; ++i) {
        products.push_back({one_a, b_of(i), c_of(list, i)});
        host::matmul<float>(one_a, b_of(i), c_of(one_by_one, i), 2);
    }
    host::batched_matmul<float>(products, 2);
    EXPECT_EQ(batch, one_by_one);
    EXPECT_EQ(list, one_by_one);
}

TEST(host_matmul, checks_its_arguments) {
    std::vector<float> p(100);
    EXPECT_THROW(host::matmul<float>(matrix_view<float>{p.data(), 3, 4}, matrix_view<float>{p.data(), 5, 5},
                                     matrix_view<float>{p.data() + 50, 3, 5}),
                 invalid_argument);
    const matrix_view<float> square{p.data(), 3, 3}, c{p.data() + 50, 3, 3};
    matmul_epilogue<float> epilogue;
    epilogue.row_bias = {p.data(), 4};
    EXPECT_THROW(host::matmul<float>(square, square, c, epilogue), invalid_argument);
    EXPECT_THROW(host::batched_matmul<float>({square, 2, 9}, {square, 2, 9}, batch_view<float>{c, 2, 8}),
                 invalid_argument);
}

}  // namespace
}  // namespace heddle
