#include "tests/support/matmul_16_bit.hpp"

#include "tests/support/gpu.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/matmul.hpp"
#include "tests/support/numeric.hpp"
#include "tests/support/random.hpp"
#include "tests/support/watchdog.hpp"
#include <heddle/device.hpp>
#include <heddle/error.hpp>
#include <heddle/graph.hpp>
#include <heddle/host.hpp>
#include <heddle/matmul.hpp>
#include <heddle/stream.hpp>
#include <heddle/workspace.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <ostream>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#if HEDDLE_HAS_CUBLAS
#include <cublas_v2.h>
#endif

namespace heddle {

void PrintTo(matmul_algorithm algorithm, std::ostream* out) {
    *out << to_string(algorithm);
}

namespace {

using test::bound;
using test::expect_close;
using test::guarded;
using test::layout;
using test::make;
using test::reference;
using test::shape;
using test::text;

/// What the rungs of wgmma ask of a view beside contiguous rows or columns.
constexpr std::int64_t aligned = 8;  // elements

class matmul_16_bit : public test::gpu_test, public testing::WithParamInterface<matmul_algorithm> {
  protected:
    void SetUp() override {
        gpu_test::SetUp();
        if (!is_set_up()) return;
        const bool needs_hopper =
            GetParam() != matmul_algorithm::automatic && GetParam() != matmul_algorithm::naive &&
            GetParam() != matmul_algorithm::wmma && GetParam() != matmul_algorithm::mma_sync;
        is_aligned_only_ = GetParam() == matmul_algorithm::mma_sync ||
                           (needs_hopper && GetParam() != matmul_algorithm::padded);
        if (needs_hopper && !test::has_warpgroups()) GTEST_SKIP() << "needs compute capability 9.0";
        stream_.emplace();
        workspace_.emplace(std::int64_t{64} << 20, *stream_);
    }

    /// With a workspace, for those that take one.
    matmul_options options(float alpha = 1, float beta = 0) { return {alpha, beta, GetParam(), *workspace_}; }
    template <class In, class Out>
    bool cannot_run(const shape& s) const {
        return (stores_operand_type() && !std::is_same_v<In, Out>) || is_too_wide(s);
    }
    static bool stores_operand_type() {
        return GetParam() == matmul_algorithm::wgmma_tma ||
               GetParam() == matmul_algorithm::warp_specialized || GetParam() == matmul_algorithm::fused;
    }
    bool is_too_wide(const shape& s) const {
        return GetParam() == matmul_algorithm::skinny && std::min(s.m, s.n) > 64;
    }

    template <class In, class Out>
    void run_and_check(const shape& s, const layout& a_layout = {}, const layout& b_layout = {},
                       const layout& c_layout = {}, float alpha = 1, float beta = 0) {
        SCOPED_TRACE(text(s) + " " + test::type_name<In>() + " to " + test::type_name<Out>());
        const std::vector<In> a_elements = test::random_elements<In>(s.m * s.k);
        const std::vector<In> b_elements = test::random_elements<In>(s.k * s.n);
        const std::vector<Out> c_elements = test::random_elements<Out>(s.m * s.n);
        guarded<In> a = make<In>(s.m, s.k, a_layout), b = make<In>(s.k, s.n, b_layout);
        guarded<Out> c = make<Out>(s.m, s.n, c_layout);
        a.upload(a_elements);
        b.upload(b_elements);
        if (beta != 0) c.upload(c_elements);  // else it stays NaN, which must not get into the result
        if (cannot_run<In, Out>(s)) {
            EXPECT_THROW(
                (matmul<Out, In>(a.matrix(), b.matrix(), c.matrix(), *stream_, options(alpha, beta))),
                unsupported);
            return;
        }
        matmul<Out, In>(a.matrix(), b.matrix(), c.matrix(), *stream_, options(alpha, beta));
        test::synchronize(*stream_, std::string(to_string(GetParam())) + " " + text(s));
        expect_close(s, c.download(),
                     reference(s, a_elements, b_elements, c_elements, double{alpha}, double{beta}));
        EXPECT_TRUE(c.canaries_alive());
        EXPECT_TRUE(a.untouched());
        EXPECT_TRUE(b.untouched());
    }

    void run_all_types(const shape& s, const layout& a = {}, const layout& b = {}, const layout& c = {},
                       float alpha = 1, float beta = 0) {
        run_and_check<half, half>(s, a, b, c, alpha, beta);
        run_and_check<half, float>(s, a, b, c, alpha, beta);
        run_and_check<bfloat16, bfloat16>(s, a, b, c, alpha, beta);
        run_and_check<bfloat16, float>(s, a, b, c, alpha, beta);
    }

