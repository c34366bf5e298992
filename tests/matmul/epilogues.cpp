#include "tests/matmul/epilogues.hpp"

#include "tests/matmul/rungs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heddle {
namespace {

using test::activated;
using test::activations;
using test::in_packets;
using test::layout;
using test::matmul_16_bit;
using test::matmul_rung;
using test::operands;
using test::shape;

template <class Rung>
class epilogue_test : public Rung {
  protected:
    /// Or, where the rung has none, it says so.
    template <class Out, class In>
    bool run_or_expect_refusal(operands<Out, In>& p, const matmul_epilogue<Out>& epilogue,
                               const matmul_options& with) {
        const auto multiply = [&] {
            matmul<Out, In>(p.a.matrix(), p.b.matrix(), p.c.matrix(), epilogue, *this->stream_, with);
        };
        if (const std::string reason = p.why_not(with, true); !reason.empty()) {
            test::expect_refused(reason, multiply);
            EXPECT_TRUE(p.c.untouched());
            return false;
        }
        multiply();
        test::synchronize(*this->stream_, text(p.s));
        return true;
    }

    template <class Out, class In>
    void expect_close(operands<Out, In>& p, test::epilogue_terms<Out>& terms, const test::reference& product,
                      const matmul_options& with, const matmul_epilogue<Out>& epilogue) {
        terms.expect_close(
            p, product, with, epilogue, [&](double sum, double of_sum, std::size_t, std::size_t) {
                return bounds::activated(epilogue.activation, bounds::approximate(sum, of_sum), 0x1p-16);
            });
    }

    template <class Out, class In = Out>
    void run_and_check_epilogue(const shape& s, matmul_activation activation, const layout& c_layout = {},
                                float beta = 0, bool has_residual = true, int transposed = 0, int tile = -1,
                                const layout& of_residual = {true, 3, 1}) {
        SCOPED_TRACE(text(s) + ", activation " + std::to_string(static_cast<int>(activation)));
        operands<Out, In> p(s, {in_packets(s, transposed).a, in_packets(s, transposed).b, c_layout});
        test::epilogue_terms<Out> terms(s, false, of_residual);
        const matmul_epilogue<Out> epilogue = terms.epilogue(activation, 1.5f, has_residual);
        matmul_options with = this->options(0.5f, beta);
        with.tile = tile;
        p.prepare_c(beta);
        if (!run_or_expect_refusal(p, epilogue, with)) return;
        expect_close(p, terms, p.expected(with.alpha, beta), with, epilogue);
    }
    /// Without a residual and with C's lines whole: the way of a linear layer, which has code of its own.
    template <class Out>
    void run_every_tile(matmul_algorithm algorithm) {
        const auto tiles = static_cast<int>(matmul_tiles(algorithm).size());
        for (int tile = 0; tile < tiles; ++tile)
            for (const matmul_activation activation : {matmul_activation::none, matmul_activation::relu,
                                                       matmul_activation::gelu_tanh, matmul_activation::tanh})
                for (const bool in_columns : {false, true}) {
                    SCOPED_TRACE("tile " + std::to_string(tile));
                    run_and_check_epilogue<Out>({304, 520, 72}, activation, {in_columns}, 0, false, 0, tile);
                }
    }
    /// With what C was, a residual, or both. The last columns do not fill a tile.
    template <class Out, class In>
    void run_every_tile_with_addends(matmul_algorithm algorithm) {
        const auto tiles = static_cast<int>(matmul_tiles(algorithm).size());
        for (const shape& s : {shape{304, 648, 72}, {2100, 1048, 64}}) {
            operands<Out, In> p(s, {in_packets(s).a, in_packets(s).b, {}});
            test::epilogue_terms<Out> terms(s);
            for (const float beta : {0.0f, 0.5f}) {
                std::optional<test::reference> product;  // once for all tiles
                for (int tile = -1; tile < tiles; ++tile)
                    for (const bool has_residual : {false, true}) {
                        SCOPED_TRACE(text(s) + ", tile " + std::to_string(tile) + ", beta " +
                                     std::to_string(beta) + (has_residual ? ", residual" : ""));
                        const auto epilogue = terms.epilogue(matmul_activation::relu, 1.5f, has_residual);
                        matmul_options with = this->options(0.5f, beta);
                        with.tile = tile;
                        p.prepare_c(beta);
                        if (!run_or_expect_refusal(p, epilogue, with)) continue;
                        if (!product) product = p.expected(with.alpha, beta);
                        expect_close(p, terms, *product, with, epilogue);
                    }
            }
        }
    }

