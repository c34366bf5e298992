#include "tests/matmul/drawn.hpp"
#include "tests/matmul/rungs.hpp"

#include <heddle_baselines.hpp>

#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#if HEDDLE_HAS_CUBLAS
#include "tests/matmul/cublas.hpp"
#endif

// Rungs beside one another, beside cuBLAS, and on products that are drawn.
namespace heddle {
namespace {

using test::matmul_16_bit;
using test::matmul_rung;
using test::operands;
using test::shape;

/// Their sums are exact.
template <class T>
std::vector<T> integers(std::int64_t size, double most) {
    std::vector<T> elements = test::random_elements<T>(size, -most, most);
    for (T& e : elements) e = T(std::round(static_cast<float>(e)));
    return elements;
}

template <class T>
void expect_exact(const shape& s, double most, const stream& on, const matmul_options& options) {
    operands<float, T> p(s, integers<T>(s.m * s.k, most), integers<T>(s.k * s.n, most));
    p.multiply(on, options);
    const std::vector<float> actual = p.c.download();
    const test::reference expected = p.expected();
    for (std::size_t i = 0; i < actual.size(); ++i) ASSERT_EQ(double{actual[i]}, expected.value[i]) << i;
}

TEST_P(matmul_rung, is_exact_on_small_integers) {
    expect_exact<float>(fitted({140, 135, 300}), 8, *stream_, options());
}

/// Rungs that store float, too.
class matmul_16_bit_to_float : public matmul_16_bit {};
constexpr shape of_integers{264, 272, 304};
INSTANTIATE_TEST_SUITE_P(all, matmul_16_bit_to_float,
                         test::rungs_that_run({.m = of_integers.m,
                                               .n = of_integers.n,
                                               .k = of_integers.k,
                                               .operands = element_type::f16,
                                               .has_scratch = true,
                                               .stores_operand_type = false}),
                         test::name_of_rung);

TEST_P(matmul_16_bit_to_float, is_exact_on_small_integers) {
    expect_exact<half>(of_integers, 4, *stream_, options());
}

class matmul_16_bit_tiles : public matmul_16_bit {};
INSTANTIATE_TEST_SUITE_P(all, matmul_16_bit_tiles,
                         test::rungs_that(element_type::f16,
                                          [](auto rung) { return !matmul_tiles(rung).empty(); }),
                         test::name_of_rung);

/// Sums of small integers are exact, so that any two rungs agree to the bit.
TEST_P(matmul_16_bit_tiles, are_right_for_several_rounds) {
    const shape s{2360, 5656, 200};
    operands<half> p(s, integers<half>(s.m * s.k, 4), integers<half>(s.k * s.n, 4));
    p.multiply(*stream_, {.algorithm = matmul_algorithm::wmma});
    const std::vector<half> expected = p.c.download();
    for (std::size_t i = 0; i < matmul_tiles(GetParam()).size(); ++i) {
        SCOPED_TRACE("tile " + std::to_string(i));
        matmul_options with = options();
        with.tile = static_cast<int>(i);
        p.multiply(*stream_, with);
        ASSERT_NO_FATAL_FAILURE(test::expect_same(p.c.download(), expected));
        EXPECT_TRUE(p.c.canaries_alive());
    }
}

/// C is too wide for rungs of a short side.
class matmul_16_bit_wide : public matmul_16_bit {};
INSTANTIATE_TEST_SUITE_P(
    all, matmul_16_bit_wide,
    test::rungs_that_run({.m = 1000, .n = 700, .k = 72, .operands = element_type::f16, .has_scratch = true}),
    test::name_of_rung);

TEST_P(matmul_16_bit_wide, takes_more_tiles_than_multiprocessors) {
    for (const shape& s : {shape{2200, 2100, 72}, {4500, 700, 136}}) {
        run_and_check<bfloat16, bfloat16>(s, test::in_packets(s), options());
        run_and_check<float, half>(s, test::in_packets(s), options());
    }
}

#if HEDDLE_HAS_CUBLAS
/// All terms are positive, so the result is the sum of magnitudes; each side may be off by its bound.
template <class T>
void expect_agreement_with_cublas(const shape& s, const stream& on, const matmul_options& options) {
    SCOPED_TRACE(text(s));
    operands<T> p(s, test::random_elements<T>(s.m * s.k, 0, 1), test::random_elements<T>(s.k * s.n, 0, 1));
    test::guarded<T> vendor(s.m, s.n, s.n);
    p.multiply(on, options);
    test::cublas(on).multiply(s, p.a.data(), p.b.data(), vendor.data());
    test::synchronize(on, "cuBLAS");
    const std::vector<T> ours = p.c.download(), theirs = vendor.download();
    for (std::size_t i = 0; i < ours.size(); ++i) {
        const double expected = test::to_double(theirs[i]), value = 1.01 * expected;
        ASSERT_TRUE(test::is_within(test::to_double(ours[i]), expected,
                                    test::bound_of<T>(matmul_algorithm::automatic)(s, value, value) +
                                        test::bound_of<T>(options.algorithm)(s, value, value)))
            << i;
    }
}

TEST_P(matmul_rung, agrees_with_cublas) {
    for (const shape& s : {shape{1031, 777, 1500}, {1920, 2049, 300}})
        expect_agreement_with_cublas<float>(fitted(s), *stream_, options());
}

TEST_P(matmul_16_bit_wide, agrees_with_cublas) {
    for (const shape& s : {shape{1032, 776, 1504}, {1920, 2056, 304}, {3000, 3000, 96}})
        expect_agreement_with_cublas<bfloat16>(s, *stream_, options());
}
#else
TEST(matmul_beside_cublas, agrees) {
    GTEST_SKIP() << "cuBLAS is not installed";
}
#endif

/// Every plan of calls that are drawn: each rung that can run one, in each of its variants and tiles. In parts, which run side by
/// side.
class matmul_of_drawn_problems : public test::matmul_device, public testing::WithParamInterface<int> {
  protected:
    static constexpr int draws = 52;

