#include "tests/support/matmul.hpp"

#include "tests/support/gpu.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/matmul_16_bit.hpp"
#include "tests/support/numeric.hpp"
#include "tests/support/random.hpp"
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
#include <bit>
#include <cmath>
#include <cstddef>
#include <deque>
#include <limits>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#if HEDDLE_HAS_CUBLAS
#include <cublas_v2.h>
#endif

namespace heddle {

void PrintTo(matmul_algorithm algorithm, std::ostream* out) {
    *out << to_string(algorithm);
}

namespace {

using test::guarded;

using test::layout;
using test::make;
using test::reference;
using test::shape;
using test::text;

/// k products added in float in any order are within k u of their sum of magnitudes (Higham, Accuracy and
/// Stability of Numerical Algorithms, 3.1); scaling by alpha and adding beta * C are three roundings more.
/// The next higher order in u is covered by one more.
double fma_bound(const shape& s, double magnitude) {
    return static_cast<double>(s.k + 4) * test::unit_roundoff<float>() * magnitude + test::smallest<float>();
}

/// Of bf16x6 (docs/accuracy.md). `automatic` takes it only where this is the smaller of the two.
double bf16x6_bound(const shape& s, double magnitude) {
    const auto k = static_cast<double>(s.k);
    const double additions = 2.1 * (std::min(k, 64.0) + 4) + 2 * std::ceil(k / 64) + 6;
    return additions * test::unit_roundoff<float>() * magnitude + test::smallest<float>();
}

/// Of fp16x3 (docs/accuracy.md), where no element is larger than 1.
double fp16x3_bound(const shape& s, double magnitude) {
    const auto k = static_cast<double>(s.k);
    const double additions = 2.1 * 3 * (std::min(k, 64.0) + 4) + std::ceil(k / 64) + 6;
    return (additions * test::unit_roundoff<float>() + 0x1p-21) * magnitude + k * 0x1p-38;
}

/// Of tf32x3 (docs/accuracy.md).
double tf32x3_bound(const shape& s, double magnitude) {
    const double additions = std::ceil(static_cast<double>(s.k) / 16) + 49;
    return additions * test::unit_roundoff<float>() * magnitude + test::smallest<float>();
}

/// Of tf32 (docs/accuracy.md).
double tf32_bound(const shape& s, double magnitude) {
    const auto k = static_cast<double>(s.k);
    const double rounded =
        2 * test::unit_roundoff<half>() * (1 + test::unit_roundoff<half>());  // as many digits
    return (rounded + 2 * (k + k / 8 + 20) * test::unit_roundoff<float>()) * magnitude +
           test::smallest<float>();
}

using error_bound = double (*)(const shape&, double);

void expect_close(const shape& s, const std::vector<float>& actual, const reference& expected,
                  error_bound bound = fma_bound) {
    for (std::size_t i = 0; i < actual.size(); ++i)
        ASSERT_TRUE(test::is_within(double{actual[i]}, expected.value[i], bound(s, expected.magnitude[i])))
            << "element " << i;
}

bool is_bf16x6(matmul_algorithm algorithm) {
    return algorithm == matmul_algorithm::bf16x6 || algorithm == matmul_algorithm::padded;
}

bool needs_hopper(matmul_algorithm algorithm) {
    return is_bf16x6(algorithm) || algorithm == matmul_algorithm::fp16x3 ||
           algorithm == matmul_algorithm::tf32 || algorithm == matmul_algorithm::tma_pipelined;
}

/// Where k is 0 there is no product for them to scale: C = beta * C.
constexpr std::array alphas_of_nothing = {1.0f, std::numeric_limits<float>::infinity(),
                                          std::numeric_limits<float>::quiet_NaN()};

class matmul_rung : public test::gpu_test, public testing::WithParamInterface<matmul_algorithm> {
  protected:
    void SetUp() override {
        gpu_test::SetUp();
        if (!is_set_up()) return;
        if (needs_hopper(GetParam()) && !test::has_warpgroups()) GTEST_SKIP() << "is for Hopper";
        stream_.emplace();
        workspace_.emplace(std::int64_t{64} << 20, *stream_);
        scratch_ = *workspace_;
    }

    /// With a workspace, for those that take one.
    matmul_options options(float alpha = 1, float beta = 0) { return {alpha, beta, GetParam(), scratch_}; }

    static error_bound bound() {
        if (GetParam() == matmul_algorithm::fp16x3) return fp16x3_bound;
        if (GetParam() == matmul_algorithm::tf32x3) return tf32x3_bound;
        if (GetParam() == matmul_algorithm::tf32) return tf32_bound;
        return is_bf16x6(GetParam()) ? bf16x6_bound : fma_bound;
    }

    /// With a side that the rung takes.
    static shape fitted(shape s) {
        constexpr std::int64_t thin = 40;  // three blocks of 16 rows
        if (GetParam() == matmul_algorithm::skinny) (s.m <= s.n ? s.m : s.n) = std::min({s.m, s.n, thin});
        return s;
    }

    void run_and_check(const shape& given, const layout& a_layout = {}, const layout& b_layout = {},
                       const layout& c_layout = {}, float alpha = 1, float beta = 0) {
        const shape s = fitted(given);
        SCOPED_TRACE(text(s));
        const std::vector<float> a_elements = test::random_elements<float>(s.m * s.k);
        const std::vector<float> b_elements = test::random_elements<float>(s.k * s.n);
        const std::vector<float> c_elements = test::random_elements<float>(s.m * s.n);
        guarded<float> a = make<float>(s.m, s.k, a_layout), b = make<float>(s.k, s.n, b_layout),
                       c = make<float>(s.m, s.n, c_layout);
        a.upload(a_elements);
        b.upload(b_elements);
        if (beta != 0) c.upload(c_elements);  // else it stays NaN, which must not get into the result
        matmul<float>(a.matrix(), b.matrix(), c.matrix(), *stream_, options(alpha, beta));
        stream_->synchronize();
        expect_close(s, c.download(), reference(s, a_elements, b_elements, c_elements, alpha, beta), bound());
        EXPECT_TRUE(c.canaries_alive());
        EXPECT_TRUE(a.untouched());
        EXPECT_TRUE(b.untouched());
    }

