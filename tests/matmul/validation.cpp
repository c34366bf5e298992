#include "tests/matmul/problems.hpp"
#include "tests/support/headers.hpp"

// Arguments are checked before anything is enqueued, so no device is needed.
namespace heddle::test {
namespace {

template <class Call>
void expect_invalid(const std::string& argument, const Call& call, const std::string& value = {}) {
    try {
        call();
        FAIL() << "nothing was thrown for " << argument;
    } catch (const invalid_argument& error) {
        EXPECT_EQ(error.argument(), argument);
        if (!value.empty()) {
            EXPECT_EQ(error.value(), value);
        }
        EXPECT_FALSE(error.expected().empty());
    }
}

class memory : public testing::Test {
  protected:
    float floats_[4096]{};
    half halves_[4096]{};
};

TEST(matmul_arguments, are_checked_before_anything_is_done) {
    std::vector<float> memory(100);
    float* const p = memory.data();
    const matrix_view<const float> a{p, 3, 4}, b{p, 4, 5};
    const matrix_view<float> c{p + 50, 3, 5};
    const auto call = [&](auto a_, auto b_, auto c_, matmul_options options = {}) {
        return [=] { matmul<float>(a_, b_, c_, no_stream, options); };
    };
    using view = matrix_view<const float>;
    expect_invalid("b.rows", call(a, view{p, 5, 5}, c), "5");
    expect_invalid("c.rows", call(a, b, matrix_view<float>{p + 50, 4, 5}), "4");
    expect_invalid("c.cols", call(a, b, matrix_view<float>{p + 50, 3, 4}), "4");
    expect_invalid("a.rows", call(view{p, -3, 4}, b, c), "-3");
    expect_invalid("a.cols", call(view{p, 3, -4}, b, c), "-4");
    expect_invalid("a.row_stride", call(view{p, 3, 4, 3}, b, c), "3");
    expect_invalid("a.data", call(view{nullptr, 3, 4}, b, c), "null");
    expect_invalid("c", call(a, view{p + 70, 4, 5}, matrix_view<float>{p + 11, 3, 5}),
                   "a view that overlaps a");
    expect_invalid("c", call(a, b, matrix_view<float>{p + 19, 3, 5}), "a view that overlaps b");
    expect_invalid("options.algorithm", call(a, b, c, {1, 0, static_cast<matmul_algorithm>(99)}), "99");
    expect_invalid("options.precision", call(a, b, c, {.precision = static_cast<precision>(7)}), "7");
    expect_invalid("options.kernel", call(a, b, c, {.kernel = "128x128"}), "128x128");  // a kernel of no rung
    expect_invalid("options.kernel", call(a, b, c, {.kernel = "naive 128x128"}), "naive 128x128");
    alignas(16) std::byte scratch[64];
    for (const auto& bad : {std::span(scratch).subspan(1), std::as_writable_bytes(std::span(p, 8)),
                            std::as_writable_bytes(std::span(p + 48, 8))})
        EXPECT_THROW(call(a, b, c, {.workspace = bad})(), invalid_argument);
    const auto* misaligned = reinterpret_cast<const float*>(reinterpret_cast<const char*>(p) + 2);
    EXPECT_THROW(call(view{misaligned, 3, 4}, b, c)(), invalid_argument);
    const std::int64_t huge = std::int64_t{1} << 62;
    EXPECT_THROW(call(view{p, huge, huge}, b, c)(), invalid_argument);
    EXPECT_TRUE(std::all_of(memory.begin(), memory.end(), [](float e) { return e == 0; }));
}

TEST(matmul_16_bit_arguments, of_an_epilogue_fit_c) {
    std::vector<half> memory(200);
    half* const p = memory.data();
    const matrix_view<const half> a{p, 3, 4}, b{p, 4, 5};
    const matrix_view<half> c{p + 50, 3, 5};
    const auto expect_invalid = [&](const std::string& argument, const matmul_epilogue<half>& epilogue) {
        test::expect_invalid(argument, [&] { matmul<half>(a, b, c, epilogue, no_stream); });
    };
    using vector = vector_view<const half>;
    using matrix = matrix_view<const half>;
    const auto none = matmul_activation::none;
    expect_invalid("epilogue.row_bias.size", {none, vector{p + 100, 4}});
    expect_invalid("epilogue.column_bias.size", {none, {}, vector{p + 100, 5}});
    expect_invalid("epilogue.row_bias", {none, vector{p + 60, 5}});
    expect_invalid("epilogue.residual.rows", {none, {}, {}, 1, matrix{p + 100, 4, 5}});
    expect_invalid("epilogue.residual.cols", {none, {}, {}, 1, matrix{p + 100, 3, 4}});
    expect_invalid("epilogue.residual", {none, {}, {}, 1, matrix{p + 51, 3, 5}});
    expect_invalid("epilogue.activation", {static_cast<matmul_activation>(7)});
}

TEST(matmul_16_bit_arguments, name_a_rung_of_another_type) {
    std::vector<half> memory(100);
    half* const p = memory.data();
    const matrix_view<const half> a{p, 3, 4}, b{p, 4, 5};
    EXPECT_THROW(
        matmul<half>(a, b, matrix_view<half>{p + 50, 3, 5}, no_stream, {1, 0, matmul_algorithm::pipelined}),
        unsupported);
    EXPECT_THROW(matmul<half>(a, b, matrix_view<half>{p + 50, 3, 5}, no_stream,
                              {1, 0, static_cast<matmul_algorithm>(99)}),
                 invalid_argument);
}

TEST(batched_matmul_arguments, agree_and_lie_apart) {
    std::vector<half> memory(1000);
    half* const p = memory.data();
    const batch_view<const half> a{{p, 3, 4}, 2, 12}, b{{p + 100, 4, 5}, 2, 20};
    const batch_view<half> c{{p + 200, 3, 5}, 2, 15};
    const auto expect_invalid = [](const std::string& argument, auto a_, auto b_, auto c_) {
        test::expect_invalid(argument, [&] { batched_matmul<half>(a_, b_, c_, no_stream); });
    };
    using batch = batch_view<const half>;
    expect_invalid("a.count", batch{a.first, 3, 12}, b, c);
    expect_invalid("b.stride", a, batch{b.first, 2, -1}, c);
    expect_invalid("c.count", a, b, batch_view<half>{c.first, -1, 15});
    expect_invalid("c.stride", a, b, batch_view<half>{c.first, 2, 14});
    expect_invalid("c", batch{{p + 190, 3, 4}, 2, 30}, b, c);
    expect_invalid("c", a, batch{{p + 180, 4, 5}, 2, 20}, c);
}

using uncountable_bytes = memory;

TEST_F(uncountable_bytes, of_batches_of_matrices_are_of_their_stride_or_their_count) {
    const batch_view<const half> a{{halves_, 4, 4}, 3, 16}, b{{halves_ + 1000, 4, 4}, 3, 16};
    const batch_view<half> c{{halves_ + 2000, 4, 4}, 3, 16};
    const auto text_of = [&](const auto& a_, const auto& b_, const auto& c_) {
        return invalid_argument_of([&] { batched_matmul<half>(a_, b_, c_, no_stream); });
    };
    constexpr std::int64_t farther = std::int64_t{1} << 62;
    const std::string stride = " is 4611686018427387904, expected a stride whose bytes fit 63 bits";
    using batch = batch_view<const half>;
    EXPECT_EQ(text_of(batch{a.first, 3, farther}, b, c), "batched_matmul: a.stride" + stride);
    EXPECT_EQ(text_of(a, batch{b.first, 3, farther}, c), "batched_matmul: b.stride" + stride);
    EXPECT_EQ(text_of(a, b, batch_view<half>{c.first, 3, farther}), "batched_matmul: c.stride" + stride);
    // (count - 1) * stride wraps to a small number.
    EXPECT_EQ(text_of(batch{a.first, 5, farther}, batch{b.first, 5, 0}, batch_view<half>{c.first, 5, 16}),
              "batched_matmul: a.stride" + stride);
    EXPECT_EQ(text_of(a, b, batch_view<half>{c.first, farther, 16}),
              "batched_matmul: c.count is 4611686018427387904, expected an extent whose bytes fit 63 bits");
}

TEST(batches_of_none, still_have_shapes_and_options) {
    const batch_view<const half> a{{nullptr, 3, 4}, 0, 12}, b{{nullptr, 4, 5}, 0, 20};
    const batch_view<half> c{{nullptr, 3, 5}, 0, 15};
    const auto text_of = [&](const auto& a_, const auto& b_, const matmul_options& options = {}) {
        return invalid_argument_of([&] { batched_matmul<half>(a_, b_, c, no_stream, options); });
    };
    using batch = batch_view<const half>;
    EXPECT_EQ(text_of(a, batch{{nullptr, 5, 5}, 0, 25}), "matmul: b.rows is 5, expected 4 (a.cols)");
    EXPECT_EQ(text_of(batch{{nullptr, -3, 4}, 0, 12}, b),
              "batched_matmul: a.rows is -3, expected zero or more");
    EXPECT_EQ(text_of(a, b, {.algorithm = static_cast<matmul_algorithm>(99)}),
              "matmul: options.algorithm is 99, expected an enumerator of matmul_algorithm");
}

TEST(matmul_problem, is_checked) {
    const device_traits device{.compute_capability_major = 9, .sm_count = 132};
    const auto text_of = [&](const product& p, matmul_algorithm which = matmul_algorithm::automatic) {
        return invalid_argument_of([&] { (void)matmul_workspace_bytes(p, device, which); });
    };
    const std::int64_t vast = std::int64_t{1} << 40;
    EXPECT_EQ(
        text_of({vast, vast, vast}),
        "matmul_workspace_bytes: problem.n is 1099511627776, expected a problem that is not too large: of at "
        "most 288230376151711744 elements");
    EXPECT_EQ(text_of({-1, 2, 3}, matmul_algorithm::naive),
              "matmul_workspace_bytes: problem.m is -1, expected zero or more");
    EXPECT_EQ(text_of({.batches = -1}),
              "matmul_workspace_bytes: problem.batches is -1, expected zero or more");
    EXPECT_EQ(text_of({1, 2, 3}, static_cast<matmul_algorithm>(99)),
              "matmul_workspace_bytes: algorithm is 99, expected an enumerator of matmul_algorithm");
    EXPECT_EQ(text_of({1, 2, 3, element_type::f64}),
              "matmul_workspace_bytes: problem.operands is 1, expected f32, f16 or bf16");
    EXPECT_EQ(text_of({.precision = static_cast<precision>(7)}),
              "matmul_workspace_bytes: problem.precision is 7, expected an enumerator of precision");
    matmul_problem problem = product{1, 2, 3};
    expect_error("matmul_workspace_bytes: kernel is 64x64, expected one of tiled",
                 [&] { (void)matmul_workspace_bytes(problem, device, matmul_algorithm::tiled, "64x64"); });
    problem.b.element_bytes = 2;
    EXPECT_NE(invalid_argument_of([&] { (void)select(problem, device); }), "");
}

class matmul_options_text : public memory {
  protected:
    template <class T>
    static void multiply(T* p, const matmul_options& options) {
        matmul<T>(matrix_view<const T>{p, 8, 8}, matrix_view<const T>{p + 1000, 8, 8},
                  matrix_view<T>{p + 2000, 8, 8}, no_stream, options);
    }
};

TEST_F(matmul_options_text, says_which_kernels_there_are) {
    const auto text_of = [&](auto* p, matmul_algorithm algorithm, std::string_view kernel) {
        return invalid_argument_of([&] { multiply(p, {.algorithm = algorithm, .kernel = kernel}); });
    };
    using enum matmul_algorithm;
    for (const std::string kernel : {"square", "tiled 64x64", "naive", "tiled "})
        EXPECT_EQ(text_of(floats_, tiled, kernel),
                  "matmul: options.kernel is " + kernel + ", expected one of tiled");
    for (const std::string kernel : {"persistent 256x256", "persistent 128", "64x64", "stream_k 64x64"})
        EXPECT_EQ(text_of(halves_, persistent, kernel),
                  "matmul: options.kernel is " + kernel +
                      ", expected one of persistent 128x256, persistent 128x128, persistent 64x64");
    EXPECT_EQ(text_of(floats_, bf16x6, "square"),
              "matmul: options.kernel is square, expected one of bf16x6 boxes, bf16x6 pairs");
    EXPECT_EQ(text_of(halves_, skinny, "skinny 64"),  // names of either type are known
              "matmul: options.kernel is skinny 64, expected one of skinny 1x32, skinny 4x32, skinny 16x32, "
              "skinny 64x16, skinny 64x64");
    const std::string of_all = text_of(floats_, automatic, "64x64");
    EXPECT_TRUE(of_all.starts_with("matmul: options.kernel is 64x64, expected one of naive, coalesced, "));
    for (const element_type operands : {element_type::f32, element_type::f16})
        for (const std::string_view kernel : matmul_kernels(operands))
            EXPECT_NE((of_all + ",").find(" " + std::string(kernel) + ","), std::string::npos) << of_all;
}

TEST_F(matmul_options_text, names_the_type_that_a_rung_is_not_for) {
    const auto text_of = [&](auto* p, matmul_algorithm algorithm, std::string_view kernel = {}) {
        return error_of<unsupported>([&] { multiply(p, {.algorithm = algorithm, .kernel = kernel}); });
    };
    EXPECT_EQ(text_of(floats_, matmul_algorithm::persistent),
              "matmul: persistent has no kernel for operands of type float");
    EXPECT_EQ(text_of(halves_, matmul_algorithm::pipelined),
              "matmul: pipelined has no kernel for operands of type half");
    for (const auto algorithm : {matmul_algorithm::automatic, matmul_algorithm::skinny})
        EXPECT_EQ(text_of(floats_, algorithm, "skinny 64x16"),
                  "matmul: skinny 64x16 has no kernel for operands of type float");
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
    const matrix_view<float> square{p.data(), 3, 3}, c{p.data() + 50, 3, 3};
    matmul_epilogue<float> epilogue;
    epilogue.row_bias = {p.data(), 4};
    EXPECT_THROW(host::matmul<float>(square, square, c, epilogue), invalid_argument);
    EXPECT_THROW(host::batched_matmul<float>({square, 2, 9}, {square, 2, 9}, batch_view<float>{c, 2, 8}),
                 invalid_argument);
}

}  // namespace
}  // namespace heddle::test
