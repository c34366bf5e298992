#include "tests/matmul/rungs.hpp"
#include "tests/support/random.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// Products of float in tiles of several kinds, whole and shared out along k.
namespace heddle {
namespace {

using test::expect_close;
using test::matmul_device;
using test::matmul_on_hopper;
using test::operands;
using test::reference;
using test::shape;
using test::text;
using enum matmul_algorithm;

void check_every_transposition(const shape& s, float alpha, float beta,
                               matmul_algorithm algorithm = pipelined,
                               std::int64_t workspace_bytes = std::int64_t{32} << 20,
                               std::int64_t padding = 4) {
    const stream stream;
    workspace scratch(workspace_bytes, stream);
    const operands<float> given(s);
    const reference expected = given.expected(alpha, beta);
    for (int bits = 0; bits < 8; ++bits) {
        SCOPED_TRACE(text(s) + ", transposed A, B, C: " + std::to_string(bits));
        operands<float> p(given, test::transposed_by(bits, padding));
        p.multiply(stream, {alpha, beta, algorithm, scratch});
        ASSERT_NO_FATAL_FAILURE(expect_close(s, p.c.download(), expected, test::bound_of<float>(algorithm)));
        p.expect_intact();
        if (testing::Test::HasFailure()) return;
    }
}

// `pipelined` picks its tile by the size of C. The shapes of correctness.cpp go to the smallest; on 132
// multiprocessors these go to the others. Each is tried with rows that are no multiples of 16 bytes, in any
// operand, and with rows that are.
TEST_F(matmul_device, takes_every_transposition_in_tiles_of_128_by_128) {
    check_every_transposition({1919, 2049, 67}, 1, 0);
    check_every_transposition({1920, 2048, 64}, -1.5f, 0.75f);
}
TEST_F(matmul_device, takes_every_transposition_in_tiles_of_64_by_128) {
    check_every_transposition({1031, 777, 131}, 1, 0.5f);
    check_every_transposition({1032, 776, 132}, -1.5f, 0);
}

// All tiles, and those that whole rounds leave.
TEST_F(matmul_device, shares_tiles_along_k_in_every_transposition) {
    check_every_transposition({64, 63, 4099}, 1, 0.5f, split_k);
    check_every_transposition({132, 260, 1028}, -1.5f, 0, split_k);
    check_every_transposition({2112, 2177, 259}, 1, 1, split_k);
}

/// Every n and k up to the widest tile's and some more, however A, B and C lie and wherever they begin.
TEST_F(matmul_device, takes_thin_products_at_every_address) {
    test::drawing draw;
    constexpr std::array<std::int64_t, 9> sides = {1, 31, 127, 128, 129, 255, 256, 257, 600};
    constexpr std::int64_t most = 70, prime = 71;
    for (std::int64_t i = 1; i <= most; ++i) {
        const std::int64_t side = sides[static_cast<std::size_t>(i) % sides.size()], k = i * 3 % prime;
        for (const shape& s : {shape{side, i, k}, {i, side, k}}) {
            const operands<float> given(s);
            const reference product = given.expected(), sum = given.expected(-1.5f, 0.5f);
            for (int bits = static_cast<int>(i % 2); bits < 8; bits += 2) {
                const auto any = [&](std::int64_t rows, std::int64_t cols, bool is_transposed) {
                    return draw(0, 1) == 0 ? test::in_packets(rows, cols, is_transposed, 4)
                                           : test::layout{is_transposed, draw(0, 1) * draw(1, 9), draw(0, 4)};
                };
                operands<float> p(given, {any(s.m, s.k, (bits & 1) != 0), any(s.k, s.n, (bits & 2) != 0),
                                          any(s.m, s.n, (bits & 4) != 0)});
                matmul_options options{.algorithm = thin, .tile = static_cast<int>(draw(0, 3))};
                const bool adds = draw(0, 1) == 0;
                if (adds) options.alpha = -1.5f, options.beta = 0.5f;
                SCOPED_TRACE(text(s) + ", transposed A, B, C: " + std::to_string(bits) + ", tile " +
                             std::to_string(options.tile));
                p.multiply(*stream_, options);
                ASSERT_NO_FATAL_FAILURE(
                    expect_close(s, p.c.download(), adds ? sum : product, test::fma_bound));
                p.expect_intact();
                if (HasFailure()) return;
            }
        }
    }
}
// More k than there are stages, and tiles in several rows and columns.
TEST_F(matmul_device, takes_every_transposition_of_thin_products) {
    for (const shape& s : {shape{1031, 33, 517}, {1032, 32, 520}, {48, 3000, 131}, {700, 840, 16}})
        check_every_transposition(s, -1.5f, 0.75f, thin);
    check_every_transposition({5000, 8, 36}, 1, 0, thin);
}

// A step is 32 along k.
TEST_F(matmul_on_hopper, takes_every_transposition_in_boxes) {
    for (const std::int64_t k : {4, 36, 96, 1028})
        check_every_transposition({68, 132, k}, 1.5f, 0.5f, tma_pipelined);
    check_every_transposition({1100, 1000, 132}, -1.5f, 0, tma_pipelined);
}

/// Pairs split each other's B. The last have rows for one warpgroup, for one block, for both; tiles are shared out along k, or
/// whole, or some of them whole and the rest shared out.
TEST_F(matmul_on_hopper, takes_every_transposition_by_pairs_of_blocks_of_bf16x6) {
    for (const std::int64_t m : {260, 340, 452})
        check_every_transposition({m, 132, 1300}, -1.5f, 0.5f, bf16x6, 0);
    check_every_transposition({260, 132, 1300}, 1, 0.5f, bf16x6);
    check_every_transposition({1348, 1400, 1000}, 1, 0, bf16x6);
    check_every_transposition({1604, 1284, 1028}, -1.5f, 0, bf16x6);
    check_every_transposition({2820, 1156, 516}, 1, 1, bf16x6);
}

/// In tiles of several sizes, in which C ends, and that are shared out along k.
TEST_F(matmul_on_hopper, multiplies_in_tf32_in_every_tile) {
    for (const shape& s : {shape{4097, 4099, 37},
                           {3071, 4160, 68},
                           {2100, 1901, 100},
                           {1020, 1033, 260},
                           {65, 4100, 2100},
                           {300, 333, 4100}})
        check_every_transposition(s, 1, 0, tf32, std::int64_t{64} << 20, 0);
}

/// Each tile by a cluster, and where there is a workspace by several.
TEST_F(matmul_on_hopper, multiplies_in_tf32_where_a_side_is_short) {
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
        const operands<float> given(s);
        const reference product = given.expected(), sum = given.expected(-1.5f, 0.5f);
        for (int bits = 0; bits < 16; ++bits) {
            const bool neither_lies_along_k = (bits & 1) != 0 && (bits & 2) == 0;
            const bool has_scratch = (bits & 8) != 0, adds = bits % 3 == 0;
            if (neither_lies_along_k && !has_scratch) continue;
            SCOPED_TRACE(text(s) + ", transposed A, B, C, scratch memory: " + std::to_string(bits));
            test::layouts lie = test::in_packets(s, bits, 4);
            lie.c.padding = 0;
            operands<float> p(given, lie);
            matmul_options options{.algorithm = tf32};
            if (adds) options.alpha = -1.5f, options.beta = 0.5f;
            if (has_scratch)
                options.workspace = *workspace_;
            else
                options.scratch = scratch::none;
            p.multiply(*stream_, options);
            ASSERT_NO_FATAL_FAILURE(expect_close(s, p.c.download(), adds ? sum : product, test::tf32_bound));
            p.expect_intact();
            if (HasFailure()) return;
        }
    }
}

/// Many steps, of tiles that are shared out along k; some rows are checked.
TEST_F(matmul_device, shares_long_tiles_along_k) {
    for (const shape& s : {shape{300, 256, 16384}, {300, 700, 16384}, {700, 5000, 8192}}) {
        operands<float> p(s);
        const auto rows_of = [](const std::vector<float>& of, std::int64_t cols) {
            constexpr std::int64_t step = 61;
            std::vector<float> rows;
            for (std::size_t at = 0; at < of.size(); at += static_cast<std::size_t>(cols * step))
                rows.insert(rows.end(), of.begin() + static_cast<std::ptrdiff_t>(at),
                            of.begin() + static_cast<std::ptrdiff_t>(at) + cols);
            return rows;
        };
        const std::vector<float> checked = rows_of(p.as, s.k);
        const shape part{static_cast<std::int64_t>(checked.size()) / s.k, s.n, s.k};
        const reference expected(part, checked, p.bs, rows_of(p.cs, s.n), 1, 0);
        for (const auto algorithm : {split_k, tma_pipelined, tf32}) {
            if (algorithm != split_k && !test::has_warpgroups()) continue;
            SCOPED_TRACE(text(s) + " " + std::string(to_string(algorithm)));
            p.multiply(*stream_, {.algorithm = algorithm, .workspace = *workspace_});
            expect_close(part, rows_of(p.c.download(), s.n), expected, test::bound_of<float>(algorithm));
            EXPECT_TRUE(p.c.canaries_alive());
        }
    }
}

}  // namespace
}  // namespace heddle
