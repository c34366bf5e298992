#include "tests/matmul/epilogues.hpp"
#include "tests/matmul/rungs.hpp"
#include "tests/support/headers.hpp"

// Tiles whose workers leave parts along k, which a further kernel adds up.
namespace heddle::test {
namespace {

/// C has few tiles and k is long. The last tiles have few rows and columns.
constexpr shape few_tiles{130, 264, 4104};

template <class Out, class In>
void multiply_by_all_kernels(const stream& on, matmul_algorithm rung, precision of_float) {
    for (const std::string_view kernel : matmul_kernels(element_type_of<In>, rung))
        for (const int bits : {0, 3, 5, 6})
            for (const bool c_is_odd : {false, true}) {
                layouts lie = in_packets(few_tiles, bits);
                if (c_is_odd) lie.c = {lie.c.is_transposed, 3, 1};
                SCOPED_TRACE(std::string(kernel) + ", transposed: " + std::to_string(bits) +
                             (c_is_odd ? ", odd rows of C" : ""));
                operands<Out, In> p(few_tiles, lie);
                const matmul_options with{.alpha = 2,
                                          .beta = c_is_odd ? 0.5f : 0.0f,
                                          .algorithm = rung,
                                          .precision = of_float,
                                          .kernel = kernel};
                if (!p.why_not(with).empty()) continue;
                p.multiply(on, with);
                expect_close(p, with);
                p.expect_intact();
            }
}

TEST_F(matmul_on_hopper, parts_are_added_up_in_every_order_and_type_of_c) {
    for (const auto rung :
         {matmul_algorithm::stream_k, matmul_algorithm::cluster_multicast, matmul_algorithm::fused}) {
        multiply_by_all_kernels<half, half>(*stream, rung, precision::fp32);
        multiply_by_all_kernels<float, half>(*stream, rung, precision::fp32);
        multiply_by_all_kernels<bfloat16, bfloat16>(*stream, rung, precision::fp32);
    }
    multiply_by_all_kernels<float, float>(*stream, matmul_algorithm::tf32, precision::tf32);
}

template <class Out, class In>
void finish_by_all_kernels(const stream& on, matmul_algorithm rung, precision of_float) {
    epilogue_terms<Out> terms(few_tiles);
    const matmul_epilogue<Out> epilogue = terms.epilogue(matmul_activation::relu, 1.5f);
    for (const std::string_view kernel : matmul_kernels(element_type_of<In>, rung))
        for (const int bits : {0, 4})
            for (const float beta : {0.0f, 0.5f}) {
                SCOPED_TRACE(std::string(kernel) + ", transposed: " + std::to_string(bits));
                operands<Out, In> p(few_tiles, in_packets(few_tiles, bits));
                const matmul_options with{
                    .alpha = 0.5f, .beta = beta, .algorithm = rung, .precision = of_float, .kernel = kernel};
                if (!p.why_not(with, true).empty()) continue;
                p.prepare_c(beta);
                matmul<Out, In>(p.a.matrix(), p.b.matrix(), p.c.matrix(), epilogue, on, with);
                synchronize(on, std::string(kernel));
                terms.expect_close(p, with, epilogue,
                                   [](double sum, double of_sum, std::size_t, std::size_t) {
                                       return std::pair(std::max(sum, 0.0), of_sum);
                                   });
            }
}

TEST_F(matmul_on_hopper, parts_are_added_up_with_an_epilogue) {
    finish_by_all_kernels<half, half>(*stream, matmul_algorithm::fused, precision::fp32);
    finish_by_all_kernels<float, bfloat16>(*stream, matmul_algorithm::fused, precision::fp32);
    finish_by_all_kernels<float, float>(*stream, matmul_algorithm::tf32, precision::tf32);
}

/// The plans for these tests share tiles, so that they test what they say.
TEST(matmul_parts, are_left_by_every_kernel_but_those_that_take_turns) {
    if (HEDDLE_COMPILED_FOR_90 == 0) GTEST_SKIP() << "heddle is not built for Hopper";
    using enum matmul_algorithm;
    const auto expect_scratch = [](element_type operands, matmul_algorithm rung, bool has_epilogue) {
        for (const std::string_view kernel : matmul_kernels(operands, rung)) {
            product p{few_tiles.m, few_tiles.n, few_tiles.k, operands, precision::tf32};
            p.has_epilogue = has_epilogue;
            p.batches = rung == fused ? 1 : 2;
            const std::int64_t bytes = matmul_workspace_bytes(p, hopper, rung, kernel);
            EXPECT_EQ(bytes > 0, kernel != "fused 128x128") << kernel;
            p.k = 64;
            EXPECT_EQ(matmul_workspace_bytes(p, hopper, rung, kernel), 0) << kernel;
        }
    };
    for (const matmul_algorithm rung : {stream_k, cluster_multicast, fused})
        expect_scratch(element_type::bf16, rung, rung == fused);
    for (const std::string_view kernel : {"tf32 128x256", "tf32 128x192", "tf32 128x128", "tf32 2x64x128"}) {
        product p{few_tiles.m, few_tiles.n, few_tiles.k, element_type::f32, precision::tf32};
        p.has_epilogue = true;
        EXPECT_GT(matmul_workspace_bytes(p, hopper, tf32, kernel), 0) << kernel;
    }
}

}  // namespace
}  // namespace heddle::test
