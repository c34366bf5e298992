#include "tests/matmul/operands.hpp"
#include <heddle/error.hpp>
#include <heddle/host.hpp>

#include <algorithm>
#include <limits>
#include <string>
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

TEST(host_matmul, checks_its_arguments) {
    std::vector<float> p(100);
    EXPECT_THROW(host::matmul<float>(matrix_view<float>{p.data(), 3, 4}, matrix_view<float>{p.data(), 5, 5},
                                     matrix_view<float>{p.data() + 50, 3, 5}),
                 invalid_argument);
}

}  // namespace
}  // namespace heddle
