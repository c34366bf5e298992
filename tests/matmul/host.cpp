#include "tests/support/headers.hpp"

namespace heddle::test {
namespace {

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
    const matrix_view<float> square{p.data(), 3, 3}, c{p.data() + 50, 3, 3};
    matmul_epilogue<float> epilogue;
    epilogue.row_bias = {p.data(), 4};
    EXPECT_THROW(host::matmul<float>(square, square, c, epilogue), invalid_argument);
    EXPECT_THROW(host::batched_matmul<float>({square, 2, 9}, {square, 2, 9}, batch_view<float>{c, 2, 8}),
                 invalid_argument);
}

}  // namespace
}  // namespace heddle::test
