// A user's .cu file: the user's own function in the epilogue of matmul.

#include "tests/matmul/epilogues.hpp"
#include "tests/matmul/rungs.hpp"
#include "tests/support/compiled_for.cuh"
#include "tests/support/guarded_workspace.hpp"
#include "tests/support/provoked.hpp"
#include <heddle/error.hpp>
#include <heddle/matmul.cuh>
#include <heddle/stream.hpp>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::test {
namespace {

/// A leaky ReLU, weighted with the table's value for the element.
struct weighted_leaky_relu {
    float slope;
    const float* weights;  ///< as many rows and columns as C
    std::int64_t cols;

    __device__ float operator()(float x, std::int64_t row, std::int64_t col) const {
        return (x < 0 ? slope * x : x) * weights[row * cols + col];
    }
};

/// A rung that takes a function, and the type of its operands.
struct function_rung {
    element_type operands;
    matmul_algorithm algorithm;
    heddle::precision precision = precision::fp32;
};

void PrintTo(const function_rung& rung, std::ostream* out) {
    *out << to_string(rung.algorithm);
}

std::string name_of_function_rung(const testing::TestParamInfo<function_rung>& tested) {
    return std::string(to_string(tested.param.algorithm)) +
           (tested.param.operands == element_type::f32
                ? "_of_" + std::string(to_string(tested.param.precision))
                : "");
}

class matmul_function : public matmul_device, public testing::WithParamInterface<function_rung> {
  protected:
    void SetUp() override {
        matmul_device::SetUp();
        if (is_set_up()) has_90a_ = has_warpgroups() && is_compiled_for_90a();
    }

    matmul_options options(float alpha = 1, float beta = 0) {
        return {.alpha = alpha,
                .beta = beta,
                .algorithm = GetParam().algorithm,
                .workspace = given_,
                .scratch = scratch_,
                .precision = GetParam().precision};
    }
    bool is_of_float() const { return GetParam().operands == element_type::f32; }
    bool needs_90a() const {
        return GetParam().algorithm == matmul_algorithm::fused ||
               GetParam().algorithm == matmul_algorithm::tf32;
    }

    template <class Out, class In>
    void run_and_check(const shape& s, const layouts& lie, float beta, bool is_aligned,
                       std::string_view kernel) {
        SCOPED_TRACE(text(s) + " " + type_name<In>() + " to " + type_name<Out>() + " " + std::string(kernel));
        operands<Out, In> p(s, lie);
        epilogue_terms<Out> terms(s);
        const matmul_epilogue<Out> epilogue = terms.epilogue(matmul_activation::none, 1.5f);
        const std::vector<float> weight_elements = random_elements<float>(s.m * s.n);
        guarded<float> weights(s.m, s.n, s.n);
        weights.upload(weight_elements);
        const weighted_leaky_relu function{0.25f, weights.data(), s.n};
        matmul_options with = options(0.5f, beta);
        with.kernel = kernel;
        p.prepare_c(beta);
        const auto run = [&] {
            matmul<Out, In>(p.a.matrix(), p.b.matrix(), p.c.matrix(), epilogue, function, *stream, with);
        };
        const bool lies_along_k = !lie.a.is_transposed || lie.b.is_transposed;
        const bool is_tf32 = with.algorithm == matmul_algorithm::tf32;
        const bool is_copied = given_.empty() && scratch_ == scratch::pool && !is_of_float();
        const bool can_run = !needs_90a() || is_copied || (is_aligned && (!is_tf32 || lies_along_k));
        if (!can_run || (needs_90a() && !has_90a_)) {
            EXPECT_THROW(run(), unsupported);
            EXPECT_TRUE(p.c.untouched());
            return;
        }
        run();
        synchronize(*stream, text(s));

        // The slope of the function is at most 1, and it adds two roundings.
        matmul_options bounded = with;
        if (with.precision == precision::tf32) bounded.algorithm = matmul_algorithm::tf32;
        terms.expect_close(
            p, bounded, epilogue, [&](double sum, double of_sum, std::size_t row, std::size_t col) {
                const double weight{weight_elements[row * static_cast<std::size_t>(s.n) + col]};
                const double value = (sum < 0 ? double{function.slope} * sum : sum) * weight;
                return std::pair(value, of_sum + 2 * unit_roundoff<float>() * std::abs(value));
            });
    }