    /// Rows of `cols` elements at multiples of 16 bytes.
    static layout padded(std::int64_t cols, bool is_transposed = false) {
        return {is_transposed, (aligned - cols % aligned) % aligned};
    }
    static layout layout_of(std::int64_t rows, std::int64_t cols, bool is_transposed) {
        return padded(is_transposed ? rows : cols, is_transposed);
    }

    /// Their sums are exact.
    static std::vector<half> integers(std::int64_t size) {
        std::vector<half> elements = test::random_elements<half>(size, -4, 4);
        for (half& e : elements) e = half(std::round(static_cast<float>(e)));
        return elements;
    }

    bool is_aligned_only_ = false;
    std::optional<stream> stream_;
    std::optional<workspace> workspace_;
};

TEST_P(matmul_16_bit, is_right_around_every_tile_edge) {
    for (const shape& s : {shape{1, 1, 1},
                           {2, 3, 5},
                           {15, 17, 7},
                           {63, 65, 63},
                           {64, 64, 64},
                           {65, 63, 65},
                           {127, 129, 33},
                           {128, 128, 128},
                           {129, 159, 72},
                           {129, 191, 129},
                           {130, 193, 255},
                           {255, 255, 257},
                           {256, 256, 320},
                           {257, 257, 100},
                           {200, 320, 88},
                           {258, 321, 136},
                           {385, 513, 40}})
        run_all_types(s, padded(s.k), padded(s.n), padded(s.n));
}

TEST_P(matmul_16_bit, is_right_when_thin_or_deep) {
    for (const shape& s :
         {shape{1, 1000, 70}, {1000, 1, 70}, {1, 1, 4099}, {3, 500, 1}, {500, 2, 3}, {17, 19, 2051}})
        run_all_types(s, padded(s.k), padded(s.n), padded(s.n));
}

TEST_P(matmul_16_bit, takes_every_transposition) {
    for (const shape& s : {shape{67, 45, 39}, {200, 136, 152}})
        for (int bits = 0; bits < 8; ++bits) {
            SCOPED_TRACE("transposed A, B, C: " + std::to_string(bits));
            run_all_types(s, layout_of(s.m, s.k, (bits & 1) != 0), layout_of(s.k, s.n, (bits & 2) != 0),
                          layout_of(s.m, s.n, (bits & 4) != 0));
        }
}

TEST_P(matmul_16_bit, is_right_when_skinny) {
    for (const std::int64_t side : {1, 7, 8, 15, 16, 17, 63, 64})
        for (int bits = 0; bits < 4; ++bits) {
            SCOPED_TRACE("transposed A, B: " + std::to_string(bits));
            const shape flat{side, 520, 1160}, tall{520, side, 1160};
            for (const shape& s : {flat, tall})
                run_and_check<bfloat16, bfloat16>(s, layout_of(s.m, s.k, (bits & 1) != 0),
                                                  layout_of(s.k, s.n, (bits & 2) != 0), padded(s.n), 1,
                                                  bits == 3 ? 0.5f : 0.0f);
        }
    run_all_types({64, 72, 30000}, padded(30000), padded(72), padded(72));
}

/// Workers share tiles here; who comes last differs from run to run.
TEST_P(matmul_16_bit, gives_the_same_bits_every_time) {
    for (const shape& s : {shape{64, 64, 20000}, {60, 4096, 2048}, {700, 1000, 4096}}) {
        if (cannot_run<half, float>(s)) continue;
        SCOPED_TRACE(text(s));
        guarded<half> a = make<half>(s.m, s.k, padded(s.k)), b = make<half>(s.k, s.n, padded(s.n));
        guarded<float> c = make<float>(s.m, s.n, padded(s.n));
        a.upload(test::random_elements<half>(s.m * s.k));
        b.upload(test::random_elements<half>(s.k * s.n));
        std::vector<float> first;
        for (int i = 0; i < 5; ++i) {
            matmul<float, half>(a.matrix(), b.matrix(), c.matrix(), *stream_, options());
            test::synchronize(*stream_, text(s));
            const std::vector<float> now = c.download();
            if (i == 0) first = now;
            ASSERT_EQ(now, first) << "run " << i;
        }
    }
}

TEST_P(matmul_16_bit, leaves_the_workspace_ready) {
    constexpr std::size_t ticket_bytes = 4096;
    const shape s{48, 1000, 4000};
    run_and_check<half, half>(s, padded(s.k), padded(s.n), padded(s.n));
    std::vector<std::byte> tickets(ticket_bytes, std::byte{1});
    const std::span<std::byte> memory = *workspace_;
    check(cudaMemcpy(tickets.data(), memory.data(), ticket_bytes, cudaMemcpyDefault));
    EXPECT_TRUE(std::ranges::all_of(tickets, [](std::byte each) { return each == std::byte{0}; }));
}

TEST_P(matmul_16_bit, needs_no_workspace) {
    if (GetParam() == matmul_algorithm::padded) GTEST_SKIP() << "needs one";
    const shape s{40, 1000, 3000};
    const std::vector<half> a_elements = test::random_elements<half>(s.m * s.k);
    const std::vector<half> b_elements = test::random_elements<half>(s.k * s.n);
    guarded<half> a(s.m, s.k, s.k), b(s.k, s.n, s.n), c(s.m, s.n, s.n);
    a.upload(a_elements);
    b.upload(b_elements);
    matmul<half>(a.matrix(), b.matrix(), c.matrix(), *stream_, {1, 0, GetParam()});
    test::synchronize(*stream_, text(s));
    expect_close(s, c.download(), reference(s, a_elements, b_elements, c.download(), 1, 0));
}

TEST_P(matmul_16_bit, takes_more_tiles_than_multiprocessors) {
    if (GetParam() == matmul_algorithm::skinny) GTEST_SKIP() << "not a skinny product";
    run_and_check<bfloat16, bfloat16>({2200, 2100, 72}, padded(72), padded(2100), padded(2100));
    run_and_check<half, float>({4500, 700, 136}, padded(136), padded(700), padded(700));
}

/// Sums of small integers are exact, so that any two rungs agree to the bit.
TEST_P(matmul_16_bit, runs_every_tile_for_several_rounds) {
    const auto tiles = matmul_tiles(GetParam());
    if (tiles.empty()) GTEST_SKIP() << "has no choice of tiles";
    const shape s{2360, 5656, 200};
    guarded<half> a(s.m, s.k, s.k), b(s.k, s.n, s.n), expected(s.m, s.n, s.n);
    a.upload(integers(s.m * s.k));
    b.upload(integers(s.k * s.n));
    matmul<half>(a.matrix(), b.matrix(), expected.matrix(), *stream_, {1, 0, matmul_algorithm::wmma});
    for (std::size_t i = 0; i < tiles.size(); ++i) {
        guarded<half> c(s.m, s.n, s.n);
        matmul_options with = options();
        with.tile = static_cast<int>(i);
        matmul<half>(a.matrix(), b.matrix(), c.matrix(), *stream_, with);
        test::synchronize(*stream_, "tile " + std::to_string(i));
        const std::vector<half> actual = c.download(), wanted = expected.download();
        for (std::size_t e = 0; e < actual.size(); ++e)
            ASSERT_EQ(static_cast<float>(actual[e]), static_cast<float>(wanted[e])) << i << ": " << e;
        EXPECT_TRUE(c.canaries_alive());
    }
}

TEST_P(matmul_16_bit, stores_to_any_row_of_c) {
    const shape s{130, 150, 72};
    for (std::int64_t offset = 0; offset < 3; ++offset)
        for (std::int64_t padding : {0, 1, 2, 7})
            run_all_types(s, padded(s.k), padded(s.n), {false, padding, offset}, 1,
                          offset == 1 ? 0.5f : 0.0f);
}

TEST_P(matmul_16_bit, takes_operands_of_any_alignment_or_says_so) {
    const shape s{130, 70, 51};
    for (std::int64_t offset = 0; offset < 3; ++offset) {
        const layout odd{false, 14, offset};
        if (is_aligned_only_) {
            guarded<half> a = make<half>(s.m, s.k, odd), b = make<half>(s.k, s.n, padded(s.n));
            guarded<half> c = make<half>(s.m, s.n, {});
            EXPECT_THROW(matmul<half>(a.matrix(), b.matrix(), c.matrix(), *stream_, options()), unsupported);
            EXPECT_TRUE(c.untouched());
        } else {
            run_all_types(s, odd, {true, 3, offset}, odd);
            run_all_types(s, {true, 5, offset}, {false, 3, 0}, {true, 1, offset}, 1, 0.5f);
            if (GetParam() != matmul_algorithm::padded)
                run_all_types(s, {false, 3, 1, 2}, {false, 1, 0, 3}, {false, 1, offset, 2}, 1, 2);
        }
    }
}

TEST_P(matmul_16_bit, scales_by_alpha_and_beta) {
    for (const float alpha : {-1.5f, 1.0f})
        for (const float beta : {0.0f, 1.0f, 0.25f})
            run_all_types({150, 200, 104}, padded(104), padded(200), padded(200), alpha, beta);
}

TEST_P(matmul_16_bit, does_not_read_a_and_b_where_alpha_is_zero) {
    guarded<half> a(24, 32, 32), b(32, 16, 16), c(24, 16, 16);  // A and B stay NaN
    const std::vector<half> before = test::random_elements<half>(24 * 16);
    c.upload(before);
    matmul<half>(a.matrix(), b.matrix(), c.matrix(), *stream_, options(0, 2));
    test::synchronize(*stream_, "scaling");
    const std::vector<half> after = c.download();
    for (std::size_t i = 0; i < after.size(); ++i)
        ASSERT_EQ(test::to_double(after[i]), 2 * test::to_double(before[i]));
}

TEST_P(matmul_16_bit, handles_empty_extents) {
    guarded<bfloat16> a(8, 0, 8), b(0, 16, 16), c(8, 16, 16);
    c.upload(std::vector<bfloat16>(8 * 16, bfloat16(3.0f)));
    matmul<bfloat16>(a.matrix(), b.matrix(), c.matrix(), *stream_, options(1, 2));
    test::synchronize(*stream_, "scaling");
    for (const bfloat16 each : c.download()) ASSERT_EQ(test::to_double(each), 6);
    matmul<bfloat16>(matrix_view<const bfloat16>{nullptr, 0, 8}, matrix_view<const bfloat16>{c.data(), 8, 16},
                     matrix_view<bfloat16>{nullptr, 0, 16}, *stream_, options());
    test::synchronize(*stream_, "nothing");
}

TEST_P(matmul_16_bit, is_exact_on_small_integers) {
    if (stores_operand_type()) GTEST_SKIP() << "stores the type of its operands";
    if (GetParam() == matmul_algorithm::skinny) GTEST_SKIP() << "not a skinny product";
    const shape s{264, 272, 304};
    const std::vector<half> a_elements = integers(s.m * s.k), b_elements = integers(s.k * s.n);
    guarded<half> a(s.m, s.k, s.k), b(s.k, s.n, s.n);
    guarded<float> c(s.m, s.n, s.n);
    a.upload(a_elements);
    b.upload(b_elements);
    matmul<float, half>(a.matrix(), b.matrix(), c.matrix(), *stream_, options());
    test::synchronize(*stream_, "integers");
    const std::vector<float> actual = c.download();
    const reference expected(s, a_elements, b_elements, actual, 1, 0);
    for (std::size_t i = 0; i < actual.size(); ++i) ASSERT_EQ(double{actual[i]}, expected.value[i]) << i;
}

// What fills a tile up past an edge must never meet an infinity: 0 * Inf is NaN.
TEST_P(matmul_16_bit, keeps_infinities_and_nans_where_they_belong) {
    const shape s{72, 40, 24};
    constexpr float infinity = std::numeric_limits<float>::infinity();
    guarded<bfloat16> a(s.m, s.k, s.k), b(s.k, s.n, s.n), c(s.m, s.n, s.n);
    std::vector<bfloat16> a_elements(static_cast<std::size_t>(s.m * s.k), bfloat16(infinity));
    a_elements[0] = bfloat16(std::numeric_limits<float>::quiet_NaN());
    a.upload(a_elements);
    b.upload(std::vector<bfloat16>(static_cast<std::size_t>(s.k * s.n), bfloat16(1.0f)));
    matmul<bfloat16>(a.matrix(), b.matrix(), c.matrix(), *stream_, options());
    test::synchronize(*stream_, "infinities");
    const std::vector<bfloat16> actual = c.download();
    for (std::size_t i = 0; i < actual.size(); ++i) {
        if (i < static_cast<std::size_t>(s.n))
            ASSERT_TRUE(std::isnan(test::to_double(actual[i]))) << i;
        else
            ASSERT_EQ(test::to_double(actual[i]), double{infinity}) << i;
    }
}

/// Products that follow one another in a stream may overlap: each must find what the one before has written.
TEST_P(matmul_16_bit, sees_what_the_product_before_wrote) {
    const std::int64_t size = GetParam() == matmul_algorithm::skinny ? 64 : 264;
    const shape s{size, size, size};
    const std::vector<bfloat16> a_elements = test::random_elements<bfloat16>(s.m * s.k, -0.1, 0.1);
    std::vector<bfloat16> expected = test::random_elements<bfloat16>(s.k * s.n);
    guarded<bfloat16> a(s.m, s.k, s.k), x(s.k, s.n, s.n), y(s.m, s.n, s.n);
    a.upload(a_elements);
    x.upload(expected);
    constexpr int times = 6;  // even: the last result is in x
    for (int i = 0; i < times; ++i)
        matmul<bfloat16>(a.matrix(), (i % 2 == 0 ? x : y).matrix(), (i % 2 == 0 ? y : x).matrix(), *stream_,
                         options());
    test::synchronize(*stream_, "a chain");
    const std::vector<bfloat16> chained = x.download();

    for (int i = 0; i < times; ++i) {
        guarded<bfloat16> in(s.k, s.n, s.n), out(s.m, s.n, s.n);
        in.upload(expected);
        matmul<bfloat16>(a.matrix(), in.matrix(), out.matrix(), *stream_, options());
        test::synchronize(*stream_, "a link");
        expected = out.download();
    }
    for (std::size_t i = 0; i < chained.size(); ++i)
        ASSERT_EQ(test::to_double(chained[i]), test::to_double(expected[i])) << i;
}

TEST_P(matmul_16_bit, replays_from_a_graph) {
    const shape s{56, 136, 200};
    const std::vector<half> a_elements = test::random_elements<half>(s.m * s.k);
    const std::vector<half> b_elements = test::random_elements<half>(s.k * s.n);
    guarded<half> a(s.m, s.k, s.k), b(s.k, s.n, s.n), c(s.m, s.n, s.n);
    a.upload(a_elements);
    b.upload(b_elements);
    graph captured = graph::capture(
        *stream_, [&] { matmul<half>(a.matrix(), b.matrix(), c.matrix(), *stream_, options()); });
    EXPECT_TRUE(c.untouched());
    captured.launch(*stream_);
    test::synchronize(*stream_, "a graph");
    expect_close(s, c.download(), reference(s, a_elements, b_elements, c.download(), 1, 0));
}

TEST_P(matmul_16_bit, is_right_at_random_shapes) {
    (void)test::random_elements<float>(1);  // prints the seed, which this generator starts from too
    std::mt19937_64 generator(test::seed());
    const auto up_to = [&](std::int64_t most) {
        return std::uniform_int_distribution<std::int64_t>(0, most)(generator);
    };
    for (int i = 0; i < 100; ++i) {
        const shape s{1 + up_to(299), 1 + up_to(299), 1 + up_to(299)};
        const auto bits = up_to(7);
        const float beta = up_to(1) == 0 ? 0.0f : 0.75f;
        const layout a = layout_of(s.m, s.k, (bits & 1) != 0), b = layout_of(s.k, s.n, (bits & 2) != 0),
                     c = layout_of(s.m, s.n, (bits & 4) != 0);
        if (i % 2 == 0)
            run_and_check<half, half>(s, a, b, c, 1, beta);
        else
            run_and_check<bfloat16, float>(s, a, b, c, 1, beta);
    }
}

#if HEDDLE_HAS_CUBLAS
TEST_P(matmul_16_bit, agrees_with_cublas) {
    if (GetParam() == matmul_algorithm::skinny) GTEST_SKIP() << "not a skinny product";
    cublasHandle_t handle = nullptr;
    ASSERT_EQ(cublasCreate(&handle), CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(cublasSetStream(handle, stream_->get()), CUBLAS_STATUS_SUCCESS);
    for (const shape& s : {shape{1032, 776, 1504}, {1920, 2056, 304}, {3000, 3000, 96}}) {
        SCOPED_TRACE(text(s));
        guarded<bfloat16> a(s.m, s.k, s.k), b(s.k, s.n, s.n), c(s.m, s.n, s.n), vendor(s.m, s.n, s.n);
        a.upload(test::random_elements<bfloat16>(s.m * s.k, 0, 1));
        b.upload(test::random_elements<bfloat16>(s.k * s.n, 0, 1));
        matmul<bfloat16>(a.matrix(), b.matrix(), c.matrix(), *stream_, options());

        const float one = 1, zero = 0;
        const auto extent = [](std::int64_t n) { return static_cast<int>(n); };
        // Row-major C = A B is column-major C^T = B^T A^T.
        ASSERT_EQ(
            cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, extent(s.n), extent(s.m), extent(s.k), &one,
                         b.data(), CUDA_R_16BF, extent(s.n), a.data(), CUDA_R_16BF, extent(s.k), &zero,
                         vendor.data(), CUDA_R_16BF, extent(s.n), CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
            CUBLAS_STATUS_SUCCESS);
        test::synchronize(*stream_, text(s));
        const std::vector<bfloat16> ours = c.download(), theirs = vendor.download();
        // All terms are positive, so the result is the sum of magnitudes; each side may be off by the bound.
        for (std::size_t i = 0; i < ours.size(); ++i) {
            const double value = test::to_double(theirs[i]) * 1.01;
            ASSERT_TRUE(test::is_within(test::to_double(ours[i]), test::to_double(theirs[i]),
                                        2 * bound<bfloat16>(s, value, value)))
                << i;
        }
    }
    ASSERT_EQ(cublasDestroy(handle), CUBLAS_STATUS_SUCCESS);
}
#else
TEST(matmul_16_bit_beside_cublas, agrees) {
    GTEST_SKIP() << "cuBLAS is not installed";
}
#endif

double activated(matmul_activation activation, double x) {
    switch (activation) {
        case matmul_activation::none:
            return x;
        case matmul_activation::relu:
            return x < 0 ? 0 : x;
        case matmul_activation::gelu:
            return 0.5 * x * std::erfc(-x * std::sqrt(0.5));
        case matmul_activation::gelu_tanh:
            return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
        case matmul_activation::silu:
            return x / (1 + std::exp(-x));
        case matmul_activation::sigmoid:
            return 1 / (1 + std::exp(-x));
        case matmul_activation::tanh:
            return std::tanh(x);
    }
    return x;
}

constexpr std::array activations = {matmul_activation::none, matmul_activation::relu,
                                    matmul_activation::gelu, matmul_activation::gelu_tanh,
                                    matmul_activation::silu, matmul_activation::sigmoid,
                                    matmul_activation::tanh};

class matmul_epilogues : public matmul_16_bit {
  protected:
    /// No activation here is steeper than 1.13, and each adds at most 10 roundings of its own to its result, or of 1 where
    /// that is larger (docs/accuracy.md).
    template <class In, class Out>
    void run_and_check_epilogue(const shape& s, matmul_activation activation, const layout& c_layout = {},
                                float beta = 0, bool has_residual = true) {
        SCOPED_TRACE(text(s) + ", activation " + std::to_string(static_cast<int>(activation)));
        const std::vector<In> a_elements = test::random_elements<In>(s.m * s.k);
        const std::vector<In> b_elements = test::random_elements<In>(s.k * s.n);
        const std::vector<Out> c_elements = test::random_elements<Out>(s.m * s.n);
        const std::vector<Out> across = test::random_elements<Out>(s.n),
                               down = test::random_elements<Out>(s.m);
        const std::vector<Out> added = test::random_elements<Out>(s.m * s.n);
        guarded<In> a = make<In>(s.m, s.k, padded(s.k)), b = make<In>(s.k, s.n, padded(s.n));
        guarded<Out> c = make<Out>(s.m, s.n, c_layout), row_bias(s.n, 1), column_bias(1, s.m, 2 * s.m, 0, 2),
                     residual = make<Out>(s.m, s.n, {true, 3, 1});
        a.upload(a_elements);
        b.upload(b_elements);
        if (beta != 0) c.upload(c_elements);
        row_bias.upload(across);
        column_bias.upload(down);
        residual.upload(added);
        const float alpha = 0.5f, scale = 1.5f;
        matmul_epilogue<Out> epilogue{activation, row_bias.vector(), column_bias.vector(), scale};
        if (has_residual) epilogue.residual = residual.matrix();
        matmul<Out, In>(a.matrix(), b.matrix(), c.matrix(), epilogue, *stream_, options(alpha, beta));
        test::synchronize(*stream_, text(s));
        const reference product(s, a_elements, b_elements, c_elements, double{alpha}, double{beta});
        const std::vector<Out> actual = c.download();
        for (std::size_t i = 0; i < actual.size(); ++i) {
            const std::size_t row = i / static_cast<std::size_t>(s.n),
                              col = i % static_cast<std::size_t>(s.n);
            const double bias = test::to_double(across[col]) + test::to_double(down[row]);
            const double u = test::unit_roundoff<float>();
            const double of_sum = bound<float>(s, product.value[i], product.magnitude[i]) +
                                  4 * u * (std::abs(product.value[i]) + 2);
            const double value = activated(activation, product.value[i] + bias);
            const double of_activation =
                1.13 * of_sum + 10 * std::max(u, 0x1p-16) * std::max(std::abs(value), 1.0);
            const double expected = double{scale} * value + (has_residual ? test::to_double(added[i]) : 0.0);
            const double of_result = double{scale} * of_activation + 4 * u * (std::abs(expected) + 2);
            ASSERT_TRUE(
                test::is_within(test::to_double(actual[i]), expected,
                                of_result + test::unit_roundoff<Out>() * (std::abs(expected) + of_result)))
                << "element " << i;
        }
        EXPECT_TRUE(c.canaries_alive());
        EXPECT_TRUE(residual.untouched());
    }

    bool has_epilogue() const {
        return GetParam() == matmul_algorithm::automatic || GetParam() == matmul_algorithm::naive ||
               GetParam() == matmul_algorithm::wmma || GetParam() == matmul_algorithm::mma_sync ||
               GetParam() == matmul_algorithm::fused || GetParam() == matmul_algorithm::skinny;
    }
};

TEST_P(matmul_epilogues, are_applied_or_refused) {
    if (!has_epilogue()) {
        guarded<half> a = make<half>(16, 16, {}), b = make<half>(16, 16, {}), c = make<half>(16, 16, {});
        EXPECT_THROW(matmul<half>(a.matrix(), b.matrix(), c.matrix(),
                                  matmul_epilogue<half>{matmul_activation::relu}, *stream_, options()),
                     unsupported);
        EXPECT_TRUE(c.untouched());
        return;
    }
    const bool is_skinny = GetParam() == matmul_algorithm::skinny;
    const std::int64_t m = is_skinny ? 50 : 150, n = is_skinny ? 9 : 129;
    for (const matmul_activation activation : activations) {
        run_and_check_epilogue<half, half>({m, 200, 104}, activation);
        run_and_check_epilogue<half, half>({m, 200, 104}, activation, {}, 0, false);
        run_and_check_epilogue<bfloat16, bfloat16>({257, n, 72}, activation, {false, 3, 1}, 0.5f);
        run_and_check_epilogue<bfloat16, bfloat16>({64, 300, 40}, activation, {true, 5, 0});
        if (GetParam() != matmul_algorithm::fused)
            run_and_check_epilogue<half, float>({60, 90, 64}, activation, {false, 1, 1}, 0.5f);
    }
    // A tile each for more than two rounds of all multiprocessors.
    if (!is_skinny) run_and_check_epilogue<half, half>({4200, 1048, 136}, matmul_activation::silu);
}

TEST_P(matmul_epilogues, may_add_c_itself) {
    if (!has_epilogue()) return;
    const shape s{200, GetParam() == matmul_algorithm::skinny ? 40 : 160, 72};
    const std::vector<half> a_elements = test::random_elements<half>(s.m * s.k);
    const std::vector<half> b_elements = test::random_elements<half>(s.k * s.n);
    const std::vector<half> c_elements = test::random_elements<half>(s.m * s.n);
    guarded<half> a(s.m, s.k, s.k), b(s.k, s.n, s.n), c(s.m, s.n, s.n);
    a.upload(a_elements);
    b.upload(b_elements);
    c.upload(c_elements);
    matmul_epilogue<half> epilogue;
    epilogue.residual = c.matrix();
    matmul<half>(a.matrix(), b.matrix(), c.matrix(), epilogue, *stream_, options());
    test::synchronize(*stream_, text(s));
    expect_close(s, c.download(), reference(s, a_elements, b_elements, c_elements, 1, 1));
}

std::string algorithm_name(const testing::TestParamInfo<matmul_algorithm>& info) {
    return std::string(to_string(info.param));
}

INSTANTIATE_TEST_SUITE_P(all, matmul_16_bit,
                         testing::ValuesIn(matmul_algorithms(element_type::f16).begin(),
                                           matmul_algorithms(element_type::f16).end()),
                         algorithm_name);
INSTANTIATE_TEST_SUITE_P(all, matmul_epilogues,
                         testing::ValuesIn(matmul_algorithms(element_type::f16).begin(),
                                           matmul_algorithms(element_type::f16).end()),
                         algorithm_name);
INSTANTIATE_TEST_SUITE_P(chosen, matmul_epilogues, testing::Values(matmul_algorithm::automatic),
                         algorithm_name);
INSTANTIATE_TEST_SUITE_P(chosen, matmul_16_bit, testing::Values(matmul_algorithm::automatic), algorithm_name);

// The rest needs no device.

device_traits hopper() {
    device_traits device;
    device.compute_capability_major = 9;
    device.compute_capability_minor = 0;
    device.sm_count = 132;
    return device;
}

TEST(matmul_16_bit_select, fills_the_device) {
    const auto choice = [](std::int64_t m, std::int64_t n, std::int64_t k) {
        return select({m, n, k, element_type::bf16}, hopper());
    };
    EXPECT_EQ(choice(512, 512, 512), matmul_algorithm::persistent);  // small tiles
    EXPECT_EQ(choice(8192, 8192, 8192), matmul_algorithm::cluster_multicast);
    EXPECT_EQ(choice(4096, 4096, 0), matmul_algorithm::naive);
    for (const std::int64_t size : {1, 16, 1000, 100000})
        EXPECT_NE(choice(size, size, size), matmul_algorithm::wmma);
}

TEST(matmul_16_bit_select, shares_tiles_where_there_is_a_workspace) {
    matmul_problem deep{640, 640, 16384, element_type::bf16};
    EXPECT_NE(select(deep, hopper()), matmul_algorithm::stream_k);
    EXPECT_GT(matmul_workspace_bytes(deep, hopper()), 0);
    deep.has_workspace = true;
    EXPECT_EQ(select(deep, hopper()), matmul_algorithm::stream_k);
    const matmul_problem even{8448, 4096, 4096, element_type::bf16};  // whole rounds
    EXPECT_EQ(matmul_workspace_bytes(even, hopper()), 0);
}

TEST(matmul_16_bit_select, takes_what_is_empty) {
    for (const matmul_problem& problem : {matmul_problem{0, 8, 8, element_type::f16},
                                          {8, 0, 8, element_type::f16},
                                          {8, 8, 0, element_type::f16}}) {
        EXPECT_EQ(select(problem, hopper()), matmul_algorithm::naive);
        for (const matmul_algorithm each : matmul_algorithms(element_type::f16))
            EXPECT_EQ(matmul_workspace_bytes(problem, hopper(), each), 0) << to_string(each);
    }
}

TEST(matmul_16_bit_select, asks_for_one_workspace_however_c_lies) {
    for (const matmul_algorithm each : matmul_algorithms(element_type::f16))
        EXPECT_EQ(matmul_workspace_bytes({640, 256, 8192, element_type::f16}, hopper(), each),
                  matmul_workspace_bytes({256, 640, 8192, element_type::f16}, hopper(), each))
            << to_string(each);
}

TEST(matmul_16_bit_select, turns_a_short_side_into_n) {
    for (const std::int64_t side : {1, 8, 16, 64}) {
        EXPECT_EQ(select({side, 4096, 4096, element_type::bf16}, hopper()), matmul_algorithm::skinny);
        EXPECT_EQ(select({4096, side, 4096, element_type::bf16}, hopper()), matmul_algorithm::skinny);
    }
    EXPECT_NE(select({65, 4096, 4096, element_type::bf16}, hopper()), matmul_algorithm::skinny);
}

TEST(matmul_16_bit_select, takes_wmma_where_nothing_faster_can_run) {
    matmul_problem problem{512, 512, 512, element_type::f16};
    device_traits ampere = hopper();
    ampere.compute_capability_major = 8;
    EXPECT_EQ(select(problem, ampere), matmul_algorithm::mma_sync);
    problem.tensor_maps = false;
    EXPECT_EQ(select(problem, ampere), matmul_algorithm::wmma);
    EXPECT_EQ(select(problem, hopper()), matmul_algorithm::wmma);
    problem.has_workspace = true;
    EXPECT_EQ(select(problem, hopper()), matmul_algorithm::padded);
    EXPECT_GE(matmul_workspace_bytes(problem, hopper()), 2 * 512 * 512 * 2);
}

template <class In, class Out>
void check_on_host() {
    const auto host = guarded<In>::memory::host;
    for (const shape& s : {shape{1, 1, 1}, {5, 7, 3}, {97, 257, 300}, {3, 4, 0}})
        for (int bits = 0; bits < 8; ++bits)
            for (const float beta : {0.0f, -0.5f}) {
                SCOPED_TRACE(text(s) + ", transposed " + std::to_string(bits) + ", beta " +
                             std::to_string(beta));
                const std::vector<In> a_elements = test::random_elements<In>(s.m * s.k);
                const std::vector<In> b_elements = test::random_elements<In>(s.k * s.n);
                const std::vector<Out> c_elements = test::random_elements<Out>(s.m * s.n);
                guarded<In> a = make<In>(s.m, s.k, {(bits & 1) != 0, 3, 1}, host);
                guarded<In> b = make<In>(s.k, s.n, {(bits & 2) != 0, 2, 0, 2}, host);
                guarded<Out> c = make<Out>(s.m, s.n, {(bits & 4) != 0, 1, 3}, guarded<Out>::memory::host);
                a.upload(a_elements);
                b.upload(b_elements);
                if (beta != 0) c.upload(c_elements);
                host::matmul<Out, In>(a.matrix(), b.matrix(), c.matrix(), 1.5f, beta);
                expect_close(s, c.download(),
                             reference(s, a_elements, b_elements, c_elements, 1.5, double{beta}));
                EXPECT_TRUE(c.canaries_alive());
            }
}

TEST(host_matmul_16_bit, is_right_for_every_layout) {
    check_on_host<half, half>();
    check_on_host<half, float>();
    check_on_host<bfloat16, bfloat16>();
    check_on_host<bfloat16, float>();
}

TEST(matmul_16_bit_arguments, of_an_epilogue_fit_c) {
    std::vector<half> memory(200);
    half* const p = memory.data();
    const matrix_view<const half> a{p, 3, 4}, b{p, 4, 5};
    const matrix_view<half> c{p + 50, 3, 5};
    const auto expect_invalid = [&](const std::string& argument, const matmul_epilogue<half>& epilogue) {
        try {
            matmul<half>(a, b, c, epilogue, cuda::stream_ref{cudaStream_t{}});
            FAIL() << "nothing was thrown for " << argument;
        } catch (const invalid_argument& error) {
            EXPECT_EQ(error.argument(), argument);
        }
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
    EXPECT_THROW(matmul<half>(a, b, matrix_view<half>{p + 50, 3, 5}, cuda::stream_ref{cudaStream_t{}},
                              {1, 0, matmul_algorithm::pipelined}),
                 unsupported);
    EXPECT_THROW(matmul<half>(a, b, matrix_view<half>{p + 50, 3, 5}, cuda::stream_ref{cudaStream_t{}},
                              {1, 0, static_cast<matmul_algorithm>(99)}),
                 invalid_argument);
}

}  // namespace
}  // namespace heddle