    /// What C was, a residual, or both, in rows and columns, at multiples of 16 bytes and elsewhere. A and B lie along k, or B alone.
    template <class Out, class In>
    void run_every_tile_with_addends_anywhere(matmul_algorithm algorithm, const shape& s) {
        const std::array lie = {layout{}, layout{true}, layout{false, 3, 1}, layout{true, 5, 2}};
        const auto tiles = static_cast<int>(matmul_tiles(algorithm).size());
        for (int tile = -1; tile < tiles; ++tile)
            for (const int transposed : {2, 3})
                for (std::size_t at = 0; at < lie.size(); ++at)
                    for (const bool has_residual : {false, true})
                        for (const float beta : {0.0f, 0.5f}) {
                            if (!has_residual && beta == 0) continue;
                            const std::size_t turn =
                                static_cast<std::size_t>(tile + 1 + transposed) + (beta != 0 ? 1 : 0);
                            SCOPED_TRACE("tile " + std::to_string(tile) + ", beta " + std::to_string(beta) +
                                         ", C lies " + std::to_string(at) +
                                         (has_residual ? ", residual" : ""));
                            run_and_check_epilogue<Out, In>(s, activations[(turn + at) % activations.size()],
                                                            lie[at], beta, has_residual, transposed, tile,
                                                            lie[(at + turn) % lie.size()]);
                        }
    }