    template <class Out, class In = Out>
    void check_next() {
        constexpr std::int64_t most_terms = std::int64_t{1} << 24;
        const shape s = draw.next_shape(most_terms);
        operands<Out, In> p(s, draw.next_layouts(s, 16 / std::int64_t{sizeof(In)}));
        SCOPED_TRACE(text(s));
        matmul_options options = draw.next_options();
        if (const auto memory = draw(0, 3); memory < 2)
            options.workspace = *workspace_;
        else
            options.scratch = memory == 2 ? scratch::pool : scratch::none;
        const test::reference expected = p.expected(options.alpha, options.beta);
        test::for_every_plan(element_type_of<In>, options, [&](const matmul_options& with) {
            if (!p.why_not(with).empty()) return;
            const matmul_algorithm runs = with.algorithm == matmul_algorithm::automatic
                                              ? select(p.problem(with), traits_of(current_device()))
                                              : with.algorithm;
            p.multiply(*stream_, with);
            expect_close(s, p.c.download(), expected, test::bound_of<Out, In>(runs));
            EXPECT_TRUE(p.c.canaries_alive());
            ++plans;
        });
        p.expect_intact();
    }

    int plans = 0;

  private:
    test::drawing_of_products draw{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(parts, matmul_of_drawn_problems, testing::Range(0, 4));

TEST_P(matmul_of_drawn_problems, takes_every_plan_of_float) {
    for (int i = 0; i < draws && !HasFailure(); ++i) {
        SCOPED_TRACE("draw " + std::to_string(i));
        check_next<float>();
    }
    EXPECT_GT(plans, 10 * draws);
}

TEST_P(matmul_of_drawn_problems, takes_every_plan_of_16_bit) {
    for (int i = 0; i < draws / 4 && !HasFailure(); ++i) {
        SCOPED_TRACE("draw " + std::to_string(i));
        check_next<half>();
        check_next<float, half>();
        check_next<bfloat16>();
        check_next<float, bfloat16>();
    }
    EXPECT_GT(plans, 5 * draws);
}

}  // namespace
}  // namespace heddle