    /// Runs a type for each kind of kernel. Sums stored as float, and half, take the same path in conv's functions.
    void run_types(const shape& s, const layouts& lie, float beta = 0, bool is_aligned = true,
                   std::string_view kernel = {}) {
        if (is_of_float()) return run_and_check<float, float>(s, lie, beta, is_aligned, kernel);
        run_and_check<bfloat16, bfloat16>(s, lie, beta, is_aligned, kernel);
    }

    /// There is no product: the function is applied to C alone.
    template <class T>
    void scale_and_check() {
        guarded<T> a(8, 0, 8), b(0, 16, 16), c(8, 16, 16);
        guarded<float> weights(8, 16, 16);
        weights.upload(std::vector<float>(8 * 16, 2.0f));
        c.upload(std::vector<T>(8 * 16, T(-4.0f)));
        const weighted_leaky_relu function{0.25f, weights.data(), 16};
        matmul<T>(a.matrix(), b.matrix(), c.matrix(), {}, function, *stream, options(1, 1));
        synchronize(*stream, "no products");
        for (const T each : c.download()) ASSERT_EQ(to_double(each), -2);
    }

    bool has_90a_ = false;
    scratch scratch_ = scratch::none;
    std::span<std::byte> given_{};
};

TEST_P(matmul_function, is_applied_around_tile_edges) {
    for (const shape& s :
         {shape{1, 1, 1}, {63, 127, 40}, {65, 129, 72}, {128, 256, 64}, {257, 513, 136}, {1030, 1050, 64}})
        run_types(s, in_packets(s));
}

TEST_P(matmul_function, is_applied_by_every_kernel) {
    if (GetParam().algorithm != matmul_algorithm::fused) return;
    for (const std::string_view kernel : matmul_kernels(element_type::f16, matmul_algorithm::fused))
        run_types({257, 513, 136}, in_packets({257, 513, 136}), 0, true, kernel);
}

TEST_P(matmul_function, is_applied_to_tiles_that_are_shared_along_k) {
    scratch_ = scratch::pool;
    const shape s{130, 264, 4032};
    for (const int bits : {0, 4}) {
        run_types(s, in_packets(s, bits), 0.5f);
        if (GetParam().algorithm != matmul_algorithm::fused) continue;
        for (const std::string_view kernel : matmul_kernels(element_type::f16, matmul_algorithm::fused))
            run_types(s, in_packets(s, bits), 0.5f, true, kernel);
    }
}

TEST_P(matmul_function, has_the_rows_and_columns_of_the_c_that_was_given) {
    for (const shape& s : {shape{67, 45, 39}, {200, 136, 152}})
        for (int bits = 0; bits < 8; ++bits) {
            SCOPED_TRACE("transposed A, B, C: " + std::to_string(bits));
            run_types(s, in_packets(s, bits), bits % 3 == 0 ? 0.5f : 0.0f);
        }
}

TEST_P(matmul_function, takes_operands_of_any_alignment_or_says_so) {
    const shape s{130, 70, 51};
    for (const scratch memory : {scratch::none, scratch::pool}) {
        scratch_ = memory;
        run_types(s, {{false, 14, 1}, {true, 3, 1}, {false, 3, 1}}, 0.5f, false);
        run_types(s, {{true, 5, 1}, {false, 3, 0}, {true, 1, 1}}, 0, false);
    }
    run_types(s, {in_packets(s).a, in_packets(s).b, {false, 3, 1}});
    run_types(s, {in_packets(s).a, in_packets(s).b, {true, 1, 0, 2}}, 0.5f);
}

/// No function tells the size of the workspace for such a call, so it plans without the one that it is given.
TEST_P(matmul_function, takes_a_workspace_of_any_size) {
    const shape shared{130, 264, 4032}, odd{130, 70, 51};
    guarded_workspace least(16);
    const std::span<std::byte> sizes[] = {std::span<std::byte>(least).first(0), least, *workspace_};
    for (const std::span<std::byte> each : sizes)
        for (const scratch memory : {scratch::none, scratch::pool}) {
            SCOPED_TRACE("a workspace of " + std::to_string(each.size()) + " bytes");
            given_ = each;
            scratch_ = memory;
            run_types(shared, in_packets(shared), 0.5f);
            run_types(odd, {{false, 14, 1}, {true, 3, 1}, {false, 3, 1}}, 0.5f, false);
        }
    EXPECT_TRUE(least.is_intact());
}

TEST_P(matmul_function, is_applied_where_nothing_is_multiplied) {
    if (needs_90a() && !has_90a_) GTEST_SKIP() << "needs 90a";
    is_of_float() ? scale_and_check<float>() : scale_and_check<bfloat16>();
}

INSTANTIATE_TEST_SUITE_P(
    all, matmul_function,
    testing::Values(function_rung{element_type::f16, matmul_algorithm::automatic},
                    function_rung{element_type::f16, matmul_algorithm::wmma},
                    function_rung{element_type::f16, matmul_algorithm::fused},
                    function_rung{element_type::f32, matmul_algorithm::automatic},
                    function_rung{element_type::f32, matmul_algorithm::warp_tiled},
                    function_rung{element_type::f32, matmul_algorithm::automatic, precision::tf32},
                    function_rung{element_type::f32, matmul_algorithm::tf32, precision::tf32}),
    name_of_function_rung);

using matmul_function_refusals = gpu_test;

TEST_F(matmul_function_refusals, name_the_rungs_that_take_one) {
    const stream s;
    guarded<bfloat16> a(8, 8, 8), b(8, 8, 8), c(8, 8, 8);
    EXPECT_THROW(matmul<bfloat16>(a.matrix(), b.matrix(), c.matrix(), {}, weighted_leaky_relu{}, s,
                                  {.algorithm = matmul_algorithm::persistent}),
                 unsupported);
    EXPECT_TRUE(c.untouched());

    guarded<float> of_float(8, 8, 8);
    const auto reason_of = [&](matmul_algorithm algorithm, std::string_view kernel = {}) {
        return error_of<unsupported>([&] {
            matmul<float>({of_float.data(), 4, 4}, {of_float.data() + 16, 4, 4},
                          matrix_view<float>{of_float.data() + 32, 4, 4}, {}, weighted_leaky_relu{}, s,
                          {.algorithm = algorithm, .kernel = kernel});
        });
    };
    EXPECT_EQ(reason_of(matmul_algorithm::pipelined),
              "matmul: pipelined takes no function: warp_tiled and tf32 128x128 do");
    for (const std::string kernel : {"tf32 128x256", "tf32 128x192", "tf32 skinny", "tf32 skinny 64x16"})
        EXPECT_EQ(reason_of(matmul_algorithm::tf32, kernel),
                  "matmul: " + std::string(kernel) + " takes no function: warp_tiled and tf32 128x128 do");
    EXPECT_EQ(reason_of(matmul_algorithm::fused), "matmul: fused has no kernel for operands of type float");
    EXPECT_TRUE(of_float.untouched());
}

using matmul_function_error = provoked_error_test;

TEST_F(matmul_function_error, of_an_earlier_call_is_not_blamed_on_this_one) {
    const stream s;
    guarded<bfloat16> a(64, 64, 64), b(64, 64, 64), c(64, 64, 64);
    guarded<float> weights(64, 64, 64);
    void* data = nullptr;
    ASSERT_EQ(cudaMalloc(&data, std::size_t{1} << 60), cudaErrorMemoryAllocation);
    ASSERT_EQ(cudaPeekAtLastError(), cudaErrorMemoryAllocation);
    const weighted_leaky_relu function{1, weights.data(), 64};
    EXPECT_NO_THROW(matmul<bfloat16>(a.matrix(), b.matrix(), c.matrix(), {}, function, s));
    EXPECT_NO_THROW(s.synchronize());
    (void)cudaGetLastError();
}

TEST(matmul_function_arguments, are_checked_as_those_of_matmul) {
    alignas(16) bfloat16 memory[4 * 64] = {};
    const matrix_view a{memory, 8, 8}, b{memory + 64, 8, 8}, c{memory + 128, 8, 8};
    const auto call = [&](const auto& to, const matmul_epilogue<bfloat16>& epilogue) {
        matmul<bfloat16>(a, b, to, epilogue, weighted_leaky_relu{}, cudaStream_t{});
    };
    EXPECT_THROW(call(matrix_view{memory + 128, 8, 7}, {}), invalid_argument);
    EXPECT_THROW(call(a, {}), invalid_argument);
    EXPECT_THROW(call(c, {.row_bias = {memory + 192, 7}}), invalid_argument);
    EXPECT_THROW(call(c, {.activation = matmul_activation::relu}), invalid_argument);
}

}  // namespace
}  // namespace heddle::test
