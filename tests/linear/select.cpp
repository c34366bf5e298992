#include "tests/support/headers.hpp"
#include "tests/support/hopper.hpp"

namespace heddle::test {
namespace {

using enum linear_gradient_algorithm;

const device_traits hopper = test::hopper();

template <class T>
linear_gradient_problem problem_of(std::int64_t batch, std::int64_t in, std::int64_t out,
                                   const linear_gradient_options& options = {
                                       .activation_of_x = matmul_activation::relu}) {
    return linear_gradient_problem_of<T>({nullptr, batch, in}, {nullptr, out, in}, {nullptr, batch, out},
                                         matrix_view<T>{nullptr, batch, in}, options);
}

TEST(linear_gradient_problem, is_the_product_of_gradient_and_weights) {
    const auto problem = problem_of<half>(100, 72, 40);
    EXPECT_TRUE(problem.has_derivative);
    EXPECT_EQ(problem.product, matmul_problem_of<half>({nullptr, 100, 40}, {nullptr, 40, 72},
                                                       matrix_view<half>{nullptr, 100, 72}));
    EXPECT_FALSE(problem_of<half>(100, 72, 40, {}).has_derivative);
    EXPECT_EQ(linear_gradient_problem_of<half>({nullptr, 100, 72}, {nullptr, 40, 72}, {nullptr, 100, 40}, {},
                                               {.activation_of_x = matmul_activation::relu}),
              linear_gradient_problem{});
}

TEST(linear_gradient_select, fuses_where_matmul_is_fused_without_scratch_memory) {
    if (HEDDLE_COMPILED_FOR_90 == 0) GTEST_SKIP() << "built without the kernels of Hopper";
    for (const std::int64_t size : {1024, 2048, 4096, 8192}) {
        const auto problem = problem_of<bfloat16>(size, size, size);
        matmul_problem product = problem.product;
        product.has_epilogue = true;
        const bool is_fused = select(product, hopper) == matmul_algorithm::fused &&
                              matmul_workspace_bytes(product, hopper) == 0;
        EXPECT_EQ(select(problem, hopper), is_fused ? fused : separate) << size;
        EXPECT_EQ(why_not(fused, problem, hopper), "") << size;
    }
    EXPECT_EQ(select(problem_of<half>(8192, 8192, 8192), hopper), fused);
    EXPECT_EQ(select(problem_of<half>(8192, 8192, 8192, {}), hopper), separate) << "without a derivative";
    EXPECT_EQ(select(problem_of<float>(8192, 8192, 8192), hopper), separate);
    EXPECT_EQ(select(problem_of<half>(8192, 8192, 8190), hopper), separate) << "gradient is copied";
}

TEST(linear_gradient_why_not, says_what_fused_needs) {
    const auto problem = problem_of<half>(256, 256, 256);
    device_traits ampere = hopper;
    ampere.compute_capability_major = 8;
    EXPECT_EQ(lack_in(why_not(fused, problem, ampere)),
              "linear_gradient: fused needs a device of compute capability 9.0, and heddle built for it");
    EXPECT_EQ(lack_in(why_not(fused, problem_of<float>(256, 256, 256), hopper)),
              "linear_gradient: fused needs half or bfloat16");
    EXPECT_EQ(lack_in(why_not(fused, problem_of<half>(256, 256, 256, {}), hopper)),
              "linear_gradient: fused needs a dx, and an activation_of_x that is not none");
    if (HEDDLE_COMPILED_FOR_90 != 0) {
        EXPECT_EQ(lack_in(why_not(fused, problem_of<half>(256, 256, 257), hopper)),
                  "linear_gradient: fused needs a gradient, weights and dx that matmul's fused takes without "
                  "scratch memory");
    }
    EXPECT_EQ(why_not(fused, problem_of<half>(256, 128, 64, {}), ampere),
              "linear_gradient: fused needs a dx, and an activation_of_x that is not none; given: a (rows "
              "256, cols 64), b (rows 64, cols 128), c (rows 256, cols 128), operands half, has_derivative "
              "false, compute capability 8.0");
    for (const auto always : {separate, automatic}) {
        EXPECT_EQ(why_not(always, problem, ampere), "");
        EXPECT_EQ(why_not(always, problem_of<float>(0, 5, 7), hopper), "");
    }
}

}  // namespace
}  // namespace heddle::test