    std::optional<stream> stream_;
    std::optional<workspace> workspace_;
    std::span<std::byte> scratch_;
};

TEST_P(matmul_rung, is_right_around_every_tile_edge) {
    for (const shape& s : {shape{1, 1, 1},
                           {2, 3, 5},
                           {15, 17, 7},
                           {16, 16, 16},
                           {31, 33, 15},
                           {32, 32, 32},
                           {33, 31, 17},
                           {63, 65, 31},
                           {64, 64, 64},
                           {127, 129, 33},
                           {128, 128, 16},
                           {129, 127, 47},
                           {255, 257, 65},
                           {257, 130, 100}})
        run_and_check(s);
}

TEST_P(matmul_rung, is_right_when_thin) {
    for (const shape& s : {shape{1, 1000, 70},
                           {1000, 1, 70},
                           {3, 500, 1},
                           {500, 2, 3},
                           {5, 2500, 300},
                           {2500, 16, 270},
                           {1, 4096, 700},
                           {4100, 3, 700}})
        run_and_check(s);
}

TEST_P(matmul_rung, is_right_when_deep) {
    for (const shape& s : {shape{1, 1, 4099},
                           {17, 19, 2051},
                           {16, 300, 5200},
                           {2, 40, 13000},
                           {64, 64, 9001},
                           {130, 70, 1003},
                           {140, 260, 7000}})
        run_and_check(s);
}

TEST_P(matmul_rung, takes_every_transposition) {
    for (const shape& s : {shape{67, 45, 39}, {128, 132, 64}, {132, 260, 328}, {131, 259, 327}})
        for (int bits = 0; bits < 8; ++bits) {
            SCOPED_TRACE("transposed A, B, C: " + std::to_string(bits));
            run_and_check(s, {(bits & 1) != 0}, {(bits & 2) != 0}, {(bits & 4) != 0});
        }
}

TEST_P(matmul_rung, takes_padded_rows_and_any_alignment) {
    const shape s{130, 70, 51};
    for (std::int64_t offset = 0; offset < 4; ++offset)
        for (std::int64_t padding : {0, 1, 3, 13}) {
            SCOPED_TRACE("offset " + std::to_string(offset) + ", padding " + std::to_string(padding));
            run_and_check(s, {false, padding, offset}, {false, padding, 0}, {false, padding, 0});
            run_and_check(s, {false, padding, 0}, {true, padding, offset}, {false, padding, offset});
        }
}

/// With the bytes that it asks for, it uses no others, and leaves the tickets at zero.
TEST_P(matmul_rung, keeps_to_its_workspace) {
    if (GetParam() == matmul_algorithm::automatic) GTEST_SKIP() << "is one of the others";
    bool takes_one = false;
    for (const shape& given :
         {shape{130, 197, 333}, {64, 60, 4100}, {1, 300, 700}, {290, 129, 1900}, {292, 132, 1900}}) {
        const shape s = fitted(given);
        for (int bits = 0; bits < 8; ++bits) {
            SCOPED_TRACE("transposed A, B, C: " + std::to_string(bits));
            const bool a_lies_along_k = (bits & 1) == 0, b_lies_along_k = (bits & 2) != 0;
            const auto has_packets = [](std::int64_t lines, std::int64_t length) {
                return lines > 1 && length > 1 && length % 4 == 0;
            };
            matmul_problem problem{s.m, s.n, s.k};
            problem.tensor_maps = (a_lies_along_k ? has_packets(s.m, s.k) : has_packets(s.k, s.m)) &&
                                  (b_lies_along_k ? has_packets(s.n, s.k) : has_packets(s.k, s.n));
            problem.along_k = problem.tensor_maps && (a_lies_along_k || b_lies_along_k);
            const std::int64_t bytes =
                matmul_workspace_bytes(problem, traits_of(current_device()), GetParam());
            if (bytes == 0) continue;
            takes_one = true;
            const auto words = static_cast<std::int64_t>(bytes / sizeof(unsigned));
            guarded<unsigned> scratch(words);
            scratch.upload(std::vector<unsigned>(static_cast<std::size_t>(words)));
            scratch_ = std::as_writable_bytes(std::span(scratch.data(), static_cast<std::size_t>(words)));
            run_and_check(s, {(bits & 1) != 0}, {(bits & 2) != 0}, {(bits & 4) != 0});
            EXPECT_TRUE(scratch.canaries_alive());
            const std::vector<unsigned> after = scratch.download();
            constexpr std::ptrdiff_t tickets = 1024;
            EXPECT_TRUE(std::all_of(after.begin(), after.begin() + std::min<std::ptrdiff_t>(tickets, words),
                                    [](unsigned ticket) { return ticket == 0; }));
        }
    }
    if (!takes_one) GTEST_SKIP() << "takes none";
}

TEST_P(matmul_rung, takes_strides_in_both_dimensions_or_says_so) {
    const shape s{37, 29, 23};
    const layout apart{false, 3, 1, 2};
    using enum matmul_algorithm;
    if (GetParam() == pipelined || GetParam() == tma_pipelined || GetParam() == split_k ||
        GetParam() == tf32x3 || GetParam() == tf32 || GetParam() == padded) {
        guarded<float> a = make<float>(s.m, s.k, apart), b = make<float>(s.k, s.n, {}),
                       c = make<float>(s.m, s.n, {});
        EXPECT_THROW(matmul<float>(a.matrix(), b.matrix(), c.matrix(), *stream_, options()), unsupported);
        EXPECT_TRUE(c.untouched());
    } else {
        run_and_check(s, apart, apart, apart, 1, 2);
    }
    run_and_check(s, {}, {}, apart);
    run_and_check({37, 29, 2300}, {}, {}, apart, 1, 2);
}

TEST_P(matmul_rung, scales_by_alpha_and_beta) {
    for (const float alpha : {-1.5f, 1.0f})
        for (const float beta : {1.0f, 0.25f}) run_and_check({70, 66, 40}, {}, {}, {}, alpha, beta);
}

TEST_P(matmul_rung, does_not_read_a_and_b_where_alpha_is_zero) {
    guarded<float> a = make<float>(20, 30, {}), b = make<float>(30, 10, {}),
                   c(20, 10, 10);  // A and B stay NaN
    const std::vector<float> before = test::random_elements<float>(200);
    c.upload(before);
    matmul<float>(a.matrix(), b.matrix(), c.matrix(), *stream_, options(0, 2));
    stream_->synchronize();
    const std::vector<float> after = c.download();
    for (std::size_t i = 0; i < after.size(); ++i) ASSERT_EQ(after[i], 2 * before[i]);
}

TEST_P(matmul_rung, handles_empty_extents) {
    guarded<float> a(4, 0, 1), b(0, 5, 5), c(4, 5, 5);
    for (const float alpha : alphas_of_nothing) {
        SCOPED_TRACE(alpha);
        c.upload(std::vector<float>(20, 3.0f));
        matmul<float>(a.matrix(), b.matrix(), c.matrix(), *stream_, options(alpha, 2));
        stream_->synchronize();
        EXPECT_EQ(c.download(), std::vector<float>(20, 6.0f));
        c.upload(std::vector<float>(20, std::numeric_limits<float>::quiet_NaN()));
        matmul<float>(a.matrix(), b.matrix(), c.matrix(), *stream_, options(alpha, 0));
        stream_->synchronize();
        EXPECT_EQ(c.download(), std::vector<float>(20, 0.0f));
        EXPECT_TRUE(c.canaries_alive());
    }
    matmul<float>(matrix_view<const float>{nullptr, 0, 4}, matrix_view<const float>{c.data(), 4, 5},
                  matrix_view<float>{nullptr, 0, 5}, *stream_, options());
    stream_->synchronize();
}

TEST_P(matmul_rung, is_exact_on_small_integers) {
    const shape s = fitted({140, 135, 300});
    std::vector<float> a_elements = test::random_elements<float>(s.m * s.k, -8, 8);
    std::vector<float> b_elements = test::random_elements<float>(s.k * s.n, -8, 8);
    for (float& e : a_elements) e = std::round(e);
    for (float& e : b_elements) e = std::round(e);
    guarded<float> a = make<float>(s.m, s.k, {}), b = make<float>(s.k, s.n, {}), c(s.m, s.n, s.n);
    a.upload(a_elements);
    b.upload(b_elements);
    matmul<float>(a.matrix(), b.matrix(), c.matrix(), *stream_, options());
    stream_->synchronize();
    const std::vector<float> actual = c.download();
    const reference expected(s, a_elements, b_elements, actual, 1, 0);
    for (std::size_t i = 0; i < actual.size(); ++i) ASSERT_EQ(double{actual[i]}, expected.value[i]);
}

// fp16x3 makes NaN of infinities.
// What fills a tile up past an edge must never meet an infinity: 0 * Inf is NaN.
TEST_P(matmul_rung, keeps_infinities_and_nans_where_they_belong) {
    const shape s = fitted({35, 37, 19});
    constexpr float infinity = std::numeric_limits<float>::infinity();
    guarded<float> a = make<float>(s.m, s.k, {}), b = make<float>(s.k, s.n, {}), c(s.m, s.n, s.n);
    std::vector<float> a_elements(static_cast<std::size_t>(s.m * s.k), infinity);
    a_elements[0] = std::numeric_limits<float>::quiet_NaN();
    a.upload(a_elements);
    b.upload(std::vector<float>(static_cast<std::size_t>(s.k * s.n), 1.0f));
    matmul<float>(a.matrix(), b.matrix(), c.matrix(), *stream_, options());
    stream_->synchronize();
    const std::vector<float> actual = c.download();
    for (std::size_t i = 0; i < actual.size(); ++i) {
        if (GetParam() == matmul_algorithm::fp16x3 || i < static_cast<std::size_t>(s.n))
            ASSERT_TRUE(std::isnan(actual[i])) << i;
        else
            ASSERT_EQ(actual[i], infinity) << i;
    }
}

// Who adds up what others left adds in one order, whoever comes first; and what a call leaves in the workspace does not
// matter to the next.
TEST_P(matmul_rung, gives_the_same_bits_every_time) {
    for (const shape& given : {shape{64, 64, 9001}, {70, 300, 1031}}) {
        const shape s = fitted(given);
        guarded<float> a = make<float>(s.m, s.k, {}), b = make<float>(s.k, s.n, {}), c(s.m, s.n, s.n);
        a.upload(test::random_elements<float>(s.m * s.k));
        b.upload(test::random_elements<float>(s.k * s.n));
        std::vector<float> first;
        for (int call = 0; call < 5; ++call) {
            matmul<float>(a.matrix(), b.matrix(), c.matrix(), *stream_, options());
            stream_->synchronize();
            if (call == 0) first = c.download();
            ASSERT_EQ(c.download(), first) << text(s);
        }
    }
}

/// Products that follow one another in a stream may overlap: each must find what the one before has written, in C and in the
/// workspace.
TEST_P(matmul_rung, sees_what_the_product_before_wrote) {
    const std::int64_t size = GetParam() == matmul_algorithm::skinny ? 40 : 264;
    std::vector<float> expected = test::random_elements<float>(size * size);
    guarded<float> a(size, size, size), x(size, size, size), y(size, size, size);
    a.upload(test::random_elements<float>(size * size, -0.1, 0.1));
    x.upload(expected);
    constexpr int times = 6;  // even: the last result is in x
    for (int i = 0; i < times; ++i)
        matmul<float>(a.matrix(), (i % 2 == 0 ? x : y).matrix(), (i % 2 == 0 ? y : x).matrix(), *stream_,
                      options());
    stream_->synchronize();
    const std::vector<float> chained = x.download();

    for (int i = 0; i < times; ++i) {
        guarded<float> in(size, size, size), out(size, size, size);
        in.upload(expected);
        matmul<float>(a.matrix(), in.matrix(), out.matrix(), *stream_, options());
        stream_->synchronize();
        expected = out.download();
    }
    EXPECT_EQ(chained, expected);
}

/// The same of products that are shared out along k, whose sums and tickets lie in the workspace.
TEST_P(matmul_rung, leaves_the_workspace_to_the_product_after_it) {
    bool takes_one = false;
    for (const shape& given : {shape{64, 64, 9000}, {64, 64, 9001}}) {
        const shape s = fitted(given);
        SCOPED_TRACE(text(s));
        constexpr std::size_t times = 4;
        guarded<float> b(s.k, s.n, s.n);
        b.upload(test::random_elements<float>(s.k * s.n));
        std::deque<guarded<float>> a, c;  // they do not move
        for (std::size_t i = 0; i < times; ++i) {
            a.emplace_back(s.m, s.k, s.k).upload(test::random_elements<float>(s.m * s.k));
            c.emplace_back(s.m, s.n, s.n);
        }
        if (matmul_workspace_bytes<float>(a[0].matrix(), b.matrix(), c[0].matrix(), *stream_, options()) == 0)
            continue;
        takes_one = true;
        for (std::size_t i = 0; i < times; ++i)
            matmul<float>(a[i].matrix(), b.matrix(), c[i].matrix(), *stream_, options());
        stream_->synchronize();
        guarded<float> alone(s.m, s.n, s.n);
        for (std::size_t i = 0; i < times; ++i) {
            matmul<float>(a[i].matrix(), b.matrix(), alone.matrix(), *stream_, options());
            stream_->synchronize();
            EXPECT_EQ(c[i].download(), alone.download()) << i;
        }
    }
    if (!takes_one) GTEST_SKIP() << "takes none";
}

TEST_P(matmul_rung, replays_from_a_graph) {
    for (const shape& given : {shape{65, 66, 67}, {64, 64, 9001}, {300, 333, 4100}}) {
        const shape s = fitted(given);
        SCOPED_TRACE(text(s));
        const std::vector<float> a_elements = test::random_elements<float>(s.m * s.k);
        const std::vector<float> b_elements = test::random_elements<float>(s.k * s.n);
        const std::vector<float> nothing(static_cast<std::size_t>(s.m * s.n));
        guarded<float> a = make<float>(s.m, s.k, {}), b = make<float>(s.k, s.n, {}), c(s.m, s.n, s.n);
        a.upload(a_elements);
        b.upload(b_elements);
        graph captured = graph::capture(
            *stream_, [&] { matmul<float>(a.matrix(), b.matrix(), c.matrix(), *stream_, options()); });
        EXPECT_TRUE(c.untouched());
        const reference expected(s, a_elements, b_elements, nothing, 1, 0);
        for (int launch = 0; launch < 2; ++launch) {
            captured.launch(*stream_);
            stream_->synchronize();
            expect_close(s, c.download(), expected, bound());
        }
    }
}

#if HEDDLE_HAS_CUBLAS
TEST_P(matmul_rung, agrees_with_cublas) {
    cublasHandle_t handle = nullptr;
    ASSERT_EQ(cublasCreate(&handle), CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(cublasSetStream(handle, stream_->get()), CUBLAS_STATUS_SUCCESS);
    for (const shape& given : {shape{1031, 777, 1500}, {1920, 2049, 300}}) {
        const shape s = fitted(given);
        SCOPED_TRACE(text(s));
        guarded<float> a = make<float>(s.m, s.k, {}), b = make<float>(s.k, s.n, {}), c(s.m, s.n, s.n),
                       vendor(s.m, s.n, s.n);
        a.upload(test::random_elements<float>(s.m * s.k, 0, 1));
        b.upload(test::random_elements<float>(s.k * s.n, 0, 1));
        matmul<float>(a.matrix(), b.matrix(), c.matrix(), *stream_, options());

        const float one = 1, zero = 0;
        const auto extent = [](std::int64_t n) { return static_cast<int>(n); };
        // Row-major C = A B is column-major C^T = B^T A^T.
        ASSERT_EQ(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, extent(s.n), extent(s.m), extent(s.k), &one,
                              b.data(), extent(b.matrix().row_stride), a.data(),
                              extent(a.matrix().row_stride), &zero, vendor.data(), extent(s.n)),
                  CUBLAS_STATUS_SUCCESS);
        stream_->synchronize();
        const std::vector<float> ours = c.download(), theirs = vendor.download();
        // All terms are positive, so the result is the sum of magnitudes; each side may be off by the bound.
        for (std::size_t i = 0; i < ours.size(); ++i)
            ASSERT_TRUE(test::is_within(
                double{ours[i]}, double{theirs[i]},
                fma_bound(s, double{theirs[i]} * 1.001) + bound()(s, double{theirs[i]} * 1.001)))
                << i;
    }
    ASSERT_EQ(cublasDestroy(handle), CUBLAS_STATUS_SUCCESS);
}
#else
TEST(matmul_beside_cublas, agrees) {
    GTEST_SKIP() << "cuBLAS is not installed";
}
#endif

std::string algorithm_name(const testing::TestParamInfo<matmul_algorithm>& info) {
    return std::string(to_string(info.param));
}

INSTANTIATE_TEST_SUITE_P(all, matmul_rung,
                         testing::ValuesIn(matmul_algorithms(element_type::f32).begin(),
                                           matmul_algorithms(element_type::f32).end()),
                         algorithm_name);
INSTANTIATE_TEST_SUITE_P(chosen, matmul_rung, testing::Values(matmul_algorithm::automatic), algorithm_name);

class matmul_device : public test::gpu_test {};

void check_every_transposition(const shape& s, float alpha, float beta,
                               matmul_algorithm algorithm = matmul_algorithm::pipelined,
                               std::int64_t workspace_bytes = std::int64_t{32} << 20) {
    const stream stream;
    workspace scratch(workspace_bytes, stream);
    const std::vector<float> a_elements = test::random_elements<float>(s.m * s.k);
    const std::vector<float> b_elements = test::random_elements<float>(s.k * s.n);
    const std::vector<float> c_elements = test::random_elements<float>(s.m * s.n);
    const reference expected(s, a_elements, b_elements, c_elements, double{alpha}, double{beta});
    for (int bits = 0; bits < 8; ++bits) {
        SCOPED_TRACE(text(s) + ", transposed A, B, C: " + std::to_string(bits));
        guarded<float> a = make<float>(s.m, s.k, {(bits & 1) != 0, 4}),
                       b = make<float>(s.k, s.n, {(bits & 2) != 0, 4}),
                       c = make<float>(s.m, s.n, {(bits & 4) != 0, 4});
        a.upload(a_elements);
        b.upload(b_elements);
        if (beta != 0) c.upload(c_elements);
        matmul<float>(a.matrix(), b.matrix(), c.matrix(), stream, {alpha, beta, algorithm, scratch});
        stream.synchronize();
        ASSERT_NO_FATAL_FAILURE(expect_close(s, c.download(), expected));
        ASSERT_TRUE(c.canaries_alive());
        ASSERT_TRUE(a.untouched());
        ASSERT_TRUE(b.untouched());
    }
}

// `pipelined` picks one of three tiles by the size of C. The shapes above go to the smallest; on 132
// multiprocessors these go to the others. Each is tried with rows that are no multiples of 16 bytes, in any
// operand, and with rows that are.
TEST_F(matmul_device, takes_every_transposition_in_tiles_of_128_by_128) {
    ASSERT_NO_FATAL_FAILURE(check_every_transposition({1919, 2049, 67}, 1, 0));
    ASSERT_NO_FATAL_FAILURE(check_every_transposition({1920, 2048, 64}, -1.5f, 0.75f));
}
TEST_F(matmul_device, takes_every_transposition_in_tiles_of_64_by_128) {
    ASSERT_NO_FATAL_FAILURE(check_every_transposition({1031, 777, 131}, 1, 0.5f));
    ASSERT_NO_FATAL_FAILURE(check_every_transposition({1032, 776, 132}, -1.5f, 0));
}

// All tiles, and those that whole rounds leave.
TEST_F(matmul_device, shares_tiles_along_k_in_every_transposition) {
    using enum matmul_algorithm;
    ASSERT_NO_FATAL_FAILURE(check_every_transposition({64, 63, 4099}, 1, 0.5f, split_k));
    ASSERT_NO_FATAL_FAILURE(check_every_transposition({132, 260, 1028}, -1.5f, 0, split_k));
    ASSERT_NO_FATAL_FAILURE(check_every_transposition({2112, 2177, 259}, 1, 1, split_k));
}

// A step is 32 along k.
TEST_F(matmul_device, takes_every_transposition_in_boxes) {
    if (!test::has_warpgroups()) GTEST_SKIP() << "is for Hopper";
    using enum matmul_algorithm;
    for (const std::int64_t k : {4, 36, 96, 1028})
        ASSERT_NO_FATAL_FAILURE(check_every_transposition({68, 132, k}, 1.5f, 0.5f, tma_pipelined));
    ASSERT_NO_FATAL_FAILURE(check_every_transposition({1100, 1000, 132}, -1.5f, 0, tma_pipelined));
}

/// Pairs split each other's B. The last have rows for one warpgroup, for one block, for both; tiles are shared out along k, or
/// whole, or some of them whole and the rest shared out.
TEST_F(matmul_device, takes_every_transposition_by_pairs_of_blocks_of_bf16x6) {
    if (!test::has_warpgroups()) GTEST_SKIP() << "is for Hopper";
    using enum matmul_algorithm;
    for (const std::int64_t m : {260, 340, 452})
        ASSERT_NO_FATAL_FAILURE(check_every_transposition({m, 132, 1300}, -1.5f, 0.5f, bf16x6, 0));
    ASSERT_NO_FATAL_FAILURE(check_every_transposition({260, 132, 1300}, 1, 0.5f, bf16x6));
    ASSERT_NO_FATAL_FAILURE(check_every_transposition({1348, 1400, 1000}, 1, 0, bf16x6));
    ASSERT_NO_FATAL_FAILURE(check_every_transposition({1604, 1284, 1028}, -1.5f, 0, bf16x6));
    ASSERT_NO_FATAL_FAILURE(check_every_transposition({2820, 1156, 516}, 1, 1, bf16x6));
}

TEST_F(matmul_device, says_where_skinny_takes_no_side) {
    guarded<float> a(65, 65, 65), b(65, 65, 65), c(65, 65, 65);
    const stream stream;
    EXPECT_THROW(
        matmul<float>(a.matrix(), b.matrix(), c.matrix(), stream, {.algorithm = matmul_algorithm::skinny}),
        unsupported);
    EXPECT_TRUE(c.untouched());
}

// None may come of the pieces of an element: 0 * Inf, Inf - Inf, a piece rounded up beyond the largest number.
TEST_F(matmul_device, tf32x3_has_the_infinities_and_nans_of_fmas) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    constexpr float largest = std::numeric_limits<float>::max();
    const shape s{70, 66, 40};
    const std::vector<float> specials = {infinity, -infinity, std::bit_cast<float>(0x7fffffffu), largest, 0};
    std::vector<float> a_elements = test::random_elements<float>(s.m * s.k, -1000, 1000);
    std::vector<float> b_elements = test::random_elements<float>(s.k * s.n, -1000, 1000);
    for (std::size_t i = 0; i < a_elements.size(); i += 67) a_elements[i] = specials[i % specials.size()];
    for (std::size_t i = 0; i < b_elements.size(); i += 203) b_elements[i] = specials[i % specials.size()];
    guarded<float> a(s.m, s.k, s.k), b(s.k, s.n, s.n), c(s.m, s.n, s.n);
    a.upload(a_elements);
    b.upload(b_elements);
    const stream stream;
    matmul<float>(a.matrix(), b.matrix(), c.matrix(), stream, {.algorithm = matmul_algorithm::tf32x3});
    stream.synchronize();
    const std::vector<float> actual = c.download();
    EXPECT_TRUE(c.canaries_alive());
    for (std::int64_t i = 0; i < s.m; ++i)
        for (std::int64_t j = 0; j < s.n; ++j) {
            float sum = 0;
            for (std::int64_t k = 0; k < s.k; ++k)
                sum = std::fma(a_elements[static_cast<std::size_t>(i * s.k + k)],
                               b_elements[static_cast<std::size_t>(k * s.n + j)], sum);
            const float of_c = actual[static_cast<std::size_t>(i * s.n + j)];
            if (std::isnan(sum))
                ASSERT_TRUE(std::isnan(of_c)) << i << ", " << j;
            else if (std::isinf(sum))
                ASSERT_EQ(of_c, sum) << i << ", " << j;
            else
                ASSERT_TRUE(std::isfinite(of_c)) << i << ", " << j;
        }
}

/// Of A and B of which neither lies along k, or whose rows are odd.
TEST_F(matmul_device, says_where_tf32_needs_a_workspace) {
    if (!test::has_warpgroups()) GTEST_SKIP() << "is for Hopper";
    const stream stream;
    for (const std::int64_t padding : {0, 1}) {
        const bool turned = padding == 0;
        guarded<float> a = make<float>(64, 68, {turned, padding}), b = make<float>(68, 72, {false, padding}),
                       c = make<float>(64, 72, {});
        EXPECT_THROW(
            matmul<float>(a.matrix(), b.matrix(), c.matrix(), stream, {.algorithm = matmul_algorithm::tf32}),
            unsupported);
        EXPECT_TRUE(c.untouched());
    }
}

/// In tiles of several sizes, in which C ends, and that are shared out along k.
TEST_F(matmul_device, multiplies_in_tf32_in_every_tile) {
    if (!test::has_warpgroups()) GTEST_SKIP() << "is for Hopper";
    const stream stream;
    workspace scratch(std::int64_t{64} << 20, stream);
    for (const shape& s : {shape{4097, 4099, 37},
                           {3071, 4160, 68},
                           {2100, 1901, 100},
                           {1020, 1033, 260},
                           {65, 4100, 2100},
                           {300, 333, 4100}}) {
        const std::vector<float> a_elements = test::random_elements<float>(s.m * s.k);
        const std::vector<float> b_elements = test::random_elements<float>(s.k * s.n);
        const std::vector<float> nothing(static_cast<std::size_t>(s.m * s.n));
        const reference expected(s, a_elements, b_elements, nothing, 1, 0);
        for (int bits = 0; bits < 8; ++bits) {
            SCOPED_TRACE(text(s) + ", transposed A, B, C: " + std::to_string(bits));
            guarded<float> a = make<float>(s.m, s.k, {(bits & 1) != 0}),
                           b = make<float>(s.k, s.n, {(bits & 2) != 0}),
                           c = make<float>(s.m, s.n, {(bits & 4) != 0});
            a.upload(a_elements);
            b.upload(b_elements);
            matmul<float>(a.matrix(), b.matrix(), c.matrix(), stream,
                          {.algorithm = matmul_algorithm::tf32, .workspace = scratch});
            stream.synchronize();
            ASSERT_NO_FATAL_FAILURE(expect_close(s, c.download(), expected, tf32_bound));
            ASSERT_TRUE(c.canaries_alive());
        }
    }
}

/// Each tile by a cluster, and where there is a workspace by several.
TEST_F(matmul_device, multiplies_in_tf32_where_a_side_is_short) {
    if (!test::has_warpgroups()) GTEST_SKIP() << "is for Hopper";
    const stream stream;
    workspace scratch(std::int64_t{64} << 20, stream);
    const auto in_packets = [](bool is_transposed, std::int64_t rows, std::int64_t cols) {
        constexpr std::int64_t packet = 4;
        const std::int64_t rest = (is_transposed ? rows : cols) % packet;
        return layout{is_transposed, rest == 0 ? 0 : packet - rest};
    };
    for (const shape& s : {shape{1, 300, 1000},
                           {300, 2, 1001},
                           {16, 4100, 516},
                           {4100, 13, 516},
                           {9, 1000, 4100},
                           {40, 2500, 1100},
                           {2500, 40, 1100},
                           {64, 4164, 300},
                           {64, 64, 9000},
                           {33, 61, 9004},
                           {16, 12, 5000},
                           {9000, 64, 36}}) {
        const std::vector<float> a_elements = test::random_elements<float>(s.m * s.k);
        const std::vector<float> b_elements = test::random_elements<float>(s.k * s.n);
        const std::vector<float> c_elements = test::random_elements<float>(s.m * s.n);
        const reference product(s, a_elements, b_elements, c_elements, 1, 0);
        const reference sum(s, a_elements, b_elements, c_elements, -1.5f, 0.5f);
        for (int bits = 0; bits < 16; ++bits) {
            const bool a_by_columns = (bits & 1) != 0, b_by_columns = (bits & 2) != 0;
            const bool has_workspace = (bits & 8) != 0, adds = bits % 3 == 0;
            if (a_by_columns && !b_by_columns && !has_workspace) continue;  // neither lies along k
            SCOPED_TRACE(text(s) + ", transposed A, B, C, workspace: " + std::to_string(bits));
            guarded<float> a = make<float>(s.m, s.k, in_packets(a_by_columns, s.m, s.k)),
                           b = make<float>(s.k, s.n, in_packets(b_by_columns, s.k, s.n)),
                           c = make<float>(s.m, s.n, {(bits & 4) != 0});
            a.upload(a_elements);
            b.upload(b_elements);
            if (adds) c.upload(c_elements);
            matmul_options options{.algorithm = matmul_algorithm::tf32};
            if (adds) options.alpha = -1.5f, options.beta = 0.5f;
            if (has_workspace) options.workspace = scratch;
            matmul<float>(a.matrix(), b.matrix(), c.matrix(), stream, options);
            stream.synchronize();
            ASSERT_NO_FATAL_FAILURE(expect_close(s, c.download(), adds ? sum : product, tf32_bound));
            ASSERT_TRUE(c.canaries_alive());
            ASSERT_TRUE(a.untouched());
            ASSERT_TRUE(b.untouched());
        }
    }
}

/// Many steps, of tiles that are shared out along k; some rows are checked.
TEST_F(matmul_device, shares_long_tiles_along_k) {
    using enum matmul_algorithm;
    const stream stream;
    workspace scratch(std::int64_t{128} << 20, stream);
    for (const shape& s : {shape{300, 256, 16384}, {300, 700, 16384}, {700, 5000, 8192}}) {
        const std::vector<float> a_elements = test::random_elements<float>(s.m * s.k);
        const std::vector<float> b_elements = test::random_elements<float>(s.k * s.n);
        guarded<float> a(s.m, s.k, s.k), b(s.k, s.n, s.n), c(s.m, s.n, s.n);
        a.upload(a_elements);
        b.upload(b_elements);
        const auto rows_of = [](const std::vector<float>& of, std::int64_t cols, std::int64_t step) {
            std::vector<float> rows;
            for (std::size_t at = 0; at < of.size(); at += static_cast<std::size_t>(cols * step))
                rows.insert(rows.end(), of.begin() + static_cast<std::ptrdiff_t>(at),
                            of.begin() + static_cast<std::ptrdiff_t>(at) + cols);
            return rows;
        };
        const std::int64_t step = 61;
        const std::vector<float> checked = rows_of(a_elements, s.k, step);
        const shape part{static_cast<std::int64_t>(checked.size()) / s.k, s.n, s.k};
        const std::vector<float> nothing(static_cast<std::size_t>(part.m * part.n));
        const reference expected(part, checked, b_elements, nothing, 1, 0);
        for (const auto algorithm : {split_k, tma_pipelined, tf32}) {
            if (algorithm != split_k && !test::has_warpgroups()) continue;
            SCOPED_TRACE(text(s) + " " + std::string(to_string(algorithm)));
            matmul<float>(a.matrix(), b.matrix(), c.matrix(), stream,
                          {.algorithm = algorithm, .workspace = scratch});
            stream.synchronize();
            expect_close(part, rows_of(c.download(), s.n, step), expected,
                         algorithm == tf32 ? tf32_bound : fma_bound);
            EXPECT_TRUE(c.canaries_alive());
        }
    }
}

TEST_F(matmul_device, says_where_tma_pipelined_has_no_packets) {
    if (!test::has_warpgroups()) GTEST_SKIP() << "is for Hopper";
    const stream stream;
    for (const layout& how : {layout{false, 1}, layout{false, 0, 1}, layout{true, 3}}) {
        guarded<float> a = make<float>(64, 64, how), b(64, 64, 64), c(64, 64, 64);
        const matmul_options options{.algorithm = matmul_algorithm::tma_pipelined};
        EXPECT_THROW(matmul<float>(a.matrix(), b.matrix(), c.matrix(), stream, options), unsupported);
        EXPECT_THROW(matmul<float>(b.matrix(), a.matrix(), c.matrix(), stream, options), unsupported);
        EXPECT_TRUE(c.untouched());
    }
}

TEST_F(matmul_device, takes_more_elements_than_an_int_counts) {
    const shape s{69000, 8, 32000};  // A has 2.2e9 elements
    stream stream;
    const std::int64_t size = s.m * s.k;
    std::size_t free_bytes = 0, total_bytes = 0;
    check(cudaMemGetInfo(&free_bytes, &total_bytes));
    if (free_bytes < static_cast<std::size_t>(size) * sizeof(float) * 3 / 2)
        GTEST_SKIP() << "needs 13 GB free";
    float* a = nullptr;
    check(cudaMalloc(reinterpret_cast<void**>(&a), static_cast<std::size_t>(size) * sizeof(float)));
    check(cudaMemsetAsync(a, 0, static_cast<std::size_t>(size) * sizeof(float), stream.get()));
    const std::vector<float> last = test::random_elements<float>(s.k);
    check(cudaMemcpyAsync(a + (s.m - 1) * s.k, last.data(), last.size() * sizeof(float), cudaMemcpyDefault,
                          stream.get()));
    const std::vector<float> b_elements = test::random_elements<float>(s.k * s.n);
    guarded<float> b(s.k, s.n, s.n), c(s.m, s.n, s.n);
    b.upload(b_elements);
    matmul<float>(matrix_view<const float>{a, s.m, s.k}, b.matrix(), c.matrix(), stream);
    stream.synchronize();
    const std::vector<float> actual = c.download();
    check(cudaFree(a));
    const std::size_t before_last = actual.size() - static_cast<std::size_t>(s.n);
    for (std::size_t i = 0; i < before_last; ++i) ASSERT_EQ(actual[i], 0) << i;
    const shape row{1, s.n, s.k};
    expect_close(row, {actual.begin() + static_cast<std::ptrdiff_t>(before_last), actual.end()},
                 reference(row, last, b_elements, std::vector<float>(static_cast<std::size_t>(s.n)), 1, 0));
}

// The rest needs no device.

device_traits hopper() {
    device_traits device;
    device.compute_capability_major = 9;
    device.sm_count = 132;
    device.shared_memory_per_block_optin = 227 * 1024;
    return device;
}

matmul_problem strict(std::int64_t m, std::int64_t n, std::int64_t k) {
    matmul_problem problem{m, n, k};
    problem.precision = precision::ieee;
    problem.tensor_maps = false;
    return problem;
}

TEST(matmul_select, prefers_the_pipelined_rung_where_it_can_run) {
    for (const std::int64_t size : {1, 16, 512, 4096, 100000}) {
        matmul_problem problem = strict(size, size, size);
        EXPECT_EQ(select(problem, hopper()), matmul_algorithm::pipelined);
        problem.unit_stride = false;
        EXPECT_NE(select(problem, hopper()), matmul_algorithm::pipelined);
        if (size >= 512) {
            EXPECT_EQ(select(problem, hopper()), matmul_algorithm::warp_tiled);
        }
    }
    device_traits turing = hopper();
    turing.compute_capability_major = 7;
    turing.compute_capability_minor = 5;
    EXPECT_NE(select(matmul_problem{512, 512, 512}, turing), matmul_algorithm::pipelined);
}

TEST(matmul_select, takes_no_tile_that_needs_more_shared_memory_than_there_is) {
    using enum matmul_algorithm;
    device_traits large = hopper();
    large.compute_capability_major = 8;
    large.sm_count = 128;
    device_traits small = large;  // 8.6, 8.9 and 12.0 have 99 KB a block
    small.shared_memory_per_block_optin = 99 * 1024;
    // The tile of 64 x 128, which takes 128 KB, is the best whole one at 1000^3, and shared along k at 1536^3.
    for (const auto& [size, of_large, of_small] :
         {std::tuple(1000, pipelined, split_k), std::tuple(1536, split_k, pipelined)}) {
        matmul_problem problem = strict(size, size, size);
        problem.has_workspace = true;
        EXPECT_EQ(select(problem, large), of_large) << size;
        EXPECT_EQ(select(problem, small), of_small) << size;
    }
}

TEST(matmul_select, fetches_large_tiles_by_tensor_maps) {
    using enum matmul_algorithm;
    if (HEDDLE_COMPILED_FOR_90 == 0) GTEST_SKIP() << "heddle is not built for Hopper";
    device_traits ampere = hopper();
    ampere.compute_capability_major = 8;
    for (const std::int64_t size : {512, 2048, 4096, 8192}) {
        matmul_problem problem = strict(size, size, size);
        EXPECT_EQ(select(problem, hopper()), pipelined) << size;
        problem.tensor_maps = true;
        EXPECT_EQ(select(problem, hopper()), size > 512 ? tma_pipelined : pipelined) << size;
        EXPECT_EQ(select(problem, ampere), pipelined) << size;
    }
    // Few tiles are shared out along k where there is a workspace.
    for (matmul_problem problem :
         {strict(8192, 128, 8192), strict(128, 8192, 4096), strict(4100, 4100, 4100)}) {
        SCOPED_TRACE(problem.m);
        problem.tensor_maps = true;
        problem.has_workspace = true;
        EXPECT_EQ(select(problem, hopper()), tma_pipelined);
        EXPECT_NE(select(problem, ampere), tma_pipelined);
        EXPECT_GT(matmul_workspace_bytes(problem, hopper()), 0);
    }
    matmul_problem whole = strict(4096, 4096, 4096);
    whole.tensor_maps = whole.has_workspace = true;
    EXPECT_EQ(select(whole, hopper()), tma_pipelined);
    EXPECT_EQ(matmul_workspace_bytes(whole, hopper()), 0);
    matmul_problem few = strict(8192, 128, 8192);
    few.tensor_maps = true;
    EXPECT_EQ(select(few, hopper()), pipelined);
    // Rows at odd addresses are copied.
    matmul_problem odd = strict(4097, 4099, 4101);
    EXPECT_NE(select(odd, hopper()), tma_pipelined);
    EXPECT_GT(matmul_workspace_bytes(odd, hopper()), std::int64_t{4} * 2 * 4097 * 4101);
    odd.has_workspace = true;
    EXPECT_EQ(select(odd, hopper()), tma_pipelined);
    odd.unit_stride = false;
    EXPECT_NE(select(odd, hopper()), tma_pipelined);
}

TEST(matmul_select, shares_a_c_of_few_tiles_along_k_where_there_is_a_workspace) {
    using enum matmul_algorithm;
    for (matmul_problem problem : {strict(64, 64, 65536), strict(64, 4096, 11008), strict(384, 384, 4096)}) {
        SCOPED_TRACE(problem.m);
        EXPECT_NE(select(problem, hopper()), split_k);
        EXPECT_GT(matmul_workspace_bytes(problem, hopper()), 0);
        EXPECT_LE(matmul_workspace_bytes(problem, hopper()), std::int64_t{32} << 20);
        problem.has_workspace = true;
        EXPECT_EQ(select(problem, hopper()), split_k);
        problem.unit_stride = false;
        EXPECT_NE(select(problem, hopper()), split_k);
    }
    for (matmul_problem problem : {strict(128, 128, 128), strict(64, 64, 16)}) {
        problem.has_workspace = true;
        EXPECT_EQ(select(problem, hopper()), pipelined) << problem.m;
        EXPECT_EQ(matmul_workspace_bytes(problem, hopper()), 0);
    }
}

TEST(matmul_select, reads_what_is_thin_at_the_memory_s_rate) {
    using enum matmul_algorithm;
    for (const std::int64_t side : {1, 16})
        for (const auto& problem : {strict(side, 4096, 4096), strict(4096, side, 4096)})
            EXPECT_EQ(select(problem, hopper()), skinny) << side;
    EXPECT_EQ(select(strict(64, 64, 65536), hopper()), skinny);
    EXPECT_EQ(select(strict(64, 4096, 11008), hopper()), pipelined);
    EXPECT_EQ(select(strict(16, 4096, 16), hopper()), pipelined);
    device_traits small = hopper();
    small.shared_memory_per_block_optin = 163 * 1024;
    EXPECT_EQ(select(strict(16, 4096, 4096), small), pipelined);
    EXPECT_EQ(select(strict(65, 65, 65536), hopper()), pipelined);  // no skinny side
}

TEST(matmul_select, splits_what_is_large_and_deep_enough) {
    using enum matmul_algorithm;
    if (HEDDLE_COMPILED_FOR_90 == 0) GTEST_SKIP() << "heddle is not built for Hopper";
    for (const std::int64_t size : {1000, 2048, 4096, 16384})
        EXPECT_EQ(select(matmul_problem{size, size, size}, hopper()), bf16x6) << size;
    for (const std::int64_t size : {1, 64, 256, 512})
        EXPECT_EQ(select(matmul_problem{size, size, size}, hopper()), pipelined) << size;
    EXPECT_EQ(select(matmul_problem{4096, 4096, 511}, hopper()), tma_pipelined);  // not as exact
    EXPECT_EQ(select(matmul_problem{4096, 4096, 512}, hopper()), bf16x6);
    matmul_problem few_tiles{64, 4096, 11008};  // 32 for 132 multiprocessors
    EXPECT_EQ(select(few_tiles, hopper()), pipelined);
    few_tiles.has_workspace = true;  // then they are shared out along k
    EXPECT_EQ(select(few_tiles, hopper()), bf16x6);
    EXPECT_GT(matmul_workspace_bytes(few_tiles, hopper()), 132 * 128 * 128 * 4);
}

matmul_problem normwise(std::int64_t m, std::int64_t n, std::int64_t k) {
    matmul_problem problem{m, n, k};
    problem.precision = precision::fp32_normwise;
    return problem;
}

TEST(matmul_select, takes_problems_of_nothing_and_devices_of_next_to_nothing) {
    for (const auto precision : {precision::ieee, precision::fp32, precision::fp32_normwise, precision::tf32})
        for (const bool has_workspace : {false, true}) {
            matmul_problem problem{0, 1024, 1024};
            problem.precision = precision;
            problem.has_workspace = has_workspace;
            EXPECT_EQ(select(problem, hopper()), matmul_algorithm::naive);
            EXPECT_EQ(matmul_workspace_bytes(problem, hopper()), 0);
            problem.m = problem.n = 16;
            const device_traits smallest{.sm_count = 1};
            EXPECT_NE(select(problem, smallest), matmul_algorithm::automatic);
            EXPECT_GE(matmul_workspace_bytes(problem, smallest), 0);
        }
}

TEST(matmul_select, takes_halves_where_errors_may_be_normwise) {
    using enum matmul_algorithm;
    if (HEDDLE_COMPILED_FOR_90 == 0) GTEST_SKIP() << "heddle is not built for Hopper";
    matmul_problem problem = normwise(4096, 4096, 4096);
    EXPECT_EQ(select(problem, hopper()), bf16x6);  // there is no workspace
    EXPECT_GT(matmul_workspace_bytes(problem, hopper()), 2 * 4 * 4096 * 4096);
    problem.has_workspace = true;
    EXPECT_EQ(select(problem, hopper()), fp16x3);
    problem.tensor_maps = problem.unit_stride = false;  // it copies them anyway
    EXPECT_EQ(select(problem, hopper()), fp16x3);
    problem.precision = precision::fp32;
    EXPECT_NE(select(problem, hopper()), fp16x3);
    problem.precision = precision::ieee;
    EXPECT_NE(select(problem, hopper()), fp16x3);
    EXPECT_EQ(select(normwise(4096, 4096, 500), hopper()), tf32x3);  // k is too short for bf16x6
}

TEST(matmul_select, takes_the_tensor_cores_of_ampere_where_they_are_fast) {
    using enum matmul_algorithm;
    device_traits ampere;
    ampere.compute_capability_major = 8;
    ampere.sm_count = 108;
    ampere.shared_memory_per_block_optin = 163 * 1024;
    for (const std::int64_t size : {2048, 4096, 16384})
        EXPECT_EQ(select(normwise(size, size, size), ampere), tf32x3) << size;
    for (const std::int64_t size : {1, 64, 256, 512})
        EXPECT_EQ(select(normwise(size, size, size), ampere), pipelined) << size;
    EXPECT_EQ(select(matmul_problem{4096, 4096, 4096}, ampere), pipelined);
    matmul_problem apart = normwise(4096, 4096, 4096);
    apart.unit_stride = false;
    EXPECT_EQ(select(apart, ampere), warp_tiled);
    for (const int minor : {6, 9}) {
        ampere.compute_capability_minor = minor;
        EXPECT_EQ(select(normwise(4096, 4096, 4096), ampere), pipelined) << minor;
    }
}

TEST(matmul_select, copies_operands_at_odd_addresses_where_there_is_a_workspace) {
    using enum matmul_algorithm;
    if (HEDDLE_COMPILED_FOR_90 == 0) GTEST_SKIP() << "heddle is not built for Hopper";
    matmul_problem odd{4097, 4099, 4101};
    odd.tensor_maps = false;
    EXPECT_EQ(select(odd, hopper()), bf16x6);
    EXPECT_GE(matmul_workspace_bytes(odd, hopper()), 4 * (4097 * 4104 + 4101 * 4100));
    odd.has_workspace = true;
    EXPECT_EQ(select(odd, hopper()), padded);
    odd.unit_stride = false;
    EXPECT_NE(select(odd, hopper()), padded);
    EXPECT_LT(matmul_workspace_bytes({4096, 4096, 4096}, hopper()), 4 * 4096 * 4096);  // no copy
}

TEST(matmul_select, takes_tf32_only_where_it_is_asked_for) {
    using enum matmul_algorithm;
    if (HEDDLE_COMPILED_FOR_90 == 0) GTEST_SKIP() << "heddle is not built for Hopper";
    for (const std::int64_t size : {1024, 2048, 4096, 16384}) {
        matmul_problem problem{size, size, size};
        EXPECT_NE(select(problem, hopper()), tf32) << size;
        problem.precision = precision::tf32;
        EXPECT_EQ(select(problem, hopper()), tf32) << size;
        const std::int64_t of_sums = matmul_workspace_bytes(problem, hopper());
        device_traits ampere = hopper();
        ampere.compute_capability_major = 8;
        EXPECT_NE(select(problem, ampere), tf32) << size;
        // Neither operand lies along k: it takes a copy.
        problem.along_k = false;
        EXPECT_NE(select(problem, hopper()), tf32) << size;
        EXPECT_GE(matmul_workspace_bytes(problem, hopper()), of_sums + 2 * 4 * size * size);
        problem.has_workspace = true;
        EXPECT_EQ(select(problem, hopper()), tf32) << size;
        problem.unit_stride = problem.tensor_maps = false;
        EXPECT_NE(select(problem, hopper()), tf32) << size;
    }
}

TEST(matmul_select, takes_tf32_of_a_short_side_where_it_is_asked_for) {
    using enum matmul_algorithm;
    if (HEDDLE_COMPILED_FOR_90 == 0) GTEST_SKIP() << "heddle is not built for Hopper";
    for (matmul_problem problem :
         {matmul_problem{16, 4096, 4096}, {4096, 16, 4096}, {64, 4096, 11008}, {64, 64, 65536}}) {
        SCOPED_TRACE(std::to_string(problem.m) + " x " + std::to_string(problem.n));
        problem.has_workspace = true;
        EXPECT_NE(select(problem, hopper()), tf32);
        problem.precision = precision::tf32;
        EXPECT_EQ(select(problem, hopper()), tf32);
        problem.tensor_maps = problem.unit_stride = false;
        EXPECT_NE(select(problem, hopper()), tf32);
    }
}

template <class Call>
void expect_invalid(const std::string& argument, const std::string& value, const Call& call) {
    try {
        call();
        FAIL() << "nothing was thrown for " << argument;
    } catch (const invalid_argument& error) {
        EXPECT_EQ(error.argument(), argument);
        EXPECT_EQ(error.value(), value);
        EXPECT_FALSE(error.expected().empty());
    }
}

TEST(matmul_arguments, are_checked_before_anything_is_done) {
    std::vector<float> memory(100);
    float* const p = memory.data();
    const cuda::stream_ref stream{cudaStream_t{}};
    const matrix_view<const float> a{p, 3, 4}, b{p, 4, 5};
    const matrix_view<float> c{p + 50, 3, 5};
    const auto call = [&](auto a_, auto b_, auto c_, matmul_options options = {}) {
        return [=] { matmul<float>(a_, b_, c_, stream, options); };
    };
    using view = matrix_view<const float>;
    expect_invalid("b.rows", "5", call(a, view{p, 5, 5}, c));
    expect_invalid("c.rows", "4", call(a, b, matrix_view<float>{p + 50, 4, 5}));
    expect_invalid("c.cols", "4", call(a, b, matrix_view<float>{p + 50, 3, 4}));
    expect_invalid("a.rows", "-3", call(view{p, -3, 4}, b, c));
    expect_invalid("a.cols", "-4", call(view{p, 3, -4}, b, c));
    expect_invalid("a.row_stride", "3", call(view{p, 3, 4, 3}, b, c));
    expect_invalid("a.data", "null", call(view{nullptr, 3, 4}, b, c));
    expect_invalid("c", "a view that overlaps a",
                   call(a, view{p + 70, 4, 5}, matrix_view<float>{p + 11, 3, 5}));
    expect_invalid("c", "a view that overlaps b", call(a, b, matrix_view<float>{p + 19, 3, 5}));
    expect_invalid("options.algorithm", "99", call(a, b, c, {1, 0, static_cast<matmul_algorithm>(99)}));
    expect_invalid("options.precision", "7", call(a, b, c, {.precision = static_cast<precision>(7)}));
    expect_invalid("options.tile", "0", call(a, b, c, {.tile = 0}));  // float has no list of tiles
    expect_invalid("options.tile", "-2", call(a, b, c, {.tile = -2}));
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

TEST(host_matmul, is_right_for_every_layout) {
    for (const shape& s :
         {shape{1, 1, 1}, {5, 7, 3}, {6, 16, 256}, {97, 257, 300}, {100, 31, 513}, {3, 4, 0}})
        for (int bits = 0; bits < 8; ++bits)
            for (const float beta : {0.0f, -0.5f}) {
                SCOPED_TRACE(text(s) + ", transposed " + std::to_string(bits) + ", beta " +
                             std::to_string(beta));
                const auto host = guarded<float>::memory::host;
                const std::vector<float> a_elements = test::random_elements<float>(s.m * s.k);
                const std::vector<float> b_elements = test::random_elements<float>(s.k * s.n);
                const std::vector<float> c_elements = test::random_elements<float>(s.m * s.n);
                guarded<float> a = make<float>(s.m, s.k, {(bits & 1) != 0, 3, 1}, host);
                guarded<float> b = make<float>(s.k, s.n, {(bits & 2) != 0, 2, 0, 2}, host);
                guarded<float> c = make<float>(s.m, s.n, {(bits & 4) != 0, 1, 3}, host);
                a.upload(a_elements);
                b.upload(b_elements);
                if (beta != 0) c.upload(c_elements);
                host::matmul<float>(a.matrix(), b.matrix(), c.matrix(), 1.5f, beta);
                expect_close(s, c.download(),
                             reference(s, a_elements, b_elements, c_elements, 1.5, double{beta}));
                EXPECT_TRUE(c.canaries_alive());
            }
}

TEST(host_matmul, scales_no_product_where_k_is_zero) {
    std::vector<float> c(20);
    const matrix_view<float> view{c.data(), 4, 5};
    for (const float alpha : alphas_of_nothing) {
        SCOPED_TRACE(alpha);
        std::ranges::fill(c, 3.0f);
        host::matmul<float>({nullptr, 4, 0}, {nullptr, 0, 5}, view, alpha, 2);
        EXPECT_EQ(c, std::vector<float>(20, 6.0f));
        std::ranges::fill(c, std::numeric_limits<float>::quiet_NaN());
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