    /// NaN and infinities through an activation: B passes the first column of A on.
    template <class T>
    void run_special_values(const matmul_options& with) {
        const shape s{256, 256, 64};
        const std::array special = {std::numeric_limits<float>::quiet_NaN(),
                                    std::numeric_limits<float>::infinity(),
                                    -std::numeric_limits<float>::infinity(),
                                    -0.0f,
                                    2.0f,
                                    -2.0f};
        std::vector<T> a(static_cast<std::size_t>(s.m * s.k)), b(static_cast<std::size_t>(s.k * s.n));
        for (std::size_t i = 0; i < static_cast<std::size_t>(s.m); ++i)
            a[i * static_cast<std::size_t>(s.k)] = T(special[i % special.size()]);
        std::fill_n(b.begin(), s.n, T(1.0f));
        operands<T> p(s, in_packets(s));
        p.a.upload(a);
        p.b.upload(b);
        for (const matmul_activation activation : activations) {
            if (activation == matmul_activation::none) continue;
            matmul_epilogue<T> epilogue;
            epilogue.activation = activation;
            p.prepare_c(0);
            if (!run_or_expect_refusal(p, epilogue, with)) return;
            const std::vector<T> c = p.c.download();
            for (std::size_t i = 0; i < c.size(); ++i) {
                const float x = special[i / static_cast<std::size_t>(s.n) % special.size()];
                // x times a weight of 0 is 0, also where x is infinite.
                const bool is_0 =
                    x == -std::numeric_limits<float>::infinity() && activation != matmul_activation::tanh;
                const double expected = is_0 ? 0.0 : activated(activation, x);
                const double actual = test::to_double(c[i]);
                if (std::isnan(expected))
                    ASSERT_TRUE(std::isnan(actual)) << i;
                else if (std::isinf(expected))
                    ASSERT_EQ(actual, expected) << i;
                else
                    ASSERT_NEAR(actual, expected, 0.01) << i;
            }
        }
    }
};

class matmul_epilogues : public epilogue_test<matmul_16_bit> {};
class matmul_epilogues_of_float : public epilogue_test<matmul_rung> {};

INSTANTIATE_TEST_SUITE_P(all, matmul_epilogues, testing::ValuesIn(test::every_rung(element_type::f16)),
                         test::name_of_rung);

TEST_P(matmul_epilogues, are_applied_or_refused) {
    const bool is_skinny = GetParam() == matmul_algorithm::skinny;
    const std::int64_t m = is_skinny ? 50 : 150, n = is_skinny ? 9 : 129;
    for (const matmul_activation activation : activations) {
        run_and_check_epilogue<half>(fitted({m, 200, 104}), activation);
        run_and_check_epilogue<half>(fitted({m, 200, 104}), activation, {}, 0, false);
        run_and_check_epilogue<bfloat16>(fitted({257, n, 72}), activation, {false, 3, 1}, 0.5f);
        run_and_check_epilogue<bfloat16>(fitted({64, 300, 40}), activation, {true, 5, 0});
        run_and_check_epilogue<float, half>(fitted({60, 90, 64}), activation, {false, 1, 1}, 0.5f);
    }
    // Few tiles of a long k, which may be shared; rows of A and B begin at cache lines, and elsewhere.
    run_and_check_epilogue<half>(fitted({130, 264, 4032}), matmul_activation::gelu, {}, 0.5f);
    run_and_check_epilogue<float, half>(fitted({200, 520, 4008}), matmul_activation::sigmoid, {}, 0.5f,
                                        false);
    // A tile each for more than two rounds of all multiprocessors.
    run_and_check_epilogue<half>({4200, 1048, 136}, matmul_activation::silu);
}
TEST_P(matmul_epilogues, are_applied_in_every_tile) {
    run_every_tile<half>(GetParam());
}
TEST_P(matmul_epilogues, take_addends_in_every_tile) {
    run_every_tile_with_addends<bfloat16, bfloat16>(GetParam());
    run_every_tile_with_addends<float, half>(GetParam());
}
TEST_P(matmul_epilogues, take_addends_anywhere) {
    const std::int64_t n = GetParam() == matmul_algorithm::skinny ? 40 : 328;
    run_every_tile_with_addends_anywhere<float, half>(GetParam(), fitted({200, n, 40}));
}

INSTANTIATE_TEST_SUITE_P(all, matmul_epilogues_of_float,
                         testing::ValuesIn(test::every_rung(element_type::f32)), test::name_of_rung);

TEST_P(matmul_epilogues_of_float, are_applied_or_refused) {
    const bool is_skinny = GetParam() == matmul_algorithm::skinny;
    for (const matmul_activation activation : activations) {
        run_and_check_epilogue<float>(fitted({150, 129, 104}), activation);
        run_and_check_epilogue<float>(fitted({150, 200, 72}), activation, {true, 5, 0}, 0, false);
        run_and_check_epilogue<float>(fitted({257, 130, 72}), activation, {false, 3, 1}, 0.5f);
        run_and_check_epilogue<float>(fitted({33, 300, 40}), activation, {}, 0.5f, true, 3);
    }
    // Few tiles of a long k, which are shared, and more than two rounds of tiles.
    run_and_check_epilogue<float>(fitted({130, 260, 4000}), matmul_activation::gelu);
    if (!is_skinny) run_and_check_epilogue<float>({2100, 2048, 72}, matmul_activation::silu);
    if (!is_skinny) run_and_check_epilogue<float>({2100, 2049, 40}, matmul_activation::silu, {}, 0.5f);
}
TEST_P(matmul_epilogues_of_float, are_applied_in_every_tile) {
    if (GetParam() != matmul_algorithm::skinny) run_every_tile<float>(GetParam());
}
TEST_P(matmul_epilogues_of_float, take_addends_anywhere) {
    run_every_tile_with_addends_anywhere<float, float>(GetParam(), fitted({200, 300, 40}));
}

TEST_P(matmul_epilogues, pass_nan_and_infinity_on) {
    if (GetParam() != matmul_algorithm::skinny) run_special_values<half>(options());
}
TEST_P(matmul_epilogues_of_float, pass_nan_and_infinity_on) {
    if (GetParam() == matmul_algorithm::tf32 || GetParam() == matmul_algorithm::pipelined)
        run_special_values<float>(options());
}

TEST_P(matmul_epilogues_of_float, are_taken_by_every_variant) {
    for (const std::string_view variant : matmul_variants(GetParam())) {
        const shape s = variant == "skinny" ? shape{200, 30, 520} : shape{200, 300, 520};
        operands<float> p(s, in_packets(s));
        test::epilogue_terms<float> terms(s);
        const auto epilogue = terms.epilogue(matmul_activation::relu, 1.5f);
        matmul_options with = options(0.5f);
        with.variant = variant;
        p.prepare_c(0);
        ASSERT_TRUE(run_or_expect_refusal(p, epilogue, with)) << variant;
        terms.expect_close(p, with, epilogue, [](double sum, double of_sum, std::size_t, std::size_t) {
            return std::pair(std::max(sum, 0.0), of_sum);
        });
    }
}

using epilogues_of_automatic = epilogue_test<test::matmul_device>;

TEST_F(epilogues_of_automatic, come_in_every_precision) {
    const shape s{600, 500, 700};
    for (const precision each :
         {precision::ieee, precision::fp32, precision::fp32_normwise, precision::tf32}) {
        SCOPED_TRACE(std::string(to_string(each)));
        operands<float> p(s);
        test::epilogue_terms<float> terms(s);
        const auto epilogue = terms.epilogue(matmul_activation::relu, 1.5f);
        matmul_options with{.alpha = 0.5f, .workspace = *workspace_, .precision = each};
        p.prepare_c(0);
        ASSERT_TRUE(run_or_expect_refusal(p, epilogue, with));
        with.algorithm = select(p.problem(with, true), traits_of(current_device()));
        terms.expect_close(p, with, epilogue, [](double sum, double of_sum, std::size_t, std::size_t) {
            return std::pair(std::max(sum, 0.0), of_sum);
        });
    }
}

TEST_P(matmul_epilogues_of_float, may_add_c_itself) {
    const shape s = fitted({200, 160, 72});
    operands<float> p(s);
    p.c.upload(p.cs);
    matmul_epilogue<float> epilogue;
    epilogue.residual = p.c.matrix();
    if (run_or_expect_refusal(p, epilogue, options()))
        test::expect_close(s, p.c.download(), p.expected(1, 1), test::bound_of<float, float>(GetParam()));
}

TEST_P(matmul_epilogues, may_add_c_itself) {
    const shape s = fitted({200, GetParam() == matmul_algorithm::skinny ? 40 : 160, 72});
    operands<half> p(s);
    p.c.upload(p.cs);
    matmul_epilogue<half> epilogue;
    epilogue.residual = p.c.matrix();
    if (run_or_expect_refusal(p, epilogue, options()))
        test::expect_close(s, p.c.download(), p.expected(1, 1), test::bound_of_16_bit<half>);
}

}  // namespace
}  // namespace heddle
